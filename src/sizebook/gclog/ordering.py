"""Pieces of one run that lie in another order than they were written, however short they are.

Files of a rotated log that are put together by their names come in any order. Where they last for
less than clocks of two runs differ, a clock alone does not tell them from lines of late threads:
its order must be that of the collections' numbers, too.
"""

from __future__ import annotations

import polars as pl

from sizebook.gclog.pieces import BACK_S, back_by

LATE_S = 0.02
"""A clock that goes back by more, and stays there, is no thread's that wrote its line late."""
_HOLE_S = 0.001


def in_clock_order(rows: pl.DataFrame) -> pl.DataFrame | None:
    """Return the lines of one run as its clock has them; None where they are in order already.

    None, too, where their numbers show that not one run wrote them: it starts once, before its
    first collection, and numbers its collections upwards without a gap where pieces meet.
    """
    t = pl.col("t") if rows["ns"].null_count() else pl.col("ns").cast(pl.Float64) / 1e9
    rows = rows.with_columns(clock=t)
    if not (rows.select(back_by("clock", LATE_S)).to_series().any() or _turns_back(rows)):
        return None
    clock, number = pl.col("clock"), pl.col("number")
    # lines of one message may be late together, but what follows on them is not
    behind = pl.min_horizontal(clock.shift(-1), clock.shift(-2))
    back = (clock < clock.shift(1)) & (behind.fill_null(clock) < clock.shift(1))
    cut = rows.with_columns(piece=back.fill_null(False).cum_sum())
    highest = number.cum_max().forward_fill().shift(1).over("piece")
    # where a piece has a hole, another one may belong
    hole = (number > highest + 1).fill_null(False) | (clock > clock.shift(1) + _HOLE_S)
    starts = hole.fill_null(False) | (pl.col("piece") != pl.col("piece").shift(1)).fill_null(False)
    cut = cut.with_columns(part=starts.cum_sum())
    found = cut.with_columns(begins=clock.first().over("part")).sort(
        "begins", "part", maintain_order=True
    )
    if found["part"].is_sorted() or not _is_one_run(found):
        return None
    return found.select(rows.columns).drop("clock")


def _turns_back(rows: pl.DataFrame) -> bool:
    order = rows["order"].drop_nulls()
    return not order.is_sorted()


def _is_one_run(found: pl.DataFrame) -> bool:
    told = found.filter(pl.col("line") > 0)
    begins = told["begin"].drop_nulls()
    if begins.n_unique() < len(begins) or _turns_back(told):
        return False
    number, clock = pl.col("number"), pl.col("clock")
    highest = number.cum_max().forward_fill().shift(1)
    wrong = told.select(
        starts_late=(pl.col("begin").is_not_null() & highest.is_not_null()).any(),
        overlaps=(clock < clock.cum_max() - BACK_S).any(),
    )
    if any(wrong.row(0)):
        return False
    parts = told.group_by("part", maintain_order=True).agg(low=number.min(), high=number.max())
    parts = parts.drop_nulls()
    return not (parts["low"] > parts["high"].cum_max().shift(1) + 1).any()
