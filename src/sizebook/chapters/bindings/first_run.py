"""The first calls after a start, from the counters that a node keeps of them.

A node counts its calls and their time from its start on, so one reading tells the mean over all
calls so far: what a tester prints as it goes along. The load profile pauses at the counts that
are to be told (``opening`` of ``locustfiles/bindings.py``).
"""

from __future__ import annotations

import polars as pl

from sizebook.lab.trials import Measure
from sizebook.store import Bundle

MIB = 2**20
COLUMNS: dict[str, type[pl.DataType]] = {
    "calls": pl.Int64,
    "call_ms": pl.Float64,
    "heap_total_mb": pl.Float64,
    "heap_free_mb": pl.Float64,
}


def first_calls(bundle: Bundle, way: str) -> pl.DataFrame:
    """Return one row a number of calls that a reading found: ``COLUMNS``, in order of time.

    ``call_ms`` is the mean over all calls of this way since the node started; the heap is
    the sender's at the first reading after them, in MB of 2^20 bytes. Without a call: no row.
    """
    names = {
        f"binding_calls_total/{way}": "calls",
        f"binding_call_s/{way}": "seconds",
        "heap_committed_bytes": "total",
        "heap_used_bytes": "used",
    }
    metric = pl.col("metric").cast(pl.String)
    readings = bundle.counters.filter(
        pl.col("source").cast(pl.String).str.starts_with("server/app-")
        & metric.is_in(list(names))
        & pl.col("value").is_not_null()
    )
    wide = readings.group_by("time_ns").agg(
        pl.col("value").filter(metric == name).first().alias(column)
        for name, column in names.items()
    )
    told = wide.filter(pl.col("calls") > 0).sort("time_ns")
    rows = told.unique("calls", keep="first", maintain_order=True)
    return rows.select(
        pl.col("calls").cast(pl.Int64),
        call_ms=pl.col("seconds") / pl.col("calls") * 1e3,
        heap_total_mb=pl.col("total") / MIB,
        heap_free_mb=(pl.col("total") - pl.col("used")) / MIB,
    )


def time_of_calls(first: pl.DataFrame, begin: int, end: int) -> float | None:
    """Return the mean time in ms of the calls after the first ``begin`` up to ``end``.

    ``first`` is what ``first_calls`` gives; None if no reading fell on one of the two counts.
    """
    means = first.select("calls", "call_ms").iter_rows()
    spent: dict[int, float] = {0: 0.0} | {calls: calls * mean for calls, mean in means}
    if begin not in spent or end not in spent or end <= begin:
        return None
    return (spent[end] - spent[begin]) / (end - begin)


def at_call(first: pl.DataFrame, calls: int, column: str) -> float | None:
    """Return a column of ``first_calls`` at a number of calls; None if no reading fell on it."""
    found = first.filter(pl.col("calls") == calls)[column]
    return float(found[0]) if len(found) and found[0] is not None else None


def first_call_ms(way: str) -> Measure:
    """Return a measure: the time of the very first call of a way since its node started, in ms.

    The node keeps it, so any later trial of the same start tells it; None if nothing was called.
    """

    def measure(bundle: Bundle) -> float | None:
        first_s = bundle.readings.last("server/app-", f"binding_first_s/{way}")
        return None if first_s is None else 1e3 * first_s

    return measure
