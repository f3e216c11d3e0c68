"""A shop that knows nothing of Sizebook: Python's own HTTP server, in a process of its own.

``python foreign_server.py`` prints its port. ``/counts`` tells how often each path was asked for.
"""

import json
import sys
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

COUNTS: Counter[str] = Counter()
LOCK = Lock()


class Shop(BaseHTTPRequestHandler):
    """Pages, a login that gives a token, a cart that wants it, and a small REST interface."""

    protocol_version = "HTTP/1.1"
    wbufsize = 1 << 16  # head and body leave together
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        self._serve("GET")

    def do_POST(self) -> None:
        self._serve("POST")

    def log_message(self, *_: object) -> None:
        """Say nothing of each request."""

    def _serve(self, method: str) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        path = self.path.partition("?")[0]
        if path == "/counts":
            self._answer(200, dict(COUNTS))
            return
        with LOCK:
            COUNTS[f"{method} {path}"] += 1
        if path == "/login":
            self._answer(200, {"token": "secret-of-" + json.loads(body)["username"]})
        elif path == "/cart":
            known = self.headers.get("Authorization", "").startswith("Bearer secret-of-")
            self._answer(200 if known else 401, {"items": []})
        elif path == "/api/echo":
            self._answer(200, {"you sent": json.loads(body)})
        elif path == "/missing":
            self._answer(404, {"error": "not here"})
        else:
            self._answer(200, {"page": path})

    def _answer(self, status: int, content: object) -> None:
        data = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


class Server(ThreadingHTTPServer):
    """Takes many connections at once."""

    request_queue_size = 128
    daemon_threads = True


if __name__ == "__main__":
    serving = Server(("127.0.0.1", 0), Shop)
    print(serving.server_address[1], flush=True)
    sys.stdout.close()
    serving.serve_forever()
