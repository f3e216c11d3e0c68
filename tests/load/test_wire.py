"""Parsing what servers send: the good, the unusual and the hostile."""

from __future__ import annotations

import pytest

from sizebook.load.wire import (
    TO_CLOSE,
    ProtocolError,
    build_head,
    is_plain_path,
    parse_chunk_line,
    parse_cookie,
    parse_head,
)


def head_of(*lines: str):
    return parse_head("\r\n".join(("HTTP/1.1 200 OK", *lines)).encode())


def test_usual_head():
    """Status, length, type and keep-alive come out."""
    head = head_of("Content-Type: Application/JSON; charset=utf-8", "content-length:  12 ")
    assert (head.status, head.length, head.keep_alive) == (200, 12, True)
    assert head.content_type == b"application/json; charset=utf-8"


@pytest.mark.parametrize(
    ("text", "keep_alive"),
    [
        (b"HTTP/1.1 200 \r\nContent-Length: 0", True),  # as Tomcat writes it
        (b"HTTP/1.1 200\r\nContent-Length: 0", True),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: Close", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 0", False),
        (b"HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: keep-alive", True),
        (b"HTTP/1.1 200 OK", False),
    ],
)
def test_keep_alive(text, keep_alive):
    """Version and Connection decide; a body up to the close ends the connection."""
    assert parse_head(text).keep_alive is keep_alive


def test_bodies_without_length():
    """Chunked, up to the close, and the statuses that have none."""
    assert head_of("Transfer-Encoding: chunked").chunked
    assert head_of().length == TO_CLOSE
    assert parse_head(b"HTTP/1.1 204 No Content").length == 0
    assert parse_head(b"HTTP/1.1 304 Not Modified\r\nContent-Length: 99").length == 0


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"garbage",
        b"HTTP/2 200 OK",
        b"HTTP/1.1 999 OK",
        b"HTTP/1.1 20 OK",
        b"HTTP/1.1 200 OK\r\nContent-Length: -1",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1e3",
        b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2",
        b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip",
        b"HTTP/1.1 200 OK\r\nno colon here",
        b"HTTP/1.1 200 OK\r\n folded: yes",
        b"HTTP/1.1 200 OK\r\nname : space",
        b"HTTP/1.1 200 OK\r\nx: a\nb",
    ],
)
def test_doubtful_heads_are_refused(text):
    """What leaves the body's length in doubt is an error, not a guess."""
    with pytest.raises(ProtocolError):
        parse_head(text)


@pytest.mark.parametrize("line", [b"", b"-1", b"g", b"0x10", b"1" * 13, b"5 5"])
def test_bad_chunk_lines_are_refused(line):
    """Only hexadecimal digits and extensions are a chunk's first line."""
    with pytest.raises(ProtocolError):
        parse_chunk_line(line)
    assert parse_chunk_line(b"1aF;name=value") == 0x1AF


def test_cookies():
    """Name and value are kept, a negative or zero age deletes, nonsense is no cookie."""
    assert parse_cookie(b"JSESSIONID=a=b; Path=/; HttpOnly") == (b"JSESSIONID", b"a=b")
    assert parse_cookie(b"x=1; Max-Age=0") == (b"x", None)
    assert parse_cookie(b"x=1; max-age=-5") == (b"x", None)
    assert parse_cookie(b"nonsense") is None
    assert parse_cookie(b"x=" + b"y" * 5000) is None


def test_requests_cannot_be_broken_out_of():
    """Blanks and line ends in path or headers are refused before anything is sent."""
    head = build_head("GET", "/a?b='c'", "h:1", (("Accept", "x"),), b"")
    assert head == b"GET /a?b='c' HTTP/1.1\r\nHost: h:1\r\nAccept: x\r\n"
    assert b"Content-Length: 3\r\n" in build_head("POST", "/", "h", (), b"abc")
    for path, headers in (
        ("/a b", ()),
        ("/a\r\nX: y", ()),
        ("a", ()),
        ("/", (("A", "b\r\nC: d"),)),
    ):
        with pytest.raises(ValueError, match="cannot be sent"):
            build_head("GET", path, "h", headers, b"")
    assert not is_plain_path("/\u00e4")
