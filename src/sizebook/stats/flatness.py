"""Where the best level of a sweep lies, and how flat it is there.

The best of several measured levels is best partly by luck, and all the others look worse than they
are beside it. So no level is compared with the winner alone. All differences between levels are
bounded at once, by Tukey's studentized range; whichever level is truly best, the distance of a
level from it is then bounded as well::

    distance of level i = mu_i - min over j of mu_j = max over j of (mu_i - mu_j)
    mean_i - min mean - h  <=  distance of level i  <=  mean_i - min mean + h

with h = q(level; k, (k - 1)(n - 1)) s / sqrt(n), on logs, for k levels in n blocks. s is the
scatter that is left when levels and blocks are taken out (two-way layout without interaction), so
that a fast or slow start of the stack, which all levels of its block share, is not counted as
noise. One level that scatters far more than the others widens the intervals of all. Sources: Tukey,
The Problem of Multiple Comparisons (1953); Hsu, Multiple Comparisons: Theory and Methods (1996),
ch. 4 and 5; Scheffe, The Analysis of Variance (1959), ch. 4 on blocks.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

import numpy as np
import scipy
from numpy.typing import ArrayLike

Better = Literal["less", "more"]
Span = tuple[float, float]


@dataclass(frozen=True)
class Distance:
    """How far a level is from the best one, as a ratio of 1 or more."""

    level: float
    ratio: float
    """How many times worse than the best level: 1.2 is a fifth more time, or a sixth less rate."""
    low: float | None
    """From 1 on; None without an interval."""
    high: float | None


@dataclass(frozen=True)
class Optimum:
    """The best level of a sweep, and the levels that are as good for practical purposes."""

    best: float | None
    """Level with the best mean; None if nothing was measured."""
    distances: tuple[Distance, ...]
    """One a level that was measured, by rising level; their intervals hold together."""
    margin: float
    """Ratio up to which a level counts as good as the best: 1.05."""
    n: int
    """Blocks in which every level was measured."""
    reason: str = ""
    """Why there are no intervals; empty where there are."""

    @property
    def span(self) -> Span | None:
        """Lowest and highest level of those around the best whose estimate is within the margin."""
        return self._around(lambda one: one.ratio <= self.margin)

    @property
    def sure_span(self) -> Span | None:
        """The same for levels that are shown to be within it; None if the best one is not."""
        return self._around(lambda one: one.high is not None and one.high <= self.margin)

    @property
    def possible_span(self) -> Span | None:
        """The same for levels that are not shown to be beyond it."""
        return self._around(lambda one: one.low is None or one.low <= self.margin)

    def at(self, level: float) -> Distance | None:
        """Return the distance of a level; None if it was not measured."""
        return next((one for one in self.distances if one.level == level), None)

    def _around(self, is_in: Callable[[Distance], bool]) -> Span | None:
        """Return the ends of the unbroken run of levels around the best that pass a test."""
        at = next((n for n, one in enumerate(self.distances) if one.level == self.best), None)
        if at is None or not is_in(self.distances[at]):
            return None
        below = list(takewhile(is_in, reversed(self.distances[: at + 1])))
        above = list(takewhile(is_in, self.distances[at:]))
        return below[-1].level, above[-1].level


def find_optimum(
    levels: Sequence[float],
    values: ArrayLike,
    *,
    better: Better = "less",
    margin: float = 1.05,
    confidence: float = 0.95,
) -> Optimum:
    """Return the best level and the distances of all from it.

    ``values`` has a row a level and a column a block: positive numbers, NaN where a level was not
    measured. Levels without any value are left out, then blocks that lack one of the others; where
    no block is complete, each level has the mean of what there is and no interval. ``better`` says
    whether less of the metric is better, as of time, or more, as of a rate. The intervals hold
    together with ``confidence``. Raises ValueError for values of zero or below, another number of
    levels than rows, a level that is there twice, and a margin below 1.
    """
    if not margin > 1:
        raise ValueError(f"margin {margin}; expected above 1, like 1.05")
    if not levels:
        return Optimum(None, (), margin, 0, "nothing was measured")
    table = np.asarray(values, dtype=np.float64).reshape(len(levels), -1)
    if len(set(levels)) < len(levels):
        raise ValueError("a level stands there twice")
    if (table <= 0).any():
        raise ValueError("a value of zero or below has no ratio")
    order = np.argsort(np.asarray(levels, dtype=np.float64))
    order = order[~np.isnan(table[order]).all(axis=1)]
    if not order.size:
        return Optimum(None, (), margin, 0, "nothing was measured")
    logs = np.log(table[order]) * (1 if better == "less" else -1)
    whole = logs[:, ~np.isnan(logs).any(axis=0)]
    blocks = whole.shape[1]
    means = whole.mean(axis=1) if blocks else np.nanmean(logs, axis=1)
    apart = means - means.min()
    half, reason = _half_width(whole, confidence)
    distances = tuple(
        Distance(
            float(levels[at]),
            math.exp(one),
            None if half is None else math.exp(max(0.0, one - half)),
            None if half is None else math.exp(one + half),
        )
        for at, one in zip(order, apart, strict=True)
    )
    return Optimum(float(levels[order[means.argmin()]]), distances, margin, blocks, reason)


def _half_width(logs: np.ndarray, confidence: float) -> tuple[float | None, str]:
    """Return by how much a difference of two levels' means may be wrong, for all pairs at once."""
    count, blocks = logs.shape
    if count < 2:
        return None, "one level alone is the best of those measured"
    if blocks < 2:
        return None, f"{blocks} complete blocks show no spread; intervals need two or more"
    left = logs - logs.mean(axis=0) - logs.mean(axis=1, keepdims=True) + logs.mean()
    freedom = (count - 1) * (blocks - 1)
    sd = math.sqrt(float((left**2).sum()) / freedom)
    return _studentized_range(confidence, count, freedom) * sd / math.sqrt(blocks), ""


@functools.cache
def _studentized_range(confidence: float, levels: int, freedom: int) -> float:
    """Return the quantile; SciPy integrates for a tenth of a second, and a sweep asks often."""
    return float(scipy.stats.studentized_range.ppf(confidence, levels, freedom))
