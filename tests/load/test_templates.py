"""Placeholders, and values that are taken out of answers."""

from __future__ import annotations

import pytest

from sizebook.load.answer import Exchange
from sizebook.load.kept import CookieValue, FormField, JsonField, Pattern
from sizebook.load.placeholders import (
    MissingValueError,
    encoder_of,
    fill,
    in_path,
    placeholders,
)
from sizebook.load.wire import is_cookie, parse_head

VALUES = {"name": 'a "b" & <c>/é', "n": "7"}


@pytest.mark.parametrize(
    ("text", "kind", "filled"),
    [
        ('{"a": "{{name}}", "n": {{ n }}}', "application/json",
         '{"a": "a \\"b\\" & <c>/\\u00e9", "n": 7}'),
        ("a={{name}}", "application/x-www-form-urlencoded", "a=a+%22b%22+%26+%3Cc%3E%2F%C3%A9"),
        ("<a>{{name}}</a>", "text/xml; charset=utf-8",
         "<a>a &quot;b&quot; &amp; &lt;c&gt;/é</a>"),
        ("{{n}}{{n}}", "text/plain", "77"),
        ("{ {n} } {{1}} {{}}", "text/plain", "{ {n} } {{1}} {{}}"),
    ],
)  # fmt: skip
def test_values_are_written_as_the_body_asks(text, kind, filled):
    """JSON, forms and XML have their own escapes; what is no placeholder stays."""
    assert fill(text, VALUES, encoder_of(kind)) == filled


def test_a_value_stays_within_its_part_of_a_path():
    """And one that is missing is named."""
    assert fill("/x/{{name}}", VALUES, in_path) == "/x/a%20%22b%22%20%26%20%3Cc%3E%2F%C3%A9"
    assert placeholders("{{a}}{{b}}{{a}}") == ("a", "b")
    with pytest.raises(MissingValueError, match="other"):
        fill("{{other}}", VALUES)


class Client:
    """Has one cookie."""

    def cookie(self, name):
        return "v" if name == "sid" else None


@pytest.mark.parametrize(
    ("kept", "found"),
    [
        (JsonField("a.b[1].c"), "x"),
        (JsonField("n"), "12"),
        (JsonField("a"), None),
        (JsonField("a.b[9].c"), None),
        (JsonField("yes"), None),
        (FormField("t"), None),
        (CookieValue("sid"), "v"),
        (CookieValue("other"), None),
        (Pattern(r'"n": (\d+)'), "12"),
        (Pattern("[0-9]+"), "1"),
        (Pattern(r"/orders/(\d+)", "location"), "31"),
        (Pattern("absent"), None),
    ],
)
def test_where_a_value_is(kept, found):
    """A text or a number; anything else is no value."""
    answer = Exchange()
    answer.body = b'{"a": {"b": [1, {"c": "x"}]}, "n": 12, "yes": true}'
    answer.head = parse_head(b"HTTP/1.1 201 Made\r\nLocation: /orders/31\r\nContent-Length: 0")
    assert kept.find(answer, Client()) == found


@pytest.mark.parametrize(
    ("page", "found"),
    [
        (b'<input type=hidden name="t" value="a&amp;b">', "a&b"),
        (b"<INPUT VALUE='x' NAME='t'/>", "x"),
        (b'<meta content="m" name="t">', "m"),
        (b'<input name="t" value="1"><input name="t" value="2">', "1"),
        (b'<input name="t">', None),
        (b'{"t": 1}', None),
    ],
)
def test_fields_of_forms(page, found):
    answer = Exchange()
    answer.body = page
    assert FormField("t").find(answer, Client()) == found


@pytest.mark.parametrize(
    ("name", "value", "good"),
    [
        ("sid", "a=b/c+d==", True),
        ("__Host-x", '"quoted"', True),
        ("sid", "a;b", False),
        ("sid", "a\r\nb", False),
        ("a b", "x", False),
        ("", "x", False),
        ("sid", "é", False),
    ],
)
def test_cookies_that_stay_in_their_header(name, value, good):
    assert is_cookie(name, value) is good
