"""JSON reports of oha and vegeta, and vegeta's results one a line.

Fields are those of oha 1.14 (``printer.rs``, seconds) and vegeta 12 (``lib/metrics.go`` and
``lib/results_easyjson.go``, nanoseconds).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl

from sizebook.judge.pieces import read_json_lines, read_tail
from sizebook.judge.refusals import refused
from sizebook.judge.results import SECOND_NS, ForeignResults, Totals, TotalsRow
from sizebook.judge.tables import make_table

OHA_PRINTS = (10.0, 25.0, 50.0, 75.0, 90.0, 95.0, 99.0, 99.9, 99.99)
VEGETA_PRINTS = (50.0, 90.0, 95.0, 99.0)
_OPEN = "vegeta sends at a rate, as long as it has a free worker"
_RESULT = {
    "timestamp": pl.String,
    "latency": pl.Int64,
    "code": pl.Int64,
    "error": pl.String,
    "url": pl.String,
}
_GOB = (b"Attack", b"Latency", b"Timestamp")


def is_oha(document: dict[str, Any]) -> bool:
    """Return whether a JSON document is oha's."""
    return {"summary", "latencyPercentiles"} <= document.keys()


def is_vegeta(document: dict[str, Any]) -> bool:
    """Return whether a JSON document is vegeta's report."""
    return {"latencies", "requests", "duration"} <= document.keys()


def is_vegeta_line(line: dict[str, Any]) -> bool:
    """Return whether a line of JSON is a result of vegeta."""
    return {"timestamp", "latency", "code"} <= line.keys()


def refuse_gob(path: Path, head: bytes) -> None:
    """Raise UsageError for what ``vegeta attack`` writes before it is encoded."""
    if b"\x00" in head[:512] and all(word in head[:512] for word in _GOB):
        raise refused(
            path, "vegeta's binary results", "run 'vegeta encode --to json' on it, and judge that"
        )


def read_oha(path: Path, document: dict[str, Any]) -> ForeignResults:
    """Return what ``oha --output-format json`` sums up."""
    summary, percents = document["summary"], document["latencyPercentiles"]
    if not isinstance(summary, dict) or not isinstance(percents, dict):
        raise refused(path, "oha's report without numbers", "name the report of a whole run")
    length_s, rate = _number(summary.get("total")), _number(summary.get("requestsPerSec"))
    if not length_s or not rate:
        raise refused(path, "oha's report without total or requestsPerSec", "name a whole report")
    statuses, errors = (
        sum(int(value) for each in _values(document.get(key)) if (value := _number(each)))
        for key in ("statusCodeDistribution", "errorDistribution")
    )
    bad = sum(
        int(value)
        for code, each in _items(document.get("statusCodeDistribution"))
        if not code.startswith(("2", "3")) and (value := _number(each))
    )
    requests = statuses + errors or round(length_s * rate)
    known = {
        float(name[1:]): value * SECOND_NS
        for name, each in percents.items()
        if re.fullmatch(r"p\d{1,2}(\.\d{1,6})?", name) and (value := _number(each)) is not None
    }
    times = [_number(summary.get(name)) for name in ("average", "fastest", "slowest")]
    mean, least, most = (None if value is None else value * SECOND_NS for value in times)
    row = TotalsRow(
        "", requests, bad + errors, mean, least, most, dict(sorted(known.items())), rate
    )
    return ForeignResults(
        path, "oha", "report, JSON", OHA_PRINTS, totals=Totals(row, length_s=length_s)
    )


def read_vegeta(path: Path, document: dict[str, Any]) -> ForeignResults:
    """Return what ``vegeta report -type json`` sums up."""
    latencies = document["latencies"]
    requests = _number(document.get("requests"))
    if not isinstance(latencies, dict) or not requests:
        raise refused(path, "vegeta's report without requests", "name the report of a whole run")
    duration, rate = _number(document.get("duration")), _number(document.get("rate"))
    success = _number(document.get("success"))
    known = {
        float(name[:-2]): value
        for name, each in latencies.items()
        if re.fullmatch(r"\d{1,2}th", name) and (value := _number(each)) is not None
    }
    mean, least, most = (_number(latencies.get(name)) for name in ("mean", "min", "max"))
    failed = None if success is None else round(requests * max(0.0, 1 - success))
    row = TotalsRow("", int(requests), failed, mean, least, most, dict(sorted(known.items())), rate)
    return ForeignResults(
        path, "vegeta", "report, JSON", VEGETA_PRINTS,
        totals=Totals(row, length_s=duration / SECOND_NS if duration else None),
        loop="open", loop_reason=_OPEN,
    )  # fmt: skip


def read_vegeta_lines(path: Path) -> ForeignResults:
    """Return the results of ``vegeta encode --to json``."""
    frames, left_out = [], 0
    for frame, bad in read_json_lines(path, _RESULT):
        left_out += bad
        frames.append(
            frame.select(
                time_ns=pl.col("timestamp")
                .str.to_datetime("%+", time_unit="ns", time_zone="UTC", strict=False)
                .cast(pl.Int64),
                latency_ns="latency",
                # success is 200 to 399, as vegeta's own report counts it
                failed=~pl.col("code").is_between(200, 399),
                name=pl.col("url").cast(pl.Categorical),
            )
        )
    table, bad = make_table(path, pl.concat(frames), clock_ns=1, grain_ns=1)
    return ForeignResults(
        path, "vegeta", "results, JSON lines", VEGETA_PRINTS, table=table,
        loop="open", loop_reason=_OPEN, left_out=left_out + bad,
        cut="" if read_tail(path).endswith(b"\n") else "its last line has no end",
    )  # fmt: skip


def _number(value: Any) -> float | None:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if is_number and 0 <= value < 1e18 else None


def _items(value: Any) -> list[tuple[str, Any]]:
    return list(value.items()) if isinstance(value, dict) else []


def _values(value: Any) -> list[Any]:
    return [each for _, each in _items(value)]
