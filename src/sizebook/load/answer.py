"""One answer, read from whatever delivers bytes: the general case behind the client's fast path."""

from __future__ import annotations

from collections.abc import Callable

from sizebook.load.wire import (
    MAX_CHUNK_LINE_BYTES,
    MAX_HEAD_BYTES,
    TO_CLOSE,
    Head,
    ProtocolError,
    parse_chunk_line,
    parse_head,
    refuse_broken_lines,
    refuse_half_chunk_line,
)

MAX_INTERIM_BYTES = 256 * 1024
"""Heads of interim answers before the final one; how many there are does not matter."""
MAX_TRAILER_BYTES = 16 * 1024
MAX_KNOWN_HEADS = 512
MAX_KNOWN_HEAD_BYTES = 4 * 1024
SCRAP_BYTES = 256 * 1024

More = Callable[[], bytes]
"""Waits for bytes and returns at least one; raises ClosedByServerError at the end of the stream."""


RefuseHalf = Callable[[bytearray, int, int], None]
"""Judges a line that is not yet complete: the buffer, where it begins, up to where it was judged.

Each byte is looked at once, or twice where it is the last: a server that sends them one by one
costs the generator no more than one that sends all at once.
"""


class ClosedByServerError(Exception):
    """The server closed the connection before the answer was complete."""


class Exchange:
    """One request and its answer. A client fills the same object again at each request."""

    __slots__ = (
        "body",
        "end_ns",
        "error",
        "head",
        "received_bytes",
        "sent_bytes",
        "start_ns",
        "status",
    )

    def __init__(self) -> None:
        self.start_ns = 0
        self.end_ns = 0
        self.status = 0
        """Status code, 0 where none came."""
        self.head: Head | None = None
        self.body = b""
        self.error = ""
        """Error class; empty for an answer that came whole, whatever its status."""
        self.received_bytes = 0
        """Status line, headers and body with its chunk framing, as they came over the wire."""
        self.sent_bytes = 0


def read_answer(
    exchange: Exchange,
    data: bytes,
    more: More,
    *,
    method: str,
    known: dict[bytes, Head],
    max_body_bytes: int,
) -> None:
    """Fill head, status and body of the exchange from ``data`` and what ``more`` brings.

    Raises ProtocolError for an answer that breaks HTTP/1.1 or a limit, ClosedByServerError for one
    that ends too soon.
    """
    buffer = bytearray(data)
    head = _read_final_head(buffer, more, known)
    exchange.head = head
    exchange.status = head.status
    if method == "HEAD":
        body = b""
    elif head.chunked:
        body = _read_chunks(buffer, more, max_body_bytes)
    elif head.length == TO_CLOSE:
        exchange.body = _read_to_close(buffer, more, max_body_bytes)
        return
    else:
        body = _read_length(buffer, more, head.length, max_body_bytes)
    if buffer:
        raise ProtocolError(f"{len(buffer)} bytes after the end of the answer")
    exchange.body = body


def _read_final_head(buffer: bytearray, more: More, known: dict[bytes, Head]) -> Head:
    """Return the head of the answer; interim ones (1xx) before it are read and left out.

    ``known`` is given final heads alone: whoever finds a head there may take it for the answer.
    """
    interim_bytes = 0
    while interim_bytes <= MAX_INTERIM_BYTES:
        text = _read_head(buffer, more)
        head = known.get(text)
        if head is not None:
            return head
        head = parse_head(text)
        if head.status == 101:
            raise ProtocolError("a switch of protocols that nobody asked for")
        if head.status >= 200:
            if len(known) >= MAX_KNOWN_HEADS:
                known.clear()
            if len(text) <= MAX_KNOWN_HEAD_BYTES:
                known[text] = head
            return head
        interim_bytes += len(text)
    raise ProtocolError(f"interim answers of more than {MAX_INTERIM_BYTES} bytes")


def _read_head(buffer: bytearray, more: More) -> bytes:
    """Return the next head without its blank line; ``buffer`` is left with what follows it."""
    seen = 0
    while (end := buffer.find(b"\r\n\r\n", max(0, seen - 3))) < 0:
        _refuse_other_than_http(buffer)
        refuse_broken_lines(buffer, max(0, seen - 1))
        if len(buffer) > MAX_HEAD_BYTES:
            raise ProtocolError(f"no end of the headers within {MAX_HEAD_BYTES} bytes")
        seen = len(buffer)
        buffer += more()
    if end > MAX_HEAD_BYTES:
        raise ProtocolError(f"headers of more than {MAX_HEAD_BYTES} bytes")
    text = bytes(buffer[:end])
    del buffer[: end + 4]
    return text


def _refuse_other_than_http(buffer: bytearray) -> None:
    start = b"HTTP/1."
    if buffer[: len(start)] != start[: len(buffer)]:
        raise ProtocolError(f"no HTTP/1: {bytes(buffer[:60])!r}")


def _read_length(buffer: bytearray, more: More, length: int, limit: int) -> bytes:
    if length > limit:
        raise ProtocolError(f"a body of {length} bytes; the limit is {limit}")
    while len(buffer) < length:
        buffer += more()
    body = bytes(buffer[:length])
    del buffer[:length]
    return body


def _read_to_close(buffer: bytearray, more: More, limit: int) -> bytes:
    while len(buffer) <= limit:
        try:
            buffer += more()
        except ClosedByServerError:
            return bytes(buffer)
    raise ProtocolError(f"a body of more than {limit} bytes")


def _read_chunks(buffer: bytearray, more: More, limit: int) -> bytes:
    """Return the body; ``buffer`` is left with what follows the last trailer."""
    parts: list[bytes] = []
    total = 0
    at = 0
    while True:
        line, at = _read_line(buffer, at, more, MAX_CHUNK_LINE_BYTES, refuse_half_chunk_line)
        size = parse_chunk_line(line)
        if size == 0:
            break
        total += size
        if total > limit:
            raise ProtocolError(f"a body of more than {limit} bytes")
        while len(buffer) < at + size + 2:
            _refuse_longer_chunk(buffer, at + size)
            buffer += more()
        _refuse_longer_chunk(buffer, at + size)
        parts.append(bytes(buffer[at : at + size]))
        at += size + 2
        if at > SCRAP_BYTES:
            del buffer[:at]
            at = 0
    trailers = 0
    while True:
        line, at = _read_line(buffer, at, more, MAX_TRAILER_BYTES, _refuse_half_trailer)
        if not line:
            break
        refuse_broken_lines(line + b"\r\n")
        trailers += len(line)
        if trailers > MAX_TRAILER_BYTES:
            raise ProtocolError(f"trailers of more than {MAX_TRAILER_BYTES} bytes")
    del buffer[:at]
    return b"".join(parts)


def _refuse_half_trailer(buffer: bytearray, _: int, seen: int) -> None:
    refuse_broken_lines(buffer, seen)


def _refuse_longer_chunk(buffer: bytearray, end: int) -> None:
    """Raise ProtocolError if what follows a chunk, as far as it has come, is no line end."""
    if not b"\r\n".startswith(buffer[end : end + 2]):
        raise ProtocolError("a chunk that is longer than it said")


def _read_line(
    buffer: bytearray, at: int, more: More, limit: int, refuse_half: RefuseHalf
) -> tuple[bytes, int]:
    """Return a line and where the next one begins; ``refuse_half`` judges one not yet complete."""
    seen = at
    while (end := buffer.find(b"\r\n", seen)) < 0:
        if len(buffer) - at > limit:
            raise ProtocolError(f"a line of more than {limit} bytes within the body")
        refuse_half(buffer, at, seen)
        seen = max(at, len(buffer) - 1)  # the last byte may be the first of a line end
        buffer += more()
    return bytes(buffer[at:end]), end + 2
