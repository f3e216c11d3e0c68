"""Locust's CSV: ``_stats.csv`` with a row a name, and ``_stats_history.csv`` with a row a second.

The columns are those of Locust 2 (``stats.StatsCSV``). Percentiles come from response times that
Locust rounds to two digits from 100 ms on, and to whole milliseconds below. The history has totals
since the start; of neighbouring rows the differences are taken, so that each second stands alone.
"""

from __future__ import annotations

import csv
import io
import re
from pathlib import Path

import numpy as np

from sizebook.judge.pieces import read_document
from sizebook.judge.refusals import refused
from sizebook.judge.results import (
    MS_NS,
    SECOND_NS,
    ForeignResults,
    StepCourse,
    Totals,
    TotalsRow,
)

_CLOSED = "Locust's users wait for each answer; with pacing they fall behind when answers are slow"
_PERCENT = re.compile(r"(\d{1,2}(?:\.\d{1,6})?)%")
_WHOLE = "Aggregated"
_STATS, _HISTORY = b"Type,Name,Request Count,Failure Count", b"Timestamp,User Count,Type,Name"
_NEED = {"Total Request Count", "Total Failure Count", "Total Average Response Time"}


def is_stats(head: bytes) -> bool:
    """Return whether a file begins like ``_stats.csv``."""
    return head.replace(b'"', b"").startswith(_STATS)


def is_history(head: bytes) -> bool:
    """Return whether a file begins like ``_stats_history.csv``."""
    return head.replace(b'"', b"").startswith(_HISTORY)


def read_stats(path: Path) -> ForeignResults:
    """Return the totals of ``_stats.csv``."""
    rows, left_out, cut = _rows(path)
    found = [row for each in rows if (row := _row(each))]
    whole = next((row for row in found if row.name == _WHOLE), None)
    parts = tuple(row for row in found if row.name != _WHOLE)
    if whole is None:
        if len(parts) != 1:
            raise refused(path, "Locust's table without the row Aggregated", "name the whole file")
        whole = parts[0]
    length_s = whole.requests / whole.rate_per_s if whole.rate_per_s else None
    return ForeignResults(
        path, "Locust", "_stats.csv", tuple(whole.percentiles_ns),
        totals=Totals(whole, parts if len(parts) > 1 else (), length_s, rates_agree=False),
        loop="closed", loop_reason=_CLOSED, grain_ns=MS_NS, cut=cut,
        left_out=left_out + len(rows) - len(found),
    )  # fmt: skip


def read_history(path: Path) -> ForeignResults:
    """Return the course of ``_stats_history.csv``, and the totals at its end."""
    rows, left_out, cut = _rows(path)
    if rows and not rows[0].keys() >= _NEED:
        raise refused(path, "Locust's history without totals", "name the file of Locust 1 or later")
    whole = [row for row in rows if row.get("Name") == _WHOLE]
    names = {row.get("Name", "") for row in rows} - {_WHOLE}
    table = [
        values
        for row in whole
        if (values := [_float(row.get(key)) for key in (
            "Timestamp", "User Count", "Total Request Count", "Total Failure Count",
            "Total Average Response Time",
        )]) and None not in values
    ]  # fmt: skip
    data = np.array(table, dtype=np.float64).reshape(-1, 5)
    left_out += len(whole) - data.shape[0]
    if data.shape[0] < 3:
        raise refused(path, f"a history of {data.shape[0]} rows", "name the history of a whole run")
    end_s, users, count, failed, mean_ms = data.T
    if np.any(np.diff(count) < 0):
        left_out += int(np.count_nonzero(np.diff(count) < 0))
    steps, sums = np.diff(count), np.diff(count * mean_ms)
    keep = (np.diff(end_s) > 0) & (steps >= 0)
    means = np.divide(sums * MS_NS, steps, out=np.full(steps.size, np.nan), where=steps > 0)
    course = StepCourse(
        end_ns=(end_s[1:][keep] * SECOND_NS).astype(np.int64),
        width_ns=(np.diff(end_s)[keep] * SECOND_NS).astype(np.int64),
        requests=steps[keep],
        mean_ns=np.maximum(means[keep], 0),
        failed=np.maximum(np.diff(failed)[keep], 0),
        users=users[1:][keep],
    )
    if course.requests.size < 2 or course.requests.sum() <= 0:
        raise refused(path, "a history without requests", "name the history of a whole run")
    last = whole[-1]
    bounds = [_float(last.get(f"Total {word} Response Time")) for word in ("Min", "Max")]
    least, most = (None if value is None else value * MS_NS for value in bounds)
    per_window = bool(names)  # percentiles are of the last ten seconds with the full history only
    row = TotalsRow(
        "", int(count[-1]), int(failed[-1]), float(mean_ms[-1]) * MS_NS, least, most,
        {} if per_window else _percentiles(last),
    )  # fmt: skip
    length_s = float(course.width_ns.sum() / SECOND_NS)
    return ForeignResults(
        path, "Locust", "_stats_history.csv", tuple(_percentiles(last)),
        totals=Totals(row, length_s=length_s, users=float(users.max()), rates_agree=False),
        course=course, loop="closed", loop_reason=_CLOSED, grain_ns=MS_NS, cut=cut,
        left_out=left_out, windowed=per_window,
    )  # fmt: skip


def _rows(path: Path) -> tuple[list[dict[str, str]], int, str]:
    """Return rows by column, how many are of another length, and what is missing at the end."""
    data = read_document(path)
    text = data.decode("utf-8", errors="replace")
    try:
        lines = list(csv.reader(io.StringIO(text, newline="")))
    except csv.Error as error:
        raise refused(path, f"a CSV that cannot be read ({error})", "name a whole file") from None
    head, body = lines[0], [line for line in lines[1:] if line]
    good = [dict(zip(head, line, strict=True)) for line in body if len(line) == len(head)]
    cut = "" if data.endswith(b"\n") else "its last line has no end"
    return good, len(body) - len(good), cut


def _row(row: dict[str, str]) -> TotalsRow | None:
    counts = [_float(row.get(f"{word} Count")) for word in ("Request", "Failure")]
    times = [_float(row.get(f"{word} Response Time")) for word in ("Average", "Min", "Max")]
    if None in counts or counts[0] is None or counts[1] is None:
        return None
    mean, least, most = (None if value is None else value * MS_NS for value in times)
    return TotalsRow(
        row.get("Name", ""), int(counts[0]), int(counts[1]), mean, least, most,
        _percentiles(row), _float(row.get("Requests/s")),
    )  # fmt: skip


def _percentiles(row: dict[str, str]) -> dict[float, float]:
    found = {
        float(match[1]): value * MS_NS
        for name, text in row.items()
        if (match := _PERCENT.fullmatch(name)) and (value := _float(text)) is not None
    }
    return dict(sorted(found.items()))


def _float(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if 0 <= value < 1e15 else None
