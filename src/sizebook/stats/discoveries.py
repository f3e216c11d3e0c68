"""Which verdicts survive when many claims are tested, and how many of them may be wrong.

A verdict that is wrong in 2.5 % of the cases is wrong five times among two hundred. Benjamini and
Hochberg (Journal of the Royal Statistical Society B 57, 1995) keep the expected share of wrong
verdicts among those that count, the false discovery rate, at a level q: of m claims tested, the R
clearest count, where R is the largest number whose p values are all at most q R / m.

A claim has two verdicts, of which at most one can be wrong (``stats.decisions``), and its p value
is that of the verdict reached. So a claim is one of the m, whichever way it was decided: a wrong
verdict comes with a p value of at most x in at most x of the cases, and the proof holds as it is
(Benjamini and Yekutieli, JASA 100, 2005, section 4 on directional decisions). It holds for claims
that are independent, or dependent in the way that if one is clear by chance others are, too
(Benjamini and Yekutieli, Annals of Statistics 29, 2001), as where they share treatments.

Claims that were tested and not decided belong to the m. Only what could not have been decided
whatever came out, such as an event in three blocks, does not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

FALSE_DISCOVERY_RATE = 0.05
"""Share of wrong verdicts among those that count, at most, on average."""


@dataclass(frozen=True)
class PutToTest:
    """A claim that was put to the test with enough blocks for a verdict."""

    p: float | None
    """The smallest level at which its verdict would be reached; None: undetermined."""
    error_rate: float
    """Probability that its test gives a wrong verdict, at most."""

    def __post_init__(self) -> None:
        if not 0 < self.error_rate < 1:
            raise ValueError(f"error rate {self.error_rate}; expected between 0 and 1")
        if self.p is not None and not 0 <= self.p <= 1:
            raise ValueError(f"p value {self.p}; expected between 0 and 1")


@dataclass(frozen=True)
class Discoveries:
    """Which verdicts count over all claims, and how many of them are to be expected wrong."""

    counts: tuple[bool, ...]
    """Of each claim whether it has a verdict that survives."""
    limit: float
    """The largest p value that survives; 0 where none does."""
    decided: int
    """Verdicts before false discoveries were limited."""
    expected_wrong: float
    """Wrong verdicts to be expected among those that count, at most: the sum of the error rates of
    all tests, but no more than there are. It holds however the claims depend on each other."""

    @property
    def tested(self) -> int:
        """Claims that could have been decided."""
        return len(self.counts)

    @property
    def kept(self) -> int:
        """Verdicts that survive."""
        return sum(self.counts)


def discover(claims: Sequence[PutToTest], rate: float = FALSE_DISCOVERY_RATE) -> Discoveries:
    """Return which verdicts survive at a false discovery rate, and how many may be wrong.

    Without claims nothing survives and nothing is wrong. ValueError for a rate that is not between
    0 and 1.
    """
    if not 0 < rate < 1:
        raise ValueError(f"false discovery rate {rate}; expected between 0 and 1")
    values = sorted(claim.p for claim in claims if claim.p is not None)
    passing = [k for k, p in enumerate(values, 1) if p <= rate * (k / len(claims))]
    limit = rate * (passing[-1] / len(claims)) if passing else 0.0
    counts = tuple(bool(passing) and claim.p is not None and claim.p <= limit for claim in claims)
    expected = min(math.fsum(claim.error_rate for claim in claims), sum(counts))
    return Discoveries(counts, limit, len(values), float(expected))
