"""How often the endpoints of an access log were asked for, minute by minute.

A line that tells a request counts in the minute in which the server wrote it. Nothing else of it is
kept: no address, no user, no query.
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from sizebook.model.errors import UsageError
from sizebook.store.plain_files import need_plain, open_plain
from sizebook.traffic.endpoints import name_path
from sizebook.traffic.log_lines import parse_line
from sizebook.traffic.recordings import split_url
from sizebook.usage.rates import HOUR_S, ObservedRates

MINUTE_S = 60
_LONGEST_LINE = 1 << 20
_MOST_HOURS = 24 * 366 * 5
_MOST_ENDPOINTS = 10_000
_LATEST_S = 253402300800
"""The year 10000, which no log is from and no calendar of Python knows."""


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
        found = parse_line(line.decode(errors="replace"))
        if isinstance(found, str) or not 0 < found.time_s < _LATEST_S:
            left_out += bool(line.strip())
            continue
        minutes[int(found.time_s // MINUTE_S)] += 1
        endpoint = _endpoint(found.target)
        if endpoint in endpoints or len(endpoints) < _MOST_ENDPOINTS:
            endpoints[endpoint] += 1
    if not minutes:
        raise UsageError(
            found=f"{path}, in which no line tells a request and its time",
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


def _endpoint(target: str) -> str:
    """Return the name of an endpoint: a path without host and query, ids named as such."""
    url = split_url(target)
    return name_path(target if url is None else url[1])
