"""Which percentiles a sample supports, and intervals of quantiles."""

import numpy as np
import pytest
from scipy import stats

from sizebook.stats.quantiles import (
    highest_supported,
    is_supported,
    least_samples,
    quantile_interval,
)


@pytest.mark.parametrize(
    ("percentile", "n"), [(50, 20), (90, 100), (95, 200), (99, 1000), (99.9, 10_000), (5, 200)]
)
def test_ten_samples_lie_beyond(percentile, n):
    """p needs n(1-p) = 10 samples, and not one less."""
    assert least_samples(percentile) == n
    assert is_supported(percentile, n) and not is_supported(percentile, n - 1)


@pytest.mark.parametrize(("n", "expected"), [(0, None), (19, None), (20, 50.0), (1000, 99.0)])
def test_highest_supported(n, expected):
    """The highest percentile is the one that leaves ten samples above it."""
    assert highest_supported(n) == expected


@pytest.mark.parametrize("percentile", [0, 100])
def test_extremes_are_no_percentiles(percentile):
    """Minimum and maximum are supported by no sample."""
    with pytest.raises(ValueError, match="expected above 0"):
        least_samples(percentile)


def test_nothing_and_one():
    """No value has no quantile, one value no interval."""
    assert quantile_interval([], 0.5).reason == "no values"
    one = quantile_interval([7.0], 0.5)
    assert (one.estimate, one.low) == (7.0, None) and "not 95%" in one.reason


@pytest.mark.parametrize(("n", "ranks"), [(6, (1, 6)), (10, (2, 9)), (20, (6, 15)), (30, (10, 21))])
def test_median_ranks_of_the_tables(n, ranks):
    """The ranks of the 95 % interval of a median are those of the sign test's tables."""
    found = quantile_interval(np.arange(1, n + 1), 0.5)
    assert (found.low, found.high) == ranks
    assert found.coverage >= 0.95


def test_agrees_with_scipy():
    """Scipy's exact quantile test gives the same interval."""
    data = np.random.default_rng(1).normal(size=500)
    theirs = stats.quantile_test(data, q=0, p=0.9).confidence_interval(0.95)
    ours = quantile_interval(data, 0.9)
    inside = np.sum((data > ours.low) & (data < ours.high))
    expected = np.sum((data > theirs.low) & (data < theirs.high))
    assert abs(int(inside) - int(expected)) <= 2


@pytest.mark.parametrize("q", [0.5, 0.9, 0.99])
def test_coverage(q):
    """Intervals of exponential quantiles hold the truth as often as they say."""
    random = np.random.default_rng(5)
    truth = -np.log(1 - q)
    found = [quantile_interval(random.exponential(size=1000), q) for _ in range(1000)]
    hits = np.mean([one.low <= truth <= one.high for one in found])
    assert hits == pytest.approx(found[0].coverage, abs=0.02)
    assert found[0].coverage >= 0.95
