"""The noise floor and what is called different beyond it."""

import math

import numpy as np
import pytest
from scipy import stats

from sizebook.stats.noise import is_different, noise_floor


@pytest.mark.parametrize("groups", [[], [[1.0]], [[1.0], [2.0], []]])
def test_no_replicates_no_floor(groups):
    """Without two replicates of a treatment there is no floor, and the reason says so."""
    floor = noise_floor(groups)
    assert (floor.relative_sd, floor.largest_ratio) == (None, None)
    assert floor.least_ratio(1, 1) is None and floor.reason


def test_closed_form():
    """Two pairs: largest ratio, pooled spread and least ratio by hand."""
    floor = noise_floor([[1.0, 1.1], [2.0, 2.0], [7.0]])
    squares = math.log(1.1) ** 2 / 2
    assert (floor.treatments, floor.replicates, floor.freedom) == (2, 4, 2)
    assert floor.largest_ratio == pytest.approx(1.1)
    assert floor.relative_sd == pytest.approx(math.sqrt(squares / 2))
    t = stats.t.ppf(0.975, 2)
    expected = math.exp(t * floor.relative_sd * math.sqrt(1 / 3 + 1 / 5))
    assert floor.least_ratio(3, 5) == pytest.approx(expected)


@pytest.mark.parametrize("bad", [[1.0, 0.0], [1.0, math.nan]])
def test_zero_and_missing_are_refused(bad):
    """A zero or a missing replicate has no ratio."""
    with pytest.raises(ValueError, match="no ratio"):
        noise_floor([bad])


def test_without_floor_nothing_is_said():
    """No floor: None with a reason, neither yes nor no."""
    found = is_different([1.0, 1.0], [9.0, 9.1], noise_floor([]))
    assert found.different is None and "no noise floor" in found.reason


def test_single_trials_can_differ():
    """With a floor of 1 % two single trials 10 % apart differ, 1 % apart do not."""
    floor = noise_floor(np.random.default_rng(1).lognormal(0, 0.01, (6, 3)))
    assert is_different([1.10], [1.0], floor).different is True
    assert is_different([1.01], [1.0], floor).different is False


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("n", [1, 2, 3, 5, 10])
def test_equal_treatments_are_rarely_called_different(n, paired):
    """A/A: called different in at most 5 % of seeded simulations (6.5 % allows for their noise)."""
    random = np.random.default_rng(n)
    wrong = 0
    for _ in range(1000):
        floor = noise_floor(random.lognormal(0, 0.03, (4, 3)))
        a, b = random.lognormal(0, 0.03, (2, n))
        wrong += is_different(a, b, floor, paired=paired).different is True
    assert wrong / 1000 <= 0.065


@pytest.mark.parametrize("n", [3, 5, 10])
def test_one_slow_replicate_in_ten_is_no_difference(n):
    """A/A with disturbances in floor and treatments: still called different in 5 % at most."""
    random = np.random.default_rng(n)

    def values(*size):
        slow = np.where(random.random(size) < 0.1, 1.15, 1.0)
        return slow * random.lognormal(0, 0.02, size)

    wrong = 0
    for _ in range(1000):
        wrong += is_different(*values(2, n), noise_floor(values(4, 3))).different is True
    assert wrong / 1000 <= 0.065


def test_real_differences_are_found():
    """A difference of five standard deviations is found with three replicates in most cases."""
    random = np.random.default_rng(9)
    found = 0
    for _ in range(300):
        floor = noise_floor(random.lognormal(0, 0.03, (4, 3)))
        a, b = random.lognormal([[0.15], [0.0]], 0.03, (2, 3))
        found += is_different(a, b, floor).different is True
    assert found / 300 > 0.9
