"""A visit to the shop, recorded in the form in which Chrome or Firefox exports it."""

from __future__ import annotations

import base64
import http.client
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

PNG = (
    b'--part\r\nContent-Disposition: form-data; name="f"; filename="a.png"\r\n\r\n'
    b"\x89PNG\x00\xff\r\n--part--\r\n"
)
SECRETS = ("jane.doe@mail.test", "correct horse battery", "4012888888881881")
_BEGIN = datetime(2026, 3, 2, 9, 30, 0, 250_000, tzinfo=UTC)


class Browser:
    """Asks a server as a browser does, and keeps what it would export."""

    def __init__(self, port: int) -> None:
        self.port, self.origin = port, f"http://127.0.0.1:{port}"
        self.seen: list[dict[str, Any]] = []
        self._connection = http.client.HTTPConnection("127.0.0.1", port)
        self._cookies: dict[str, str] = {}
        self._at = _BEGIN
        self.page = "page_1"

    def think(self, seconds: float) -> None:
        """Let the visitor's clock go on."""
        self._at += timedelta(seconds=seconds)

    def ask(self, method: str, path: str, body: bytes = b"", **headers: str) -> str:
        """Send a request; return the text of the answer."""
        sent = {
            "Host": f"127.0.0.1:{self.port}",
            "Connection": "keep-alive",
            "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
            "Chrome/131.0.0.0 Safari/537.36",
            "Accept": "*/*",
            "Accept-Encoding": "gzip, deflate, br, zstd",
            "Accept-Language": "en-GB,en;q=0.9",
            "Referer": f"{self.origin}/",
            "sec-ch-ua": '"Chromium";v="131", "Not_A Brand";v="24"',
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        if self._cookies:
            sent["Cookie"] = "; ".join(f"{name}={value}" for name, value in self._cookies.items())
        if body:
            sent["Content-Length"] = str(len(body))
        self._connection.request(method, path, body or None, sent)
        answer = self._connection.getresponse()
        data, got = answer.read(), answer.getheaders()
        cookies = [
            value.partition(";")[0].partition("=") for name, value in got if name == "Set-Cookie"
        ]
        self._cookies |= {name: value for name, _, value in cookies}
        self.seen.append({
            "at": self._at, "page": self.page, "method": method, "path": path, "body": body,
            "sent": sent, "status": answer.status, "got": got, "data": data,
            "cookies": [(name, value) for name, _, value in cookies],
        })  # fmt: skip
        self._at += timedelta(milliseconds=20)
        return data.decode("utf-8", "replace")


def visit(port: int) -> Browser:
    """Do a whole visit: page, login, items, cart, upload."""
    browser = Browser(port)
    browser.ask("GET", "/")
    browser.ask("GET", "/static/app.3f2a9c1b.js", If_None_Match='"abc"', Sec_Fetch_Mode="no-cors")
    browser.think(2.5)
    browser.page = "page_2"
    login = browser.ask("GET", "/login")
    token = re.search(r'value="(\w+)"', login)
    assert token
    browser.think(4.0)
    form = {"csrf_token": token[1], "username": SECRETS[0], "password": SECRETS[1]}
    browser.ask("POST", "/login", urlencode(form).encode(), Origin=browser.origin,
                Content_Type="application/x-www-form-urlencoded")  # fmt: skip
    browser.ask("GET", "/account")
    browser.page = "page_3"
    browser.think(1.5)
    items = json.loads(browser.ask("GET", "/api/items?page=1"))
    order = {
        "itemId": items["items"][0]["id"],
        "quantity": 2,
        "card": SECRETS[2],
        "note": 'a "gift"',
    }
    browser.think(3.0)
    browser.ask("POST", "/api/cart", json.dumps(order).encode(), Content_Type="application/json",
                X_Cart_Token=items["cartToken"])  # fmt: skip
    place = next(value for name, value in browser.seen[-1]["got"] if name == "Location")
    browser.ask("GET", place)
    browser.ask("POST", "/upload", PNG, Content_Type="multipart/form-data; boundary=part")
    return browser


def chrome_har(
    browser: Browser, post_data: Callable[[dict[str, Any]], dict[str, Any]]
) -> dict[str, Any]:
    """Return a HAR as Chrome's DevTools write it, sensitive data included."""
    entries = []
    for number, one in enumerate(browser.seen):
        request = {
            "method": one["method"],
            "url": browser.origin + one["path"],
            "httpVersion": "http/1.1",
            "headers": _pairs([(":authority", "127.0.0.1"), *one["sent"].items()]),
            "queryString": _pairs(parse_qsl(urlsplit(one["path"]).query)),
            "cookies": [],
            "headersSize": 480,
            "bodySize": len(one["body"]),
        }
        if one["body"]:
            request["postData"] = post_data(one)
        entries.append({
            "_connectionId": "1204",
            "_initiator": {"type": "script", "stack": {"callFrames": []}},
            "_priority": "High",
            "_resourceType": "document" if one["path"] == "/" else "xhr",
            "cache": {},
            "connection": str(browser.port),
            "pageref": one["page"],
            "request": request,
            "response": {
                "status": one["status"], "statusText": "Any", "httpVersion": "http/1.1",
                "headers": _pairs(one["got"]),
                "cookies": [{"name": n, "value": v, "path": "/", "httpOnly": True, "secure": False}
                            for n, v in one["cookies"]],
                "content": _content(one, in_base64=number % 2 == 0),
                "redirectURL": "", "headersSize": 160, "bodySize": len(one["data"]),
                "_transferSize": len(one["data"]) + 160,
                "_error": None, "_fetchedViaServiceWorker": False,
            },
            "serverIPAddress": "127.0.0.1",
            "startedDateTime": one["at"].isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "time": 18.300000002,
            "timings": {"blocked": 1.2, "dns": -1, "ssl": -1, "connect": -1, "send": 0.1,
                        "wait": 16.0, "receive": 1.0, "_blocked_queueing": 0.6},
        })  # fmt: skip
    entries += _unsent(browser)
    times = {"onContentLoad": 30.1, "onLoad": 44.9}
    begun = "2026-03-02T09:30:00.250Z"
    pages = [{"startedDateTime": begun, "id": f"page_{n}", "title": "Shop", "pageTimings": times}
             for n in (1, 2, 3)]  # fmt: skip
    # DevTools write them as they end, not as they begin.
    entries[1], entries[2] = entries[2], entries[1]
    creator = {"name": "WebInspector", "version": "537.36"}
    return {"log": {"version": "1.2", "creator": creator, "pages": pages, "entries": entries}}


def firefox_har(browser: Browser) -> dict[str, Any]:
    """Return a HAR as Firefox writes it: fields beside the text, times with an offset."""
    entries = []
    for one in browser.seen:
        request = {
            "bodySize": len(one["body"]), "method": one["method"],
            "url": browser.origin + one["path"],
            "httpVersion": "HTTP/1.1", "headers": _pairs(one["sent"].items()),
            "cookies": _pairs(part.strip().split("=", 1)
                              for part in one["sent"].get("Cookie", "").split(";") if part),
            "queryString": _pairs(parse_qsl(urlsplit(one["path"]).query)), "headersSize": 500,
        }  # fmt: skip
        if one["body"]:
            request["postData"] = both(one)
        at = one["at"] + timedelta(hours=2)
        entries.append({
            "startedDateTime": at.isoformat(timespec="milliseconds").replace("+00:00", "+02:00"),
            "request": request,
            "response": {
                "status": one["status"], "statusText": "Any", "httpVersion": "HTTP/1.1",
                "headers": _pairs(one["got"]), "cookies": _pairs(one["cookies"]),
                "content": _content(one, in_base64=False), "redirectURL": "",
                "headersSize": 170, "bodySize": len(one["data"]) + 170,
            },
            "cache": {}, "timings": {"blocked": 0, "dns": 0, "connect": 0, "ssl": 0, "send": 0,
                                     "wait": 18, "receive": 0},
            "time": 18, "_securityState": "insecure", "serverIPAddress": "127.0.0.1",
            "connection": str(browser.port), "pageref": one["page"],
        })  # fmt: skip
    about = {"name": "Firefox", "version": "134.0"}
    begun = "2026-03-02T11:30:00.250+02:00"
    pages = [{"id": f"page_{n}", "pageTimings": {"onContentLoad": 41, "onLoad": 52},
              "startedDateTime": begun, "title": "Shop"} for n in (1, 2, 3)]  # fmt: skip
    return {
        "log": {
            "version": "1.2",
            "creator": about,
            "browser": about,
            "pages": pages,
            "entries": entries,
        }
    }


def as_text(one: dict[str, Any]) -> dict[str, Any]:
    """Return a body as text; what is no text as some proxies write it, in base64."""
    kind = one["sent"]["Content-Type"]
    try:
        return {"mimeType": kind, "text": one["body"].decode()}
    except UnicodeDecodeError:
        packed = base64.b64encode(one["body"]).decode()
        return {"mimeType": kind, "text": packed, "encoding": "base64"}


def as_fields(one: dict[str, Any]) -> dict[str, Any]:
    """Return a form as its fields alone, any other body as text."""
    if "urlencoded" not in one["sent"]["Content-Type"]:
        return as_text(one)
    return {
        "mimeType": one["sent"]["Content-Type"],
        "params": _pairs(parse_qsl(one["body"].decode())),
    }


def both(one: dict[str, Any]) -> dict[str, Any]:
    """Return a form as text and as its fields."""
    return (
        {**as_text(one), **as_fields(one)}
        if "urlencoded" in one["sent"]["Content-Type"]
        else as_text(one)
    )


def _content(one: dict[str, Any], *, in_base64: bool) -> dict[str, Any]:
    kind = next((v for n, v in one["got"] if n == "Content-Type"), "x-unknown")
    if in_base64:
        return {"size": len(one["data"]), "mimeType": kind, "encoding": "base64",
                "text": base64.b64encode(one["data"]).decode()}  # fmt: skip
    return {"size": len(one["data"]), "mimeType": kind, "text": one["data"].decode()}


def _unsent(browser: Browser) -> list[dict[str, Any]]:
    """Return what stands in a HAR and must not be sent: another system, a cache, a socket."""
    at = "2026-03-02T09:30:01.000Z"
    empty = {
        "status": 200,
        "headers": [],
        "cookies": [],
        "content": {"size": 0, "mimeType": "text/css"},
    }

    def entry(url: str, **more: Any) -> dict[str, Any]:
        request = {"method": "GET", "url": url, "headers": [], "cookies": [], "queryString": []}
        return {"startedDateTime": at, "time": 1.0, "request": request, "response": empty, **more}

    return [
        entry("https://cdn.example.net/font.css"),
        entry(f"{browser.origin}/static/cached.css", _fromCache="memory"),
        entry("data:image/png;base64,iVBORw0KGgo="),
        entry(f"ws://127.0.0.1:{browser.port}/live", _resourceType="websocket",
              _webSocketMessages=[{"type": "send", "time": 1.0, "opcode": 1, "data": "x"}]),
        entry(f"{browser.origin}/blocked",
              response={"status": 0, "_error": "net::ERR_BLOCKED_BY_CLIENT"}),
    ]  # fmt: skip


def _pairs(given: Any) -> list[dict[str, str]]:
    return [{"name": name, "value": value} for name, value in given]
