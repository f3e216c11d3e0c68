"""Why each collection came about, and whether it found no room to move objects to."""

from __future__ import annotations

import polars as pl

from sizebook.gclog.lines import Lines

STARTS_CYCLE = r"\(Concurrent Start\)|^Initial Mark"
"""The name of a young collection of G1 that starts a concurrent cycle."""
_FAILED = r" ?\(Evacuation Failure[^)]*\)"
_CAUSE = r"\(((?:[^()]|\(\))*)\)$"


def with_cause(groups: pl.LazyFrame, lines: Lines) -> pl.LazyFrame:
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
        .when(is_shenandoah & pl.col("has_begin")).then(pl.col("trigger"))
    )  # fmt: skip
    is_failed = (failed.is_not_null() & (failed != "Evacuation Failure: Pinned")).fill_null(False)
    is_failed |= pl.col("is_exhausted").fill_null(False)
    groups = groups.with_columns(
        cause=cause,
        name=pl.coalesce("stopping_name", "z_name", pl.lit("")),
        # a line of its own may say it, which a log that begins within the collection lacks
        is_failed=pl.when(is_failed | ~_may_lack(lines)).then(is_failed),
    )
    groups = groups.join(_started_by(groups), on=["run", "id"], how="left", maintain_order="left")
    return groups.with_columns(pl.coalesce("cause", "started_by").alias("cause"))


def _started_by(groups: pl.LazyFrame) -> pl.LazyFrame:
    """Return the cause of each of G1's cycles: that of the young collection that started it.

    It is the last one that starts a cycle before it. A full collection may come in between where
    the thread that marks waits for a CPU. No two cycles have one such collection in common.
    """
    numbered = groups.select("run", "id", "kind", "stopping_name", "cause").sort("id")
    starters = numbered.filter(pl.col("stopping_name").str.contains(STARTS_CYCLE)).select(
        "run", "id", starter="id", started_by="cause"
    )
    cycles = numbered.filter(pl.col("kind").str.ends_with(" cycle"))
    before = pl.col("id").shift(1).over("run").fill_null(-1).alias("before")
    return (
        cycles.select("run", "id", before)
        .join_asof(starters, on="id", by="run", check_sortedness=False)
        .filter(pl.col("starter") > pl.col("before"))
        .select("run", "id", "started_by")
    )


def _may_lack(lines: Lines) -> pl.Expr:
    """Return of which collections a line between their first and their last may be cut off."""
    first = pl.col("message").first().str.starts_with("GC(")
    cut = lines.frame.group_by("run").agg(is_cut=first).filter("is_cut")["run"].to_list()
    is_first = pl.col("first_row") == pl.col("first_row").min().over("run")
    stopping = pl.col("stopping_name").is_not_null()
    pause = pl.col("run").is_in(cut) & is_first & stopping & ~pl.col("is_started")
    return pause | (pl.col("is_shenandoah") & ~pl.col("has_begin"))


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
