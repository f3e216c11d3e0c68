"""The first runs after a start, beside the report's and beside later calls."""

from __future__ import annotations

import polars as pl

from sizebook.chapters.bindings.calls import EVERY, WAYS
from sizebook.chapters.bindings.first_run import (
    COLUMNS,
    at_call,
    first_call_ms,
    first_calls,
    time_of_calls,
)
from sizebook.lab import Trials
from sizebook.lab.trials import Measure
from sizebook.model.records import Scalar
from sizebook.report.quantities import Quantity
from sizebook.report.reported import conditions, find_reported

_RUN = 200
"""Calls of a run."""
_TOLD = (10, 20, 50, 100, 200, 400)
_TIME, _HEAP = "Mean time per call (ms)", "Heap (MB)"
FIRST_RUN = (
    Quantity("calls", "Calls"),
    Quantity("call_ms", "here", 4, _TIME),
    Quantity("report", "report", 2, _TIME),
    Quantity("heap_total_mb", "total, here", 0, _HEAP),
    Quantity("heap_free_mb", "free, here", 1, _HEAP),
    Quantity("report_free", "free, report", 0, _HEAP),
)
"""What was told after so many calls."""


def first_calls_of(trials: Trials) -> pl.DataFrame:
    """Return ``first_calls`` of every start up to the end of its second run, with its number."""
    found = [
        first_calls(trial.bundle, "direct").with_columns(start=pl.lit(trial.replicate + 1))
        for trial in trials
        if trial.verdict != "failed"
    ]
    every = pl.concat([pl.DataFrame(schema={**COLUMNS, "start": pl.Int32}), *found])
    return every.filter(pl.col("calls") <= 2 * _RUN)


def so_far(seen: pl.DataFrame) -> pl.DataFrame:
    """Return the mean time of all calls so far by number of calls: the report's and each start's.

    Columns ``calls``, in words, ``mean`` and ``series``.
    """
    theirs = _printed("time_per_run_ms", "report")
    every = pl.concat(
        [
            theirs.select("calls", mean="report", series=pl.lit("report, 2011")),
            seen.select("calls", mean="call_ms", series=pl.format("here, start {}", "start")),
        ]
    )
    told = every.filter(pl.col("calls").is_in(list(_TOLD))).sort("calls")
    return told.with_columns(calls=pl.format("{} calls", "calls"))


def beside_report(seen: pl.DataFrame) -> pl.DataFrame:
    """Return the means over the starts by number of calls: ``FIRST_RUN``."""
    ours = seen.group_by("calls", maintain_order=True).agg(
        pl.col("call_ms", "heap_total_mb", "heap_free_mb").mean()
    )
    for metric, name in (("time_per_run_ms", "report"), ("free_heap_mb", "report_free")):
        ours = ours.join(_printed(metric, name), on="calls", how="left")
    return ours


def first_and_later(trials: Trials, apart: pl.DataFrame) -> pl.DataFrame:
    """Return the very first call of each way after a start, and its later ones with 1 KB.

    Columns ``way``, ``call_ms``, ``run`` and those of a trial.
    """
    kept = ["replicate", "verdict", "bundle"]
    firsts = (
        trials.frame(**{way: first_call_ms(way) for way in WAYS})
        .rename({"way": "load"})
        .filter(pl.col("load") == EVERY)
        .unpivot(on=list(WAYS), index=kept, variable_name="way", value_name="call_ms")
        .with_columns(run=pl.lit("first call"))
    )
    laters = apart.filter(pl.col("size") == "1 KB").select(
        *kept, "way", "call_ms", run=pl.lit("later calls")
    )
    return pl.concat([firsts, laters])


def first_beside_later() -> list[tuple[dict[str, Scalar], dict[str, Scalar]]]:
    """Return the treatments of ``first_and_later``, a pair a way."""
    return [({"way": way, "run": "first call"}, {"way": way, "run": "later calls"}) for way in WAYS]


def warming_frame(trials: Trials, least: float) -> pl.DataFrame:
    """Return one row a start: times of its runs, free heap, and what of it is claimed.

    ``least`` is the ratio from which on a run counts as faster.
    """
    return trials.frame(
        first_run_ms=_run_ms(0, _RUN),
        second_run_ms=_run_ms(_RUN, 2 * _RUN),
        ten_calls_ms=_run_ms(0, 10),
        free_early_mb=_moment("heap_free_mb", 10),
        free_late_mb=_moment("heap_free_mb", _RUN),
    ).with_columns(
        second_run_faster=pl.col("second_run_ms") * least <= pl.col("first_run_ms"),
        falls_within_run=pl.col("first_run_ms") * least <= pl.col("ten_calls_ms"),
        free_heap_shrinks=pl.col("free_late_mb") < pl.col("free_early_mb"),
    )


def first_over_second(warming: pl.DataFrame) -> float:
    """Return how many times the second run the first takes, mean of valid starts; maybe NaN."""
    valid = warming.filter(pl.col("verdict") == "valid")
    found = valid.select((pl.col("first_run_ms") / pl.col("second_run_ms")).mean()).item()
    return float("nan") if found is None else float(found)


def heap_shrunk_mb(warming: pl.DataFrame) -> float:
    """Return by how much free heap shrinks from 10 to 200 calls, mean of all starts; 0 of none."""
    shrunk = warming.select((pl.col("free_early_mb") - pl.col("free_late_mb")).mean()).item()
    return float(shrunk or 0.0)


def _printed(metric: str, name: str) -> pl.DataFrame:
    """Return what the report prints after so many calls: ``calls`` and a column of that name."""
    found = conditions(find_reported("wps-2011", metric, scenario="warm-up"), "runs")
    return found.drop_nulls("runs").select(
        pl.col("runs").cast(pl.Int64).alias("calls"), pl.col("value").alias(name)
    )


def _moment(name: str, calls: int) -> Measure:
    return lambda bundle: at_call(first_calls(bundle, "direct"), calls, name)


def _run_ms(begin: int, end: int) -> Measure:
    return lambda bundle: time_of_calls(first_calls(bundle, "direct"), begin, end)
