"""A CSV of requests, as somebody writes it by hand or a query gives it.

A column ``path`` or ``url`` is needed; ``method``, ``weight`` (or ``count``), ``name``, ``status``,
``content_type``, ``headers`` (``Name: value``, one a line), ``body`` and ``contains`` are taken if
they are there. With a column ``time`` (seconds, or a date) the requests come when it says.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from sizebook.traffic.fields import number_of
from sizebook.traffic.recordings import (
    MOST_REQUESTS,
    Omissions,
    RecordedAnswer,
    RecordedRequest,
    Recording,
    split_url,
)
from sizebook.traffic.refusals import refused

PATHS, WEIGHTS = ("path", "url", "uri", "request"), ("weight", "count", "requests", "hits")
TIMES = ("time", "timestamp", "at_s", "date")
KNOWN = (*PATHS, *WEIGHTS, *TIMES, "method", "name", "status", "content_type", "headers", "body",
         "contains", "answer_type")  # fmt: skip
DELIMITERS = ",;\t|"
MOST_FIELD = 1 << 24


def is_table(head: str) -> bool:
    """Return whether a text begins with a header that names a path or a URL."""
    return bool(set(PATHS) & set(_columns(head.partition("\n")[0])))


def parse_table(text: str, name: str) -> Recording:
    """Return the requests of a CSV file."""
    first = text.partition("\n")[0]
    csv.field_size_limit(MOST_FIELD)
    rows = csv.DictReader(io.StringIO(text), delimiter=_delimiter(first))
    rows.fieldnames = _columns(first)
    omissions, requests = Omissions(), []
    try:
        next(rows, None)  # the header itself
        for number, row in enumerate(rows, 2):
            if number > MOST_REQUESTS:
                omissions.add("later rows", f"there are more than {MOST_REQUESTS:,}")
                break
            request = _request(
                {k: v or "" for k, v in row.items() if isinstance(k, str)}, number, omissions
            )
            if request is not None:
                requests.append(request)
    except csv.Error as error:
        raise refused(name, f"a CSV that cannot be read ({error})", "correct it") from error
    unknown = [each for each in _columns(first) if each and each not in KNOWN]
    for each in unknown:
        omissions.add(f"column {each[:60]}", "it is none of " + ", ".join(KNOWN))
    has_times = bool(set(TIMES) & set(_columns(first)))
    if has_times:
        requests.sort(key=lambda one: one.begin_s)
        begin_s = requests[0].begin_s if requests else 0.0
        requests = [replace(one, begin_s=one.begin_s - begin_s) for one in requests]
    return Recording("CSV", "log" if has_times else "mix", tuple(requests), omissions.all())


def _request(row: Mapping[str, str], number: int, omissions: Omissions) -> RecordedRequest | None:
    given = _first(row, PATHS)
    method = (row.get("method") or "").strip().upper() or "GET"
    if " " in given and given.split(" ")[0].isupper():  # "GET /path HTTP/1.1"
        method, given = given.split(" ")[:2]
    url = split_url(given)
    origin, path = url if url is not None else ("", given)
    time, weight = _first(row, TIMES), _first(row, WEIGHTS)
    time_s = _seconds(time) if time else 0.0
    why = ""
    if not path.startswith("/"):
        why = "its path does not begin with /"
    elif time_s is None:
        why = "its time cannot be read"
    elif not method.isalpha() or len(method) > 20:
        why = "its method is none"
    if why or time_s is None:
        omissions.add(f"row {number}", why)
        return None
    lines = (line.partition(":") for line in row.get("headers", "").splitlines() if ":" in line)
    headers = tuple((key.strip(), value.strip()) for key, _, value in lines)
    if row.get("content_type"):
        headers += (("Content-Type", row["content_type"].strip()),)
    status = int(number_of(row, "status", 200)) or 200
    return RecordedRequest(
        method=method,
        path=path,
        origin=origin,
        place=f"row {number}",
        name=row.get("name", "").strip(),
        headers=headers,
        body=row.get("body", ""),
        status=status if 100 <= status <= 599 else 200,
        contains=row.get("contains", ""),
        answer=RecordedAnswer(status, row.get("answer_type", "")),
        begin_s=time_s,
        weight=max(0.0, number_of({"w": weight}, "w", 1.0)),
    )


def _columns(line: str) -> list[str]:
    try:
        row = next(csv.reader([line.strip()], delimiter=_delimiter(line)), [])
    except csv.Error:
        return []
    return [name.strip().strip('"').lower() for name in row]


def _delimiter(line: str) -> str:
    return max(DELIMITERS, key=line.count)


def _first(row: Mapping[str, str], names: tuple[str, ...]) -> str:
    return next((row[name].strip() for name in names if row.get(name, "").strip()), "")


def _seconds(text: str) -> float | None:
    number = number_of({"t": text}, "t", -1.0)
    if number >= 0:
        return number / 1e3 if number > 1e11 else number
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
