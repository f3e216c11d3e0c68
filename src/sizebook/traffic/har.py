"""HAR 1.2 as browsers and proxies write it: one visitor's session.

Fields beyond HAR 1.2 are those of Chrome (``_initiator``, ``_resourceType``, ``_fromCache``,
``_webSocketMessages``, ``_error``), of Firefox (``_securityState``), and of proxies, which mark
bodies in base64 by ``encoding``. Since Chrome 130 an export has no cookies and no Authorization
unless sensitive data are asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from typing import Any

from sizebook.traffic.fields import (
    header_of,
    map_of,
    maps_of,
    number_of,
    pairs_of,
    text_of,
    unpack_base64,
)
from sizebook.traffic.forms import MULTIPART, FormPart, encode_form, encode_parts
from sizebook.traffic.recordings import (
    MOST_STEPS,
    Omissions,
    Pairs,
    RecordedAnswer,
    RecordedRequest,
    Recording,
    split_url,
)

LEAST_PAUSE_S = 0.1
"""A shorter gap between two requests is the browser's own work, not somebody's thinking."""
LONGEST_PAUSE_S = 600.0
_FULL_TIME = re.compile(r"(.*\.\d{6})\d+(.*)")
_HEADER_LINES = re.compile(r"(?:Content-[A-Za-z]+: [^\r\n]*\r?\n)+\r?\n", re.IGNORECASE)
"""What Firefox once put before the body in ``postData.text``."""
_COOKIE_LINE = re.compile(r"[^;,\s=]+=[^;]*")


def is_har(document: Mapping[str, Any]) -> bool:
    """Return whether a JSON document is a HAR."""
    return isinstance(map_of(document, "log").get("entries"), list)


def parse_har(document: Mapping[str, Any]) -> Recording:
    """Return the requests of a HAR in the order of their begins."""
    log = map_of(document, "log")
    creator = map_of(log, "browser") or map_of(log, "creator")
    recorder = text_of(creator, "name", "a recorder").replace(
        "WebInspector", "Chrome, WebInspector"
    )
    entries = maps_of(log, "entries")
    omissions, requests = Omissions(), []
    if lost := len(log["entries"]) - len(entries):
        omissions.add("entries that are no objects", "they cannot be read", lost)
    for number, entry in enumerate(entries, 1):
        request = _request(entry, f"entry {number}", omissions)
        if request is not None:
            requests.append(request)
    requests.sort(key=lambda one: one.begin_s)
    if len(requests) > MOST_STEPS:
        omissions.add(
            "later requests", f"a session has at most {MOST_STEPS:,}", len(requests) - MOST_STEPS
        )
        requests = requests[:MOST_STEPS]
    notes = ["a user sends one request at a time; a browser sends up to six at once"]
    if requests and not any(header_of(one.headers, "cookie") or (one.answer and one.answer.cookies)
                            for one in requests):  # fmt: skip
        notes.append(
            "no cookies in the file: Chrome leaves them out unless sensitive data are exported"
        )
    form = f"HAR of {recorder} {text_of(creator, 'version')}".strip()
    return Recording(form, "session", tuple(_with_pauses(requests)), omissions.all(), tuple(notes))


def _request(entry: Mapping[str, Any], place: str, omissions: Omissions) -> RecordedRequest | None:
    given, answer = map_of(entry, "request"), map_of(entry, "response")
    url, method = text_of(given, "url"), text_of(given, "method").upper()
    target = split_url(url)
    begin_s = _seconds(text_of(entry, "startedDateTime"))
    status = int(number_of(answer, "status"))
    scheme = url.partition(":")[0][:20].lower()
    why = ""
    if text_of(entry, "_resourceType") == "websocket" or scheme in ("ws", "wss"):
        why = "WebSocket cannot be replayed"
    elif target is None:
        why = f"a URL of scheme {scheme!r} asks no server"
    elif begin_s is None:
        why = "its time cannot be read"
    elif text_of(entry, "_fromCache") or map_of(map_of(entry, "cache"), "beforeRequest"):
        why = "the browser took it from its cache"
    elif status == 0 or text_of(answer, "_error") == "net::ERR_ABORTED":
        why = "it was cancelled or blocked, or got no answer"
    if why or target is None or begin_s is None:
        omissions.add(f"{method} {url.partition('?')[0][:120] or place}", why)
        return None
    headers, body = _sent(given, place, omissions)
    return RecordedRequest(
        method=method,
        path=target[1],
        origin=target[0],
        place=place,
        headers=headers,
        body=body,
        answer=_answer(answer, status),
        status=status,
        begin_s=begin_s,
        length_s=min(max(0.0, number_of(entry, "time")), 1e9) / 1e3,
        group=text_of(entry, "pageref"),
    )


def _sent(given: Mapping[str, Any], place: str, omissions: Omissions) -> tuple[Pairs, str | bytes]:
    """Return headers and body: as text, as fields, as both (the text counts), as base64."""
    headers = pairs_of(given, "headers")
    if not header_of(headers, "cookie") and (cookies := pairs_of(given, "cookies")):
        headers += (("Cookie", "; ".join(f"{name}={value}" for name, value in cookies)),)
    data = map_of(given, "postData")
    if not data:
        return headers, ""
    text, kind = text_of(data, "text"), text_of(data, "mimeType")
    if kind and not header_of(headers, "content-type"):
        headers += (("Content-Type", kind),)
    if text:
        if "base64" in (text_of(data, "encoding"), text_of(data, "_encoding")):
            packed = unpack_base64(text)
            if packed is None:
                omissions.add(f"the body of {place}", "it is no base64, though it says so")
            return headers, _readable(packed or b"")
        return headers, _HEADER_LINES.sub("", text, count=1) if _HEADER_LINES.match(text) else text
    params = maps_of(data, "params")
    if "multipart/" in kind:
        return _in_parts(headers, params, place, omissions)
    return headers, encode_form((text_of(e, "name"), text_of(e, "value")) for e in params)


def _in_parts(
    headers: Pairs, params: list[Mapping[str, Any]], place: str, omissions: Omissions
) -> tuple[Pairs, str]:
    parts = []
    for each in params:
        part = FormPart(text_of(each, "name"), text_of(each, "value"),
                        text_of(each, "fileName"), text_of(each, "contentType"))  # fmt: skip
        if part.file_name and not part.value:
            omissions.add(
                f"content of file {part.file_name} in {place}", "the recorder left it out"
            )
        parts.append(part)
    rest = tuple(pair for pair in headers if pair[0].lower() != "content-type")
    return (*rest, ("Content-Type", MULTIPART)), encode_parts(parts)


def _answer(answer: Mapping[str, Any], status: int) -> RecordedAnswer:
    content, headers = map_of(answer, "content"), pairs_of(answer, "headers")
    text = text_of(content, "text")
    if text_of(content, "encoding") == "base64":
        text = (unpack_base64(text) or b"").decode("utf-8", "replace")
    cookies = pairs_of(answer, "cookies")
    if not cookies:
        # Firefox and some proxies put several into one header, one a line.
        lines = [line for n, v in headers if n.lower() == "set-cookie" for line in v.splitlines()]
        found = (_COOKIE_LINE.match(line.strip()) for line in lines)
        cookies = tuple((m[0].partition("=")[0], m[0].partition("=")[2]) for m in found if m)
    kind = header_of(headers, "content-type") or text_of(content, "mimeType")
    location = text_of(answer, "redirectURL") or header_of(headers, "location")
    return RecordedAnswer(status, kind.lower(), text, cookies, location)


def _with_pauses(requests: list[RecordedRequest]) -> list[RecordedRequest]:
    """Return the requests with the time that the visitor let go by before each."""
    found, over_s = [], requests[0].begin_s if requests else 0.0
    for one in requests:
        gap_s = one.begin_s - over_s
        pause_s = min(gap_s, LONGEST_PAUSE_S) if gap_s >= LEAST_PAUSE_S else 0.0
        found.append(replace(one, pause_s=pause_s))
        over_s = max(over_s, one.begin_s + one.length_s)
    return found


def _seconds(text: str) -> float | None:
    try:
        return datetime.fromisoformat(_FULL_TIME.sub(r"\1\2", text)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _readable(data: bytes) -> str | bytes:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data
