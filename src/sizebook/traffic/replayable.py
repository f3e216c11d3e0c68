"""What may be sent again: requests to one system, without what belonged to the recorder's own
connection, cache and cookies."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from urllib.parse import quote

from sizebook.traffic.fields import header_of
from sizebook.traffic.recordings import (
    Omissions,
    Pairs,
    RecordedRequest,
    Recording,
    split_url,
)

TARGET = "{{target}}"
"""Stands for the base URL of the system that is measured."""
_WHY = {
    "host": "the client writes it",
    "content-length": "the client writes it",
    "connection": "it belongs to one connection",
    "keep-alive": "it belongs to one connection",
    "proxy-connection": "it belongs to one connection",
    "proxy-authorization": "it belongs to a proxy",
    "te": "it belongs to one connection",
    "trailer": "it belongs to one connection",
    "transfer-encoding": "it belongs to one connection",
    "upgrade": "it belongs to one connection",
    "http2-settings": "it belongs to one connection",
    "alt-used": "it belongs to one connection",
    "expect": "the client sends bodies at once",
    "if-none-match": "a new visitor has nothing in its cache",
    "if-modified-since": "a new visitor has nothing in its cache",
    "if-range": "a new visitor has nothing in its cache",
    "range": "a new visitor has nothing in its cache",
    "cache-control": "it is about the browser's cache",
    "pragma": "it is about the browser's cache",
    "accept-encoding": "the client unpacks nothing",
    "cookie": "cookies are kept at run time",
}
"""Headers that are not sent again, and why. ``If-Match`` and ``If-Unmodified-Since`` are kept: they
say which version of an object a change is meant for."""
_NOISE = re.compile(r"(?:sec-|priority$|dnt$|upgrade-insecure-requests$|save-data$|x-client-data$)")
"""What browsers tell about themselves."""
_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+\Z")
_PATH = re.compile(r"/[\x21-\x7e]*\Z")
_METHOD = re.compile(r"[A-Z][A-Z-]{0,19}\Z")
_TUNNELS = ("CONNECT", "TRACE")
_SAFE = "/?&=%+:;,@!$'()*~-._{}[]|"
_AS_NEW = {304: 200, 206: 200}
"""What a new visitor gets where the recorded one had a cache, or asked for a range."""


def choose_origin(recording: Recording) -> str:
    """Return the system that was recorded: where the first page came from, else the first request.

    Empty where the file names none.
    """
    known = [one for one in recording.requests if one.origin]
    pages = (one for one in known if one.answer and one.answer.content_type.startswith("text/html"))
    first = next(pages, None) or next(iter(known), None)
    return first.origin if first else ""


def make_replayable(recording: Recording) -> Recording:
    """Return the requests to one system as they can be sent, and what was taken out of them."""
    origin = choose_origin(recording)
    omissions = Omissions(recording.left_out)
    brought: dict[str, str] = {}
    by_server: dict[str, str] = {}
    requests = []
    pause_s = 0.0
    for one in recording.requests:
        pause_s += one.pause_s
        path = quote(one.path.partition("#")[0], safe=_SAFE)
        if _is_omitted(one, path, origin, omissions):
            continue
        if recording.kind == "session":
            for name, value in _cookies(one):
                if name not in by_server and value:
                    brought.setdefault(name, value)
            by_server |= dict(one.answer.cookies if one.answer else ())
        headers = tuple(_kept(one, origin, recording.kind == "session", omissions))
        status = _status(one, omissions)
        requests.append(replace(one, path=path, headers=headers, status=status, pause_s=pause_s))
        pause_s = 0.0
    cookies = tuple((name, value) for name, value in brought.items() if _is_cookie(name, value))
    return recording.having(requests=tuple(requests), left_out=omissions.all(), cookies=cookies)


def _is_omitted(one: RecordedRequest, path: str, origin: str, omissions: Omissions) -> bool:
    if one.origin and _host(one.origin) != _host(origin):
        omissions.add(f"requests to {one.origin}", "it is another system")
    elif not _METHOD.match(one.method) or one.method in _TUNNELS:
        omissions.add(f"{one.method[:20]} {one.path[:80]}", "it is no request to a system")
    elif not _PATH.match(path):
        omissions.add(f"{one.method} {one.path[:80]}", "its path does not begin with /")
    else:
        return False
    return True


def _kept(
    request: RecordedRequest, origin: str, in_session: bool, omissions: Omissions
) -> Iterator[tuple[str, str]]:
    for given, value in request.headers:
        name = given.strip()
        low = name.lower()
        if low.startswith(":"):
            omissions.add(f"header {low}", "it is HTTP/2's way to write the request line")
        elif low in _WHY and (low != "cookie" or in_session):
            omissions.add(f"header {name}", _WHY[low])
        elif _NOISE.match(low):
            omissions.add(f"header {low}", "it is what a browser tells about itself")
        elif not _TOKEN.match(name) or not _is_latin(value):
            omissions.add(f"header {name[:40]!r}", "it cannot be written in HTTP/1.1")
        elif low == "origin":
            if value == request.origin or _host(value) == _host(origin):
                yield name, TARGET
        elif low == "referer":
            split = split_url(value)
            if split is not None and _host(split[0]) == _host(origin):
                yield name, TARGET + quote(split[1], safe=_SAFE)
        else:
            yield name, value.strip()


def _cookies(request: RecordedRequest) -> Pairs:
    given = header_of(request.headers, "cookie")
    pairs = (part.strip().partition("=") for part in given.split(";"))
    return tuple((name.strip(), value.strip()) for name, equals, value in pairs if equals)


def _status(request: RecordedRequest, omissions: Omissions) -> int:
    if request.status >= 500:
        omissions.add(f"status {request.status} of {request.method} {request.path[:80]}",
                      "no good answer: 200 is expected")  # fmt: skip
        return 200
    return _AS_NEW.get(request.status, request.status)


def _host(origin: str) -> str:
    """Return an origin without its scheme: what went from http to https is one system."""
    return origin.partition("://")[2].lower()


def _is_latin(value: str) -> bool:
    return all(" " <= letter <= "\xff" and letter != "\x7f" for letter in value)


def _is_cookie(name: str, value: str) -> bool:
    return bool(_TOKEN.match(name)) and value.isascii() and value.isprintable() and ";" not in value
