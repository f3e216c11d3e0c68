"""Access logs as servers and collectors write them: which requests came, and when."""

from __future__ import annotations

import pytest
from tests.traffic import formats

from sizebook.traffic.log_lines import parse_line
from sizebook.traffic.preparing import prepare
from sizebook.traffic.reading import parse_traffic

TEN_S = 1772443810.0
"""2026-03-02 09:30:10 UTC."""
LINE = '203.0.113.1 - - [02/Mar/2026:09:30:10 +0000] "GET /a HTTP/1.1" 200 5 "-" "x"'


def read(*lines):
    return parse_traffic("\n".join(lines).encode(), "access.log")


def at(second, path="/a", tail=""):
    return LINE.replace(":10 +", f":{second:02} +").replace("/a ", f"{path} ") + tail


@pytest.mark.parametrize(
    "line",
    [
        LINE,
        LINE.removesuffix(' "-" "x"'),
        f"shop.test:443 {LINE}",
        f"<190>Mar  2 09:30:10 web1 nginx: {LINE}",
        f"<134>1 2026-03-02T09:30:10.1Z web1 nginx 77 - - {LINE}",
        f"2026-03-02T09:30:10.123456789Z stdout F {LINE}",
        f"web_1  | {LINE}",
        f"[pod/shop-7f9/nginx] {LINE}",
        LINE.replace("+0000", "-0700").replace("09:30", "02:30"),
        LINE.replace(" - - ", " - Jane Doe "),
        LINE.replace("203.0.113.1", "2001:db8::1"),
        LINE.replace('"x"', r'"a \"quoted\" agent"'),
        '{"log": "' + LINE.replace('"', r"\"") + r'\n", "stream": "stdout", "time": "2026-03-02"}',
        '{"msec": "1772443810.000", "request": "GET /a HTTP/1.1", "status": "200"}',
        '{"@timestamp": "2026-03-02T09:30:10+00:00", "request_method": "GET", "request_uri": "/a",'
        ' "status": 200}',
        'Mar 2 web1 nginx: {"time_local": "02/Mar/2026:09:30:10 +0000", '
        '"request": "GET /a HTTP/2.0", "status": 200}',
    ],
)  # fmt: skip
def test_a_line_is_read_whatever_stands_around_it(line):
    """Prefixes of syslog, containers and virtual hosts; JSON with texts for numbers."""
    found = parse_line(line)
    assert not isinstance(found, str), found
    assert (found.time_s, found.method, found.target, found.status) == (TEN_S, "GET", "/a", 200)


def test_lines_of_ends_come_their_request_time_earlier():
    """nginx writes when it has answered: a long request came before a short one."""
    found = read(
        at(10, "/short", " rt=0.500"),
        at(12, "/long", " rt=8.000"),
        '{"msec": "1772443813.250", "request": "GET /json HTTP/1.1", "status": 200, '
        '"request_time": "5.250"}',
    )  # fmt: skip
    assert [one.path for one in found.requests] == ["/long", "/json", "/short"]
    assert any("a request came its request time earlier" in note for note in found.notes)
    ends = read(at(10), at(11), at(12))
    assert any("without request times" in note for note in ends.notes)


def test_lines_whose_times_run_backwards_are_of_begins():
    """Apache writes a line at the end, with the time of the begin."""
    found = read(at(14, "/b"), at(11, "/a"), at(19, "/c"))
    assert [one.path for one in found.requests] == ["/a", "/b", "/c"]
    assert any("run backwards" in note for note in found.notes)


def test_requests_of_a_second_are_spread_over_it():
    """In whole seconds they would come as a burst that nobody made; the same each time."""
    lines = [at(10 + number // 20) for number in range(100)]
    found, again = read(*lines), read(*lines)
    begins = [one.begin_s for one in found.requests]
    assert begins == [one.begin_s for one in again.requests] == sorted(begins)
    assert len(set(begins)) == 100 and 4.5 < begins[-1] < 5.0
    line = '{"msec": "1772443810.NNN", "request": "GET /a HTTP/1.1", "status": 200}'
    exact = read(*(line.replace("NNN", part) for part in ("000", "250", "900")))
    assert [round(one.begin_s, 3) for one in exact.requests] == [0, 0.25, 0.9]


def test_what_cannot_be_sent_again_is_counted():
    """Bodies are not in a log; broken lines, faults and noise are told by kind."""
    found = read(
        at(10), at(11, "/gone").replace(" 200 ", " 404 "),
        at(12, "/seen").replace(" 200 ", " 304 "),
        at(12).replace("GET", "POST"), at(13).replace("GET", "DELETE"),
        at(13).replace(" 200 ", " 502 "), at(13).replace("GET /a HTTP/1.1", "-"),
        at(13).replace("GET /a HTTP/1.1", r"\x16\x03\x01"), at(14)[:60],
        "2026/03/02 [error] 7#7: *1 open() failed",
    )  # fmt: skip
    assert [(one.path, one.status) for one in found.requests] == [
        ("/a", 200), ("/gone", 404), ("/seen", 200),
    ]  # fmt: skip
    left = {(each.what, each.why): each.number for each in found.left_out}
    assert left == {
        ("requests that are no HTTP", "they cannot be read"): 2,
        ("lines in no known format", "they cannot be read"): 2,
        ("POST requests", "an access log has no bodies"): 1,
        ("DELETE requests", "an access log has no bodies"): 1,
        ("GET requests", "it was answered with 502"): 1,
    }


def test_a_log_becomes_a_mix_and_its_times():
    """Equal requests are one row, with their number as weight; endpoints have no ids in them."""
    load = prepare(read(*formats.log_lines(100)), "access.log")
    requests = load.recording.requests
    assert [one.weight for one in requests] == [25.0] * 4
    assert sorted(set(load.names)) == [
        "GET /products/mug-1", "GET /search", "GET /static/app.js", "HEAD /products/{id}",
    ]  # fmt: skip
    assert len(load.arrivals) == 100
    assert [requests[number].weight for _, number in load.arrivals] == [25.0] * 100
    search = next(one for one in requests if one.path.startswith("/search"))
    assert search.path == "/search?q=mug&email={{email}}"
    assert not any("jane" in text or "203.0" in text for text in map(str, requests))


def test_requests_that_become_equal_without_their_secrets_are_one():
    """A token of each visitor makes no endpoint of its own."""
    load = prepare(read(*(at(10 + n, f"/in?token=t-{n}{n}{n}") for n in range(9))), "access.log")
    assert [one.path for one in load.recording.requests] == ["/in?token={{token}}"]
    assert [number for _, number in load.arrivals] == [0] * 9
    assert list(load.users[0]) == ["token"]
