"""From steps to collections: one row a collection, of whatever collector, as queries."""

from __future__ import annotations

import polars as pl

from sizebook.gclog import messages
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
_FAILED = r" ?\(Evacuation Failure[^)]*\)"
# Java 9 and 10 have G1's kinds as names: Pause Young, Initial Mark, Mixed, each with (cause); an
# initial mark without a cause is one of CMS.
_STOPPING = r"^(?:Young|Full|Degenerated|Mixed \(|Initial Mark \()"
_STARTS_CYCLE = r"\(Concurrent Start\)|^Initial Mark"
_CAUSE = r"\(((?:[^()]|\(\))*)\)$"
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
    groups = _with_cause(groups, lines).with_columns(_sizes())
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
    return groups.sort("last_row").select(
        "run", "id", "begin_s", "end_s", "begin_ns", "end_ns", "kind", "name", "cause",
        "before_bytes", "after_bytes", "total_bytes", "peak_bytes", "live_bytes",
        "allocated_bytes", "pauses", "pause_ns", "longest_pause_ns",
        concurrent_ns=pl.when(concurrent).then(beside).otherwise(0),
        is_explicit=pl.col("cause").is_in(EXPLICIT).fill_null(False),
        is_allocation_failure=(
            pl.col("cause").is_in(ALLOCATION)
            & ~pl.col("name").str.contains(_STARTS_CYCLE)
            & ~pl.col("kind").is_in(["concurrent cycle", "undone cycle"]).and_(~pl.col("is_z"))
        ).fill_null(False),
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
    stopping = pause & name.str.contains(_STOPPING)
    sizes_before = pl.col("before_bytes").drop_nulls()
    sizes_after = pl.col("after_bytes").drop_nulls()
    return steps.group_by("run", "id", maintain_order=True).agg(
        pl.col("begin_s").min(), pl.col("begin_ns").min(),
        pl.col("end_s").filter(ended | z_end).max(), pl.col("end_ns").filter(ended | z_end).max(),
        pl.col("row").max().alias("last_row"), pl.col("row").min().alias("first_row"),
        stopping_name=name.filter(stopping).last(),
        z_verb=verb.filter(z_end).last(),
        z_name=name.filter(z_end).last(),
        is_z=is_z.any(),
        is_cycle=(cycle & ended).any(),
        is_undo=(undo & ended).any(),
        is_cms=(swept_old | ((verb == "Pause") & (name == "Initial Mark"))).any(),
        is_reset=((verb == "Concurrent") & (name == "Reset") & ended).any(),
        is_shenandoah=shenandoah.any(),
        is_swept=(
            pl.col("row").filter(swept).max()
            > pl.col("row").filter(shenandoah & name.str.contains(_LATE)).max().fill_null(-1)
        ).fill_null(False),
        is_done=name.str.contains("^(?:Final Update|Final Roots)").any() | (swept.sum() > 1),
        of_young=(shenandoah & name.str.contains("(Young)", literal=True)).any(),
        of_old=(shenandoah & name.str.contains("(Old)", literal=True)).any(),
        has_begin=(
            stopping.any()
            | (is_z & pl.col("after_bytes").is_null()).any()
            | ((cycle | undo) & ~ended).any()
            | ((verb == "Pause") & (name == "Initial Mark")).any()
            | (shenandoah & name.str.contains("^(?:reset|marking)")).any()
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
        .when(pl.col("is_shenandoah") & ~is_last).then(pl.lit("cancelled cycle"))
    )  # fmt: skip


def _with_cause(groups: pl.LazyFrame, lines: Lines) -> pl.LazyFrame:
    """Return the collections with ``cause`` and ``is_failed`` (no room to move objects to)."""
    stopping = pl.col("stopping_name").str.replace(_FAILED, "")
    failed = pl.col("stopping_name").str.extract(r"\((Evacuation Failure[^)]*)\)")
    exhausted = _numbered(
        lines, r"^GC\(([0-9]{1,9})\) (?:To-space exhausted|Promotion failed)"
    ).with_columns(is_exhausted=pl.lit(True))
    triggers = _triggers(lines)
    groups = groups.sort("first_row").join_asof(
        triggers, left_on="first_row", right_on="row", by="run", check_sortedness=False
    )
    groups = groups.join(exhausted, on=["run", "id"], how="left", maintain_order="left")
    own = pl.coalesce(
        pl.col("z_name").str.extract(_CAUSE),
        stopping.str.extract(_CAUSE),
    )
    is_shenandoah = pl.col("is_shenandoah") | stopping.is_in(["Full"])
    degenerated = stopping.str.starts_with("Degenerated")
    cause = (
        pl.when(degenerated).then(pl.lit("Allocation Failure"))
        .when(own.is_not_null()).then(own)
        .when(is_shenandoah).then(pl.col("trigger"))
    )  # fmt: skip
    groups = groups.with_columns(
        cause=cause,
        name=pl.coalesce("stopping_name", "z_name", pl.lit("")),
        is_failed=(failed.is_not_null() & (failed != "Evacuation Failure: Pinned")).fill_null(False)
        | pl.col("is_exhausted").fill_null(False),
    )
    # a cycle of G1 has the cause of the young collection before it, which started it
    starters = groups.filter(pl.col("stopping_name").str.contains(_STARTS_CYCLE)).select(
        "run", pl.col("id") + 1, started_by="cause"
    )
    groups = groups.join(starters, on=["run", "id"], how="left", maintain_order="left")
    return groups.with_columns(pl.coalesce("cause", "started_by").alias("cause"))


def _triggers(lines: Lines) -> pl.LazyFrame:
    """Return why Shenandoah starts each collection, without the numbers in it."""
    message = pl.col("message")
    text = message.str.replace(r"^Trigger(?: \(\w+\))?: ", "")
    return (
        lines.frame.lazy()
        .with_row_index("row")
        .filter(message.str.contains(r"^Trigger(?: \(\w+\))?: "))
        .select(
            "row",
            "run",
            trigger=pl.when(text == "Handle Allocation Failure")
            .then(pl.lit("Allocation Failure"))
            .otherwise(
                pl.coalesce(
                    text.str.extract(r"GC request \((.*)\)$"),
                    text.str.replace_all(r" ?\([^()]*\)", "").str.extract(
                        r"^([^0-9,:]{1,120}?)(?:[\s,:.]*[0-9].*|[,:].*|\.?)$"
                    ),
                )
            ),
        )
    )


def _numbered(lines: Lines, pattern: str) -> pl.LazyFrame:
    found = pl.col("message").str.extract(pattern).cast(pl.Int64)
    return lines.frame.lazy().select("run", id=found).filter(pl.col("id").is_not_null()).unique()


def _sizes() -> list[pl.Expr]:
    return [
        _finer("fine_before", "before_bytes"),
        _finer("fine_after", "after_bytes"),
        pl.coalesce(_finer("fine_total", "total_bytes"), "z_total").alias("total_bytes"),
        pl.col("z_live").alias("live_bytes"),
        pl.coalesce("allocated_bytes", pl.col("grown_bytes").clip(0)).alias("allocated_bytes"),
    ]


def _finer(fine: str, coarse: str) -> pl.Expr:
    """Return a size to the KiB where it is the one that is printed in MiB.

    After a promotion that failed the lines of the generations have the sizes from before it.
    """
    agrees = (pl.col(fine) - pl.col(coarse)).is_between(-_MIB, _MIB)
    return pl.when(agrees).then(fine).otherwise(coarse).alias(coarse)
