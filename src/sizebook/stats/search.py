"""Where a yes-or-no outcome changes along ordered levels: bracketing, bisection, confirmation.

Levels are numbered 0 to ``count - 1``, from light to heavy load; an outcome is True where the
criterion was kept. Outcomes near the boundary are noisy, so a level is decided by majority, and
the two levels of the boundary must each have been seen ``agree`` times with one outcome ahead of
the other by as many. That is a bisection that ends in a short up-and-down staircase (Dixon and
Mood, JASA 43 (1948); for such searches in performance work: Jain, The Art of Computer Systems
Performance Analysis, 1991, section 3.3). The answer is conservative: the boundary is the *lowest*
level that does not keep the criterion, whatever a heavier one did by luck.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Outcomes = Mapping[int, Sequence[bool]]
"""Level to the outcomes seen at it, in any order."""


@dataclass(frozen=True)
class Boundary:
    """Where the outcomes change, as far as they tell."""

    last_pass: int | None
    """Highest level that passed below ``first_fail``; None if none did."""
    first_fail: int | None
    """Lowest level that failed; None if none did."""


def boundary(outcomes: Outcomes) -> Boundary:
    """Return the boundary by majority at each level; a level with a tie belongs to neither."""
    failed = [level for level, seen in outcomes.items() if _lead(seen) < 0]
    first_fail = min(failed, default=None)
    passed = [
        level
        for level, seen in outcomes.items()
        if _lead(seen) > 0 and (first_fail is None or level < first_fail)
    ]
    return Boundary(max(passed, default=None), first_fail)


def next_level(outcomes: Outcomes, *, count: int, start: int, agree: int = 1) -> int | None:
    """Return the level to be tried next, or None when the boundary is known.

    From ``start`` the steps double until pass and fail enclose the boundary, then they halve. The
    boundary is known when pass and fail are neighbours (or the first level fails, or the last one
    passes) and each leads by ``agree`` outcomes. Raises ValueError for a start that is no level.
    """
    if not 0 <= start < count:
        raise ValueError(f"start {start}; expected a level from 0 to {count - 1}")
    if not outcomes:
        return start
    tied = [level for level, seen in outcomes.items() if seen and _lead(seen) == 0]
    if tied:
        return min(tied)
    found = boundary(outcomes)
    low, high = found.last_pass, found.first_fail
    if high is None:
        assert low is not None  # there is an outcome, and none failed
        if low < count - 1:
            return min(count - 1, low + _stride(outcomes))
    elif low is None:
        if high > 0:
            return max(0, high - _stride(outcomes))
    elif high - low > 1:
        return (low + high) // 2
    ends = (level for level in (low, high) if level is not None)
    return next((level for level in ends if abs(_lead(outcomes[level])) < agree), None)


def _stride(outcomes: Outcomes) -> int:
    return 1 << (len(outcomes) - 1)


def _lead(seen: Sequence[bool]) -> int:
    """Return by how many outcomes passing leads; negative where failing does."""
    return 2 * sum(seen) - len(seen)
