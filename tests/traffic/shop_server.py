"""A small shop that is strict about sessions: what one visitor got, no other may send.

Run as a program it prints its port and serves until its standard input ends. It knows nothing of
Sizebook.
"""

from __future__ import annotations

import json
import secrets
import sys
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

ANSWERS: Counter[str] = Counter()
SESSIONS: dict[str, dict[str, str]] = {}
CARTS: dict[str, str] = {}
LOCK = threading.Lock()


class Shop(BaseHTTPRequestHandler):
    """Pages, a login with a hidden token, and an interface with a token of its own."""

    protocol_version = "HTTP/1.1"
    server_version = "Shop/1"

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        session = self._session()
        if path == "/":
            self._answer(
                200, "<html><a href='/login'>Log in</a></html>", cookies=self._new_session()
            )
        elif path == "/login" and session is not None:
            session["csrf"] = secrets.token_hex(16)
            field = f'<input type="hidden" name="csrf_token" value="{session["csrf"]}">'
            self._answer(200, f"<html><form method=post>{field}</form></html>")
        elif path == "/api/items" and self._is_in(session):
            session["item"], session["cart_token"] = secrets.token_hex(6), secrets.token_urlsafe(12)
            self._json(200, {"items": [{"id": f"itm-{session['item']}", "price": 12.5}],
                             "cartToken": session["cart_token"]})  # fmt: skip
        elif path.startswith("/api/cart/") and self._is_in(session):
            found = CARTS.get(path.split("/")[3]) == self._cookie("sid")
            self._json(200 if found else 404, {"lines": 1})
        elif path == "/account" and self._is_in(session):
            self._answer(200, "<html>Your account</html>")
        elif path.startswith("/products/"):
            self._json(200, {"name": path.rpartition("/")[2]})
        elif path == "/search":
            self._json(200, {"query": parse_qs(urlsplit(self.path).query).get("q")})
        elif path.startswith("/static/"):
            self._answer(200, "console.log('shop');", kind="application/javascript")
        elif path == "/answers":
            self._json(200, dict(ANSWERS))
        else:
            self._json(404, {"error": "not found"})

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        session, path = self._session(), urlsplit(self.path).path
        if path == "/login" and session is not None:
            form = parse_qs(body.decode())
            if form.get("csrf_token") == [session.get("csrf")] and form.get("password"):
                session["in"] = "yes"
                self._answer(302, "", extra=(("Location", "/account"),))
            else:
                self._answer(403, "wrong token")
        elif path == "/api/cart" and self._is_in(session):
            order = json.loads(body)
            good = order.get("itemId") == f"itm-{session['item']}"
            if good and self.headers.get("X-Cart-Token") == session["cart_token"]:
                with LOCK:
                    number = str(100_000 + len(CARTS))
                    CARTS[number] = self._cookie("sid")
                place = (("Location", f"/api/cart/{number}"),)
                self._json(201, {"ok": True}, place)
            else:
                self._json(409, {"error": "another's item or token"})
        elif path == "/orders":
            order = json.loads(body)
            self._json(201 if order.get("sku") and order.get("quantity", 0) > 0 else 422, {"id": 7})
        elif path == "/upload":
            self._json(201 if b"\x89PNG\x00\xff" in body else 415, {"bytes": len(body)})
        else:
            self._json(403, {"error": "log in first"})

    def do_PUT(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._json(200 if body else 400, {"bytes": len(body)})

    def _session(self) -> dict[str, str] | None:
        return SESSIONS.get(self._cookie("sid"))

    def _is_in(self, session: dict[str, str] | None) -> bool:
        return session is not None and session.get("in") == "yes"

    def _cookie(self, name: str) -> str:
        pairs = (part.strip().partition("=") for part in self.headers.get("Cookie", "").split(";"))
        return next((value for key, _, value in pairs if key == name), "")

    def _new_session(self) -> tuple[tuple[str, str], ...]:
        sid = secrets.token_hex(16)
        SESSIONS[sid] = {}
        return (("Set-Cookie", f"sid={sid}; Path=/; HttpOnly"),)

    def _json(self, status: int, told: object, extra: tuple[tuple[str, str], ...] = ()) -> None:
        self._answer(status, json.dumps(told), "application/json; charset=utf-8", extra=extra)

    def _answer(self, status: int, text: str, kind: str = "text/html; charset=utf-8", *,
                cookies: tuple[tuple[str, str], ...] = (),
                extra: tuple[tuple[str, str], ...] = ()) -> None:  # fmt: skip
        with LOCK:
            ANSWERS[f"{self.command} {urlsplit(self.path).path.split('/')[1]} {status}"] += 1
        body = text.encode()
        head = [f"HTTP/1.1 {status} Any", f"Content-Type: {kind}", f"Content-Length: {len(body)}"]
        head += [f"{name}: {value}" for name, value in (*cookies, *extra)]
        sent = body if self.command != "HEAD" else b""
        self.wfile.write("\r\n".join(head).encode() + b"\r\n\r\n" + sent)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def main() -> None:
    """Serve until standard input ends."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Shop)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_address[1], flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
