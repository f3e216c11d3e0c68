"""HTTP/1.1 as it comes over the wire: heads, chunk sizes, cookies. Pure functions over bytes.

Strict where leniency would let a broken server look healthy (RFC 9112): a length that is no
number, two lengths, a folded header or a length beside chunks is a protocol error, not a guess.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

MAX_HEAD_BYTES = 64 * 1024
MAX_CHUNK_LINE_BYTES = 4 * 1024
MAX_COOKIES = 50
MAX_COOKIE_BYTES = 4 * 1024

TO_CLOSE = -1
"""Value of ``Head.length``: the body ends when the server closes the connection."""

_STATUS_LINE = re.compile(rb"HTTP/1\.([01]) ([1-5]\d\d)(?: [^\r\n\x00]*)?\Z")
_FIELD = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+):([^\r\n\x00]*)\Z")
_LENGTH = re.compile(rb"\d{1,15}\Z")
_CHUNK_LINE = re.compile(rb"([0-9A-Fa-f]{1,12})[ \t]{0,64}(?:;[^\r\n\x00]*)?\Z")
_CHUNK_SIZE = re.compile(rb"(?:[0-9A-Fa-f]{1,12}[ \t]{0,64})?")
"""Begins a chunk's line; some bytes at most, so that it may be looked at again with each one."""
_PATH = re.compile(r"/[\x21-\x7e]*\Z")
_COOKIE = re.compile(r"[!#-+\--:<>-~]+=[ -:<-~]*\Z")
_NO_BODY = frozenset((204, 304))
_FAREWELL = re.compile(rb"HTTP/1\.[01] 408[ \r]")
_BROKEN_LINE = re.compile(rb"(?<!\r)\n|\r(?!\n|\Z)|\x00")
_METHOD = re.compile(r"[A-Z][A-Z-]*\Z")
_FRAMING = frozenset(("host", "content-length", "transfer-encoding", "connection", "upgrade"))
"""Headers of a request that the client writes itself, or that would change what comes after it."""


class ProtocolError(Exception):
    """The server's answer is not HTTP/1.1 as we accept it; the text says what was wrong."""


@dataclass(frozen=True, slots=True)
class Head:
    """Status line and headers of an answer, as far as the client needs them."""

    status: int
    length: int
    """Bytes of the body as announced; ``TO_CLOSE`` where nothing announces them."""
    chunked: bool
    keep_alive: bool
    content_type: bytes
    """Value of Content-Type in lower case, empty if there was none."""
    cookies: tuple[tuple[bytes, bytes | None], ...]
    """Name and value of each cookie set; None: the cookie is to be forgotten."""
    location: bytes = b""
    """Value of Location, empty if there was none."""


def parse_head(head: bytes) -> Head:
    """Return the parsed head, given without the blank line that ends it.

    Raises ProtocolError for everything that leaves the length of the body in doubt.
    """
    first, *lines = head.split(b"\r\n")
    status_line = _STATUS_LINE.match(first)
    if status_line is None:
        raise ProtocolError(f"status line {first[:60]!r}")
    status = int(status_line[2])
    keep_alive = status_line[1] == b"1"
    lengths: set[bytes] = set()
    chunked = False
    content_type = location = b""
    cookies: list[tuple[bytes, bytes | None]] = []
    for line in lines:
        field = _FIELD.match(line)
        if field is None:
            raise ProtocolError(f"header line {line[:60]!r}")
        name, value = field[1].lower(), field[2].strip(b" \t")
        if name == b"content-length":
            lengths.add(value)
        elif name == b"transfer-encoding":
            if value.lower() != b"chunked" or chunked:
                raise ProtocolError(f"transfer encoding {value[:60]!r}")
            chunked = True
        elif name == b"connection":
            options = {option.strip() for option in value.lower().split(b",")}
            keep_alive = b"close" not in options and (keep_alive or b"keep-alive" in options)
        elif name == b"content-type":
            content_type = value.lower()
        elif name == b"location":
            location = value
        elif name == b"set-cookie" and (cookie := parse_cookie(value)) is not None:
            cookies.append(cookie)
    length = _length(lengths, chunked)
    if status in _NO_BODY or status < 200:
        length, chunked = 0, False
    if length == TO_CLOSE and not chunked:
        keep_alive = False
    return Head(status, length, chunked, keep_alive, content_type, tuple(cookies), location)


def _length(lengths: set[bytes], chunked: bool) -> int:
    if not lengths:
        return TO_CLOSE
    if len(lengths) > 1 or chunked:
        raise ProtocolError("more than one statement of the body's length")
    (text,) = lengths
    if _LENGTH.match(text) is None:
        raise ProtocolError(f"content length {text[:60]!r}")
    return int(text)


def refuse_broken_lines(text: bytes | bytearray, begin: int = 0) -> None:
    """Raise ProtocolError where, from ``begin`` on, a line ends with LF or CR alone or has a NUL.

    Looked for while the end of the head is still to come: with such line ends it never does. A CR
    at the very end may still be half a line end.
    """
    broken = _BROKEN_LINE.search(text, begin)
    if broken is not None:
        shown = text[max(0, broken.start() - 40) : broken.end()]
        raise ProtocolError(f"a line that ends without CR LF: {bytes(shown)!r}")


def refuse_half_chunk_line(text: bytes | bytearray, at: int = 0, seen: int = 0) -> None:
    """Raise ProtocolError where no end of the line could make it one that begins a chunk.

    The line begins ``at``; what comes before ``seen`` was in order.
    """
    size = _CHUNK_SIZE.match(text, at)
    end = at if size is None else size.end()
    after = bytes(text[end : end + 2])
    if after and (end == at or not (after == b"\r" or after.startswith(b";"))):
        raise ProtocolError(f"chunk line {bytes(text[at : at + 60])!r}")
    refuse_broken_lines(text, max(end, seen))


def is_farewell(text: bytes) -> bool:
    """Return whether a server tells an idle client that it will not wait (RFC 9110, 15.5.9)."""
    return _FAREWELL.match(text) is not None


def parse_chunk_line(line: bytes) -> int:
    """Return the number of bytes that a chunk's first line announces."""
    match = _CHUNK_LINE.match(line)
    if match is None:
        raise ProtocolError(f"chunk line {line[:60]!r}")
    return int(match[1], 16)


def parse_cookie(value: bytes) -> tuple[bytes, bytes | None] | None:
    """Return name and value of a Set-Cookie header, value None if it deletes the cookie.

    Path, domain and expiry date are not looked at: a client here talks to one server, and a load
    test's session is shorter than any date. None is returned for what is no cookie.
    """
    pair, *attributes = value.split(b";")
    name, equals, text = pair.strip().partition(b"=")
    if not equals or not name or len(pair) > MAX_COOKIE_BYTES:
        return None
    for attribute in attributes:
        key, _, age = attribute.strip().lower().partition(b"=")
        if key == b"max-age" and (age.strip() == b"0" or age.strip().startswith(b"-")):
            return name.strip(), None
    return name.strip(), text.strip()


def is_cookie(name: str, value: str) -> bool:
    """Return whether a cookie can stand in a header: printable ASCII, no semicolon."""
    return _COOKIE.match(f"{name}={value}") is not None


def is_plain_path(path: str) -> bool:
    """Return whether the text can stand in a request line: from "/", no blanks, no controls."""
    return _PATH.match(path) is not None


def build_head(
    method: str, path: str, host: str, headers: tuple[tuple[str, str], ...], body: bytes
) -> bytes:
    """Return request line and headers without the blank line that ends them.

    Raises ValueError where a value would break out of its line, where the path is a whole URL (a
    load stays at its target), or a header would change how the connection is read.
    """
    if not path.startswith("/"):
        raise ValueError(f"{method} {path!r} cannot be sent: a path from / on was expected")
    if _METHOD.match(method) is None or method == "CONNECT":
        raise ValueError(f"{method!r} {path!r} cannot be sent: a method such as GET was expected")
    framing = [name for name, _ in headers if name.strip().lower() in _FRAMING]
    if framing:
        raise ValueError(f"{method} {path!r} cannot be sent: {framing[0]} is the client's to write")
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}"]
    lines += [f"{name}: {value}" for name, value in headers]
    if body or method in ("POST", "PUT", "PATCH"):
        lines.append(f"Content-Length: {len(body)}")
    if not is_plain_path(path) or any("\r" in line or "\n" in line for line in lines):
        raise ValueError(f"{method} {path!r} cannot be sent: blanks, controls or line ends in it")
    return ("\r\n".join(lines) + "\r\n").encode("latin-1")
