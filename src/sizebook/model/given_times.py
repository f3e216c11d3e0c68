"""Times that are given one by one: how many of them come a second, piece by piece."""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Sequence

from sizebook.model.intensity import Leg

MOST_TIMES = 100_000
"""Arrivals that a load profile may give one by one; they are part of each trial's record."""
MOST_PIECES = 20
"""Pieces into which their rate is cut."""


def first_disorder(times_us: Sequence[int], over_s: float) -> str:
    """Return what would be right instead of these times; empty if they ascend and end in time."""
    if any(one > other for one, other in itertools.pairwise(times_us)):
        return "times in ascending order"
    if times_us[-1] >= over_s * 1e6:
        return f"times before the end of what is replayed, {over_s:g} s"
    return ""


def rate_legs(times_us: Sequence[int], length_s: float) -> tuple[Leg, ...]:
    """Return pieces of equal length, each with the rate that gives the number of times in it.

    There are some 20 times in a piece, or more; times from ``length_s`` on are left out.
    """
    known = bisect.bisect_left(times_us, length_s * 1e6)
    pieces = max(1, min(MOST_PIECES, known // 20))
    bounds = [length_s * 1e6 * number / pieces for number in range(1, pieces)]
    at = [0, *(bisect.bisect_left(times_us, bound) for bound in bounds), known]
    each_s = length_s / pieces
    rates = ((end - begin) / each_s for begin, end in itertools.pairwise(at))
    return tuple((each_s, rate, rate) for rate in rates)
