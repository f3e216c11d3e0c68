"""Quotients of intervals: sizes, closed form, Newcombe's printed numbers, seeded coverage."""

import math

import numpy as np
import pytest

from sizebook.stats.intervals import Interval, ratio_interval
from sizebook.stats.quotients import METHOD, difference_interval, quotient_interval

RUNS = 1500


def interval(estimate, low=None, high=None, n=3):
    return Interval(estimate, low, high, 0.95, n, "t")


def wilson(successes, n, z=1.959963984540054):
    """Return Wilson's interval of a proportion, which Newcombe's method 10 is made of."""
    p = successes / n
    middle = (2 * n * p + z * z) / (2 * (n + z * z))
    half = z * math.sqrt(z * z + 4 * n * p * (1 - p)) / (2 * (n + z * z))
    return p, middle - half, middle + half


@pytest.mark.parametrize(
    ("left", "right", "printed"),
    [((56, 70), (48, 80), (0.0524, 0.3339)), ((9, 10), (3, 10), (0.1705, 0.8090))],
)
def test_differences_are_those_that_newcombe_printed(left, right, printed):
    """Newcombe 1998, table II, method 10: two of its differences of proportions."""
    _, low, high = difference_interval(wilson(*left), wilson(*right))
    assert (low, high) == pytest.approx(printed, abs=5e-5)


def test_symmetric_intervals_add_up_as_squares():
    """On logs 0.3 and 0.4 wide on each side give 0.5; the inverse is the inverse."""
    a = interval(2.0, 2 * math.exp(-0.3), 2 * math.exp(0.3))
    b = interval(5.0, 5 * math.exp(-0.4), 5 * math.exp(0.4))
    found, turned = quotient_interval(a, b), quotient_interval(b, a)
    expected = (0.4, 0.4 * math.exp(-0.5), 0.4 * math.exp(0.5))
    assert (found.estimate, found.low, found.high) == pytest.approx(expected)
    assert (turned.estimate, turned.low, turned.high) == pytest.approx(
        (1 / found.estimate, 1 / found.high, 1 / found.low)
    )
    assert (found.n, found.method, found.level) == (3, METHOD, 0.95)


def test_uneven_intervals_keep_their_shape():
    """What is uncertain upwards in the denominator is uncertain downwards in the quotient."""
    sure = interval(1.0, 1.0, 1.0)
    found = quotient_interval(sure, interval(1.0, 0.99, 2.0))
    assert (found.low, found.high) == pytest.approx((0.5, 1 / 0.99))


@pytest.mark.parametrize(
    ("a", "b", "estimate", "reason"),
    [
        (interval(None, n=0), interval(1.0, 0.9, 1.1), None, "missing"),
        (interval(3.0, n=1), interval(1.5, 1.0, 2.0), 2.0, "no interval"),
        (interval(0.0, 0.0, 0.0), interval(1.5, 1.0, 2.0), None, "zero or below"),
        (interval(1.0, -0.5, 2.0), interval(1.5, 1.0, 2.0), None, "zero or below"),
    ],
)
def test_what_has_no_interval_says_why(a, b, estimate, reason):
    """Missing, one replicate, zero and negative ends: three states, none of them a number."""
    found = quotient_interval(a, b)
    assert (found.estimate, found.low, found.high) == (estimate, None, None)
    assert reason in found.reason
    assert found.n == min(a.n, b.n)


@pytest.mark.parametrize("ends", [(1.0, 2.0, 3.0), (1.0, 0.5, math.inf), (math.nan, 0.5, 2.0)])
def test_an_interval_that_is_none_is_refused(ends):
    """An estimate outside, infinity, and no number at all."""
    with pytest.raises(ValueError, match="with the interval"):
        difference_interval(ends, (1.0, 1.0, 1.0))


def test_levels_do_not_mix():
    """A 90 % interval and a 95 % one have no common quotient."""
    with pytest.raises(ValueError, match="intervals at"):
        quotient_interval(Interval(1.0, 0.9, 1.1, 0.9, 3, "t"), interval(1.0, 0.9, 1.1))


@pytest.mark.parametrize(("n", "least", "most"), [(2, 0.97, 1.0), (3, 0.96, 1.0), (30, 0.93, 0.97)])
def test_coverage_is_at_least_nominal(n, least, most):
    """Ratios of paired replicates on both sides, one true quotient: seeded simulation."""
    random = np.random.default_rng(20 + n)
    hits = 0
    for _ in range(RUNS):
        sides = []
        for true in (3.0, 2.0):
            left, right = true * random.lognormal(0, 0.1, n), random.lognormal(0, 0.1, n)
            sides.append(ratio_interval(left, right, paired=True, method="t"))
        found = quotient_interval(*sides)
        hits += found.low <= 1.5 <= found.high
    assert least <= hits / RUNS <= most
