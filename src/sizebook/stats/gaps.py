"""How complete the readings of a time window are, source by source."""

from __future__ import annotations

import numpy as np
import polars as pl

FLOORS_S = {
    "server": 1.0,
    "database": 1.0,
    "balancer": 1.0,
    "generator": 1.0,
    "probes": 1.0,
    "rows": 3600.0,
}
"""Shortest interval by kind of source, whatever interval a trial asks for: a scrape costs its node
some milliseconds, a query its database; rows are counted before and after a trial only."""

SERVERS_PER_S = 3
"""Scrapes of all nodes together in a second. More nodes are asked less often each, so that looking
costs each layout about the same, and the one thread that looks keeps up with nodes that are busy.
"""

SHORTEST_S = 0.1
"""Shortest interval of any probe: at 10 Hz the dearest ones would cost a tenth of a core."""

GAP_COLUMNS: dict[str, type[pl.DataType]] = {
    "source": pl.String,
    "due": pl.Int64,
    "read": pl.Int64,
    "missed": pl.Int64,
    "failed": pl.Int64,
    "longest_gap_s": pl.Float64,
}


def source_interval_s(source: str, interval_s: float, servers: int = 1) -> float:
    """Return how often a source is read when a trial asks for this interval, in seconds.

    ``servers`` is how many nodes have a ``server/...`` source.
    """
    kind = source.partition("/")[0]
    shared_s = servers / SERVERS_PER_S if kind == "server" else 0.0
    return max(interval_s, FLOORS_S.get(kind, 0.0), shared_s)


def sampling_gaps(
    counters: pl.DataFrame, begin_ns: int, end_ns: int, interval_s: float
) -> pl.DataFrame:
    """Return one row a source: readings due, read, missed, failed, and the longest gap.

    ``counters`` has the columns of ``counters.parquet``; ``interval_s`` is what the trial asked
    for (``probe_interval_s``). A source with several probes, such as a process with its seldom
    read details, is judged by its most often read metric.

    ``due`` is how many whole intervals the window has, so it may be one less than were read:
    deadlines do not begin with the window. ``missed`` is what is due and was not read: intervals
    that are missing between readings, and fewer readings than due by more than the one that may
    have slipped across an edge. ``failed`` is how often the source was asked and did not answer
    (null values).
    ``longest_gap_s`` is the longest time between readings one after the other that touches the
    window, its edges standing in where there is no reading before or after it; the whole window
    and more if there was none in it. A source that was never read has a row if the sampler
    counted its failures in the window. Columns: ``GAP_COLUMNS``, sorted by source.
    """
    if end_ns <= begin_ns or interval_s <= 0:
        raise ValueError(f"a window of {end_ns - begin_ns} ns, an interval of {interval_s} s")
    rows = counters.lazy().select(
        pl.col("source").cast(pl.String), pl.col("metric").cast(pl.String), "time_ns", "value"
    )
    inside = pl.col("time_ns").is_between(begin_ns, end_ns)
    there = pl.col("value").is_not_null()
    time = pl.col("time_ns")
    before = time.filter(there & (time < begin_ns)).max().fill_null(begin_ns)
    after = time.filter(there & (time > end_ns)).min().fill_null(end_ns)
    around = time.filter(there & time.is_between(before, after)).sort()
    by_metric = (
        rows.filter(pl.col("source") != "probes")
        .group_by("source", "metric")
        .agg(
            read=(there & inside).sum().cast(pl.Int64),
            failed=(~there & inside).sum().cast(pl.Int64),
            around=around,
            gap_ns=pl.max_horizontal(
                around.diff().max(), around.min() - begin_ns, end_ns - around.max()
            ),
        )
    )
    by_source = (
        by_metric.sort("source", "read", "failed", descending=[False, True, False])
        .group_by("source", maintain_order=True)
        .first()
        .drop("metric")
        .collect()
    )
    silent = _never_read(rows.filter(pl.col("source") == "probes").collect(), begin_ns, end_ns)
    by_source = pl.concat(
        [by_source, silent.join(by_source, on="source", how="anti")], how="diagonal"
    )
    length_s = (end_ns - begin_ns) / 1e9
    servers = int(by_source["source"].str.starts_with("server/").sum())
    window = (begin_ns, end_ns)
    every_s = [source_interval_s(source, interval_s, servers) for source in by_source["source"]]
    due = [int(length_s / each_s + 1e-9) for each_s in every_s]
    missed = [
        _missed(times, window, each_s, wanted, read)
        for times, each_s, wanted, read in zip(
            by_source["around"], every_s, due, by_source["read"], strict=True
        )
    ]
    return (
        by_source.with_columns(
            pl.Series("due", due, pl.Int64),
            pl.Series("missed", missed, pl.Int64),
            longest_gap_s=pl.col("gap_ns").fill_null(end_ns - begin_ns) / 1e9,
        )
        .select(pl.col(name).cast(kind) for name, kind in GAP_COLUMNS.items())
        .sort("source")
    )


def _missed(
    times: pl.Series | None, window: tuple[int, int], interval_s: float, due: int, read: int
) -> int:
    """Return how many readings are missing; ``times``: those in the window and next to it."""
    if times is None or read == 0:
        return due
    interval_ns = round(interval_s * 1e9)
    begin_ns, end_ns = window
    near = np.clip(times.to_numpy(), begin_ns - interval_ns, end_ns + interval_ns)
    edges = [begin_ns] if near[0] > begin_ns else [], [end_ns] if near[-1] < end_ns else []
    steps = np.diff(np.concatenate([edges[0], near, edges[1]])) / interval_ns
    skipped = int(np.maximum(np.floor(steps + 0.5) - 1, 0).sum())
    return min(due, max(due - read - 1, skipped))


def _never_read(own: pl.DataFrame, begin_ns: int, end_ns: int) -> pl.DataFrame:
    """Return the sources whose probes failed around the window, by the sampler's own counters."""
    kind = "failed_reads/"
    value, time = pl.col("value").sort_by("time_ns"), pl.col("time_ns").sort()
    failures = (
        own.filter(pl.col("metric").str.starts_with(kind))
        .group_by("metric")
        .agg(
            at_end=value.filter(time >= end_ns).first().fill_null(value.last()),
            at_begin=value.filter(time <= begin_ns).last().fill_null(0.0),
        )
        .filter(pl.col("at_end") > pl.col("at_begin"))
        .select(
            source=pl.col("metric").str.strip_prefix(kind).str.replace("^host:.*", "host")
            .str.replace("^[^:]*:", ""),
            read=pl.lit(0, pl.Int64),
            failed=(pl.col("at_end") - pl.col("at_begin")).cast(pl.Int64),
        )
    )  # fmt: skip
    return failures.group_by("source").agg(pl.col("read").first(), pl.col("failed").max())
