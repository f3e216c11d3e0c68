"""Servers on loopback that answer as the reference stack does, as far as a load needs it."""

from __future__ import annotations

import contextlib
import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

_LOOK_EVERY_S = 0.01
"""How soon a server sees that it is to end."""


class Answering(BaseHTTPRequestHandler, ABC):
    """Answers over connections that stay open, each time at once, and logs nothing.

    What is answered is said by ``answer`` of a class below it.
    """

    protocol_version = "HTTP/1.1"
    wbufsize = -1

    def do_GET(self) -> None:
        """Answer it."""
        self.answer()

    def do_HEAD(self) -> None:
        """Answer it, without the body."""
        self.answer()

    def do_POST(self) -> None:
        """Answer it."""
        self.answer()

    @abstractmethod
    def answer(self) -> None:
        """Read the request as far as it is wanted, the body whole, and tell the answer."""

    def asked(self) -> tuple[str, dict[str, str]]:
        """Return the path and the parameters of the request's address."""
        url = urlsplit(self.path)
        return url.path, dict(parse_qsl(url.query))

    def sent(self) -> bytes:
        """Return the request's body; the next request begins behind it."""
        return self.rfile.read(int(self.headers["Content-Length"] or 0))

    def tell(self, answer: bytes | Any, status: int = 200, **headers: str) -> None:
        """Send an answer, as JSON where it is no bytes; ``set_cookie`` names a header."""
        is_text = isinstance(answer, bytes)
        body = answer if is_text else json.dumps(answer, separators=(",", ":")).encode()
        self.send_response(status)
        for name, value in ({"content_type": "application/json"} | headers).items():
            self.send_header(name.replace("_", "-").title(), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@contextlib.contextmanager
def served(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Give the address of a server with this handler, which ends with the context."""
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(_LOOK_EVERY_S,), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
