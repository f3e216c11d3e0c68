"""What a design can see: the least ratio that it finds with good odds, and replicates for one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from sizebook.stats.intervals import two_sided_t
from sizebook.stats.noise import NoiseFloor

MOST_REPLICATES = 100_000
SEEN_AT = 0.95
"""Level of the intervals that results show."""
DRAWS = 20_000
CAUTION = 0.9
"""Confidence of the bound on the noise floor's spread behind ``careful_ratio``."""


@dataclass(frozen=True)
class Detectable:
    """The least ratio of two means that a design finds with the power asked for."""

    ratio: float | None
    """Above 1; its inverse is found as well. None: ``reason`` says why."""
    careful_ratio: float | None
    """The same if the spread is as large as the noise floor's trials allow with 90 % confidence
    (Browne, Statistics in Medicine 14, 1995, on planning with the spread of a small pilot)."""
    n: int
    """Replicates of each treatment."""
    level: float
    power: float
    reason: str = ""


def power_of(
    ratio: float,
    n: int,
    relative_sd: float,
    *,
    freedom: int | None = None,
    paired: bool = False,
    level: float = 0.95,
) -> float:
    """Return the probability that a two-sided t-test on logs finds a true ratio.

    ``relative_sd`` is the SD of the logs of one replicate (of the log ratio of one pair, when
    ``paired``), ``freedom`` the degrees of freedom of the spread that the test divides by; if not
    given, those of the samples themselves, 2 (n - 1) or n - 1. Exact for normal logs: noncentral
    t with |log ratio| / (sd * sqrt(2 / n)) (Cohen, Statistical Power Analysis, 2nd ed., 1988,
    ch. 2; Johnson, Kotz, Balakrishnan, Continuous Univariate Distributions 2, ch. 31). ValueError
    for a ratio or SD that is not positive, or no degree of freedom.
    """
    freedom = _freedom(n, freedom, paired)
    if not (ratio > 0 and relative_sd > 0):
        raise ValueError(f"ratio {ratio}, relative SD {relative_sd}; expected above 0")
    error = relative_sd * math.sqrt((1 if paired else 2) / n)
    return _power(abs(math.log(ratio)) / error, freedom, level)


def minimum_ratio(
    n: int,
    relative_sd: float,
    *,
    freedom: int | None = None,
    paired: bool = False,
    level: float = 0.95,
    power: float = 0.8,
) -> float:
    """Return the least ratio above 1 that is found with ``power``; arguments as ``power_of``."""
    freedom = _freedom(n, freedom, paired)
    if relative_sd < 0 or not level < 1 or not 1 - level < power < 1:
        raise ValueError(f"relative SD {relative_sd}, level {level}, power {power} out of range")
    highest = 10.0
    while _power(highest, freedom, level) < power:
        highest *= 2
    shift = scipy.optimize.brentq(
        lambda x: _power(x, freedom, level) - power, 0, highest, xtol=1e-9
    )
    return math.exp(float(shift) * relative_sd * math.sqrt((1 if paired else 2) / n))


def replicates_needed(
    ratio: float,
    relative_sd: float,
    *,
    paired: bool = False,
    level: float = 0.95,
    power: float = 0.8,
) -> int | None:
    """Return the least replicates of each treatment (or pairs) that find ``ratio`` with ``power``.

    With the samples' own degrees of freedom, so at least 2. None above ``MOST_REPLICATES``: such
    a difference is out of reach. ValueError for a ratio of 1, and as ``power_of``.
    """
    if ratio == 1 or not 1 - level < power < 1:
        raise ValueError(f"ratio {ratio}, power {power}: nothing to find")

    def enough(n: int) -> bool:
        return power_of(ratio, n, relative_sd, paired=paired, level=level) >= power

    high = 2
    while not enough(high):
        high *= 2
        if high > MOST_REPLICATES:
            return None
    low = high // 2 if high > 2 else 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def expected_width(low: float, high: float, n: int, blocks: int, *, level: float = 0.95) -> float:
    """Return half the width, as a ratio above 1, that an interval of a ratio has in more blocks.

    ``low`` and ``high`` are the 95 % interval seen in ``n`` blocks, ``level`` that of the one to
    come. Its spread of the blocks' log ratios
    is taken for the true one: exp(t * s / sqrt(blocks)), with n - 1 and blocks - 1 degrees of
    freedom. A difference smaller than that is seen in less than half of all runs. Infinite for one
    block. ValueError for ends that are not positive or in disorder, and fewer than two blocks seen.
    """
    if not 0 < low <= high < math.inf or n < 2 or blocks < 1:
        raise ValueError(f"interval {low} to {high} in {n} blocks, for {blocks}")
    if blocks == 1:
        return math.inf
    spread = math.log(high / low) / 2 / two_sided_t(SEEN_AT, n - 1) * math.sqrt(n)
    return math.exp(spread * two_sided_t(level, blocks - 1) / math.sqrt(blocks))


def detectable(floor: NoiseFloor, n: int, *, level: float = 0.95, power: float = 0.8) -> Detectable:
    """Return the least ratio that ``noise.is_different`` finds with ``power``, unpaired.

    That test asks for two things, a ratio beyond the floor and an interval of the samples' own
    (Welch) that excludes 1, so a plain t-test's power is too good for it: by the number for
    2 (n - 1) degrees of freedom it would find a difference in 49 % instead of 80 % at n = 2, in
    66 to 75 % at 3 to 10. The power here is the normal tail beyond the larger of both thresholds,
    averaged over ``DRAWS`` seeded draws of the three variances; good to about half a percent. One
    replicate of each has no interval of its own, and the floor alone decides.
    """
    if floor.relative_sd is None:
        reason = f"no noise floor: {floor.reason}"
        return Detectable(None, None, n, level, power, reason)
    if n < 1:
        return Detectable(None, None, n, level, power, "no replicates")
    if not level < 1 or not 1 - level < power < 1:
        raise ValueError(f"level {level}, power {power} out of range")
    thresholds = _thresholds(floor.freedom, n, level)

    def short_of(distance: float) -> float:
        tails = scipy.special.ndtr(distance - thresholds) + scipy.special.ndtr(
            -distance - thresholds
        )
        return float(tails.mean()) - power

    highest = 10.0
    while short_of(highest) < 0:
        highest *= 2
    distance = float(scipy.optimize.brentq(short_of, 0, highest, xtol=1e-6))
    logs = distance * floor.relative_sd * math.sqrt(2 / n)
    least = 2 * scipy.special.gammaincinv(floor.freedom / 2, 1 - CAUTION)  # of chi-square
    bound = math.sqrt(floor.freedom / float(least))
    return Detectable(math.exp(logs), math.exp(logs * bound), n, level, power)


def _thresholds(freedom: int, n: int, level: float) -> NDArray[np.float64]:
    """Return what a difference must exceed, in true standard errors, for draws of the spreads."""
    random = np.random.default_rng(0)
    floor = random.chisquare(freedom, DRAWS) / freedom
    beyond_floor = two_sided_t(level, freedom) * np.sqrt(floor)
    if n == 1:
        return beyond_floor
    a, b = random.chisquare(n - 1, (2, DRAWS)) / (n - 1)
    welch = (a + b) ** 2 / (a**2 + b**2) * (n - 1)
    own = scipy.special.stdtrit(welch, (1 + level) / 2) * np.sqrt((a + b) / 2)
    return np.asarray(np.maximum(beyond_floor, own))


def _freedom(n: int, freedom: int | None, paired: bool) -> int:
    own = (n - 1) * (1 if paired else 2)
    freedom = own if freedom is None else freedom
    if n < 1 or freedom < 1:
        raise ValueError(f"{n} replicates, {freedom} degrees of freedom; expected 1 or more")
    return freedom


def _power(distance: float, freedom: int, level: float) -> float:
    """Return the power for a distance in standard errors."""
    t = two_sided_t(level, freedom)
    above = float(scipy.stats.nct.sf(t, freedom, distance))
    below = float(scipy.stats.nct.sf(t, freedom, -distance))
    return above + (below if math.isfinite(below) else 0.0)
