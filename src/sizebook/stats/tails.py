"""How small the level of an interval of a ratio could be and still exclude a value.

A verdict is read from one end of an interval: the low end lies above an edge, or the high end lies
below it. The smallest one-sided level at which that is so is the p value of the one-sided test that
the interval stands for. It comes from the same distribution as the interval's ends, so that a p
value of at most 2.5 % and an end of the 95 % interval beyond the edge are one and the same thing
(Casella and Berger, Statistical Inference, 2nd ed. 2002, section 9.2.1 on the duality of tests and
intervals).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike

from sizebook.stats.intervals import (
    BOOTSTRAP_FROM,
    RESAMPLES,
    log_difference,
    ratio_interval,
)

_MOST = 0.499
"""The level of an interval of hardly any width; an edge that it holds is excluded by none."""
_CLOSE = 1e-3
"""Part of a level within which it is searched."""


class Tails(NamedTuple):
    """The smallest one-sided levels at which an interval excludes an edge."""

    above: float
    """At which the low end lies above it; 1 where that is never so."""
    below: float
    """At which the high end lies below it."""


def ratio_tails(
    numerator: ArrayLike, denominator: ArrayLike, edge: float, *, paired: bool = False
) -> Tails:
    """Return the p values of "the ratio is above the edge" and of "it is below".

    The ratio and its interval are those of ``ratio_interval``. Exact for Student's and Welch's t;
    from ``BOOTSTRAP_FROM`` replicates on, where the ends are quantiles of resamples, they are
    searched, and no smaller than one part in ``RESAMPLES``. Replicates that do not vary give 0 on
    the side of the edge where they lie, on both where they lie on it. ValueError for an edge
    that is not positive, fewer than two replicates, and for a value that has no ratio.
    """
    if not (edge > 0 and math.isfinite(edge)):
        raise ValueError(f"edge {edge}; expected above 0")
    a, b = (np.asarray(side, dtype=np.float64).ravel() for side in (numerator, denominator))
    if min(a.size, b.size) < 2 or not min(a.min(), b.min()) > 0:
        raise ValueError(f"{a.size} and {b.size} replicates without an interval of their ratio")
    found = log_difference(np.log(a), np.log(b), paired=paired)
    distance = found.estimate - math.log(edge)
    if found.error == 0:
        return Tails(float(distance < 0), float(distance > 0))
    if min(a.size, b.size) < BOOTSTRAP_FROM:
        t = distance / found.error
        return Tails(*(float(scipy.special.stdtr(found.freedom, side)) for side in (-t, t)))
    return Tails(
        _search(a, b, edge, paired=paired, above=True),
        _search(a, b, edge, paired=paired, above=False),
    )


def _search(a: ArrayLike, b: ArrayLike, edge: float, *, paired: bool, above: bool) -> float:
    """Return the smallest one-sided level at which an end of the bootstrap's interval passes."""

    def passes(tail: float) -> bool:
        found = ratio_interval(a, b, paired=paired, level=1 - 2 * tail)
        end = found.low if above else found.high
        return end is not None and (end > edge if above else end < edge)

    if not passes(_MOST):
        return 1.0
    if passes(1 / RESAMPLES):
        return 1 / RESAMPLES
    low, high = 1 / RESAMPLES, _MOST
    while high / low > 1 + _CLOSE:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if passes(middle) else (middle, high)
    return high
