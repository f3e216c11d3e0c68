"""Looks after each block: the levels, and their error over all looks by seeded simulation."""

import math

import numpy as np
import pytest
from scipy import stats

from sizebook.stats.looks import level_after, stricter_by

LOOKS = np.arange(3, 201)


def wrong_at_any_look(p_values):
    """Return the share of designs with a wrong verdict at any of the looks."""
    factors = np.array([stricter_by(int(n)) for n in LOOKS])
    return float((p_values * factors <= 0.025).any(axis=1).mean())


def running(values):
    """Return mean and variance of the first n values, for each look."""
    n = np.arange(1, values.shape[1] + 1)
    mean = np.cumsum(values, 1) / n
    variance = (np.cumsum(values**2, 1) - n * mean**2) / np.maximum(n - 1, 1)
    return mean[:, LOOKS - 1], variance[:, LOOKS - 1]


@pytest.mark.parametrize("draw", ["normal", "long tails"])
def test_pairs_are_wrong_in_as_few_cases_as_stated_over_all_looks(draw):
    """One-sided Student's t on equal treatments, a look after each of 3 to 200 blocks."""
    random = np.random.default_rng(5)
    shape = (6000, int(LOOKS[-1]))
    values = random.standard_normal(shape) if draw == "normal" else random.standard_t(5, shape)
    mean, variance = running(values)
    p_values = stats.t.sf(mean / np.sqrt(variance / LOOKS), LOOKS - 1)
    assert wrong_at_any_look(p_values) <= 0.025 + 3 * math.sqrt(0.025 / 6000)
    assert (p_values <= 0.025).any(axis=1).mean() > 0.15  # what it mends


@pytest.mark.parametrize("spread", [1.0, 3.0])
def test_so_are_unpaired_sides_of_unequal_spread(spread):
    """Welch's t."""
    random = np.random.default_rng(6)
    shape = (4000, int(LOOKS[-1]))
    (a, va), (b, vb) = (running(random.standard_normal(shape) * one) for one in (1.0, spread))
    error = (va + vb) / LOOKS
    freedom = error**2 / ((va / LOOKS) ** 2 + (vb / LOOKS) ** 2) * (LOOKS - 1)
    p_values = stats.t.sf((a - b) / np.sqrt(error), freedom)
    assert wrong_at_any_look(p_values) <= 0.025 + 3 * math.sqrt(0.025 / 4000)


def test_later_looks_are_stricter():
    """Never looser than one look, and as a level the same thing."""
    factors = [stricter_by(n) for n in range(1, 1001)]
    assert factors == sorted(factors)
    assert factors[0] == 1.0
    assert level_after(3) == pytest.approx(1 - 0.05 / stricter_by(3))
    assert level_after(5) > level_after(4) > level_after(3) > 0.95
