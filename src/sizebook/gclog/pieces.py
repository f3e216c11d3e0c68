"""Pieces of a stream of lines, and the runs of a JVM that they make.

A JVM numbers its collections from 0 and its clock goes on: where one of them goes back, a piece of
the file ends. Pieces that continue each other are one run, in whatever order they stand; where they
do so in more than one way, ``Runs.unclear`` says at which line.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from sizebook.gclog.chains import CYCLE, CollectionStep, Inside, Joiner, LogPiece

RESTS = "reset"
"""The step that a collection may have more than once."""
MOST_TURNS = 50
"""Of two runs in a file; so often lines of two JVMs alternate, but no files of a rotated log."""
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
    unclear: str
    """Which lines fit several runs, in words; empty if none do."""

    @property
    def most(self) -> int:
        return most_of(self.run)

    @property
    def sorted(self) -> pl.Series:
        return self.run.sort()


def runs_of(rows: pl.DataFrame) -> Runs:
    """Return the runs of a stream: of each line its run and its place among them."""
    breaks = _breaks(rows)
    count = int(breaks.sum())
    if not count:
        run = pl.repeat(1, rows.height, dtype=pl.UInt32, eager=True)
        return Runs(run, pl.int_range(rows.height, eager=True), 0, 0, "")
    cut = rows.with_columns(is_break=breaks, piece=breaks.cum_sum())
    is_absolute = not rows["absolute"].null_count()
    cut = cut.with_columns(clock="absolute" if is_absolute else "t")
    gaps = _gaps(cut) | _past_starts(cut) if is_absolute else _gaps(cut)
    cut = cut.with_columns(is_gap=gaps, piece=(breaks | gaps).cum_sum())
    pieces = _pieces(cut)
    joined = Joiner(pieces, is_absolute=is_absolute).join(_inside(cut, pieces))
    own = {piece.number: (n, place) for n, chain in enumerate(joined.chains, 1)
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
        _mixed_at(pieces, {number: n for number, (n, _) in own.items()}, joined.chains),
        joined.unclear,
    )


def _gaps(cut: pl.DataFrame) -> pl.Series:
    """Return at which lines others are missing: what lies behind may belong to another piece.

    A collection was left out, or one of the two lines of a step that has two.
    """
    # a JVM that has started goes on with collection 0
    counted = pl.when(pl.col("begin").is_not_null()).then(-1).otherwise(pl.col("number"))
    highest = counted.cum_max().forward_fill().shift(1).over("piece")
    gaps = cut.select((pl.col("number") > highest + 1).fill_null(False)).to_series()
    told = cut.with_columns(begin_before=pl.col("begin").is_not_null().any().over("piece"))
    told = told.with_row_index("row").filter(
        pl.col("step").is_not_null() & (pl.col("step") != RESTS)
    )
    ends, number = pl.col("ends"), pl.col("number")
    # G1 says at the level of its cycles' ends, too, where they begin
    is_paired = (~ends).any() | (pl.col("step") == CYCLE)
    from_start = pl.col("begin_before")
    has_begin = (~ends.shift(1) & (number == number.shift(1))).fill_null(~from_start)
    torn = (is_paired & pl.when(ends).then(~has_begin).otherwise(~ends.shift(1))).over(
        "piece", "step"
    )
    rows = told.filter(torn.fill_null(False))["row"]
    return gaps.scatter(rows, True) if len(rows) else gaps


def _past_starts(cut: pl.DataFrame) -> pl.Series:
    """Return at which lines of a clock that counts on another JVM has started in between."""
    starts = cut.filter(pl.col("begin").is_not_null())["clock"].sort()
    seen = pl.Series(starts.search_sorted(cut["clock"], side="right"))
    return cut.select(
        ((seen != seen.shift(1)) & pl.col("begin").is_null()).fill_null(False)
    ).to_series()  # fmt: skip


def _pieces(cut: pl.DataFrame) -> list[LogPiece]:
    steps = cut.filter(pl.col("step").is_not_null()).group_by(
        "piece", "step", maintain_order=True
    ).agg(
        pl.col("number").first().alias("n0"), pl.col("ends").first().alias("e0"),
        pl.col("number").last().alias("n1"), pl.col("ends").last().alias("e1"),
        (~pl.col("ends")).any().alias("is_paired"),
    )  # fmt: skip
    first: dict[int, dict[str, CollectionStep]] = {}
    last: dict[int, dict[str, CollectionStep]] = {}
    paired: dict[int, set[str]] = {}
    for number, name, n0, e0, n1, e1, is_paired in steps.iter_rows():
        first.setdefault(number, {})[name] = CollectionStep(n0, e0)
        last.setdefault(number, {})[name] = CollectionStep(n1, e1)
        if is_paired and name != RESTS:
            paired.setdefault(number, set()).add(name)
    told = cut.group_by("piece", maintain_order=True).agg(
        line=pl.col("line").filter(pl.col("line") > 0).first().fill_null(1),
        begins=pl.col("begin").drop_nulls(),
        follows=pl.col("is_gap").first() & ~pl.col("is_break").first(),
        t0=pl.col("clock").min(), t1=pl.col("clock").max(),
        n0=pl.col("number").min(), n1=pl.col("number").max(),
    )  # fmt: skip
    return [
        LogPiece(
            number=row["piece"],
            line=row["line"],
            begins=frozenset(row["begins"]),
            follows=row["follows"],
            t0=row["t0"],
            t1=row["t1"],
            n0=row["n0"],
            n1=row["n1"],
            first=first.get(row["piece"], {}),
            last=last.get(row["piece"], {}),
            paired=frozenset(paired.get(row["piece"], ())),
        )
        for row in told.iter_rows(named=True)
    ]


def _inside(cut: pl.DataFrame, pieces: Sequence[LogPiece]) -> dict[int, list[Inside]]:
    """Return where a collection begins within a piece, of those with which others begin or end."""
    heads = {one.n0 for one in pieces if not one.begins and one.n0 is not None}
    heads |= {one.n1 + 1 for one in pieces if one.n1 is not None}
    clock = pl.col("clock")
    places = (
        cut.with_columns(before=clock.shift(1).over("piece"))
        .filter(pl.col("number").is_in(list(heads)) & pl.col("before").is_not_null())
        .group_by("piece", "number", maintain_order=True)
        .agg(pl.col("line").first(), pl.col("before").min(), after=clock.max())
    )
    found: dict[int, list[Inside]] = {}
    for piece, number, line, before, after in places.iter_rows():
        found.setdefault(number, []).append(Inside(piece, line, before, after))
    return found


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
    return breaks | _again(rows, breaks)


def _again(rows: pl.DataFrame, breaks: pl.Series) -> pl.Series:
    """Return at which lines a number goes back, or a collection comes once more, within a piece."""
    told = (
        rows.select("line", "t", "message", "number", "step", "ends", piece=breaks.cum_sum())
        .with_row_index("row")
        .filter(pl.col("step").is_not_null() & (pl.col("line") > 0))
    )
    before = {name: pl.col(name).shift(1).over("piece", "step")
              for name in ("number", "ends", "t", "message")}  # fmt: skip
    # a line that was written twice is no other collection
    is_twin = (pl.col("message") == before["message"]) & (pl.col("t") == before["t"]).fill_null(
        True
    )
    is_same = (
        (pl.col("number") == before["number"])
        & (pl.col("step") != RESTS)
        & before["ends"]
        & ~is_twin
    )
    again = told.filter(((pl.col("number") < before["number"]) | is_same).fill_null(False))["row"]
    found = pl.repeat(False, rows.height, dtype=pl.Boolean, eager=True)
    return found.scatter(again, True) if len(again) else found


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


def _mixed_at(
    pieces: Sequence[LogPiece], run: dict[int, int], chains: Sequence[Sequence[LogPiece]]
) -> int:
    """Return the line from which pieces of several runs alternate, or of too many; 0 if none do."""
    turns = Counter[frozenset[int]]()
    for before, piece in itertools.pairwise(pieces):
        pair = frozenset((run[before.number], run[piece.number]))
        if len(pair) == 2:
            turns[pair] += 1
            if turns[pair] > MOST_TURNS:
                return piece.line
    late = [chain[0] for chain in chains if not chain[0].begins and (chain[0].n0 or 0) > 1]
    if len(late) > max(MOST_LATE, len(chains) // 2):
        return late[1].line
    return 0


def most_of(run: pl.Series) -> int:
    """Return the highest number of a run, 0 of no lines."""
    most = run.max()
    return most if isinstance(most, int) else 0
