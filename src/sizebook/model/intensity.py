"""How many arrivals come a second over a trial: pieces of a constant or linear rate."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Piece:
    """A length of time over which the rate of arrivals is constant or changes linearly."""

    begin_s: float
    length_s: float
    begin_per_s: float
    end_per_s: float

    @property
    def end_s(self) -> float:
        """Its end, in seconds from the trial's start as its begin."""
        return self.begin_s + self.length_s

    @property
    def slope(self) -> float:
        """Change of the rate a second."""
        return (self.end_per_s - self.begin_per_s) / self.length_s

    def rate_at(self, at_s: float) -> float:
        """Return the arrivals per second at a time within it."""
        if at_s == self.end_s:
            return self.end_per_s
        return self.begin_per_s + self.slope * (at_s - self.begin_s)

    def expected(self, begin_s: float, end_s: float) -> float:
        """Return the mean number of arrivals in the part of it from ``begin_s`` to ``end_s``."""
        begin_s, end_s = max(begin_s, self.begin_s), min(end_s, self.end_s)
        if end_s <= begin_s:
            return 0.0
        return (end_s - begin_s) * (self.rate_at(begin_s) + self.rate_at(end_s)) / 2


@dataclass(frozen=True, slots=True)
class Intensity:
    """Arrivals per second over a trial: pieces that follow each other, nothing after the last.

    Times are seconds from the trial's start. Every kind of open arrivals is one of these: its
    arrivals are evenly spaced points of it, or a Poisson process with it as its rate.
    """

    pieces: tuple[Piece, ...]

    @property
    def end_s(self) -> float:
        """End of the last piece."""
        return self.pieces[-1].end_s if self.pieces else 0.0

    def expected(self, begin_s: float, end_s: float) -> float:
        """Return the integral from ``begin_s`` to ``end_s``: the mean number of arrivals."""
        return math.fsum(piece.expected(begin_s, end_s) for piece in self.pieces)


Leg = tuple[float, float, float]
"""Length in seconds, arrivals per second at its begin and at its end."""


def lay_out(legs: tuple[Leg, ...], end_s: float) -> Intensity:
    """Return the intensity whose pieces are these legs in turn, cut off at ``end_s``."""
    pieces: list[Piece] = []
    at_s = 0.0
    for length_s, begin_per_s, end_per_s in legs:
        piece = Piece(at_s, length_s, begin_per_s, end_per_s)
        at_s += length_s
        if at_s > end_s:
            kept_s = end_s - piece.begin_s
            if kept_s <= 0:
                continue
            piece = Piece(piece.begin_s, kept_s, begin_per_s, piece.rate_at(end_s))
        elif length_s <= 0:
            continue
        if pieces and pieces[-1].begin_per_s == pieces[-1].end_per_s == begin_per_s == end_per_s:
            before = pieces.pop()
            piece = Piece(before.begin_s, piece.end_s - before.begin_s, begin_per_s, end_per_s)
        pieces.append(piece)
    return Intensity(tuple(pieces))
