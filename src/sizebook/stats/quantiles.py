"""Which percentiles a sample supports, and how sure one may be of a quantile."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

TAIL_SAMPLES = 10
"""Samples that must lie beyond a percentile before it is shown.

With k samples beyond it the tail's mass is known to about 1/sqrt(k): a third at ten. Fewer, and
the percentile is the story of a handful of requests.
"""


@dataclass(frozen=True)
class QuantileInterval:
    """A quantile with a confidence interval from order statistics."""

    estimate: float | None
    low: float | None
    high: float | None
    coverage: float
    """Exact coverage of [low, high] for a continuous distribution; NaN without an interval."""
    n: int
    reason: str = ""
    """Why there is no interval; empty when there is one."""


def least_samples(percentile: float, tail_samples: int = TAIL_SAMPLES) -> int:
    """Return the least number of samples with which a percentile (0 to 100) is supported.

    p is supported when n(1-p) and np are both at least ``tail_samples``.
    """
    q = percentile / 100
    if not 0 < q < 1:
        raise ValueError(f"percentile {percentile}; expected above 0 and below 100")
    return math.ceil(round(tail_samples / min(q, 1 - q), 6))


def is_supported(percentile: float, n: int, tail_samples: int = TAIL_SAMPLES) -> bool:
    """Return whether ``n`` samples support the percentile (0 to 100)."""
    return n >= least_samples(percentile, tail_samples)


def highest_supported(n: int, tail_samples: int = TAIL_SAMPLES) -> float | None:
    """Return the highest percentile that ``n`` samples support, None below 2 * tail_samples."""
    if n < 2 * tail_samples:
        return None
    return 100 * (1 - tail_samples / n)


def quantile_interval(values: ArrayLike, q: float, level: float = 0.95) -> QuantileInterval:
    """Return the quantile ``q`` (0 to 1) with an interval made of two of the sample's values.

    The number of values below the true quantile is binomial(n, q), whatever the distribution, so
    the coverage is exact and printed beside the interval; it is at least ``level``. Where even
    the smallest and the largest value do not reach it (a median needs n = 6 for 95 %), there is
    no interval. Requests of one trial depend on each other: the interval then is too narrow, and
    replicates are the remedy. Source: Conover, Practical Nonparametric Statistics, 3rd ed., 3.2.
    """
    from scipy import special  # noqa: PLC0415

    if not 0 < q < 1:
        raise ValueError(f"quantile {q}; expected above 0 and below 1")
    data = np.sort(np.asarray(values, dtype=np.float64))
    n = int(data.size)
    if n == 0:
        return QuantileInterval(None, None, None, math.nan, 0, "no values")
    if not np.isfinite(data).all():
        raise ValueError("values that are not finite")
    estimate = float(np.quantile(data, q))
    tail = (1 - level) / 2
    # Ranks from 1; P(X_(low) <= quantile <= X_(high)) = F(high - 1) - F(low - 1).
    low = max(_binomial_quantile(tail, n, q), 1)
    high = min(_binomial_quantile(1 - tail, n, q) + 1, n)
    coverage = float(special.bdtr(high - 1, n, q) - special.bdtr(low - 1, n, q))
    if coverage < level:
        reason = f"{n} values reach {coverage:.1%} at most, not {level:.0%}"
        return QuantileInterval(estimate, None, None, math.nan, n, reason)
    return QuantileInterval(estimate, float(data[low - 1]), float(data[high - 1]), coverage, n)


def _binomial_quantile(share: float, n: int, q: float) -> int:
    """Return the least k with P(X <= k) >= share, as ``scipy.stats.binom.ppf`` finds it.

    Importing ``scipy.stats`` takes a third of a second, which ``scipy.special`` does not.
    """
    from scipy import special  # noqa: PLC0415

    k = math.ceil(special.bdtrik(share, n, q))
    return k - 1 if k > 0 and special.bdtr(k - 1, n, q) >= share else k
