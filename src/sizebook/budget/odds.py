"""In how many blocks a claim should be decided, by what its newest result says."""

from __future__ import annotations

from dataclasses import dataclass

from sizebook.model.claim import ClaimOutcome, Comparison
from sizebook.report.claims import assertion_of
from sizebook.stats.decisions import ALWAYS, FEWEST, combine, decide
from sizebook.stats.intervals import Interval
from sizebook.stats.looks import level_after
from sizebook.stats.power import expected_width

MOST_BLOCKS = ALWAYS
"""Blocks that a budget plans of a design at most: what decides an event."""
AGAIN = 0.9
"""Odds that a claim which was decided is decided again by as many blocks."""
ANEW = 0.5
"""Odds of one that was not, where its spread lets more blocks decide it: the estimate that says so
may itself be off by its interval."""


@dataclass(frozen=True)
class Prospect:
    """What more blocks should do for a claim."""

    blocks: int
    """Blocks of each treatment that should decide it."""
    odds: float
    """Probability that they do."""


def foresee(outcome: ClaimOutcome) -> Prospect | None:
    """Return in how many blocks a claim should be decided; None: not in ``MOST_BLOCKS``.

    A ratio keeps its estimate, and its interval narrows as ``stats.power.expected_width`` says. An
    event that happened in all blocks, or in none, goes on like that.
    """
    if outcome.verdict == "not run" or not outcome.comparisons:
        return None
    decided = outcome.verdict != "undetermined"
    if outcome.least is None:
        open_yet = min(pair.n for pair in outcome.comparisons) < ALWAYS
        return Prospect(ALWAYS, AGAIN if decided else ANEW) if decided or open_yet else None
    if decided:
        seen = [pair.n for pair in outcome.comparisons if pair.verdict != "undetermined"]
        return Prospect(min(MOST_BLOCKS, max([FEWEST, *seen])), AGAIN)
    for blocks in range(FEWEST, MOST_BLOCKS + 1):
        if _is_decided(outcome, outcome.least, blocks):
            return Prospect(blocks, ANEW)
    return None


def _is_decided(outcome: ClaimOutcome, least: float, blocks: int) -> bool:
    """Return whether comparisons with the estimates seen would decide it in so many blocks."""
    assertion = assertion_of(outcome.as_claim(), outcome.relation, outcome.metric)
    each = [decide(assertion, _narrowed(pair, blocks), least) for pair in outcome.comparisons]
    return combine(assertion, each).verdict != "undetermined"


def _narrowed(pair: Comparison, blocks: int) -> Interval:
    """Return the interval that should decide a comparison in so many blocks.

    One that has none yet, since too few of its blocks count, is taken for as clear as it looks.
    """
    effect, low, high, level = pair.effect, pair.low, pair.high, level_after(blocks)
    if effect is None or not effect > 0:
        return Interval(None, None, None, level, blocks, "", "no value")
    width = 1.0
    if low is not None and high is not None and low > 0 and pair.n > 1:
        width = expected_width(low, high, pair.n, blocks, level=level)
    return Interval(effect, effect / width, effect * width, level, blocks, "expected")
