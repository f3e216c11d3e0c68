"""What the landing page tells first: how the claims fared in each part, and what stands out.

All of it follows from the ledger; nothing is chosen by hand.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from sizebook.book.claims import LedgerRow, in_question
from sizebook.model.claim import CLAIM_VERDICTS, ClaimOutcome

TESTED = ("confirmed", "contradicted", "undetermined")
"""What came of a claim that valid trials were asked about."""
_SHOWN = 7
_CONTRADICTED = 3
_LESS = ("lt", "decreases")
_SAME = ("approx", "level", "stagnates")


@dataclass(frozen=True)
class Findings:
    """The ledger at a glance."""

    states: Mapping[str, int]
    """How many claims have each verdict, over all parts."""
    parts: Mapping[str, Mapping[str, int]]
    """The same by part of the book, in its order."""
    measured: tuple[str, ...]
    """Titles of the chapters with a claim that was put to the test."""
    unmeasured: tuple[str, ...]
    """Titles of the others that have claims."""
    outstanding: tuple[LedgerRow, ...]
    """Confirmed and contradicted claims that stand out, in the book's order."""


def find_findings(rows: Iterable[LedgerRow]) -> Findings:
    """Return what the rows of a ledger say at a glance; claims not in question are left out."""
    listed = in_question(rows)
    tested = {row.chapter for row in listed if row.state in TESTED}
    titles = {row.chapter: row.title or row.chapter for row in listed if row.chapter}
    return Findings(
        states=_count(listed),
        parts={
            part: _count(row for row in listed if row.part == part)
            for part in dict.fromkeys(row.part for row in listed if row.part)
        },
        measured=tuple(title for chapter, title in titles.items() if chapter in tested),
        unmeasured=tuple(title for chapter, title in titles.items() if chapter not in tested),
        outstanding=choose_outstanding(listed),
    )


def choose_outstanding(rows: Sequence[LedgerRow]) -> tuple[LedgerRow, ...]:
    """Return up to seven decided claims with an interval, in the order given.

    Of each chapter at most one contradicted and one confirmed; of those, first the contradicted
    ones (no more than three) that miss what was claimed by the largest ratio, then the confirmed
    ones whose interval lies farthest from 1, or within the closest bounds of it.
    """
    chosen = _strongest(rows, "contradicted")[:_CONTRADICTED]
    chosen += _strongest(rows, "confirmed")[: _SHOWN - len(chosen)]
    return tuple(row for row in rows if any(row is each for each in chosen))


def _count(rows: Iterable[LedgerRow]) -> dict[str, int]:
    found = Counter(row.state for row in rows)
    return {state: found[state] for state in CLAIM_VERDICTS}


def _strongest(rows: Sequence[LedgerRow], verdict: str) -> list[LedgerRow]:
    """Return the strongest row of each chapter with this verdict, strongest first."""
    best: dict[str, tuple[float, LedgerRow]] = {}
    for row in rows:
        if row.state != verdict or row.outcome is None:
            continue
        strength = _strength(row.outcome)
        if strength is not None and strength > best.get(row.chapter, (-1.0, row))[0]:
            best[row.chapter] = strength, row
    ranked = sorted(best.values(), key=lambda each: -each[0])
    return [row for _, row in ranked]


def _strength(outcome: ClaimOutcome) -> float | None:
    """Return how clearly the interval shows the verdict, as a logarithm of a ratio.

    None for an event and for an effect without an interval.
    """
    effect, low, high = outcome.effect, outcome.low, outcome.high
    if effect is None or low is None or high is None or min(effect, low, high) <= 0:
        return None
    assured = 0.0 if low <= 1 <= high else min(abs(math.log(low)), abs(math.log(high)))
    least = outcome.least or 1.0
    if outcome.verdict == "confirmed":
        widest = max(abs(math.log(low)), abs(math.log(high)))
        same = outcome.relation in _SAME
        return max(0.0, math.log(least) - widest) if same else assured
    if outcome.relation in _SAME:
        return max(0.0, assured - math.log(least))
    claimed = outcome.reported_ratio or (1 / least if outcome.relation in _LESS else least)
    return abs(math.log(effect) - math.log(claimed)) if claimed > 0 else None
