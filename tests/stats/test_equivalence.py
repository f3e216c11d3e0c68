"""Equivalence: another tool's numbers, error rates by simulation, every verdict, sizes 0 and 1."""

import math

import numpy as np
import pytest
from scipy import stats

from sizebook.stats.equivalence import compare, equivalence
from sizebook.stats.noise import noise_floor

FLOOR = noise_floor([[1.0, 1.01, 0.99], [2.0, 2.02, 1.98], [3.0, 3.02, 2.99], [4.0, 4.05, 3.98]])


def one_sided_p(a, b, margin, paired=False):
    """Return the larger p of scipy's two one-sided t-tests on logs."""
    x, y, edge = np.log(a), np.log(b), math.log(margin)
    if paired:
        below = stats.ttest_1samp(x - y, -edge, alternative="greater").pvalue
        return max(below, stats.ttest_1samp(x - y, edge, alternative="less").pvalue)
    below = stats.ttest_ind(x + edge, y, equal_var=False, alternative="greater").pvalue
    return max(below, stats.ttest_ind(x - edge, y, equal_var=False, alternative="less").pvalue)


@pytest.mark.parametrize("paired", [False, True])
def test_it_is_two_one_sided_tests(paired):
    """The interval within the margin says the same as scipy's two one-sided t-tests at 5 %."""
    random = np.random.default_rng(1)
    seen = set()
    for _ in range(200):
        a, b = random.lognormal([[0.01], [0.0]], 0.03, (2, 5))
        found = equivalence(a, b, 1.05, paired=paired)
        assert found.equivalent == (one_sided_p(a, b, 1.05, paired) < 0.05)
        assert found.ratio.level == pytest.approx(0.90)
        assert "t on log" in found.ratio.method
        seen.add(found.equivalent)
    assert seen == {True, False}


@pytest.mark.parametrize("n", [3, 5, 10])
def test_treatments_at_the_margin_are_rarely_equivalent(n):
    """A true ratio at the margin is called equivalent in at most 5 % (6.5 for luck)."""
    random = np.random.default_rng(n)
    rows = random.lognormal([[math.log(1.05)], [0.0]], 0.02, (1000, 2, n))
    assert np.mean([equivalence(a, b, 1.05).equivalent for a, b in rows]) <= 0.065


@pytest.mark.parametrize(
    ("a", "b", "why"),
    [
        ([], [1.0, 1.0], "no replicates"),
        ([1.0], [1.0, 1.0], "one replicate"),
        ([0.0, 1.0], [1.0, 1.0], "no ratio"),
    ],
)
def test_without_an_interval_nothing_is_said(a, b, why):
    """No replicate, one, or a zero: None with the reason, and an undetermined comparison."""
    found = equivalence(a, b, 1.05)
    assert found.equivalent is None and why in found.reason
    assert compare(a, b, FLOOR, 1.05).verdict == "undetermined"


@pytest.mark.parametrize("margin", [1.0, 0.95, math.inf, math.nan])
def test_a_margin_is_above_one(margin):
    """A margin that is no ratio above 1 is refused, in a comparison, too."""
    with pytest.raises(ValueError, match="margin ratio"):
        equivalence([1.0, 1.1], [1.0, 1.1], margin)
    with pytest.raises(ValueError, match="margin ratio"):
        compare([1.0, 1.1], [1.0, 1.1], FLOOR, margin)


def test_level_is_refused_where_there_is_no_interval():
    """Two one-sided tests at 50 % have no interval."""
    with pytest.raises(ValueError, match="level"):
        equivalence([1.0, 1.1], [1.0, 1.1], 1.1, level=0.5)


def test_constants_are_equivalent():
    """Numbers that never vary and are equal have an interval of no width."""
    assert equivalence([5.0, 5.0], [5.0, 5.0], 1.001).equivalent is True
    assert equivalence([6.0, 6.0], [5.0, 5.0], 1.1).equivalent is False


def test_three_verdicts():
    """Far apart, close together, and too few to tell."""
    base = np.array([1.0, 1.01, 0.99, 1.005, 0.995])
    assert compare(1.2 * base, base, FLOOR, 1.05).verdict == "different"
    assert compare(1.001 * base, base[::-1], FLOOR, 1.05).verdict == "equivalent"
    unsure = compare([1.0, 1.05], [0.99, 1.06], FLOOR, 1.05)
    assert unsure.verdict == "undetermined" and "reaches beyond" in unsure.reason


def test_a_clear_difference_within_the_margin_is_equivalent():
    """What is measurable and does not matter is equivalent, and the words say both."""
    base = np.array([1.0, 1.001, 0.999, 1.0005, 0.9995, 1.0])
    found = compare(1.02 * base, base, FLOOR, 1.05)
    assert found.difference.different is True and found.equivalence.equivalent is True
    assert found.verdict == "equivalent" and "a difference is clear" in found.reason


def test_the_floor_is_the_margin_where_none_is_stated():
    """Without a margin it is the least ratio that the floor sees; without a floor, none."""
    values = [1.0, 1.02, 0.98]
    found = compare(values, values, FLOOR)
    assert found.equivalence.margin_ratio == pytest.approx(FLOOR.least_ratio(3, 3))
    nothing = compare(values, values, noise_floor([]))
    assert nothing.verdict == "undetermined" and nothing.equivalence is None
    assert "no noise floor" in nothing.reason and "no margin" in nothing.reason
    flat = compare(values, values, noise_floor([[1.0, 1.0]]))
    assert flat.equivalence is None
    assert compare(values, values, noise_floor([]), 1.2).verdict == "equivalent"


@pytest.mark.parametrize("n", [3, 5, 10])
def test_equal_treatments_are_rarely_different(n):
    """A/A: "different" in at most 5 % (6.5 for luck), mostly "equivalent" at twice the floor."""
    random = np.random.default_rng(n)
    seen = []
    for _ in range(400):
        floor = noise_floor(random.lognormal(0, 0.03, (6, 3)))
        a, b = random.lognormal(0, 0.03, (2, n))
        seen.append(compare(a, b, floor, floor.least_ratio(n, n) ** 2).verdict)
    assert seen.count("different") / 400 <= 0.065
    assert seen.count("equivalent") / 400 >= 0.7
