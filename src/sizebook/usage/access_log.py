"""The times and endpoints of an access log: Common or Combined Log Format, or a JSON object a line.

A line counts in the minute in which the server wrote it. Nothing else of it is kept: no address, no
user, no query.
"""

from __future__ import annotations

import gzip
import json
import math
import os
import re
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, BinaryIO, cast

from sizebook.model.errors import UsageError
from sizebook.store.plain_files import need_plain, open_plain
from sizebook.usage.rates import HOUR_S, ObservedRates

MINUTE_S = 60
_LONGEST_LINE = 1 << 20
_MOST_HOURS = 24 * 366 * 5
_MOST_ENDPOINTS = 10_000
_LATEST_S = 253402300800
"""The year 10000, which no log is from and no calendar of Python knows."""
_LINE = re.compile(
    rb'\[(\d\d/[A-Za-z]{3}/\d{4}:\d\d:\d\d:\d\d [+-]\d{4})\](?: "(?:[A-Z]+ )?([^ "?]*))?'
)
"""``[10/Oct/2000:13:55:36 -0700] "GET /apache_pb.gif HTTP/1.0"``"""
_TIME = "%d/%b/%Y:%H:%M:%S %z"
_TIME_KEYS = ("time", "timestamp", "@timestamp", "ts", "time_iso8601", "time_local", "msec",
              "StartUTC")  # fmt: skip
_PATH_KEYS = ("path", "uri", "request_uri", "url", "RequestPath", "request")
_NUMBER = re.compile(r"/(?:\d+|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})(?=/|$)")
"""A part of a path that names one of many things."""


def read_access_log(path: Path) -> ObservedRates:
    """Return the requests a second of each minute from the first line to the last.

    A log may be packed by gzip. Raises UsageError for one in which no line has a time, or whose
    lines are years apart.
    """
    need_plain(path, "an access log")
    minutes: Counter[int] = Counter()
    endpoints: Counter[str] = Counter()
    left_out = 0
    for line in _lines(path):
        found = _read_line(line)
        if found is None:
            left_out += bool(line.strip())
            continue
        at, endpoint = found
        minutes[int(at // MINUTE_S)] += 1
        if endpoint and (endpoint in endpoints or len(endpoints) < _MOST_ENDPOINTS):
            endpoints[endpoint] += 1
    if not minutes:
        raise UsageError(
            found=f"{path}, in which no line has a time",
            expected="an access log in Common or Combined format, or with a JSON object a line",
            next_step="name another file",
        )
    first, last = min(minutes), max(minutes)
    if (last - first) * MINUTE_S > _MOST_HOURS * HOUR_S:
        raise UsageError(
            found=f"{path}, whose lines are more than five years apart",
            expected="a log of weeks or months",
            next_step="cut it, or correct the clock of its first lines",
        )
    total = endpoints.total()
    return ObservedRates(
        source=f"{path.name}: {minutes.total():,} requests",
        per_s={
            float(minute * MINUTE_S): minutes[minute] / MINUTE_S
            for minute in range(first, last + 1)
        },
        resolution_s=MINUTE_S,
        mix={name: count / total for name, count in endpoints.most_common()},
        left_out=left_out,
    )


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with _opened(path) as source:
            while line := source.readline(_LONGEST_LINE):
                yield line
    except (OSError, EOFError, zlib.error) as error:
        raise UsageError(
            found=f"{path}: {error}", expected="a log that can be read", next_step="correct it"
        ) from error


@contextmanager
def _opened(path: Path) -> Iterator[BinaryIO]:
    with os.fdopen(open_plain(path, follow=True), "rb") as source:
        packed = source.read(2) == b"\x1f\x8b"
        source.seek(0)
        yield cast("BinaryIO", gzip.GzipFile(fileobj=source)) if packed else source


def _read_line(line: bytes) -> tuple[float, str] | None:
    """Return the seconds since 1970 and the endpoint of a line; None if it has no time."""
    if line.lstrip().startswith(b"{"):
        return _read_object(line)
    found = _LINE.search(line)
    if found is None:
        return None
    at = _seconds(found[1].decode())
    return None if at is None else (at, _endpoint((found[2] or b"").decode(errors="replace")))


def _read_object(line: bytes) -> tuple[float, str] | None:
    try:
        told = json.loads(line)
    except (ValueError, RecursionError):
        return None
    at = next((at for key in _TIME_KEYS if (at := _seconds(told.get(key))) is not None), None)
    return None if at is None else (at, _endpoint(_path_of(told)))


def _path_of(told: dict[str, Any]) -> str:
    for key in _PATH_KEYS:
        value = told.get(key)
        if isinstance(value, dict):  # Caddy: {"request": {"uri": "/x"}}
            value = value.get("uri") or value.get("path")
        if isinstance(value, str) and value:
            words = value.split(" ")
            return words[1] if len(words) > 1 else words[0]
    return ""


def _seconds(value: Any) -> float | None:
    """Return the seconds since 1970 that a log's time means; None if it means none."""
    at: float | None = None
    if isinstance(value, int | float) and not isinstance(value, bool):
        at = float(value) if abs(value) < 1e15 else None
        at = at / 1e3 if at is not None and at > 1e11 else at  # that would be the year 5138
    elif isinstance(value, str):
        at = _seconds_of_text(value)
    return at if at is not None and math.isfinite(at) and 0 < at < _LATEST_S else None


def _seconds_of_text(text: str) -> float | None:
    """Return a number, a time as in Common Log Format, or one by ISO 8601; UTC without a zone."""
    try:
        return float(text)
    except ValueError:
        pass
    try:
        if text[2:3] == "/":
            return datetime.strptime(text, _TIME).timestamp()
        at = datetime.fromisoformat(text)
        return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _endpoint(target: str) -> str:
    """Return a path without its query, with ``*`` for numbers and UUIDs."""
    path = re.sub(r"^[a-z]+://[^/]*", "", target.partition("?")[0])
    return _NUMBER.sub("/*", path)
