"""A GC log over time, ready to be drawn: the heap, and the share of time spent in pauses."""

from __future__ import annotations

import polars as pl

from sizebook.gclog.log import GcLog
from sizebook.gclog.occupancy import STOPPING

MOST_POINTS = 1500
"""Points of a course beyond which neighbours are drawn together, by their extremes."""


def heap_course(log: GcLog, most: int = MOST_POINTS) -> pl.DataFrame:
    """Return the heap before and after each collection, in the order of time.

    Columns: ``run``, ``t_s``, ``t_ns`` (null where the log lacks it), ``used_bytes``,
    ``free_bytes``, ``total_bytes``, ``kind``, and ``edge``, which is ``before`` or ``after``. Of
    more than ``most`` points neighbours are taken together: the most that was used before one of
    the collections, and the least after. A cycle of G1 is there with its pauses, which free.
    """
    rows = _rows(log)
    each = -(-rows.height * 2 // most)
    if each > 1:
        rows = rows.group_by("run", pl.int_range(pl.len()) // each, maintain_order=True).agg(
            pl.col("begin_s", "begin_ns").first(), pl.col("end_s", "end_ns").last(),
            pl.col("before_bytes").max(), pl.col("after_bytes").min(),
            pl.col("total_bytes").max(), pl.col("kind").last(),
        )  # fmt: skip
    edges = [
        rows.select(
            "run",
            pl.col(f"{end}_s").alias("t_s"),
            pl.col(f"{end}_ns").alias("t_ns"),
            pl.col(size).alias("used_bytes"),
            pl.max_horizontal(pl.col("total_bytes") - pl.col(size), 0).alias("free_bytes"),
            "total_bytes",
            "kind",
            pl.lit(edge).alias("edge"),
        )
        for end, size, edge in (
            ("begin", "before_bytes", "before"),
            ("end", "after_bytes", "after"),
        )
    ]
    return pl.concat(edges).sort("run", "t_s", maintain_order=True)


def _rows(log: GcLog) -> pl.DataFrame:
    columns = ["run", "begin_s", "end_s", "begin_ns", "end_ns", "before_bytes", "after_bytes",
               "total_bytes", "kind"]  # fmt: skip
    rows = log.collections
    if log.facts.collector == "G1":
        rows = rows.filter(pl.col("kind").is_in(STOPPING))
        marks = log.pauses.filter(pl.col("name").is_in(["Remark", "Cleanup"]))
        marks = marks.with_columns(kind=pl.lit("concurrent cycle"))
        rows = pl.concat([rows.select(columns), marks.select(columns)])
    rows = rows.select(columns).drop_nulls(["before_bytes", "after_bytes", "end_s"])
    return rows.with_columns(
        pl.col("begin_s").fill_null(pl.col("end_s")), pl.col("begin_ns").fill_null(pl.col("end_ns"))
    ).sort("run", "end_s", maintain_order=True)


def overhead_course(log: GcLog, windows: int = 60) -> pl.DataFrame:
    """Return the share of each of equal windows in which the application stood still.

    Columns: ``t_s`` (the window's begin), ``width_s``, ``overhead_share``, ``longest_pause_ns``. A
    pause that lies in two windows counts in each with its part. Empty without times or pauses.
    """
    schema = {"t_s": pl.Float64, "width_s": pl.Float64, "overhead_share": pl.Float64,
              "longest_pause_ns": pl.Int64}  # fmt: skip
    pauses = log.pauses.drop_nulls(["begin_s", "end_s"])
    first, last = log.first_s, log.last_s
    if pauses.is_empty() or first is None or last is None or not last > first:
        return pl.DataFrame(schema=schema)
    width = (last - first) / windows
    inner = pauses.select(
        "pause_ns", begin=pl.col("begin_s").clip(first, last), end=pl.col("end_s").clip(first, last)
    ).with_columns(
        low=((pl.col("begin") - first) / width).floor().clip(0, windows - 1).cast(pl.Int64),
        high=((pl.col("end") - first) / width).floor().clip(0, windows - 1).cast(pl.Int64),
    )
    parts = inner.with_columns(window=pl.int_ranges("low", pl.col("high") + 1)).explode("window")
    begin = first + pl.col("window") * width
    within = (pl.min_horizontal("end", begin + width) - pl.max_horizontal("begin", begin)).clip(0)
    sums = parts.group_by("window").agg(
        overhead_share=within.sum() / width, longest_pause_ns=pl.col("pause_ns").max()
    )
    every = pl.DataFrame({"window": pl.int_range(windows, eager=True)})
    return every.join(sums, on="window", how="left", maintain_order="left").select(
        t_s=first + pl.col("window") * width,
        width_s=pl.lit(width),
        overhead_share=pl.col("overhead_share").fill_null(0.0),
        longest_pause_ns=pl.col("longest_pause_ns").fill_null(0),
    )
