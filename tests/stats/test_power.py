"""Power: published tables, another tool's numbers, simulation, degenerate sizes."""

import math

import numpy as np
import pytest
from scipy import stats

from sizebook.stats.intervals import ratio_interval
from sizebook.stats.noise import NoiseFloor, is_different, noise_floor
from sizebook.stats.power import (
    detectable,
    expected_width,
    minimum_ratio,
    power_of,
    replicates_needed,
)


@pytest.mark.parametrize(
    ("d", "power", "n"),
    [(0.2, 0.8, 394), (0.5, 0.8, 64), (0.8, 0.8, 26), (0.5, 0.9, 86), (1.0, 0.8, 17)],
)
def test_replicates_are_gpowers(d, power, n):
    """Cohen's small, medium and large effects need what G*Power 3 prints for two groups.

    (64 and 26 also in Cohen, 2nd ed., table 2.4.1, whose 393 for the small effect is approximate;
    86 a group, power 0.9032, is the example of G*Power's manual.)
    """
    assert replicates_needed(math.exp(d), 1.0, power=power) == n


def test_power_is_gpowers():
    """G*Power's manual: 86 a group, d 0.5, 0.9032; one group of 25, d 1/3, 0.360."""
    assert power_of(math.exp(0.5), 86, 1.0) == pytest.approx(0.9032, abs=5e-5)
    assert power_of(math.exp(1 / 3), 25, 1.0, paired=True) == pytest.approx(0.360, abs=5e-4)


def test_no_difference_is_found_at_the_level():
    """A ratio of 1 is "found" in 1 - level of the cases, and ratio and inverse alike."""
    assert power_of(1.0, 5, 0.03) == pytest.approx(0.05)
    assert power_of(1.1, 5, 0.03) == pytest.approx(power_of(1 / 1.1, 5, 0.03))


@pytest.mark.parametrize("n", [2, 3, 5, 10, 100])
@pytest.mark.parametrize("paired", [False, True])
def test_ratio_and_power_are_inverse(n, paired):
    """The least ratio has the power asked for; more power asks for more."""
    ratio = minimum_ratio(n, 0.03, paired=paired)
    assert power_of(ratio, n, 0.03, paired=paired) == pytest.approx(0.8, abs=1e-6)
    assert minimum_ratio(n, 0.03, paired=paired, power=0.9) > ratio > 1


def test_power_by_simulation():
    """The t-test on seeded logs finds the least ratio as often as promised."""
    ratio = minimum_ratio(4, 0.05)
    a, b = np.random.default_rng(1).normal([[[math.log(ratio)]], [[0.0]]], 0.05, (2, 4000, 4))
    found = np.mean(stats.ttest_ind(a, b, axis=1).pvalue < 0.05)
    assert found == pytest.approx(0.8, abs=0.02)


@pytest.mark.parametrize("n", [1, 2, 3, 10])
def test_detectable_is_what_is_different_finds(n):
    """``is_different`` with a floor of twelve trials finds the ratio in 80 % of simulations."""
    random = np.random.default_rng(n)
    ratio = detectable(NoiseFloor(4, 12, 0.03, 1.1, 1.1), n).ratio
    found = 0
    for _ in range(600):
        floor = noise_floor(random.lognormal(0, 0.03, (4, 3)))
        a, b = random.lognormal([[math.log(ratio)], [0.0]], 0.03, (2, n))
        found += is_different(a, b, floor).different is True
    assert found / 600 == pytest.approx(0.8, abs=0.05)


def test_a_careful_ratio_is_larger():
    """The spread's own uncertainty is in the careful ratio, more of it with fewer trials."""
    few, many = (detectable(NoiseFloor(k, 3 * k, 0.03, 1.1, 1.1), 5) for k in (2, 20))
    assert few.careful_ratio > few.ratio and many.careful_ratio > many.ratio
    spread = [math.log(x.careful_ratio) / math.log(x.ratio) for x in (few, many)]
    assert spread[0] == pytest.approx(math.sqrt(4 / stats.chi2.ppf(0.1, 4)))
    assert spread[1] < 1.2


def test_without_floor_or_replicates():
    """No noise floor, no replicates: no ratio, with the reason."""
    assert "no noise floor" in detectable(noise_floor([]), 3).reason
    assert detectable(NoiseFloor(4, 12, 0.03, 1.1, 1.1), 0).reason == "no replicates"
    assert detectable(noise_floor([[1.0, 1.0]]), 3).ratio == 1.0


def test_out_of_reach():
    """A ratio far below the spread needs more replicates than anyone makes: None."""
    assert replicates_needed(1.0001, 0.5) is None
    assert replicates_needed(2.0, 0.01) == 2


def test_nonsense_is_refused():
    """No degree of freedom, a ratio of 1 to find, a power below the level."""
    with pytest.raises(ValueError, match="degrees of freedom"):
        power_of(1.1, 1, 0.03)
    with pytest.raises(ValueError, match="nothing to find"):
        replicates_needed(1.0, 0.03)
    with pytest.raises(ValueError, match="out of range"):
        minimum_ratio(3, 0.03, power=0.01)
    with pytest.raises(ValueError, match="expected above 0"):
        power_of(1.1, 3, 0.0)
    with pytest.raises(ValueError, match="out of range"):
        detectable(NoiseFloor(4, 12, 0.03, 1.1, 1.1), 3, power=1.0)


def test_the_width_to_be_expected_follows_from_one_that_was_seen():
    """In as many blocks the same, in others as t and the root of their number say, in one none."""
    a, b = [1.2, 1.5, 1.3, 1.6], [1.0, 1.1, 0.9, 1.05]
    seen = ratio_interval(a, b, paired=True)
    same = expected_width(seen.low, seen.high, 4, 4)
    assert same == pytest.approx(seen.high / seen.estimate)
    spread = np.std(np.log(a) - np.log(b), ddof=1)
    more = math.exp(stats.t.ppf(0.975, 8) * spread / 3)
    assert expected_width(seen.low, seen.high, 4, 9) == pytest.approx(more)
    assert expected_width(2.0, 2.0, 3, 5) == 1.0
    assert expected_width(1.0, 2.0, 3, 1) == math.inf


@pytest.mark.parametrize(
    ("low", "high", "n", "blocks"), [(0.0, 2.0, 3, 3), (2.0, 1.0, 3, 3), (1.0, 2.0, 1, 3),
                                     (1.0, 2.0, 3, 0)]
)  # fmt: skip
def test_a_width_needs_an_interval_of_two_blocks(low, high, n, blocks):
    """Ends above zero and in order, two blocks seen, one planned."""
    with pytest.raises(ValueError, match="interval"):
        expected_width(low, high, n, blocks)
