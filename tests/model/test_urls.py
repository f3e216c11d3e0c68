"""Base URLs and hosts: read in one way, refused in one sentence that says what would be right."""

import pytest
from pydantic import TypeAdapter, ValidationError

from sizebook.book.scaffold import NewChapter, start_book
from sizebook.lab import given_system
from sizebook.load.target import resolve
from sizebook.model.errors import UsageError
from sizebook.model.inventory import Inventory
from sizebook.model.urls import BaseUrl, HostAddress, OwnUrl, UrlError, parse_host, read_url
from sizebook.stack.given import refusal

LONG = "a" * 64
WRONG = [
    ("", "http:// and a host"),
    ("shop", "http:// and a host"),
    ("shop:80", "http:// and a host"),
    ("//shop", "http:// and a host"),
    ("ftp://shop", "http:// and a host"),
    ("HTTP://shop", "http:// and a host"),
    ("https://shop", "HTTPS is not supported"),
    ("HTTPS://shop:443/a", "HTTPS is not supported"),
    ("http://", "a host after http://"),
    ("http:///a", "a host after http://"),
    ("http://:80", "a host after http://"),
    ("http://shop:", "a port from 1 to 65535"),
    ("http://shop:0", "a port from 1 to 65535"),
    ("http://shop:00000", "a port from 1 to 65535"),
    ("http://shop:080", "without zeros before it"),
    ("http://[::1]:022", "without zeros before it"),
    ("http://shop:65536", "a port from 1 to 65535"),
    ("http://shop:123456789", "a port from 1 to 65535"),
    ("http://shop:-1", "a port from 1 to 65535"),
    ("http://shop:+80", "a port from 1 to 65535"),
    ("http://shop:80x", "a port from 1 to 65535"),
    ("http://shop:8_0", "a port from 1 to 65535"),
    ("http://shop:٨٠", "beyond ASCII"),
    ("http://shöp", "beyond ASCII"),
    ("http://shop .example", "without blanks"),
    (" http://shop", "without blanks"),
    ("http://shop\n", "without blanks"),
    ("http://shop\x00", "without blanks"),
    ("http://a:b@shop", "without user name"),
    ("http://a@shop", "without user name"),
    ("http://shop?x=1", "without query"),
    ("http://shop/a?x", "without query"),
    ("http://shop/#top", "without query and fragment"),
    ("http://shop\\a", "a host name whose parts"),
    ("http://shop/a\\b", "a path of letters"),
    ("http://shop/%2e", "a path of letters"),
    ("http://shop..example", "a host name whose parts"),
    ("http://.shop", "a host name whose parts"),
    ("http://-shop", "a host name whose parts"),
    ("http://shop-", "a host name whose parts"),
    (f"http://{LONG}.example", "1 to 63 letters"),
    (f"http://{'a.' * 130}example", "253 in all"),
    ("http://1.2.3", "four numbers"),
    ("http://1.2.3.256", "four numbers"),
    ("http://01.2.3.4", "four numbers"),
    ("http://0x7f.1", "four numbers"),
    ("http://2130706433", "four numbers"),
    ("http://web.1", "four numbers"),
    ("http://::1", "brackets around an IPv6"),
    ("http://::1:80", "brackets around an IPv6"),
    ("http://fe80::1:80", "brackets around an IPv6"),
    ("http://[::1", "in its brackets"),
    ("http://[shop]", "in its brackets"),
    ("http://[::1]80", "a port from 1 to 65535"),
    ("http://[::1]:0", "a port from 1 to 65535"),
    ("http://[::x]", "an IPv6 address such as"),
    ("http://[fe80::1%eth0]", "without zone"),
    ("http://[fe80::1%25eth0]:80", "without zone"),
]


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("http://127.0.0.1:8101", BaseUrl("127.0.0.1:8101", "127.0.0.1", 8101, "")),
        ("http://localhost", BaseUrl("localhost", "localhost", 80, "")),
        ("http://Shop.Example/base/", BaseUrl("Shop.Example", "shop.example", 80, "/base")),
        ("http://[::1]:1", BaseUrl("[::1]:1", "::1", 1, "")),
        ("http://[2001:DB8::0:1]/", BaseUrl("[2001:DB8::0:1]", "2001:db8::1", 80, "")),
        ("http://my_web:65535/a.b/~c", BaseUrl("my_web:65535", "my_web", 65535, "/a.b/~c")),
        (f"http://{LONG[1:]}.x.", BaseUrl(f"{LONG[1:]}.x.", f"{LONG[1:]}.x.", 80, "")),
    ],
)
def test_parts(text, parts):
    """Host in small letters and without brackets, port 80 where none is named, no last slash."""
    assert read_url(text) == parts
    assert parts.is_own == (parts.host in ("127.0.0.1", "localhost", "::1"))


@pytest.mark.parametrize(("text", "said"), WRONG)
def test_what_is_no_base_url_is_refused_wherever_it_comes_in(text, said, tmp_path):
    """By its text, with what would be right: from notebooks, inventories, flags, and orders."""

    def given_by_a_notebook():
        given_system("shop", text)

    def given_by_a_flag():
        start_book(tmp_path / "book", "Mine", NewChapter("one", "One", url=text))

    ways = [lambda: resolve(text), lambda: refusal(text, "/")]
    if text:  # without one, a command starts the system, or an inventory names it
        ways += [given_by_a_notebook, given_by_a_flag]
    for way in ways:
        with pytest.raises(UsageError, match=said) as caught:
            way()
        assert repr(text)[:200] in f"{caught.value.found}"
    assert not (tmp_path / "book").exists()
    with pytest.raises(ValidationError, match=said):
        Inventory.model_validate({"targets": {"app": text}}, strict=False)
    if text:
        with pytest.raises(ValidationError, match=said):
            Inventory.model_validate({"systems": {"shop": {"url": text, "host": "local"}}})


def test_only_this_machine_is_named_without_an_inventory():
    """What leads elsewhere is told apart from what is no URL."""
    own = TypeAdapter(OwnUrl)
    assert own.validate_python("http://[::1]:80/a") == "http://[::1]:80/a"
    assert own.validate_python("") == ""
    with pytest.raises(UsageError, match="this machine itself; next: name a target elsewhere"):
        given_system("shop", "http://192.0.2.1:80")
    with pytest.raises(UsageError, match="1 to 65535; next: correct it"):
        given_system("shop", "http://127.0.0.1:99999")


@pytest.mark.parametrize("host", ["::1", "192.0.2.7", "web_1.example", "xn--bcher-kva.example"])
def test_hosts(host):
    """Names and addresses, as machines are named in inventories."""
    assert parse_host(host) == TypeAdapter(HostAddress).validate_python(host) == host


@pytest.mark.parametrize("host", ["", "a..b", f"{LONG}.b", "300.1.1.1", "fe80::1%eth0", "a b"])
def test_what_is_no_host(host):
    """Refused as it is read, not by the resolver's encoder."""
    with pytest.raises(UrlError):
        parse_host(host)
    with pytest.raises(ValidationError):
        TypeAdapter(HostAddress).validate_python(host)
