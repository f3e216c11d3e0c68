"""One line of an access log: whatever stands before it, and whether its time can be read."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sizebook.traffic.fields import number_of, text_of

_MONTHS = {
    name: number
    for number, name in enumerate(
        ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"), 1
    )
}
_COMMON = re.compile(
    r"(?P<client>[^\s\"\[|]{1,255}) \S{1,255} (?P<user>[^\[\]]{1,255}?) "
    r"\[(?P<time>\d{1,2}/[A-Z][a-z]{2}/\d{4}:\d\d:\d\d:\d\d(?:\.\d{1,9})? [+-]\d{4})\] "
    r"\"(?P<request>(?:[^\"\\]|\\.)*)\" (?P<status>\d{3}) (?:\d+|-)(?P<rest>.*)"
)
"""Common and Combined Log Format, of Apache (``%h %l %u %t "%r" %>s %b``) and nginx; what
stands before the client is a prefix: of syslog, of a container, of a virtual host."""
_REQUEST_TIME = re.compile(r"(?:^|[\s\"])(?:rt|request_time)=\"?(\d+\.\d+)|\s(\d+\.\d{3})\"?\s*$")
_QUOTED = re.compile(r"\"(?:[^\"\\]|\\.)*\"")
_NGINX_ESCAPE = re.compile(r"\\x([0-9A-Fa-f]{2})|\\([\"\\])")
_WRAPPED = (
    "log", "message", "MESSAGE", "msg", "@fields", "@nginx_fields", "http", "nginx", "request",
)  # fmt: skip
"""Fields in which collectors put the line itself, or servers, as Caddy, a part of it."""
_BEGUN = "StartUTC"
"""Traefik's field for the time at which a request came."""
_TIMES = (
    _BEGUN, "msec", "time_iso8601", "@timestamp", "timestamp", "time_local", "time", "ts", "date",
)  # fmt: skip
_METHODS = ("request_method", "method", "verb", "RequestMethod")
_PATHS = ("request_uri", "path", "uri", "url", "request_path", "RequestPath")
_STATUSES = ("status", "status_code", "DownstreamStatus", "OriginStatus")
_LENGTHS = ("request_time", "reqtime", "duration_s", "request_duration", "duration")
_FULL_TIME = re.compile(r"(.*\.\d{6})\d+(.*)")
_LEAST_DATE_S = 3e8
_DEEPEST = 3


class LogLine(NamedTuple):
    """What a line of a log tells."""

    time_s: float
    """Seconds since 1970, of what the server wrote."""
    length_s: float | None
    """How long the request took; None if the line does not tell."""
    whole_seconds: bool
    """Whether the time has no fraction."""
    method: str
    target: str
    status: int
    is_of_end: bool | None
    """Whether the time is that of the answer; None if that is not known."""


def parse_line(line: str) -> LogLine | str:
    """Return what a line tells, or why it does not."""
    begin = line.find("{")
    if begin >= 0 and line.rstrip().endswith("}"):
        try:
            entry = json.loads(line[begin:])
        except (ValueError, RecursionError):
            entry = None
        if isinstance(entry, dict):
            return parse_entry(entry)
    found = _COMMON.search(line)
    if found is None:
        return "lines in no known format"
    time_s = _local_time(found["time"])
    if time_s is None:
        return "lines without a time that can be read"
    request = _split_request(_unescaped(found["request"]))
    if request is None:
        return "requests that are no HTTP"
    rest = _QUOTED.sub('""', found["rest"])
    told = _REQUEST_TIME.search(rest) or _REQUEST_TIME.search(found["rest"])
    length_s = float(told[1] or told[2]) if told else None
    # nginx alone has request times so; what it writes is the time of the answer.
    ended = True if told else None
    whole = "." not in found["time"]
    return LogLine(time_s, length_s, whole, *request, int(found["status"]), ended)


def parse_entry(entry: Mapping[str, Any], depth: int = 0) -> LogLine | str:
    """Return what an object of JSON lines tells, or why it does not."""
    time_s, whole = _first_time(entry)
    request = text_of(entry, "request")
    method, target = _first(entry, _METHODS), _first(entry, _PATHS)
    status = int(number_of({"s": _first(entry, _STATUSES)}, "s"))
    parts = (method, target) if method and target else _split_request(request)
    if parts is None or not 100 <= status <= 599:
        return _wrapped(entry, depth)
    if time_s is None:
        return "lines without a time that can be read"
    split = _split_request(f"{parts[0]} {parts[1]} HTTP/1.1")
    if split is None:
        return "requests that are no HTTP"
    length = _first(entry, _LENGTHS)
    length_s = number_of({"s": length}, "s", -1.0)
    is_of_end = not text_of(entry, _BEGUN)
    return LogLine(time_s, length_s if length_s >= 0 else None, whole, *split, status, is_of_end)


def _wrapped(entry: Mapping[str, Any], depth: int) -> LogLine | str:
    """Return what lies within an entry of a collector, such as Docker's ``log``."""
    for name in _WRAPPED:
        inner = entry.get(name)
        if isinstance(inner, str) and inner.strip() and depth < _DEEPEST:
            if inner.lstrip().startswith("{"):
                try:
                    inner = json.loads(inner)
                except (ValueError, RecursionError):
                    continue
            else:
                return parse_line(inner) if "{" not in inner else "lines in no known format"
        if isinstance(inner, dict) and depth < _DEEPEST:
            outer = {key: value for key, value in entry.items() if key != name}
            found = parse_entry({**outer, **inner}, depth + 1)
            if not isinstance(found, str):
                return found
    return "lines in no known format"


def _first(entry: Mapping[str, Any], names: tuple[str, ...]) -> str:
    found = (text_of(entry, name).strip() for name in names)
    return next((text for text in found if text and text != "-"), "")


def _first_time(entry: Mapping[str, Any]) -> tuple[float | None, bool]:
    """Return the time and whether it is in whole seconds."""
    for name in _TIMES:
        text = text_of(entry, name).strip()
        if not text or text == "-":
            continue
        number = number_of({"t": text}, "t")
        if number > _LEAST_DATE_S:
            while number > 1e11:  # milliseconds, microseconds
                number /= 1e3
            return number, "." not in text
        found = _local_time(text) or _iso_time(text)
        if found is not None:
            return found, "." not in text
    return None, True


def _iso_time(text: str) -> float | None:
    """Return the time of ``2026-11-03T10:00:01+01:00``; UTC where no zone is named."""
    try:
        at = datetime.fromisoformat(_FULL_TIME.sub(r"\1\2", text))
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def _local_time(text: str) -> float | None:
    """Return the time of ``10/Oct/2000:13:55:36 -0700``; ``strptime`` is slow and has locales."""
    try:
        day, month, rest = text.split("/", 2)
        year, hour, minute, second = rest[:20].split(" ")[0].split(":")[:4]
        zone = text.rpartition(" ")[2]
        sign = -1 if zone[0] == "-" else 1
        offset_s = sign * (int(zone[1:3]) * 3600 + int(zone[3:5]) * 60)
        whole = datetime(int(year), _MONTHS[month], int(day), int(hour), int(minute))
        since = (whole - datetime(1970, 1, 1)).total_seconds()
        return since + float(second) - offset_s
    except (ValueError, KeyError, IndexError):
        return None


def _unescaped(text: str) -> str:
    """Return what nginx (``\\x22``) and Apache (``\\"``) have escaped."""
    if "\\" not in text:
        return text
    return _NGINX_ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else m[2], text)


def _split_request(text: str) -> tuple[str, str] | None:
    method, _, rest = text.strip().partition(" ")
    target = rest.rpartition(" HTTP/")[0] or rest
    if not method.isalpha() or not method.isupper() or len(method) > 20 or not target:
        return None
    return method, target
