"""Pieces of a stream of lines, and the runs of a JVM that they make.

A JVM numbers its collections from 0 and its clock goes on: where one of them goes back, a piece of
the file ends. Pieces that continue each other are one run, in whatever order they stand.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

BACK_S = 1.0
"""A clock that goes back by more begins anew; threads write their lines a little out of order."""
MOST_LATE = 10
"""Runs whose begin is missing in one file; of more, lines are not in an order."""


@dataclass(frozen=True)
class Runs:
    """The runs of one stream of lines."""

    run: pl.Series
    """Of each line, from 1."""
    place: pl.Series
    """Of each line within the order of the runs."""
    breaks: int
    mixed_at: int
    """Line from which pieces of several runs alternate; 0 if they do not."""

    @property
    def most(self) -> int:
        return most_of(self.run)

    @property
    def sorted(self) -> pl.Series:
        return self.run.sort()


@dataclass(frozen=True)
class _Piece:
    number: int
    begins: bool
    follows: bool
    """Whether only lines are missing between the piece before and this one."""
    t0: float | None
    t1: float | None
    n0: int | None
    n1: int | None
    line: int


def runs_of(rows: pl.DataFrame) -> Runs:
    """Return the runs of a stream: of each line its run and its place among them."""
    breaks = _breaks(rows)
    count = int(breaks.sum())
    if not count:
        run = pl.repeat(1, rows.height, dtype=pl.UInt32, eager=True)
        return Runs(run, pl.int_range(rows.height, eager=True), 0, 0)
    cut = rows.with_columns(is_break=breaks, piece=breaks.cum_sum())
    # lines may be missing within a piece: what lies behind may belong to another piece
    highest = pl.col("number").cum_max().forward_fill().shift(1).over("piece")
    cut = cut.with_columns(is_gap=(pl.col("number") > highest + 1).fill_null(False))
    cut = cut.with_columns(piece=(pl.col("is_break") | pl.col("is_gap")).cum_sum())
    told = cut.group_by("piece", maintain_order=True).agg(
        begins=pl.col("begin").is_not_null().any(),
        follows=pl.col("is_gap").first() & ~pl.col("is_break").first(),
        t0=pl.col("t").min(), t1=pl.col("t").max(),
        n0=pl.col("number").min(), n1=pl.col("number").max(),
        line=pl.col("line").filter(pl.col("line") > 0).first().fill_null(1),
    )  # fmt: skip
    pieces = [_Piece(*row) for row in told.iter_rows()]
    chains = _chains(pieces)
    own = {piece.number: (n, place) for n, chain in enumerate(chains, 1)
           for place, piece in enumerate(chain)}  # fmt: skip
    table = pl.DataFrame(
        {"piece": list(own), "run": [n for n, _ in own.values()],
         "link": [place for _, place in own.values()]},
        schema={"piece": cut.schema["piece"], "run": pl.UInt32, "link": pl.UInt32},
    )  # fmt: skip
    placed = cut.select("piece").with_row_index("row").join(
        table, on="piece", how="left", maintain_order="left"
    )  # fmt: skip
    ranks = placed.sort("run", "link", "row").with_columns(place=pl.int_range(pl.len()))
    return Runs(
        placed["run"],
        ranks.sort("row")["place"],
        count,
        _mixed_at(pieces, {number: n for number, (n, _) in own.items()}, chains),
    )


def back_by(clock: str, seconds: float) -> pl.Expr:
    """Return at which lines a clock goes back by more than so much, and stays there.

    A single time that is out of order comes from a late thread or a damaged line.
    """
    t, before = pl.col(clock), pl.col(clock).shift(1)
    back = (
        (t < before - seconds)
        & (pl.min_horizontal(t.shift(-1).fill_null(t), t.shift(-2)) < before - seconds)
        & (t < pl.max_horizontal(t.shift(2).fill_null(before), t.shift(3)) - seconds)
    )
    return back.fill_null(False)


def _breaks(rows: pl.DataFrame) -> pl.Series:
    """Return at which lines a piece begins: not at the first one."""
    breaks = rows.select(back_by("t", BACK_S)).to_series()
    if rows["begin"].null_count() < rows.height:
        breaks = _with_begins(rows, breaks)
    # within what a clock and a JVM's begin show to be one piece, numbers may go back, too
    last = pl.col("order").forward_fill().shift(1).over("piece")
    again = (pl.col("order") < last) & (pl.col("line") > 0)
    pieces = rows.select("order", "line", piece=breaks.cum_sum())
    return breaks | pieces.select(again.fill_null(False)).to_series()


def _with_begins(rows: pl.DataFrame, breaks: pl.Series) -> pl.Series:
    """Return the breaks with those at which a JVM begins without a clock that goes back."""
    events = rows.select(
        "begin", is_break=breaks, told=pl.col("number").is_not_null().cum_sum()
    ).with_row_index("row").filter(pl.col("begin").is_not_null() | pl.col("is_break"))  # fmt: skip
    more, seen, at_begin = [], set[str](), 0
    for row, begin, is_break, told in events.iter_rows():
        if is_break:
            seen, at_begin = set(), told
        if begin is not None:
            if begin in seen or told > at_begin:
                more.append(row)
                seen = set()
            seen.add(begin)
            at_begin = told
    return breaks.scatter(more, True) if more else breaks


def _chains(pieces: Sequence[_Piece]) -> list[list[_Piece]]:
    """Return the pieces of each run in the order of its time; runs in the order of the file.

    A piece without a JVM's begin continues the one whose last collection is its first or the one
    before. Pieces between which collections are missing stay apart: nobody knows what lies there.
    """
    chains = [[piece] for piece in pieces if piece.begins]
    ends: dict[int, list[list[_Piece]]] = {}

    def end(chain: list[_Piece]) -> None:
        last = chain[-1].n1
        # a run that has no collection yet is continued by the first one
        ends.setdefault(-1 if last is None else last, []).append(chain)

    for chain in chains:
        end(chain)
    of = {chain[0].number: chain for chain in chains}
    by_number = {piece.number: piece for piece in pieces}
    rest = [piece for piece in pieces if not piece.begins]
    for piece in sorted(rest, key=lambda one: (one.n0 is None, one.n0 or 0, one.t0 or 0.0)):
        near: list[list[_Piece]] = []
        if piece.n0 is not None:
            near = [*ends.get(piece.n0, ()), *ends.get(piece.n0 - 1, ())]
            near = [chain for chain in near if _may_follow(piece, chain[-1])]
        before = of.get(piece.number - 1)
        if not near and before is not None and before[-1].number == piece.number - 1:
            told = by_number[piece.number - 1]
            if piece.follows or (piece.n0 is None and _may_follow(piece, told)):
                near = [before]
        if near:
            chain = max(near, key=lambda one: (one[-1].t1 or 0.0, one[-1].number))
            last = -1 if chain[-1].n1 is None else chain[-1].n1
            ends[last] = [one for one in ends[last] if one is not chain]
            chain.append(piece)
        else:
            chain = [piece]
            chains.append(chain)
        of[piece.number] = chain
        end(chain)
    return sorted(chains, key=lambda chain: min(one.number for one in chain))


def _may_follow(piece: _Piece, last: _Piece) -> bool:
    return piece.t0 is None or last.t1 is None or piece.t0 >= last.t1 - BACK_S


def _mixed_at(pieces: Sequence[_Piece], run: dict[int, int], chains: list[list[_Piece]]) -> int:
    """Return the line from which pieces of several runs alternate, or of too many; 0 if none do."""
    turns = Counter[frozenset[int]]()
    for before, piece in itertools.pairwise(pieces):
        pair = frozenset((run[before.number], run[piece.number]))
        if len(pair) == 2:
            turns[pair] += 1
            if turns[pair] > 2:
                return piece.line
    late = [chain[0] for chain in chains if not chain[0].begins and (chain[0].n0 or 0) > 1]
    if len(late) > max(MOST_LATE, len(chains) // 2):
        return late[1].line
    return 0


def most_of(run: pl.Series) -> int:
    """Return the highest number of a run, 0 of no lines."""
    most = run.max()
    return most if isinstance(most, int) else 0
