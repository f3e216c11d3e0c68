"""The quotient of two estimates of which only the intervals are known, not the replicates.

Two runs of the same book each publish a ratio between treatments with its 95 % interval. How many
times the one is the other follows from both intervals by the method of variance estimates
recovery (Zou and Donner, Statistics in Medicine 27, 2008; first as method 10 of Newcombe,
Statistics in Medicine 17, 1998): with estimates a and b on the log scale and their intervals,

    low  = b - a - sqrt((b - low_b)^2 + (high_a - a)^2)
    high = b - a + sqrt((high_b - b)^2 + (a - low_a)^2)

Each half of an interval stands for the spread on its own side, so that uneven intervals keep
their shape; where both are symmetric it is the usual root of the sum of squares. Where the
intervals are Student's of few replicates the result is too wide rather than too narrow: each brings
the t of its own few degrees of freedom, where the difference has those of both. Seeded simulation
(``tests/stats/test_quotients.py`` repeats a part of it): coverage of nominal 95 % is 99 % with 2
replicates a side, 98 % with 3, 97 % with 5, 95 % with 30.

Where the replicates of both sides are at hand, ``intervals.ratio_interval`` is narrower.
"""

from __future__ import annotations

import math

from sizebook.stats.intervals import Interval

METHOD = "variance estimates recovered on logs"


def difference_interval(
    left: tuple[float, float, float], right: tuple[float, float, float]
) -> tuple[float, float, float]:
    """Return left minus right with its interval: (estimate, low, high), as both are given.

    Both are independent and at the same level. Raises ValueError for an estimate outside of its
    interval and for what is not finite.
    """
    for estimate, low, high in (left, right):
        if not (-math.inf < low <= estimate <= high < math.inf):
            raise ValueError(f"estimate {estimate} with the interval {low} to {high}")
    (a, low_a, high_a), (b, low_b, high_b) = left, right
    below = math.hypot(a - low_a, high_b - b)
    above = math.hypot(high_a - a, b - low_b)
    return a - b, a - b - below, a - b + above


def quotient_interval(numerator: Interval, denominator: Interval) -> Interval:
    """Return how many times an estimate is another one, with its interval at their level.

    Both are positive, independent, and at the same level. Without an interval on one side there is
    the quotient alone, and the reason says so; the reason also says if there is not even that.
    ``n`` is the smaller number of replicates. Raises ValueError for intervals of two levels.
    """
    if numerator.level != denominator.level:
        raise ValueError(f"intervals at {numerator.level} and {denominator.level}")
    level, n = numerator.level, min(numerator.n, denominator.n)
    a, b = numerator.estimate, denominator.estimate
    if a is None or b is None:
        return Interval(None, None, None, level, n, "none", "an estimate is missing")
    ends = (a, b, numerator.low, denominator.low, numerator.high, denominator.high)
    if min(end for end in ends if end is not None) <= 0:
        reason = "a value of zero or below has no ratio"
        return Interval(None, None, None, level, n, "none", reason)
    logs = [_logs(each) for each in (numerator, denominator)]
    if logs[0] is None or logs[1] is None:
        without = numerator if logs[0] is None else denominator
        reason = without.reason or "one side has no interval"
        return Interval(a / b, None, None, level, n, "none", reason)
    _, low, high = difference_interval(logs[0], logs[1])
    return Interval(a / b, math.exp(low), math.exp(high), level, n, METHOD)


def _logs(found: Interval) -> tuple[float, float, float] | None:
    if found.estimate is None or found.low is None or found.high is None:
        return None
    return math.log(found.estimate), math.log(found.low), math.log(found.high)
