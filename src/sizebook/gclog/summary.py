"""A GC log summed up over a window of time: :func:`summarise`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from sizebook.gclog.facts import Facts
from sizebook.gclog.log import GcLog
from sizebook.gclog.occupancy import (
    STOPPING,
    LiveFrom,
    as_float,
    as_int,
    count_exhaustions,
    find_allocated,
    find_live,
    find_rise,
    median_after,
)


@dataclass(frozen=True)
class GcSummary:
    """Counters of a window of a log; None where the log does not tell."""

    facts: Facts
    window_s: float | None
    """Length of the window."""
    collections: int
    by_kind: Mapping[str, int]
    by_cause: Mapping[str, int]
    allocation_failures: int
    """Collections because an allocation found no room, with every collector's own name for it."""
    explicit_collections: int
    """Collections that somebody asked for, such as ``System.gc()``."""
    humongous_collections: int
    """Collections of G1 because of objects of half a region or more."""
    evacuation_failures: int
    stalls: int
    """Times that a thread waited for room (ZGC), or that a collection beside the application had to
    be finished with the application stopped (Shenandoah)."""
    stalled_ns: int
    pauses: int | None
    """Stop-the-world pauses; of ZGC they are only in a log of ``gc*``."""
    pause_ns: int | None
    """Sum of the pauses within the window."""
    mean_pause_ns: float | None
    longest_pause_ns: int | None
    longest_pause_at_s: float | None
    overhead_share: float | None
    """Share of the window in which the application stood still for collections."""
    explicit_pause_ns: int
    """Part of ``pause_ns`` in explicit collections."""
    concurrent_share: float | None
    """Share of the window in which a collection beside the application was under way."""
    stopped_share: float | None
    """Share of the window in safepoints of whatever reason; None in a log without safepoints."""
    longest_cycle_ns: int | None
    """Longest collection beside the application, from begin to end."""
    heap_exhaustions: int
    """Times that the log says that memory ran out, or that full collections followed on each other
    with nothing allocated between."""
    largest_request_bytes: int | None
    """Largest allocation that failed at first; only Shenandoah says it."""
    allocated_bytes: int | None
    """Allocated between the first and the last collection."""
    allocated_per_s: float | None
    live_bytes: int | None
    """What is in use after the collection that tells it best: see ``live_from``."""
    live_from: LiveFrom
    """Kind of that collection; after ``young`` it is only known that not more is live."""
    after_full_bytes: int | None
    """Median heap in use after a full collection; so for mixed and young ones."""
    after_mixed_bytes: int | None
    after_young_bytes: int | None
    rise_bytes: int | None
    """How much the live set rose from the window's first to its last third; None with fewer than
    six collections that tell it."""
    peak_used_bytes: int | None
    heap_bytes: int | None
    """Largest size the heap had."""


def summarise(
    log: GcLog,
    begin_ns: int | None = None,
    end_ns: int | None = None,
    seconds: float | None = None,
) -> GcSummary:
    """Return the counters of a log, or of the part of it between two times of CLOCK_MONOTONIC.

    A collection belongs to the window in which it ends; of its pauses counts what lies within. The
    window of several runs is the sum of theirs; what is live is told of single runs only.
    ``seconds`` is the window's length where the log itself begins or ends within it. Raises
    ValueError for times without ``timenanos`` in the log, and for a window that ends before it
    begins.
    """
    if (begin_ns is not None or end_ns is not None) and log.first_ns is None and log.lines:
        raise ValueError("the log has no times of CLOCK_MONOTONIC")
    low = begin_ns if begin_ns is not None else log.first_ns
    high = end_ns if end_ns is not None else log.last_ns
    by_ns = begin_ns is not None or end_ns is not None
    if by_ns and low is not None and high is not None and high < low:
        raise ValueError("the window ends before it begins")
    if not by_ns:
        low = high = None

    def within(frame: pl.DataFrame, column: str = "end_ns") -> pl.DataFrame:
        return frame.filter(pl.col(column).is_between(low, high)) if by_ns else frame

    found = within(log.collections)
    pauses: pl.DataFrame | None = _within_runs(log)
    if by_ns:
        pauses = _clipped(log.pauses, low or 0, high or 0)
    if log.facts.collector == "ZGC" and log.pauses.is_empty() and not log.collections.is_empty():
        pauses = None
    if by_ns and low is not None and high is not None:
        window_s: float | None = (high - low) / 1e9
    else:
        window_s = _lasted_s(log)
    if seconds is not None:
        window_s = seconds
    stalls = within(log.stalls)
    stalls = stalls.filter(pl.col("kind") != "evacuation failure")
    stops = within(log.safepoints, "at_ns")
    paused = int(pauses["pause_ns"].sum()) if pauses is not None else None
    longest = pauses.sort("pause_ns").tail(1) if pauses is not None and pauses.height else None
    explicit = found.filter("is_explicit")
    asked = log.collections.filter("is_explicit").select("run", "id")
    for_asked = pauses.join(asked, on=["run", "id"], how="semi") if pauses is not None else explicit
    allocated, over_s = find_allocated(found, within(log.pauses), log.facts.collector)
    live, live_from = find_live(found) if len(log.runs) == 1 else (None, "")
    return GcSummary(
        facts=log.facts,
        window_s=window_s,
        collections=found.height,
        by_kind=_counts(found, "kind"),
        by_cause=_counts(found, "cause"),
        allocation_failures=int(found["is_allocation_failure"].sum()),
        explicit_collections=explicit.height,
        humongous_collections=found.filter(
            pl.col("cause") == "G1 Humongous Allocation", pl.col("kind").is_in(STOPPING)
        ).height,
        evacuation_failures=int(found["is_evacuation_failure"].sum()),
        stalls=stalls.height,
        stalled_ns=int(stalls["stalled_ns"].sum()),
        pauses=None if pauses is None else pauses.height,
        pause_ns=paused,
        mean_pause_ns=as_float(pauses["pause_ns"].mean()) if pauses is not None else None,
        longest_pause_ns=None if longest is None else int(longest["pause_ns"][0]),
        longest_pause_at_s=None if longest is None else as_float(longest["begin_s"][0]),
        overhead_share=_share(paused, window_s),
        explicit_pause_ns=int(for_asked["pause_ns"].sum()),
        concurrent_share=_share(_beside_ns(log, found, low, high), window_s),
        stopped_share=None
        if log.safepoints.is_empty()
        else _share(int(stops["total_ns"].sum()), window_s),
        longest_cycle_ns=as_int(
            found.filter(pl.col("concurrent_ns") > 0)
            .select(pl.col("concurrent_ns") + pl.col("pause_ns").fill_null(0))
            .to_series()
            .max()
        ),
        heap_exhaustions=count_exhaustions(found, within(log.out_of_memory, "at_ns")),
        largest_request_bytes=as_int(within(log.requests, "at_ns")["requested_bytes"].max()),
        allocated_bytes=allocated,
        allocated_per_s=allocated / over_s if allocated is not None and over_s else None,
        live_bytes=live,
        live_from=live_from,
        after_full_bytes=median_after(found, "full"),
        after_mixed_bytes=median_after(found, "mixed"),
        after_young_bytes=median_after(found, "young"),
        rise_bytes=find_rise(found, live_from) if len(log.runs) == 1 else None,
        peak_used_bytes=as_int(
            found.select(pl.max_horizontal("before_bytes", "after_bytes", "peak_bytes"))
            .to_series()
            .max()
        ),
        heap_bytes=as_int(found["total_bytes"].max()) or log.facts.heap_max_bytes,
    )


def _lasted_s(log: GcLog) -> float | None:
    """Return how long the runs of a log lasted together: what lies between them is no one's."""
    lasted = 0.0
    for run in log.runs:
        if run.first_s is None or run.last_s is None:
            return None
        lasted += run.last_s - run.first_s
    return lasted


def _within_runs(log: GcLog) -> pl.DataFrame:
    """Return the pauses with the part that lies behind the first line of their run.

    A log that begins within a pause has its whole length at its end.
    """
    both = log.pauses.join(_firsts(log), on="run", how="left", maintain_order="left")
    early = ((pl.col("first_s") - pl.col("begin_s")) * 1e9).round().clip(0).fill_null(0)
    both = both.with_columns(pause_ns=(pl.col("pause_ns") - early.cast(pl.Int64)).clip(0))
    return both.drop("first_s", "first_ns")


def _firsts(log: GcLog) -> pl.DataFrame:
    rows = [(run.number, run.first_s, run.first_ns) for run in log.runs]
    schema = {"run": pl.UInt32, "first_s": pl.Float64, "first_ns": pl.Int64}
    return pl.DataFrame(rows, schema, orient="row")


def _clipped(pauses: pl.DataFrame, low: int, high: int) -> pl.DataFrame:
    """Return the pauses that touch the window, with the part that lies within."""
    return pauses.filter((pl.col("end_ns") > low) & (pl.col("begin_ns") < high)).with_columns(
        pause_ns=pl.min_horizontal("end_ns", pl.lit(high))
        - pl.max_horizontal("begin_ns", pl.lit(low))
    )


def _beside_ns(log: GcLog, found: pl.DataFrame, low: int | None, high: int | None) -> int:
    """Return the time with a collection beside the application: those that overlap count once.

    Generational collectors run young ones within an old one. One whose begin the log lacks was
    under way at the first line.
    """
    begin, end = pl.coalesce("begin_s", "first_s") * 1e9, pl.col("end_s") * 1e9
    if low is not None and high is not None:
        begin = pl.coalesce("begin_ns", "first_ns").clip(low, high)
        end = pl.col("end_ns").clip(low, high)
    cut = pl.col("begin_s").is_null() & pl.col("end_s").is_not_null()
    spans = (
        found.join(_firsts(log), on="run", how="left", maintain_order="left")
        .filter((pl.col("concurrent_ns") > 0) | cut)
        .select("run", begin=begin, end=end)
        .drop_nulls()
        .sort("run", "begin")
        .with_columns(seen=pl.col("end").cum_max().shift(1).over("run"))
    )
    new = pl.col("end") - pl.max_horizontal("begin", "seen")
    return round(float(spans.select(new.clip(lower_bound=0).sum()).item()))


def _counts(found: pl.DataFrame, column: str) -> dict[str, int]:
    rows = (
        found.drop_nulls(column)
        .group_by(column)
        .len()
        .sort("len", column, descending=[True, False])
    )
    return {str(name): int(count) for name, count in rows.iter_rows()}


def _share(ns: int | None, window_s: float | None) -> float | None:
    return ns / 1e9 / window_s if ns is not None and window_s else None
