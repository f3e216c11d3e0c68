"""Intervals: sizes 0 and 1, closed forms, scipy's numbers, seeded coverage."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

from sizebook.stats.intervals import (
    BOOTSTRAP_FROM,
    mean_interval,
    median_interval,
    positive_interval,
    ratio_interval,
)

SLEEP = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0]
"""Student's sleep data, first group: mean 0.75, 95 % interval -0.53 to 2.03 (R's t.test)."""
RUNS = 400


def test_nothing_and_one():
    """No replicate has no mean, one has no interval; both say why."""
    none, one = mean_interval([]), mean_interval([3.0])
    assert (none.estimate, none.low, none.n, none.reason) == (None, None, 0, "no replicates")
    assert (one.estimate, one.low, one.high, one.n) == (3.0, None, None, 1)
    assert "one replicate" in one.reason and one.half_width is None and one.excludes(0) is None


def test_t_interval_is_students():
    """The interval of Student's own data is the one every textbook prints."""
    found = mean_interval(SLEEP)
    assert found.method == "t"
    assert (found.estimate, found.low, found.high) == pytest.approx(
        (0.75, -0.5298, 2.0298), abs=1e-4
    )


def test_constant_values_have_a_point():
    """Bytes that never vary have an interval of no width, whatever the method."""
    assert mean_interval([5.0] * 4).half_width == 0.0
    assert mean_interval([5.0] * 40).half_width == 0.0
    ratio = ratio_interval([6.0, 6.0], [3.0, 3.0])
    assert (ratio.low, ratio.high) == pytest.approx((2.0, 2.0))


@pytest.mark.parametrize("paired", [True, False])
def test_the_estimate_never_rounds_out_of_its_interval(paired):
    """Counts that never vary: the ends are the estimate to the last bit, not beside it."""
    for left, right in product([11217.3, 1019.0, 7.0, 0.3], [11.0, 3.0, 0.7]):
        for n in (2, 3, 5, 6):
            ratio = ratio_interval([left] * n, [right] * n, paired=paired)
            assert ratio.low <= ratio.estimate <= ratio.high, (left, right, n)


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_bootstrap_agrees_with_scipy(method):
    """Percentile and BCa intervals are scipy's to the noise of the resampling."""
    data = np.random.default_rng(3).lognormal(0, 0.8, 60)
    ours = mean_interval(data, method=method)
    theirs = stats.bootstrap(
        (data,), np.mean, method=method.replace("bca", "BCa"), n_resamples=20_000, rng=1
    ).confidence_interval
    width = theirs.high - theirs.low
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.05 * width)
    assert ours == mean_interval(data, method=method)


def test_method_follows_the_size():
    """Small samples get t, larger ones the bootstrap."""
    data = np.random.default_rng(4).normal(10, 1, BOOTSTRAP_FROM)
    assert mean_interval(data[:-1]).method == "t"
    assert mean_interval(data).method == "bca bootstrap"


def test_a_positive_interval_is_students_on_the_logarithm():
    """Closed form; zeros count, negative values do not; one and none have no interval."""
    values = [2.0, 3.0, 7.0]
    found = positive_interval(values)
    error = stats.sem(values) / 4.0
    factor = math.exp(stats.t.ppf(0.975, 2) * error)
    assert (found.estimate, found.low, found.high) == pytest.approx((4.0, 4 / factor, 4 * factor))
    assert positive_interval([0.0, 0.0, 9.0]).low > 0
    assert positive_interval([0.0, 0.0]).high == 0.0
    assert [positive_interval(few).low for few in ([], [3.0])] == [None, None]
    assert positive_interval(range(1, 41)) == mean_interval(range(1, 41))
    with pytest.raises(ValueError, match="never negative"):
        positive_interval([1.0, -0.1])


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_coverage_of_positive_means(n):
    """It covers the mean of skewed times as promised, and more often than the plain interval."""
    random = np.random.default_rng(n)
    samples = random.exponential(1.0, (2000, n))
    covered, plain = (
        sum(found.low <= 1 <= found.high for found in map(method, samples)) / 2000
        for method in (positive_interval, mean_interval)
    )
    assert covered > 0.91
    assert plain < covered


def test_missing_replicates_are_refused():
    """NaN is not averaged away."""
    with pytest.raises(ValueError, match="missing or infinite"):
        mean_interval([1.0, math.nan])


def test_median_needs_six():
    """Five values have no 95 % interval of the median; six have their range."""
    assert median_interval([1, 2, 3, 4, 5]).low is None
    six = median_interval([6, 1, 2, 3, 4, 5])
    assert (six.estimate, six.low, six.high) == (3.5, 1.0, 6.0)


def test_ratio_and_inverse_agree():
    """The ratio of a to b is one over that of b to a, interval and all."""
    a, b = [10.0, 11.0, 12.5], [5.0, 5.2, 4.9]
    forth, back = ratio_interval(a, b), ratio_interval(b, a)
    assert forth.estimate * back.estimate == pytest.approx(1)
    assert (1 / forth.high, 1 / forth.low) == pytest.approx((back.low, back.high))


def test_ratio_agrees_with_scipy():
    """Unpaired and paired ratios are scipy's t intervals of the logs."""
    a, b = np.array([10.0, 11.0, 12.5, 10.4]), np.array([5.0, 5.2, 4.9, 5.5])
    welch = stats.ttest_ind(np.log(a), np.log(b), equal_var=False).confidence_interval()
    pairs = stats.ttest_rel(np.log(a), np.log(b)).confidence_interval()
    unpaired, paired = ratio_interval(a, b), ratio_interval(a, b, paired=True)
    assert (unpaired.low, unpaired.high) == pytest.approx(
        (math.exp(welch.low), math.exp(welch.high))
    )
    assert (paired.low, paired.high) == pytest.approx((math.exp(pairs.low), math.exp(pairs.high)))


def test_pairing_takes_the_blocks_out():
    """Blocks of different speed widen an unpaired interval only."""
    blocks = np.array([1.0, 2.0, 4.0, 8.0])
    a, b = 3 * blocks * [1.01, 0.99, 1.0, 1.02], blocks
    assert ratio_interval(a, b, paired=True).half_width < 0.1
    assert ratio_interval(a, b).half_width > 3


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        ([], [1.0], "no replicates"),
        ([0.0, 1.0], [1.0, 1.0], "no ratio"),
        ([2.0], [1.0, 1.0], "one"),
    ],
)
def test_ratios_without_interval(a, b, why):
    """No replicate, a zero, one replicate: no interval, and the reason."""
    found = ratio_interval(a, b)
    assert found.low is None and why in found.reason


def test_unequal_blocks_cannot_be_paired():
    """Pairing needs a value of both in every block."""
    with pytest.raises(ValueError, match="cannot be paired"):
        ratio_interval([1.0, 2.0], [1.0], paired=True)


@pytest.mark.parametrize("n", [2, 3, 5, 10])
@pytest.mark.parametrize("paired", [False, True])
def test_coverage_of_ratios(n, paired):
    """95 % intervals of ratios hold the truth in 92 to 98.5 % of seeded simulations (n = 400)."""
    random = np.random.default_rng(n + 100 * paired)
    hits = 0
    for _ in range(RUNS):
        block = random.lognormal(0, 0.3, n) if paired else 1.0
        a = 2 * block * random.lognormal(0, 0.05, n)
        b = block * random.lognormal(0, 0.05, n)
        hits += not ratio_interval(a, b, paired=paired).excludes(2.0)
    assert 0.92 <= hits / RUNS <= 0.985 + 0.015 * (n == 2)


@pytest.mark.parametrize("n", [2, 3, 5, 10])
def test_coverage_of_means(n):
    """95 % intervals of means hold the truth where a bootstrap's do not."""
    random = np.random.default_rng(n)
    data = random.normal(10, 1, (RUNS, n))
    ours = np.mean([not mean_interval(row).excludes(10.0) for row in data])
    naive = np.mean(
        [not mean_interval(row, method="percentile", seed=1).excludes(10.0) for row in data]
    )
    assert 0.92 <= ours <= 0.98
    assert naive < {2: 0.6, 3: 0.8, 5: 0.89, 10: 0.94}[n]


def test_coverage_of_large_samples():
    """From the switch to BCa on, skewed means are covered in at least 90 %."""
    random = np.random.default_rng(7)
    data = random.lognormal(0, 0.5, (RUNS, BOOTSTRAP_FROM))
    truth = math.exp(0.125)
    assert np.mean([not mean_interval(row).excludes(truth) for row in data]) >= 0.90
