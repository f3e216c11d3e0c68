"""Which pieces of a stream of lines continue each other, and where nobody can know.

A piece continues another one if its collections are the next ones, each step of them comes in order
and no clock goes back. One that fits a single end is joined to it, which may leave a single end for
others; what still fits several is not joined.
"""

from __future__ import annotations

import bisect
import itertools
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

SLACK_S = 0.02
"""By so much a clock may go back where pieces meet: threads write their lines a little late."""
CYCLE = "Cycle"
"""The step that other collections may come within."""
_MOST = 1000
"""Pieces to be joined; more of them are lines that alternate: each is held against all."""


@dataclass(frozen=True)
class CollectionStep:
    """A line of a step whose collections come one after another, such as young pauses."""

    number: int
    is_end: bool


@dataclass(frozen=True)
class LogPiece:
    """Lines that stand together and that one run may have written."""

    number: int
    """From 0, in the order of the file."""
    line: int
    begins: frozenset[str]
    """What a JVM says once at its start, as far as the piece has it."""
    follows: bool
    """Whether only lines are missing between the piece before and this one."""
    t0: float | None
    t1: float | None
    n0: int | None
    """The lowest number of its collections, and the highest."""
    n1: int | None
    first: Mapping[str, CollectionStep] = field(default_factory=dict)
    """Of each step the first line, and the last."""
    last: Mapping[str, CollectionStep] = field(default_factory=dict)
    paired: frozenset[str] = frozenset()
    """Steps that have a line at their begin, too."""


@dataclass(frozen=True)
class Inside:
    """A place within a piece at which its rest might be that of another run."""

    piece: int
    line: int
    before: float
    after: float


@dataclass
class Chain:
    """Pieces of one run in the order of its time."""

    pieces: list[LogPiece]
    t1: float | None
    n0: int | None
    n1: int | None
    begins: frozenset[str]
    first: dict[str, CollectionStep]
    last: dict[str, CollectionStep]
    paired: frozenset[str]

    @classmethod
    def of(cls, piece: LogPiece) -> Chain:
        """Return the chain of one piece."""
        return cls([piece], piece.t1, piece.n0, piece.n1, piece.begins,
                   dict(piece.first), dict(piece.last), piece.paired)  # fmt: skip

    @property
    def head(self) -> LogPiece:
        """Its first piece."""
        return self.pieces[0]

    @property
    def end(self) -> LogPiece:
        """Its last piece."""
        return self.pieces[-1]

    @property
    def is_counted(self) -> bool:
        """Whether its numbers say how far the run had come: steps of a cycle come much later."""
        return bool(self.begins) or any(name != CYCLE for name in self.last)

    def extend(self, later: Chain) -> None:
        """Add the pieces of another chain."""
        self.pieces += later.pieces
        self.t1 = self.t1 if later.t1 is None else later.t1
        self.n0 = later.n0 if self.n0 is None else self.n0
        known = [n for n in (self.n1, later.n1) if n is not None]
        self.n1 = max(known, default=None)
        self.begins |= later.begins
        self.first = later.first | self.first
        self.last |= later.last
        self.paired |= later.paired


@dataclass(frozen=True)
class Joined:
    """The runs that pieces make."""

    chains: list[list[LogPiece]]
    """In the order of the file."""
    unclear: str
    """Which piece fits several places, in words; empty if none does."""
    unclear_at: int
    """Its line; 0 if there is none."""


class Joiner:
    """Joins pieces; ``is_absolute`` says that their clock counts on while no JVM runs."""

    def __init__(self, pieces: Sequence[LogPiece], *, is_absolute: bool) -> None:
        self._chains = [Chain.of(piece) for piece in pieces]
        self._starts = (
            sorted(each.t0 for each in pieces if each.begins and each.t0 is not None)
            if is_absolute
            else []
        )

    def join(self, inside: Mapping[int, Sequence[Inside]]) -> Joined:
        """Return the runs; ``inside``: of each number the places within pieces where it begins."""
        unclear: tuple[str, int] | None = None
        if len(self._chains) <= _MOST:
            while True:
                doubts = self._eliminate()
                if not self._bridge():
                    break
            unclear = doubts or self._left_over() or self._exchangeable(inside)
        chains = sorted(
            (chain.pieces for chain in self._chains),
            key=lambda own: min(one.number for one in own),
        )
        return Joined(chains, *(unclear or ("", 0)))

    def _eliminate(self) -> tuple[str, int] | None:
        """Join what fits a single end, until nothing does; return the first that fits several."""
        while True:
            fits = {n: ends for n, chain in enumerate(self._chains) if (ends := self._ends(chain))}
            asked = Counter(ends[0] for ends in fits.values() if len(ends) == 1)
            clear = [n for n, ends in fits.items() if len(ends) == 1 and asked[ends[0]] == 1]
            if not self._link([(n, fits[n][0]) for n in clear]):
                return self._doubt(fits)

    def _ends(self, chain: Chain) -> list[int]:
        return [
            n for n, each in enumerate(self._chains)
            if each is not chain and self._may_follow(chain, each)
        ]  # fmt: skip

    def _link(self, links: Sequence[tuple[int, int]], *, is_asked: bool = True) -> bool:
        """Join chains by their places, as far as they still fit; return whether any was."""
        now = list(range(len(self._chains)))

        def root(n: int) -> int:
            while now[n] != n:
                n = now[n]
            return n

        for later, before in links:
            into = self._chains[root(before)]
            # each end is asked for once, so the chain before ends as it did when it was asked
            if root(before) != later and not (
                is_asked and not self._may_follow(self._chains[later], into)
            ):
                into.extend(self._chains[later])
                now[later] = root(before)
        self._chains = [chain for n, chain in enumerate(self._chains) if now[n] == n]
        return any(own != n for n, own in enumerate(now))

    def _bridge(self) -> bool:
        """Join what fits nowhere to the piece before it in the file, if only lines are missing."""
        ends = {chain.end.number: n for n, chain in enumerate(self._chains)}
        links = [
            (n, ends[chain.head.number - 1]) for n, chain in enumerate(self._chains)
            if chain.head.follows and chain.head.number - 1 in ends and not self._ends(chain)
            and self._in_time(self._chains[ends[chain.head.number - 1]].t1, chain.head.t0)
        ]  # fmt: skip
        return self._link(links, is_asked=False)

    def _may_follow(self, later: Chain, before: Chain) -> bool:
        if later.head.begins and (
            before.n1 is not None or not before.begins or before.begins & later.head.begins
        ):
            return False
        return self._in_time(before.t1, later.head.t0) and _in_order(later, before)

    def _in_time(self, before: float | None, after: float | None) -> bool:
        if before is None or after is None:
            return True
        if after < before - SLACK_S:
            return False
        # whatever a JVM writes after the next one started is that one's
        return bisect.bisect_left(self._starts, after) <= bisect.bisect_right(self._starts, before)

    def _doubt(self, fits: Mapping[int, Sequence[int]]) -> tuple[str, int] | None:
        for n, ends in sorted(fits.items(), key=lambda each: self._chains[each[0]].head.number):
            line = self._chains[n].head.line
            if len(ends) > 1:
                first, second = sorted(self._chains[end].end.line for end in ends[:2])
                return (
                    f"lines from line {line:,} on that may continue those from line {first:,} "
                    f"or those from line {second:,}",
                    line,
                )
            rivals = [self._chains[m].head.line for m, other in fits.items()
                      if m != n and other == ends]  # fmt: skip
            if rivals:
                end = self._chains[ends[0]].end.line
                return (
                    f"lines from line {line:,} on and lines from line {rivals[0]:,} on that both "
                    f"may continue those from line {end:,}",
                    line,
                )
        return None

    def _left_over(self) -> tuple[str, int] | None:
        """Return a piece without a begin that continues a run by its number, but not otherwise."""
        for chain in self._chains:
            n0, t1 = chain.n0, chain.t1
            if chain.head.begins or n0 is None:
                continue
            for each in self._chains:
                if each is chain or each.n1 is None or n0 > each.n1 + 1:
                    continue
                if chain.is_counted and n0 < each.n1:
                    continue
                start = each.head.t0
                if self._starts and t1 is not None and start is not None and t1 < start:
                    continue
                return (
                    f"lines from line {chain.head.line:,} on that continue those from line "
                    f"{each.end.line:,} by the number of the collection, but not by their times",
                    chain.head.line,
                )
        return None

    def _exchangeable(self, inside: Mapping[int, Sequence[Inside]]) -> tuple[str, int] | None:
        """Return a piece out of its place that the middle of another run has room for, too.

        Where files meet within lines that go on, nothing shows it: the rest of that run may be
        the one that belongs here.
        """
        for chain in self._chains:
            own = {piece.number for piece in chain.pieces}
            for before, piece in itertools.pairwise(chain.pieces):
                if piece.number == before.number + 1 or piece.n0 is None:
                    continue
                for place in inside.get(piece.n0, ()):
                    if (
                        place.piece not in own
                        and self._in_time(place.before, piece.t0)
                        and self._in_time(before.t1, place.after)
                    ):
                        return (
                            f"lines from line {piece.line:,} on that may continue those from line "
                            f"{before.line:,} or belong in front of line {place.line:,}",
                            piece.line,
                        )
        return self._unfinished(inside)

    def _unfinished(self, inside: Mapping[int, Sequence[Inside]]) -> tuple[str, int] | None:
        """Return where, in a file out of order, a run that ends may go on within another one."""
        if all(
            piece.number == before.number + 1
            for chain in self._chains for before, piece in itertools.pairwise(chain.pieces)
        ):  # fmt: skip
            return None
        for chain in self._chains:
            own = {piece.number for piece in chain.pieces}
            for place in inside.get(-1 if chain.n1 is None else chain.n1 + 1, ()):
                if place.piece not in own and self._in_time(chain.t1, place.after):
                    return (
                        f"lines from line {place.line:,} on that may continue those before them or "
                        f"those from line {chain.end.line:,}",
                        place.line,
                    )
        return None


def _in_order(later: Chain, before: Chain) -> bool:
    if later.n0 is None:
        return True
    if before.n1 is None and before.begins:
        # a run that has no collection yet is continued by the first one
        return later.n0 == 0
    if before.is_counted and before.n1 is not None and later.n0 > before.n1 + 1:
        return False
    return all(_continues(name, step, later, before) for name, step in later.first.items())


def _continues(name: str, step: CollectionStep, later: Chain, before: Chain) -> bool:
    """Return whether a step's first line comes after the last one that the pieces before have."""
    last = before.last.get(name)
    if last is None:
        return not (step.is_end and name in later.paired and later.n0 != before.n1)
    if not last.is_end and name in before.paired:
        return step.is_end and step.number == last.number
    return step.number > last.number and not (step.is_end and name in before.paired)
