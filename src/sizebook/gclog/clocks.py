"""Times of lines, of whatever clocks a log has."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from sizebook.gclog.layouts import CLOCKS

_EPOCH_MS = 100_000_000_000
"""Milliseconds above it count from 1970, not from the start of a JVM."""


def ticks(clocks: Sequence[Sequence[str]]) -> pl.Expr:
    """Return seconds of the first clock of each line's layout, from wherever it counts."""
    return _by_clock(
        clocks,
        pl.col("up"),
        pl.col("ms").cast(pl.Float64) / 1e3,
        pl.col("wall").cast(pl.Float64) / 1e3,
        pl.col("ns").cast(pl.Float64) / 1e9,
    )


def absolute() -> pl.Expr:
    """Return seconds since 1970 of each line, null where none of its clocks counts them."""
    ms = pl.when(pl.col("ms") > _EPOCH_MS).then(pl.col("ms"))
    return pl.coalesce("wall", ms).cast(pl.Float64) / 1e3


def _by_clock(clocks: Sequence[Sequence[str]], *values: pl.Expr) -> pl.Expr:
    found = pl.lit(None, dtype=pl.Float64)
    for clock, value in zip(CLOCKS, values, strict=True):
        which = [n for n, own in enumerate(clocks) if own and own[0] == clock]
        if which:
            found = pl.when(pl.col("layout").is_in(which)).then(value).otherwise(found)
    return found


def timed(rows: pl.DataFrame, clocks: Sequence[Sequence[str]]) -> pl.DataFrame:
    """Return ``at_s`` and ``at_ns``. Clocks that do not count from a JVM's start are taken from the
    first line of its run; nanoseconds since the start are none of CLOCK_MONOTONIC."""
    ms, wall, ns = pl.col("ms"), pl.col("wall"), pl.col("ns")
    begin = ms.first().over("run")
    at_s = _by_clock(
        clocks,
        pl.col("up"),
        (ms - pl.when(begin > _EPOCH_MS).then(begin).otherwise(0)).cast(pl.Float64) / 1e3,
        (wall - wall.first().over("run").fill_null(0)).cast(pl.Float64) / 1e3,
        (ns - ns.first().over("run").fill_null(0)).cast(pl.Float64) / 1e9,
    )
    rows = rows.with_columns(at_s=at_s, at_ns=ns)
    twins = [n for n, own in enumerate(clocks) if {"ns", "uptime"} <= set(own)]
    if not twins:
        return rows
    off = (ns.cast(pl.Float64) / 1e9 - pl.col("at_s")).abs().median().over("run")
    keep = pl.when(~pl.col("layout").is_in(twins) | (off > 1.0)).then("at_ns")
    return rows.with_columns(at_ns=keep)
