"""k6: samples as JSON lines or CSV, and the summary at the end, in three forms.

The fields are those of k6 1.8 (``output/json``, ``output/csv``, ``handleSummary``). The time of a
sample is the end of its request; CSV has it in whole seconds unless configured otherwise.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import polars as pl

from sizebook.judge.pieces import read_json_lines, read_tail
from sizebook.judge.refusals import refused
from sizebook.judge.results import MS_NS, SECOND_NS, ForeignResults, Totals, TotalsRow
from sizebook.judge.tables import make_table

PRINTS = (90.0, 95.0)
DURATION = "http_req_duration"
DROPPED, BEGUN = "dropped_iterations", "iterations"
USERS, MOST_USERS = "vus", "vus_max"
_NEEDED = (DURATION, USERS, DROPPED, BEGUN)
_SKIPPED = re.compile(
    rb'\{"metric":"(?!(?:' + "|".join(_NEEDED).encode() + rb')")|\{"type":"Metric"'
)
"""How k6 begins the lines of other metrics, and those that only describe one."""
_TAGS = ("expected_response", "name", "status")
_SCHEMA = {
    "metric": pl.String,
    "data": pl.Struct(
        {
            "time": pl.String,
            "value": pl.Float64,
            "tags": pl.Struct(dict.fromkeys(_TAGS, pl.String)),
        }
    ),
}
_OPEN = "it has dropped iterations, which only executors with an arrival rate have"
_HEAD = b"metric_name,timestamp,metric_value"
_UNIX = {10: SECOND_NS, 13: MS_NS, 16: 1_000, 19: 1}
"""Digits of a time since 1970, and its unit in ns."""
_TREND = re.compile(r"p\(?(\d{1,2}(?:\.\d{1,6})?)\)?")


def is_csv(head: bytes) -> bool:
    """Return whether a file begins like k6's CSV."""
    return head.startswith(_HEAD)


def read_json(path: Path) -> ForeignResults:
    """Return the requests of ``k6 run --out json=FILE``."""
    frames, left_out = [], 0
    for frame, bad in read_json_lines(path, _SCHEMA, _SKIPPED):
        left_out += bad
        data = frame.filter(pl.col("metric").is_in(_NEEDED)).unnest("data")
        frames.append(
            data.unnest("tags")
            .filter(pl.col("value").is_not_null())
            .with_columns(
                time_ns=pl.col("time")
                .str.to_datetime("%+", time_unit="ns", time_zone="UTC", strict=False)
                .cast(pl.Int64),
                metric=pl.col("metric").cast(pl.Categorical),
                name=pl.col("name").cast(pl.Categorical),
            )
            .drop("time")
        )
    cut = "" if read_tail(path).endswith(b"\n") else "its last line has no end"
    return _made(path, "samples, JSON lines", pl.concat(frames), cut, left_out, clock_ns=1)


def read_csv(path: Path) -> ForeignResults:
    """Return the requests of ``k6 run --out csv=FILE``."""
    try:
        scan = pl.scan_csv(
            path, infer_schema=False, truncate_ragged_lines=True, ignore_errors=True,
            encoding="utf8-lossy",
        )  # fmt: skip
        columns = scan.collect_schema().names()
        tags = [
            (pl.col(name) if name in columns else pl.lit(None, pl.String).alias(name))
            for name in _TAGS
        ]
        frame = (
            scan.filter(pl.col("metric_name").is_in(_NEEDED))
            .select(
                "timestamp",
                *tags,
                metric=pl.col("metric_name").cast(pl.Categorical),
                value=pl.col("metric_value").cast(pl.Float64, strict=False),
            )
            .with_columns(pl.col("name").cast(pl.Categorical))
            .collect(engine="streaming")
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        words = str(error).partition("\n")[0][:120]
        raise refused(path, f"a CSV that cannot be read ({words})", "name the whole file") from None
    digits = frame["timestamp"].str.len_chars().max()
    if digits in _UNIX:
        clock_ns = _UNIX[digits]  # type: ignore[index]
        times = frame["timestamp"].cast(pl.Int64, strict=False)
        times = times.clip(-1, (1 << 62) // clock_ns) * clock_ns
    else:
        clock_ns = SECOND_NS
        times = frame["timestamp"].str.to_datetime(
            "%+", time_unit="ns", time_zone="UTC", strict=False
        ).cast(pl.Int64)  # fmt: skip
        if bool((times.drop_nulls() % SECOND_NS != 0).any()):
            clock_ns = 1
    frame = frame.with_columns(time_ns=times).drop("timestamp")
    cut = "" if read_tail(path).endswith(b"\n") else "its last line has no end"
    return _made(path, "samples, CSV", frame, cut, 0, clock_ns=clock_ns)


def _made(
    path: Path, form: str, frame: pl.DataFrame, cut: str, left_out: int, *, clock_ns: int
) -> ForeignResults:
    metric = pl.col("metric").cast(pl.String)
    dropped = frame.filter(metric == DROPPED)["value"].sum()
    begun = int(frame.filter(metric == BEGUN)["value"].fill_nan(0).clip(0, 1e12).sum())
    rows = frame.filter(metric == DURATION)
    if rows.is_empty():
        raise refused(path, f"k6's samples without {DURATION}", "judge a run that made requests")
    users = frame.filter(metric == USERS).select("time_ns", users="value").drop_nulls()
    given = rows.select(
        "time_ns",
        (pl.col("value").clip(-1, 1e9) * MS_NS).round().cast(pl.Int64, strict=False)
        .alias("latency_ns"),
        _failed().alias("failed"),
        "name",
    )  # fmt: skip
    if not users.is_empty():
        # Said once a second: of a request what was said last before it ended, or first of all.
        known = users.sort("time_ns").with_columns(pl.col("users").cast(pl.Int32, strict=False))
        at = known["time_ns"].search_sorted(given["time_ns"].fill_null(0), side="right")
        at = (at.cast(pl.Int64) - 1).clip(0, known.height - 1)
        given = given.with_columns(running=known["users"].gather(at))
    table, bad = make_table(path, given, clock_ns=clock_ns, grain_ns=1, ended=True)
    return ForeignResults(
        path, "k6", form, PRINTS, table=table, cut=cut, left_out=left_out + bad,
        loop="open" if dropped else "unknown", loop_reason=_OPEN if dropped else "",
        dropped=int(dropped) if dropped else None, begun=begun or None,
    )  # fmt: skip


def _failed() -> pl.Expr:
    """Whether k6 counts a request as failed: by its tag, else by its status."""
    status = pl.col("status").cast(pl.Int64, strict=False)
    by_status = (status < 200) | (status >= 400)
    by_tag = pl.col("expected_response") == "false"
    return by_tag.fill_null(by_status).fill_null(False)


def is_summary(document: dict[str, Any]) -> bool:
    """Return whether a JSON document is a summary of k6, in any of its three forms."""
    return bool(_metrics(document))


def read_summary(path: Path, document: dict[str, Any]) -> ForeignResults:
    """Return what k6 sums up at its end (--summary-export, handleSummary)."""
    metrics = _metrics(document)
    trend = metrics.get(DURATION) or metrics.get(f"{DURATION}{{expected_response:true}}")
    count = _number(metrics.get("http_reqs", {}), "count")
    if not trend or not count:
        raise refused(path, f"k6's summary without {DURATION}", "judge a run that made requests")
    failed = metrics.get("http_req_failed", {})
    # "passes" and "matches" are of the rate "failed": they count requests that failed.
    errors = _number(failed, "passes", "matches")
    rate = _number(metrics["http_reqs"], "rate")
    state = document.get("state")
    length_ms = _number(state, "testRunDurationMs") if isinstance(state, dict) else None
    config = document.get("config")
    length_s = length_ms / 1e3 if length_ms else _number(config or {}, "duration")
    if length_s is None and rate:
        length_s = count / rate
    percents = {50.0: _number(trend, "med")}
    percents |= {
        float(found[1]): _number(trend, key) for key in trend if (found := _TREND.fullmatch(key))
    }
    known = {p: v * MS_NS for p, v in sorted(percents.items()) if v is not None}
    bounds = [_number(trend, name) for name in ("avg", "min", "max")]
    mean, least, most = (None if value is None else value * MS_NS for value in bounds)
    row = TotalsRow("", int(count), None if errors is None else int(errors), mean, least, most,
                    known, rate)  # fmt: skip
    users = _number(metrics.get(MOST_USERS, {}), "max", "value")
    dropped, begun = (_number(metrics.get(name, {}), "count") for name in (DROPPED, BEGUN))
    return ForeignResults(
        path, "k6", "summary, JSON", tuple(p for p in known if p > 50) or PRINTS,
        totals=Totals(row, length_s=length_s, users=users, rates_agree=rate is not None),
        loop="open" if dropped else "unknown", loop_reason=_OPEN if dropped else "",
        dropped=int(dropped) if dropped else None, begun=int(begun) if begun else None,
    )  # fmt: skip


def _metrics(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the metrics by name, each with its values; empty if the document has none."""
    results = document.get("results")
    if isinstance(results, dict) and isinstance(results.get("metrics"), list):
        every = [each for each in results["metrics"] if isinstance(each, dict)]
        named = {str(each.get("name")): each.get("values") for each in every}
    else:
        metrics = document.get("metrics")
        named = {
            name: each["values"] if isinstance(each, dict) and "values" in each else each
            for name, each in (metrics.items() if isinstance(metrics, dict) else ())
        }
    kept = {name: each for name, each in named.items() if isinstance(each, dict)}
    return kept if {"http_reqs", "iterations", DURATION} & set(kept) else {}


def _number(values: dict[str, Any], *names: str) -> float | None:
    """Return the first of some numbers that is there, finite and not negative."""
    for name in names:
        value = values.get(name)
        if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e18:
            return float(value)
    return None
