"""Which run of which JVM wrote each line of a log.

A file may hold several: a JVM that was restarted, rotated files in the order of their names, JVMs
that write to one stream. A JVM numbers its collections from 0 and its clock goes on: where one of
them goes back, a piece of the file ends. Pieces that continue each other are one run, in whatever
order they stand. Where pieces of JVMs alternate, what the lines have besides tells the JVMs apart:
the number of the process, the name of the host or container, or the way lines are laid out.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from sizebook.gclog.errors import GcLogError
from sizebook.gclog.layouts import CLOCKS

# Each of these comes once in a JVM's start, in an order that depends on collector and version.
_BEGIN = (
    r"^(Using (?:Serial|Parallel|G1|The Z|Shenandoah|Epsilon|Concurrent Mark)|Version: |CPUs: )"
)
_NUMBER = r"^GC\(([0-9]{1,9})\) "
# What a JVM says in the order of the numbers: full collections of Java 9 to 12 may come within a
# young one (``genCollectedHeap.cpp``, do_collection), phases that run beside it much later.
_IN_ORDER = (
    r"^GC\(([0-9]{1,9})\) (?:Pause (?:Young|Mixed)|(?:[yY]: )?(?:Minor|Garbage) "
    r"|Concurrent reset)"
)
BACK_S = 1.0
"""A clock that goes back by more begins anew; threads write their lines a little out of order."""
_EPOCH_MS = 100_000_000_000
"""Milliseconds above it count from 1970, not from the start of a JVM."""
MOST_LATE = 10
"""Runs whose begin is missing in one file; of more, lines are not in an order."""
_MOST_WORDS = 24
# Times of day, dates and months, which vary in what is put before the lines of one JVM.
_TIMES = (
    r"[0-9]{4}[-/.][0-9]{2}[-/.][0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?"
    r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?|[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?|[0-9]{10,}"
    r"|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +[0-9]{1,2}\b"
)
_WORDS = r"[^\s\"|,{}]+"


@dataclass(frozen=True)
class Span:
    """A run of a JVM: when it was under way, and by what its lines are known."""

    run: int
    jvm: str
    """What tells its lines from those of another JVM in the file; empty if there is no other."""
    line: int
    """Line of the file at which it begins."""
    first_s: float | None
    """Time of its first line, and of the last one that was read."""
    last_s: float | None
    first_ns: int | None
    last_ns: int | None


def in_runs(
    frame: pl.DataFrame, clocks: Sequence[Sequence[str]]
) -> tuple[pl.DataFrame, tuple[Span, ...]]:
    """Return the lines with ``at_s``, ``at_ns`` and ``run``, run by run, and each run's times.

    ``clocks`` are those that the lines of each layout have. Raises GcLogError where lines of
    several JVMs are mixed and nothing tells them apart.
    """
    message = pl.col("message")
    rows = frame.with_columns(
        t=_ticks(clocks).forward_fill(),
        number=message.str.extract(_NUMBER).cast(pl.Int64),
        order=message.str.extract(_IN_ORDER).cast(pl.Int64),
        begin=pl.when(pl.col("line") > 0).then(message.str.extract(_BEGIN)),
    )
    parts, names = [], dict[int, str]()
    for name, own, run in _streams(rows):
        parts.append(own.with_columns(run=run + len(names)))
        names |= dict.fromkeys(range(len(names) + 1, len(names) + 1 + _most(run)), name)
    told = _timed(pl.concat(parts).sort("run", maintain_order=True), clocks)
    return told.filter(pl.col("line") > 0).select(
        "at_s", "at_ns", "run", "line", "message"
    ), _spans(told, names)


def _streams(rows: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame, pl.Series]]:
    """Give the lines of each JVM with its name, and the run of each line, in the order of runs."""
    found = _runs(rows)
    if found.most == 1 and not found.breaks:
        yield "", rows, found.run
        return
    best: tuple[int, int] | None = None
    chosen: list[tuple[str, pl.DataFrame, _Runs]] = []
    for key in _keys(rows) if found.most > 1 else ():
        count = key.n_unique()
        if not 2 <= count <= found.breaks + 1:
            continue
        named = rows.with_columns(jvm=key).partition_by("jvm", as_dict=True, maintain_order=True)
        apart = [(str(name), own.drop("jvm"), _runs(own)) for (name,), own in named.items()]
        cost = sum(one.breaks for _, _, one in apart), count
        mixed = any(one.mixed_at for _, _, one in apart)
        if not mixed and cost[0] < found.breaks and (best is None or cost < best):
            best, chosen = cost, apart
    if chosen:
        for name, own, runs in chosen:
            yield name, own.with_columns(place=runs.place).sort("place").drop("place"), runs.sorted
        return
    if found.mixed_at:
        raise GcLogError(
            found="lines of several JVMs that nothing tells apart, mixed from line "
            f"{found.mixed_at:,} on",
            expected="the log of one JVM, or lines that name theirs",
            next_step="let each JVM write a file of its own, or its number into each line: "
            "-Xlog:gc*:file=gc.log:uptime,pid,level,tags",
        )
    yield "", rows.with_columns(place=found.place).sort("place").drop("place"), found.sorted


@dataclass(frozen=True)
class _Runs:
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
        return _most(self.run)

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


def _runs(rows: pl.DataFrame) -> _Runs:
    breaks = _breaks(rows)
    count = int(breaks.sum())
    if not count:
        run = pl.repeat(1, rows.height, dtype=pl.UInt32, eager=True)
        return _Runs(run, pl.int_range(rows.height, eager=True), 0, 0)
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
    return _Runs(
        placed["run"],
        ranks.sort("row")["place"],
        count,
        _mixed_at(pieces, {number: n for number, (n, _) in own.items()}, chains),
    )


def _breaks(rows: pl.DataFrame) -> pl.Series:
    """Return at which lines a piece begins: not at the first one."""
    t, before = pl.col("t"), pl.col("t").shift(1)
    # a single time that is out of order comes from a late thread or a damaged line
    back = (
        (t < before - BACK_S)
        & (pl.min_horizontal(t.shift(-1).fill_null(t), t.shift(-2)) < before - BACK_S)
        & (t < pl.max_horizontal(t.shift(2).fill_null(before), t.shift(3)) - BACK_S)
    )
    breaks = rows.select(back.fill_null(False)).to_series()
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


def _ticks(clocks: Sequence[Sequence[str]]) -> pl.Expr:
    """Return seconds of the first clock of each line's layout, from wherever it counts."""
    return _by_clock(
        clocks,
        pl.col("up"),
        pl.col("ms").cast(pl.Float64) / 1e3,
        pl.col("wall").cast(pl.Float64) / 1e3,
        pl.col("ns").cast(pl.Float64) / 1e9,
    )


def _by_clock(clocks: Sequence[Sequence[str]], *values: pl.Expr) -> pl.Expr:
    found = pl.lit(None, dtype=pl.Float64)
    for clock, value in zip(CLOCKS, values, strict=True):
        which = [n for n, own in enumerate(clocks) if own and own[0] == clock]
        if which:
            found = pl.when(pl.col("layout").is_in(which)).then(value).otherwise(found)
    return found


def _timed(rows: pl.DataFrame, clocks: Sequence[Sequence[str]]) -> pl.DataFrame:
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


def _spans(rows: pl.DataFrame, names: dict[int, str]) -> tuple[Span, ...]:
    kept = pl.col("line") > 0
    told = rows.group_by("run", maintain_order=True).agg(
        line=pl.col("line").filter(kept).first().fill_null(1),
        first_s=pl.col("at_s").first(),
        last_s=pl.col("at_s").filter(kept).max(),
        first_ns=pl.col("at_ns").filter(kept).min(),
        last_ns=pl.col("at_ns").filter(kept).max(),
    )
    return tuple(Span(jvm=names[row["run"]], **row) for row in told.iter_rows(named=True))


def _keys(rows: pl.DataFrame) -> Iterator[pl.Series]:
    """Give what may tell JVMs apart: of each line a word, in each of several ways."""
    own = pl.col("own").str.split("\x1f")
    count = int(rows.select(own.list.len().max()).item() or 0)
    ways = [own.list.get(n, null_on_oob=True) for n in range(count)]
    for column in ("before", "after"):
        plain = pl.col(column).str.replace_all(_TIMES, "")
        words = plain.str.extract_all(_WORDS)
        most = int(rows.select(words.list.len().max()).item() or 0)
        if most:
            ways += [words.list.get(n, null_on_oob=True) for n in range(min(most, _MOST_WORDS))]
            ways.append(plain.str.strip_chars(" |:\t"))
    ways.append(pl.format("decorations of kind {}", pl.col("layout") + 1))
    for way in ways:
        yield rows.select(way.forward_fill().fill_null("").alias("key")).to_series()


def _most(run: pl.Series) -> int:
    most = run.max()
    return most if isinstance(most, int) else 0
