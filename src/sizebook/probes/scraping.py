"""Asking a server for its counters over HTTP: one connection that stays open, text or a reason."""

from __future__ import annotations

import http.client
import zlib
from urllib.parse import urlsplit

MAX_BYTES = 8 << 20
_MOVED = range(300, 400)
_LOGIN = (401, 403, 407)
ACCEPT = "text/plain;version=0.0.4, */*;q=0.1"
"""The text format. Without a wish Quarkus gives OpenMetrics and SmallRye refuses; whoever cannot
give it may give what there is."""
_WINDOWS = {"gzip": 31, "x-gzip": 31, "deflate": 47}
"""Window bits with which zlib reads an encoding; 47 finds out itself whether there is a head."""


class Refused(http.client.HTTPException):
    """A server answered, and not with counters; the text says with what."""


class Scraper:
    """GETs one path of one server again and again. Raises OSError or HTTPException."""

    def __init__(self, address: str, port: int, path: str, timeout_s: float) -> None:
        self._at = (address, port)
        self._path = path
        self._timeout_s = timeout_s
        self._connection: http.client.HTTPConnection | None = None

    def get(self) -> tuple[str, str]:
        """Return the text of an answer and its content type, in lower case."""
        kept = self._connection is not None
        try:
            return self._get()
        except (OSError, http.client.HTTPException) as error:
            self.close()
            # Only a kept connection that the node has closed meanwhile deserves a second attempt.
            if not kept or not isinstance(error, ConnectionError | http.client.RemoteDisconnected):
                raise
        try:
            return self._get()
        except (OSError, http.client.HTTPException):
            self.close()
            raise

    def get_anew(self) -> tuple[str, str]:
        """Return the same over a connection of its own, which another process may answer."""
        self.close()
        try:
            return self._get()
        finally:
            self.close()

    def close(self) -> None:
        """Close the connection; the next question opens another."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _get(self) -> tuple[str, str]:
        if self._connection is None:
            self._connection = http.client.HTTPConnection(*self._at, timeout=self._timeout_s)
        self._connection.request("GET", self._path, headers={"Accept": ACCEPT})
        answer = self._connection.getresponse()
        body = answer.read(MAX_BYTES + 1)
        if answer.status != 200:
            raise Refused(_why(answer))
        body = _decoded(body, answer.headers.get("Content-Encoding", "").strip().lower())
        if len(body) > MAX_BYTES:
            raise Refused(f"an answer of more than {MAX_BYTES >> 20} MiB")
        kind = answer.headers.get("Content-Type", "").strip().lower()
        return body.decode("utf-8", errors="replace"), kind


def _why(answer: http.client.HTTPResponse) -> str:
    status = f"status {answer.status}"
    if answer.status in _LOGIN:
        return f"{status}, it asks for a login; its counters must be open to this machine"
    if answer.status in _MOVED:
        # The address stays out: it may be another machine's, and reasons go into bundles.
        path = _path_of(answer.headers.get("Location", ""))
        return f"{status}, a redirect to path {path or '/'}; name the path that has the counters"
    if answer.status == http.client.NOT_ACCEPTABLE:
        return f"{status}, it has no text format of Prometheus to give"
    return status


def _path_of(address: str) -> str:
    try:
        return urlsplit(address).path[:100]
    except ValueError:
        return ""


def _decoded(body: bytes, encoding: str) -> bytes:
    """Return a body without the encoding that nobody asked for. Raises Refused for a strange one.

    One byte more than the most is decoded, however much it would be.
    """
    if encoding in ("", "identity"):
        return body
    if encoding not in _WINDOWS:
        raise Refused(f"content encoding {encoding[:40]}, which nobody asked for")
    decoder = zlib.decompressobj(_WINDOWS[encoding])
    try:
        decoded = decoder.decompress(body, MAX_BYTES + 1)
    except zlib.error as error:
        raise Refused(f"content encoding {encoding}, which is damaged: {error}") from error
    if not decoder.eof and len(decoded) <= MAX_BYTES:
        raise Refused(f"content encoding {encoding}, which ends too early")
    return decoded
