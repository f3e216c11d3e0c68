"""What a heap holds, as a log's collections tell it: allocated, live, rising, exhausted."""

from __future__ import annotations

from typing import Literal

import polars as pl

STOPPING = ("young", "mixed", "full", "degenerated")
"""Kinds of collections that are one pause."""
STILL_SHARE = 0.01
"""A heap that changed by a smaller share between two collections stood still."""
EPISODE_SHARE = 0.05
"""Growth between full collections up to which they belong to one exhaustion."""
_OF_WHOLE_HEAP = ("full", "degenerated", "concurrent cycle")

LiveFrom = Literal["full", "marking", "mixed", "cycle", "young", ""]


def find_allocated(
    found: pl.DataFrame, pauses: pl.DataFrame, collector: str
) -> tuple[int | None, float | None]:
    """Return bytes allocated from the first to the last collection, and the seconds between.

    The heap grows by it from the end of one collection to the begin of the next; collections beside
    the application tell what came meanwhile. Each size is as exact as the log's.
    """
    if collector in ("CMS", ""):
        return None, None  # CMS frees beside the application, and does not say how much
    if collector in ("ZGC", "Shenandoah"):
        events = found.filter(pl.col("after_bytes").is_not_null())
        # what came during the first of a run lies before the time that is told of
        untold = events.filter(pl.col("run") == pl.col("run").shift())["allocated_bytes"]
        if untold.null_count() and collector == "ZGC":
            return None, None
        meanwhile = pl.col("allocated_bytes").fill_null(0)
    else:
        stops = found.filter(pl.col("kind").is_in(STOPPING))
        columns = ["run", "end_s", "before_bytes", "after_bytes"]
        inner = pauses.filter(pl.col("name").is_in(["Remark", "Cleanup"]))
        events = pl.concat([stops.select(columns), inner.select(columns)]).drop_nulls(
            ["before_bytes", "after_bytes"]
        )
        events = events.sort("run", "end_s", maintain_order=True)
        meanwhile = pl.lit(0)
    if events.height < 2:
        return None, None
    between = (pl.col("before_bytes") - pl.col("after_bytes").shift()).clip(0)
    rows = events.select(
        "run",
        "end_s",
        grown=(between + meanwhile).over("run"),
        passed=pl.col("end_s").diff().over("run"),
    ).filter(pl.col("grown").is_not_null())
    total = int(rows["grown"].sum())
    passed = as_float(rows["passed"].sum())
    return total, passed if passed and rows["passed"].null_count() == 0 else None


def find_live(found: pl.DataFrame) -> tuple[int | None, LiveFrom]:
    """Return what the later half of the collections that tell it best says is live."""
    ways: tuple[tuple[LiveFrom, pl.Expr, str], ...] = (
        ("marking", pl.col("live_bytes").is_not_null(), "live_bytes"),
        ("full", pl.col("kind") == "full", "after_bytes"),
        ("cycle", pl.col("kind").is_in(["degenerated"]), "after_bytes"),
        ("cycle", (pl.col("kind") == "concurrent cycle") & (pl.col("cause") != ""), "after_bytes"),
        ("mixed", pl.col("kind") == "mixed", "after_bytes"),
        ("young", pl.col("kind").str.contains("young"), "after_bytes"),
    )
    g1 = found.filter(pl.col("kind").is_in(["young", "mixed"])).height > 0
    for name, which, column in ways:
        if g1 and name == "cycle":
            continue  # a cycle of G1 marks, and leaves most of what is free to mixed collections
        values = found.filter(which)[column].drop_nulls()
        if len(values):
            later = values.tail((len(values) + 1) // 2)
            exact = name in ("marking", "full")
            return as_int(later.median() if exact else later.min()), name
    return None, ""


def find_rise(found: pl.DataFrame, live_from: LiveFrom) -> int | None:
    """Return by how many bytes the live set rose from the first to the last third."""
    column = "live_bytes" if live_from == "marking" else "after_bytes"
    kinds = {"full": ["full"], "mixed": ["mixed"], "young": ["young", "concurrent young"]}
    which = pl.col("kind").is_in(kinds.get(live_from, list(_OF_WHOLE_HEAP)))
    values = found.filter(which)[column].drop_nulls()
    if len(values) < 6:
        return None
    third = len(values) // 3
    first, last = values.head(third).median(), values.tail(third).median()
    return as_int((as_float(last) or 0.0) - (as_float(first) or 0.0))


def count_exhaustions(found: pl.DataFrame, said: pl.DataFrame) -> int:
    """Return how often the collector could do no more.

    Before a JVM gives up it collects the whole heap twice in a row, with nothing allocated between
    and the second time without sparing soft references (``satisfy_failed_allocation`` of each
    collector). Collections because of class metadata are no matter of the heap.
    """
    whole = found.filter(
        (pl.col("kind") == "full")
        & ~pl.col("is_explicit").fill_null(False)
        & ~pl.col("cause").str.starts_with("Metadata").fill_null(False)
    )
    grown = (pl.col("before_bytes") - pl.col("after_bytes").shift()).abs() / pl.col("total_bytes")
    grown = pl.when(pl.col("run") == pl.col("run").shift()).then(grown)
    episodes, within = 0, False
    for share in whole.select(grown).to_series().fill_null(1.0):
        episodes += share <= STILL_SHARE and not within
        within = share <= (EPISODE_SHARE if within else STILL_SHARE)
    return max(episodes, said.height)


def median_after(found: pl.DataFrame, kind: str) -> int | None:
    """Return the median heap in use after a collection of this kind, in bytes."""
    return as_int(found.filter(pl.col("kind") == kind)["after_bytes"].median())


def as_float(value: object) -> float | None:
    """Return a number that a column gives, None for null."""
    return float(value) if isinstance(value, int | float) else None


def as_int(value: object) -> int | None:
    """Return a number that a column gives as a whole one, None for null."""
    return round(value) if isinstance(value, int | float) else None
