"""Trend and shift tests: other tools' numbers, closed forms, false alarms by simulation."""

import math

import numpy as np
import pytest
from scipy import signal, stats

from sizebook.stats.trends import LEAST_WINDOWS, shift, trend

PETTITT = [
    *(-1.05, 0.96, 1.22, 0.58, -0.98, -0.03, -1.54, -0.71, -0.35, 0.66, 0.44, 0.91, -0.02, -1.42),
    *(1.26, -1.02, -0.81, 1.66, 1.05, 0.97, 2.14, 1.22, -0.24, 1.60, 0.72, -0.12, 0.44, 0.03, 0.66),
    *(0.56, 1.37, 1.66, 0.10, 0.80, 1.29, 0.49, -0.07, 1.18, 3.29, 1.84),
]
"""Table 1 of Pettitt (1979): K = 232, p = 0.0146, the change is after the 17th value."""
WALK = [
    *(-0.79, -1.06, -1.2, -1.07, -0.72, -0.47, -0.96, -1.43, -0.58, -0.16, 0.66, -0.1, -1.39, 0.09),
    *(-0.22, -0.75, -0.78, -1.98, -1.76, -2.01, -2.01, -2.37, -1.83, -2.67, -2.24, -1.98, -2.11),
    *(-2.5, -2.43, -3.06),
]
"""pymannkendall (commit ec2e3ab) on it: p 6.39707727e-05 as independent, 0.0023074138 by Hamed
and Rao (variance 5402.616 instead of 3139.667), slope -0.0711111."""


def noise(phi, size, random):
    """Return AR(1) series of SD 1, one a row."""
    white = random.standard_normal((size[0], size[1] + 100))
    return signal.lfilter([1], [1, -phi], white, axis=1)[:, 100:] * math.sqrt(1 - phi**2)


def test_mann_kendall_is_pymannkendalls():
    """p, slope and the published correction are those of another implementation, with ties."""
    plain, published = trend(WALK, correction="none"), trend(WALK, correction="hamed-rao")
    assert plain.p == pytest.approx(6.39707727121408e-05)
    assert published.p == pytest.approx(0.0023074138338581296)
    assert plain.slope_per_window == pytest.approx(-0.07111111111111112)
    assert published.n / published.n_effective == pytest.approx(5402.615999 / 3139.666667)
    assert trend(PETTITT, correction="none").p == pytest.approx(0.007099939919883003)


def test_guarded_is_never_surer():
    """The correction only makes a trend less sure, whatever the sign of the dependence."""
    random = np.random.default_rng(1)
    for row in [*noise(0.5, (20, 40), random), *noise(-0.8, (20, 40), random)]:
        plain, guarded = trend(row, correction="none"), trend(row)
        assert guarded.p >= plain.p and guarded.n_effective <= 40


def test_slope_and_share_by_hand():
    """A straight line: its slope, and the change over its length as a share of the median."""
    found = trend(100 + 2.0 * np.arange(20))
    assert found.slope_per_window == pytest.approx(2.0)
    assert found.change_share == pytest.approx(40 / 119)
    assert found.p < 1e-3


def test_sens_slope_is_scipys():
    """Sen's slope with gaps in time is Theil and Sen's over the windows' numbers."""
    random = np.random.default_rng(2)
    row = random.normal(10, 1, 40) + 0.1 * np.arange(40)
    row[[3, 4, 17]] = math.nan
    there = np.flatnonzero(~np.isnan(row))
    expected = stats.theilslopes(row[there], there).slope
    assert trend(row).slope_per_window == pytest.approx(expected)
    assert trend(row).n == 37


def test_pettitt_is_pettitts():
    """The change point is the paper's; p is the paper's where no dependence is found."""
    found = shift(PETTITT)
    assert found.at == 17
    inflation = found.n / found.n_effective
    assert 2 * math.exp(-6 * 232**2 / (40**3 + 40**2)) == pytest.approx(0.0146, abs=5e-5)
    assert found.p == pytest.approx(2 * math.exp(-6 * 232**2 / inflation / (40**3 + 40**2)))


def test_shift_by_hand():
    """A step among alternating values: no dependence, place and size as planted."""
    row = np.tile([1.0, -1.0], 20) + np.where(np.arange(40) < 24, 100, 120)
    found = shift(row)
    assert (found.at, found.n_effective) == (24, 40.0)
    assert found.change_share == pytest.approx(20 / 101)
    assert found.p == pytest.approx(2 * math.exp(-6 * (24 * 16) ** 2 / (40**3 + 40**2)))


def test_gaps_keep_the_place_of_a_shift():
    """``at`` counts windows without a value, too."""
    row = np.tile([1.0, -1.0], 20) + np.where(np.arange(40) < 24, 100, 120)
    row[:4] = math.nan
    assert shift(row).at == 24


@pytest.mark.parametrize("size", range(LEAST_WINDOWS))
def test_too_short(size):
    """Below ten values nothing is said, and the reason gives the number."""
    for test in (trend, shift):
        found = test(np.arange(size))
        assert (found.p, found.change_share, found.n) == (None, None, size)
        assert found.reason.startswith(f"{size} windows")


def test_constant_and_empty_and_zero():
    """A constant does not change; all NaN is no value; a level of zero has no share."""
    for test in (trend, shift):
        constant = test(np.full(20, 3.0))
        assert (constant.p, constant.change_share, constant.reason) == (1.0, 0.0, "")
        assert test(np.full(20, math.nan)).n == 0
        assert "zero" in test([0.0] * 15 + [1.0] * 5).reason
        with pytest.raises(ValueError, match="infinite"):
            test([1.0, math.inf])


@pytest.mark.parametrize("phi", [0.0, 0.3, 0.7])
def test_false_alarms(phi):
    """Dependent noise of 40 windows is called a trend or a shift in 5 % at most (7.5: noise)."""
    rows = noise(phi, (500, 40), np.random.default_rng(3))
    assert np.mean([trend(row).p < 0.05 for row in rows]) <= 0.075
    assert np.mean([shift(row).p < 0.05 for row in rows]) <= 0.075


def test_uncorrected_tests_raise_false_alarms():
    """Why the guard is needed: both known forms call dependent noise a trend far too often."""
    rows = noise(0.7, (300, 40), np.random.default_rng(4))
    for correction in ("none", "hamed-rao"):
        assert np.mean([trend(row, correction=correction).p < 0.05 for row in rows]) > 0.15
