"""A range query's answer of Prometheus, from a file or from the address that the user gives."""

from __future__ import annotations

import http.client
import itertools
import json
import math
import urllib.error
import urllib.request
from collections import defaultdict
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from sizebook.model.errors import UsageError
from sizebook.store.plain_files import need_plain, read_plain
from sizebook.usage.rates import ObservedRates

MOST_BYTES = 1 << 26
_PATIENCE_S = 30
_RATE = "sum(rate(http_server_requests_seconds_count[1m]))"
_OTHER_FORM = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError)
"""What reading JSON of another form raises."""
_ENDPOINT_LABELS = ("uri", "path", "handler", "route", "endpoint")


def is_address(source: str) -> bool:
    """Return whether a user named an address, not a file."""
    return source.lower().startswith(("http://", "https://"))


def fetch_rates(address: str) -> ObservedRates:
    """Return the rates that Prometheus answers at an address; raises UsageError if it does not."""
    place = urlsplit(address)
    shown = f"{place.scheme}://{place.hostname}{place.path}"  # without password and query
    try:
        with urllib.request.urlopen(address, timeout=_PATIENCE_S) as reply:
            data = reply.read(MOST_BYTES + 1)
    except (OSError, ValueError, http.client.HTTPException) as error:  # URLError is an OSError
        words = f"HTTP {error.code}" if isinstance(error, urllib.error.HTTPError) else str(error)
        raise _refused(f"{shown}: {words}", "ask for it by hand, and name the file") from error
    return parse_rates(data, shown)


def read_rates(path: Path) -> ObservedRates:
    """Return the rates in a file; raises UsageError if it holds none."""
    need_plain(path, "an answer of Prometheus")
    try:
        data = read_plain(path, MOST_BYTES, follow=True)
    except OSError as error:
        raise _refused(f"{path}: {error.strerror}", "make it readable") from error
    return parse_rates(data, path.name)


def parse_rates(data: bytes, source: str) -> ObservedRates:
    """Return the rates of a range query's answer, all its series summed; ``source`` is its name.

    Raises UsageError for anything else: an error that Prometheus answered, another kind of query, a
    counter that nobody made a rate of, more than 64 MiB.
    """
    if len(data) > MOST_BYTES:
        raise _refused(f"{source}: more than 64 MiB", "ask for a shorter time or larger steps")
    try:
        answer = json.loads(data)
        if answer["status"] != "success":
            raise _refused(f"{source}: {str(answer.get('error'))[:200]}", "correct the query")
        kind, series = answer["data"]["resultType"], answer["data"]["result"]
        if kind != "matrix":
            raise _refused(f"{source}: a {str(kind)[:40]}", "ask /api/v1/query_range, not query")
        return _sum(series, source)
    except _OTHER_FORM as error:
        raise _refused(f"{source}, which is no such answer", "save the whole answer") from error


def _sum(series: Any, source: str) -> ObservedRates:
    per_s: defaultdict[float, float] = defaultdict(float)
    endpoints: defaultdict[str, float] = defaultdict(float)
    left_out = 0
    for each in series:
        metric = each["metric"]
        if metric.get("__name__"):
            name = str(metric["__name__"])[:80]
            raise _refused(
                f"{source}: {name}, a series as it is", f"ask for a rate: rate({name}[1m])"
            )
        endpoint = next((str(metric[k]) for k in _ENDPOINT_LABELS if metric.get(k)), "")
        for at, text in each["values"]:
            rate, time_s = float(text), float(at)
            if not (math.isfinite(rate) and rate >= 0 and 0 <= time_s < 253402300800):
                left_out += 1
                continue
            per_s[time_s] += rate
            endpoints[endpoint] += rate
    times = sorted(per_s)
    if not times:
        raise _refused(f"{source}: no value", "correct the query, or its times")
    total = sum(endpoints.values())
    steps = [after - before for before, after in itertools.pairwise(times)]
    order = sorted(endpoints, key=lambda name: -endpoints[name])
    named = total > 0 and set(endpoints) != {""}
    return ObservedRates(
        source=f"{source}: {len(series)} series, {len(times):,} times",
        per_s={at: per_s[at] for at in times},
        resolution_s=min(steps, default=0.0),
        mix={name or "(none)": endpoints[name] / total for name in order} if named else {},
        left_out=left_out,
    )


def _refused(found: str, next_step: str) -> UsageError:
    return UsageError(
        found=found,
        expected=f"the answer to a range query of a rate, such as {_RATE}",
        next_step=next_step,
    )
