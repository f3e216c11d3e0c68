"""From steps to collections: one row a collection, of whatever collector, as queries."""

from __future__ import annotations

import polars as pl

from sizebook.gclog import messages
from sizebook.gclog.causes import STARTS_CYCLE, with_cause
from sizebook.gclog.lines import Lines

EXPLICIT = (
    "System.gc()", "Diagnostic Command", "Heap Inspection Initiated GC",
    "Heap Dump Initiated GC", "JvmtiEnv ForceGarbageCollection",
)  # fmt: skip
"""Causes by which somebody asked for a collection that the heap did not need (``gcCause.cpp``)."""
ALLOCATION = (
    "Allocation Failure", "G1 Evacuation Pause", "G1 Compaction Pause", "G1 Humongous Allocation",
    "Allocation Stall",
)  # fmt: skip
"""Causes by which an allocation found no room: what the other collectors call Allocation Failure.
G1's humongous allocations count unless they only start a concurrent cycle ahead of need."""
KINDS = ("young", "mixed", "full", "degenerated", "concurrent cycle", "concurrent young",
         "concurrent old", "cancelled cycle", "undone cycle")  # fmt: skip

_SHENANDOAH = (
    r"^(?:reset|marking|weak|thread|strong|class|evacuation|update|cleanup|remembered"
    r"|(?:Init|Final) )"
)
# Java 9 to 13 (``concurrentMarkSweepGeneration.cpp``, CMSPhaseAccounting)
_CMS = r"^(?:Abortable Preclean|Sweep|Reset)$"
_LATE = r"^(?:evacuation|update|(?:Init|Final) Update)"
# Once all is swept: Java 25's last step, and the pause of a cycle that moved nothing.
_AFTER = r"^(?:reset after collect|Final Roots)"
# Steps on which a sweep always follows, unless the cycle is cancelled.
_BEFORE_SWEEP = r"^(?:marking|remembered|evacuation|update|(?:Init|Final) (?:Mark|Update|Evac))"
# Java 9 and 10 have G1's kinds as names: Pause Young, Initial Mark, Mixed, each with (cause); an
# initial mark without a cause is one of CMS.
_STOPPING = r"^(?:Young|Full|Degenerated|Mixed \(|Initial Mark \()"
_MIB = 1 << 20
_COLLECTIONS = ["Garbage Collection", "Minor Collection", "Major Collection"]


def pauses(steps: pl.LazyFrame) -> pl.LazyFrame:
    """Return one row a stop-the-world pause that ended."""
    ended = (pl.col("verb") == "Pause") & pl.col("took_ns").is_not_null()
    return _spans(steps.filter(ended)).select(
        "run", "id", "name", "begin_s", "end_s", "begin_ns", "end_ns",
        pause_ns="took_ns", before_bytes="before_bytes", after_bytes="after_bytes",
        total_bytes="total_bytes",
    )  # fmt: skip


def without_inner(steps: pl.DataFrame) -> pl.DataFrame:
    """Return the steps with the time of a full collection taken from the young one around it.

    Serial and CMS of Java 9 to 12 print a full collection that follows on a young one within the
    latter's pause (``genCollectedHeap.cpp``, do_collection).
    """
    pause = (pl.col("verb") == "Pause") & pl.col("took_ns").is_not_null()
    full = steps.filter(pause & pl.col("name").str.starts_with("Full")).select(
        "run", id=pl.col("id") - 1, inner_row="row", inner_ns="took_ns"
    ).unique(["run", "id"], keep="first")  # fmt: skip
    if full.is_empty():
        return steps
    both = steps.join(full, on=["run", "id"], how="left", maintain_order="left")
    around = (
        pause
        & pl.col("name").str.starts_with("Young")
        & (pl.col("inner_row") < pl.col("row"))
        & (pl.col("inner_ns") <= pl.col("took_ns"))
    )
    took = pl.when(around).then(pl.col("took_ns") - pl.col("inner_ns")).otherwise("took_ns")
    return both.with_columns(took_ns=took).drop("inner_row", "inner_ns")


def collections(lines: Lines, steps: pl.LazyFrame) -> pl.LazyFrame:
    """Return one row a collection that ended; a collection's end decides its place."""
    groups = _groups(_spans(steps))
    groups = groups.with_columns(kind=_kind()).filter(pl.col("kind").is_not_null())
    groups = groups.join(
        messages.generations(lines), on=["run", "id"], how="left", maintain_order="left"
    )
    groups = groups.join(
        messages.z_tables(lines), on=["run", "id"], how="left", maintain_order="left"
    )
    groups = with_cause(groups, lines).with_columns(_sizes())
    whole = pl.col("has_begin")
    concurrent = pl.col("kind").str.contains("concurrent|cycle")
    untold = ~whole | (pl.col("is_z") & (pl.col("pauses") == 0))
    groups = groups.with_columns(
        pl.when(whole).then("begin_s").alias("begin_s"),
        pl.when(whole).then("begin_ns").alias("begin_ns"),
        pl.when(~untold).then("pause_ns").alias("pause_ns"),
        pl.when(~untold).then("longest_pause_ns").alias("longest_pause_ns"),
        pl.when(~untold).then("pauses").alias("pauses"),
    )
    lasted = pl.coalesce(
        pl.col("end_ns") - pl.col("begin_ns"),
        ((pl.col("end_s") - pl.col("begin_s")) * 1e9).round().cast(pl.Int64, strict=False),
    )
    beside = (lasted - pl.col("pause_ns").fill_null(0)).clip(0)
    # of a cause that is not in the log nobody knows either
    is_asked = pl.col("cause").is_in(EXPLICIT)
    is_forced = pl.col("cause").is_in(ALLOCATION)
    return groups.sort("last_row").select(
        "run", "id", "begin_s", "end_s", "begin_ns", "end_ns", "kind", "name", "cause",
        "before_bytes", "after_bytes", "total_bytes", "peak_bytes", "live_bytes",
        "allocated_bytes", "pauses", "pause_ns", "longest_pause_ns",
        concurrent_ns=pl.when(concurrent).then(beside).otherwise(0),
        is_explicit=is_asked,
        is_allocation_failure=(
            is_forced
            & ~pl.col("name").str.contains(STARTS_CYCLE)
            & ~pl.col("kind").is_in(["concurrent cycle", "undone cycle"]).and_(~pl.col("is_z"))
        ),
        is_evacuation_failure=pl.col("is_failed"),
    )  # fmt: skip


def _spans(steps: pl.LazyFrame) -> pl.LazyFrame:
    took = pl.col("took_ns").fill_null(0)
    return steps.with_columns(
        begin_s=pl.col("at_s") - took.cast(pl.Float64) / 1e9,
        begin_ns=pl.col("at_ns") - took,
        end_s="at_s",
        end_ns="at_ns",
    )


def _groups(steps: pl.LazyFrame) -> pl.LazyFrame:
    """Return what the steps of each collection say together."""
    verb, name, took = pl.col("verb"), pl.col("name"), pl.col("took_ns")
    ended = took.is_not_null()
    pause = (verb == "Pause") & ended
    is_z = verb.is_in(_COLLECTIONS)
    z_end = is_z & pl.col("after_bytes").is_not_null()
    # "Concurrent Cycle" in Java 9 to 15 (``g1ConcurrentMarkThread.cpp``)
    cycle = (verb == "Concurrent") & name.str.contains("^(?:Mark )?Cycle")
    swept_old = (verb == "Concurrent") & name.str.contains(_CMS)
    undo = (verb == "Concurrent") & name.str.starts_with("Undo Cycle")
    shenandoah = name.str.contains(_SHENANDOAH) & verb.is_in(["Concurrent", "Pause"])
    swept = name.str.starts_with("cleanup") & pl.col("after_bytes").is_not_null()
    after = shenandoah & name.str.contains(_AFTER)
    stopping = pause & name.str.contains(_STOPPING)
    # a cycle of Shenandoah's old generation goes on where one of the young one has marked
    shenandoah_begin = (name.str.starts_with("reset") & ~after) | name.str.contains(
        r"^marking \(Old\)"
    )
    sizes_before = pl.col("before_bytes").drop_nulls()
    sizes_after = pl.col("after_bytes").drop_nulls()
    return steps.group_by("run", "id", maintain_order=True).agg(
        pl.col("begin_s").min(), pl.col("begin_ns").min(),
        pl.col("end_s").filter(ended | z_end).max(), pl.col("end_ns").filter(ended | z_end).max(),
        pl.col("row").max().alias("last_row"), pl.col("row").min().alias("first_row"),
        stopping_name=name.filter(stopping).last(),
        is_started=((verb == "Pause") & ~ended & name.str.contains(_STOPPING)).any(),
        z_verb=verb.filter(z_end).last(),
        z_name=name.filter(z_end).last(),
        is_z=is_z.any(),
        is_cycle=(cycle & ended).any(),
        is_undo=(undo & ended).any(),
        is_cms=(swept_old | ((verb == "Pause") & (name == "Initial Mark"))).any(),
        is_reset=((verb == "Concurrent") & (name == "Reset") & ended).any(),
        is_shenandoah=shenandoah.any(),
        is_swept=after.any()
        | (
            pl.col("row").filter(swept).max()
            > pl.col("row").filter(shenandoah & name.str.contains(_LATE)).max().fill_null(-1)
        ).fill_null(False),
        is_done=name.str.contains("^(?:Final Update|Final Roots)").any()
        | (swept.sum() > 1)
        | after.any(),
        wants_sweep=(shenandoah & name.str.contains(_BEFORE_SWEEP)).any(),
        of_young=(shenandoah & name.str.contains("(Young)", literal=True)).any(),
        of_old=(shenandoah & name.str.contains("(Old)", literal=True)).any(),
        has_begin=(
            stopping.any()
            | (is_z & pl.col("after_bytes").is_null()).any()
            | ((cycle | undo) & ~ended).any()
            | ((verb == "Pause") & (name == "Initial Mark")).any()
            | (shenandoah & shenandoah_begin).any()
        ),
        pauses=pause.sum(),
        pause_ns=took.filter(pause).sum(),
        longest_pause_ns=took.filter(pause).max(),
        before_bytes=pl.col("before_bytes").drop_nulls().first(),
        after_bytes=pl.col("after_bytes").drop_nulls().last(),
        total_bytes=pl.col("total_bytes").drop_nulls().last(),
        # between two sweeps of one collection the heap grows by what was allocated meanwhile
        grown_bytes=pl.when(shenandoah.any()).then(
            (sizes_before.sum() - sizes_before.first()) - (sizes_after.sum() - sizes_after.last())
        ),
    )  # fmt: skip


def _kind() -> pl.Expr:
    """Return the kind of collection; null for one that had not ended when the log did."""
    stopping = pl.col("stopping_name")
    is_last = pl.col("last_row") == pl.col("last_row").max().over("run")
    whole = (
        pl.when(pl.col("of_old")).then(pl.lit("concurrent old"))
        .when(pl.col("of_young")).then(pl.lit("concurrent young"))
    )  # fmt: skip
    return (
        pl.when(stopping.str.contains(r"\(Mixed\)|^Mixed ")).then(pl.lit("mixed"))
        .when(stopping.str.contains("^(?:Young|Initial Mark)")).then(pl.lit("young"))
        .when(stopping.str.starts_with("Full")).then(pl.lit("full"))
        .when(stopping.str.starts_with("Degenerated")).then(pl.lit("degenerated"))
        .when(pl.col("z_verb") == "Minor Collection").then(pl.lit("concurrent young"))
        .when(pl.col("z_verb").is_not_null()).then(pl.lit("concurrent cycle"))
        .when(pl.col("is_cycle")).then(pl.lit("concurrent cycle"))
        .when(pl.col("is_undo")).then(pl.lit("undone cycle"))
        .when(pl.col("is_cms") & pl.col("is_reset")).then(pl.lit("concurrent cycle"))
        .when(pl.col("is_cms") & ~is_last).then(pl.lit("cancelled cycle"))
        .when(pl.col("is_shenandoah") & pl.col("is_swept") & (pl.col("is_done") | ~is_last))
        .then(whole.otherwise(pl.lit("concurrent cycle")))
        # without its begin, one that marked nothing here may have been swept before
        .when(pl.col("is_shenandoah") & (pl.col("has_begin") | pl.col("wants_sweep")) & ~is_last)
        .then(pl.lit("cancelled cycle"))
    )  # fmt: skip


def _sizes() -> list[pl.Expr]:
    """Return the heap sizes; where the begin is not in the log, none that rest on it.

    ZGC says at a collection's end how much was in use at its begin, the others do not.
    """
    whole = pl.col("has_begin")
    allocated = pl.coalesce("allocated_bytes", pl.col("grown_bytes").clip(0))
    before = _finer("fine_before", "before_bytes")
    return [
        pl.when(whole | pl.col("is_z")).then(before).alias("before_bytes"),
        _finer("fine_after", "after_bytes"),
        pl.coalesce(_finer("fine_total", "total_bytes"), "z_total").alias("total_bytes"),
        pl.col("z_live").alias("live_bytes"),
        pl.when(whole).then(allocated).alias("allocated_bytes"),
    ]


def _finer(fine: str, coarse: str) -> pl.Expr:
    """Return a size to the KiB where it is the one that is printed in MiB.

    After a promotion that failed the lines of the generations have the sizes from before it.
    """
    agrees = (pl.col(fine) - pl.col(coarse)).is_between(-_MIB, _MIB)
    return pl.when(agrees).then(fine).otherwise(coarse).alias(coarse)
