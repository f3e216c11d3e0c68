"""The page that shows a measurement while it goes on, served to browsers on this machine alone.

The measuring processes append events to a file (``lab.live_file``). This server hands out what was
added since a browser asked last, and the browser draws it: nobody who does not look costs anything.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
import threading
from collections.abc import Iterator
from functools import cache
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

from sizebook.lab.live_file import LIVE_FILE, tell_watchers
from sizebook.model.errors import UsageError

_HERE = "127.0.0.1"
_NAMES = (_HERE, "localhost")
_MOST_BYTES = 256 * 1024
"""Events in one answer; a browser that comes late asks again for the rest."""
_DIGITS = 18
"""Of a place in the events; more are none."""
_POLICY = (
    "default-src 'none'; connect-src 'self'; script-src 'unsafe-inline'; style-src 'unsafe-inline'"
)


@contextlib.contextmanager
def live_page(port: int) -> Iterator[str]:
    """Serve the page while the block runs, and give its address; ``port`` 0: any that is free.

    What is measured meanwhile, in this process or one that it starts, tells it. Raises UsageError
    for a port that is taken.
    """
    with tempfile.TemporaryDirectory(prefix="sizebook-live-") as folder:
        file = Path(folder) / "events.jsonl"
        file.touch()
        try:
            server = _Server((_HERE, port), file)
        except (OSError, OverflowError) as error:
            raise UsageError(
                found=f"port {port}, which cannot be used ({error})",
                expected="a port that is free, or 0 for any",
                next_step="choose another one: --web-port 0",
            ) from error
        with server:
            os.environ[LIVE_FILE] = str(file)
            threading.Thread(target=server.serve_forever, name="live page", daemon=True).start()
            try:
                yield f"http://{_HERE}:{server.server_port}/"
            finally:
                tell_watchers("over")
                del os.environ[LIVE_FILE]
                server.shutdown()


class _Server(ThreadingHTTPServer):
    """Hands out the page, and the events of one file."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], events: Path) -> None:
        super().__init__(address, _Handler)
        self.events = events


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer the page, or what was added to the events."""
        if not self._is_asked_by_this_page():
            self._answer(HTTPStatus.FORBIDDEN, "text/plain", b"only by the address that was shown")
            return
        parts = urlsplit(self.path)
        if parts.path == "/":
            self._answer(HTTPStatus.OK, "text/html; charset=utf-8", _page())
        elif parts.path == "/events":
            since = parse_qs(parts.query).get("since", ["0"])[0]
            is_place = since.isascii() and since.isdigit() and len(since) <= _DIGITS
            begin = int(since) if is_place else 0
            self._answer(HTTPStatus.OK, "application/json", _added(self.server.events, begin))
        else:
            self._answer(HTTPStatus.NOT_FOUND, "text/plain", b"nothing here")

    def _is_asked_by_this_page(self) -> bool:
        """Return whether the name that was asked is this machine's own: a page elsewhere has none.

        It could lead a browser here under a name of its own (DNS rebinding).
        """
        name, _, port = self.headers.get("Host", "").rpartition(":")
        return name in _NAMES and port == str(self.server.server_port)

    def _answer(self, status: HTTPStatus, kind: str, body: bytes) -> None:
        self.send_response(status)
        for name, value in (
            ("Content-Type", kind),
            ("Content-Length", str(len(body))),
            ("Content-Security-Policy", _POLICY),
            ("X-Content-Type-Options", "nosniff"),
            ("Cache-Control", "no-store"),
        ):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the terminal shows the measurement."""


def _added(events: Path, begin: int) -> bytes:
    """Return the whole lines from a place of the file on, and the place behind them."""
    try:
        with events.open("rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(min(begin, size))
            text = stream.read(_MOST_BYTES)
    except FileNotFoundError:  # the measurement is over, and its folder gone
        text = b""
    whole = text[: text.rfind(b"\n") + 1]
    lines = [json.loads(line) for line in whole.splitlines()]
    return json.dumps({"next": begin + len(whole), "events": lines}).encode()


@cache
def _page() -> bytes:
    return (files("sizebook") / "book" / "templates" / "live.html").read_bytes()
