"""Ratios of treatments that took turns."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.signal import lfilter

from sizebook.stats.rounds import block_ratio, rounds_ratio

ROUNDS = 20


def ar1(random, phi, sd, *shape):
    """Noise whose neighbours depend on each other, along the last axis."""
    steps = random.standard_normal(shape) * sd * math.sqrt(1 - phi**2)
    steps[..., 0] = random.standard_normal(shape[:-1]) * sd
    return lfilter([1.0], [1.0, -phi], steps, axis=-1)


def simulate(random, blocks, *, effect=0.0, starts=0.014, drift=0.7):
    """Both sides' values by round of each block, on a machine that wanders and drifts."""
    machine = ar1(random, 0.9, 0.2, blocks, ROUNDS) + np.linspace(0, drift, ROUNDS)
    sides = []
    for noise, level in ((0.03, effect), (0.06, 0.0)):
        own = ar1(random, 0.3, noise, blocks, ROUNDS)
        start = random.standard_normal((blocks, 1)) * starts
        sides.append(np.exp(machine + own + start + level))
    return list(zip(*sides, strict=True))


@pytest.mark.parametrize("blocks", [2, 3, 4, 10])
@pytest.mark.parametrize("effect", [0.0, 0.1])
def test_intervals_cover_what_they_state(blocks, effect):
    """95 % of 1000, within what chance allows (three standard errors); equal treatments differ in
    5 %, whatever the machine does meanwhile."""
    random = np.random.default_rng([blocks, round(effect * 10)])
    held = 0
    for _ in range(1000):
        found = rounds_ratio(simulate(random, blocks, effect=effect)).ratio
        held += found.low <= math.exp(effect) <= found.high
    assert 0.929 <= held / 1000 <= 0.971


@pytest.mark.parametrize("starts", [0.0, 0.05])
def test_it_is_told_where_the_spread_comes_from(starts):
    """The turns explain it, or starts that differ do."""
    random = np.random.default_rng(7)
    found = [rounds_ratio(simulate(random, 10, starts=starts)) for _ in range(100)]
    true_turns = np.std([block_ratio(*simulate(random, 1, starts=0)[0]).log for _ in range(2000)])
    assert np.mean([one.by_turns for one in found]) == pytest.approx(true_turns, rel=0.2)
    beyond = math.sqrt(np.mean([one.between**2 for one in found]))
    assert beyond == pytest.approx(starts * math.sqrt(2), rel=0.25, abs=0.01)


def test_turns_are_better_than_one_after_the_other():
    """The same load, 20 pieces a side, on the same wandering machine: a tenth of the variance."""
    random = np.random.default_rng(3)
    turns, apart = [], []
    for _ in range(500):
        turns.append(block_ratio(*simulate(random, 1)[0]).log)
        machine = ar1(random, 0.9, 0.2, 2 * ROUNDS) + ar1(random, 0.3, 0.05, 2 * ROUNDS)
        halves = np.exp(machine).reshape(2, ROUNDS).mean(axis=1)
        apart.append(math.log(halves[0] / halves[1]))
    assert np.var(turns) < np.var(apart) / 10


def test_by_hand():
    """Two rounds, twice and eight times as much: four times, over one block without an interval."""
    found = block_ratio([2.0, 8.0], [1.0, 1.0])
    assert found.log == pytest.approx(math.log(4))
    assert found.error == pytest.approx(np.std(np.log([2, 8]), ddof=1) / math.sqrt(2))
    whole = rounds_ratio([([2.0, 8.0], [1.0, 1.0])])
    assert whole.ratio.estimate == pytest.approx(4)
    assert whole.ratio.low is None
    assert whole.between is None


@pytest.mark.parametrize("bad", [math.nan, 0.0, -1.0, math.inf])
def test_a_round_without_a_value_is_left_out(bad):
    """On either side; a block without any round says nothing, and is none of the replicates."""
    assert block_ratio([2.0, bad], [1.0, 1.0]).rounds == 1
    assert block_ratio([2.0, 1.0], [1.0, bad]).error is None
    assert block_ratio([bad], [1.0]) is None
    found = rounds_ratio([([bad], [1.0]), ([2.0, 2.0], [1.0, 1.0])])
    assert found.ratio.n == 1
    assert rounds_ratio([]).ratio.estimate is None


def test_sides_of_unequal_length_are_refused():
    """They are no rounds of one block."""
    with pytest.raises(ValueError, match="3 and 2 rounds"):
        block_ratio([1, 2, 3], [1, 2])
