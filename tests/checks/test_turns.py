"""Whether a comparison of trials that take turns is steady."""

from __future__ import annotations

import numpy as np
import pytest

from sizebook.checks.turns import TurnLevels, judge_levels, log_ratios

ROUNDS = 20


def wandering(random, rounds=ROUNDS, sd=0.2, phi=0.9):
    """Logarithms of a machine's speed that wanders, as neighbours of an AR(1) series do."""
    noise = random.standard_normal(rounds) * sd * np.sqrt(1 - phi**2)
    found = np.empty(rounds)
    found[0] = random.standard_normal() * sd
    for at in range(1, rounds):
        found[at] = phi * found[at - 1] + noise[at]
    return found


def block(random, effects, course=0.0, own_sd=0.02, rounds=ROUNDS):
    """Levels of trials that share a machine: each has its effect, and its own small noise."""
    shared = wandering(random, rounds) + np.asarray(course)
    found = {}
    for number, effect in enumerate(effects):
        noise = random.standard_normal((2, rounds)) * own_sd
        speed = shared + np.asarray(effect)
        found[f"trial-{number}"] = TurnLevels(
            tuple(1_000 * np.exp(speed + noise[0])), tuple(1e7 * np.exp(-speed + noise[1]))
        )
    return found


def flagged(levels):
    return {name for name, one in judge_levels(levels).items() if one.passed is False}


@pytest.mark.parametrize("course", [0.0, np.linspace(0, 1, ROUNDS), np.repeat([0, -0.7], 10)],
                         ids=["wanders", "becomes twice as fast", "halves at once"])  # fmt: skip
def test_what_all_share_disqualifies_nothing(course):
    """A machine that wanders, drifts or falls to half takes all along; their ratio holds still.

    Of 200 blocks of equal and unequal treatments at most 5 in 100 are called unsteady, as stated.
    """
    random = np.random.default_rng(1)
    found = [flagged(block(random, (0.0, 0.3), course)) for _ in range(200)]
    assert sum(map(bool, found)) <= 200 * 0.05


@pytest.mark.parametrize(("rounds", "least"), [(20, 65), (40, 97)])
@pytest.mark.parametrize("kind", ["drift", "shift up", "shift down"])
def test_a_side_that_still_changes_is_found(kind, rounds, least):
    """So many of 100 blocks, as ``stats.steady`` states it of levels: one of five treatments is
    another by 15 % at the end. A page's 20 rounds find most, 40 find all but a few.
    """
    half = rounds // 2
    effect = {
        "drift": np.linspace(0, 0.15, rounds),
        "shift up": np.repeat([0.0, 0.15], half),
        "shift down": np.repeat([0.0, -0.15], half),
    }[kind]
    random = np.random.default_rng(2)
    effects = (0.0, effect, 0.5, 0.2, -0.1)
    found = [flagged(block(random, effects, rounds=rounds)) for _ in range(100)]
    assert sum("trial-1" in names for names in found) >= least
    assert sum("trial-0" in names for names in found) <= 10, "the middle of the others holds still"


def test_two_trials_share_their_verdict():
    """Of two nobody can say which one changes against the other."""
    levels = block(np.random.default_rng(3), (0.0, np.linspace(0, 0.3, ROUNDS)))
    assert flagged(levels) == set(levels)


def test_a_small_change_is_none():
    """However sure it is: below the twentieth that a level may change, too."""
    levels = block(np.random.default_rng(4), (0.0, np.linspace(0, 0.03, ROUNDS)), own_sd=0.001)
    assert not flagged(levels)


def test_too_few_rounds_tell_nothing():
    """The finding then says so, and no trial is doubted for it."""
    levels = {
        name: TurnLevels(one.throughput[:5], one.latency[:5])
        for name, one in block(np.random.default_rng(5), (0, 0)).items()
    }
    found = judge_levels(levels)
    assert {one.passed for one in found.values()} == {None}
    assert all("5 rounds are too few" in one.message for one in found.values())


def test_a_round_without_an_answer_is_left_out():
    """Of one trial, or of all: the rest of the series is judged."""
    ratios = log_ratios([[1.0, 1.0, np.nan, 1.0], [1.0, 0.0, np.nan, 4.0]])
    half = np.log(2)
    assert ratios[0] == pytest.approx([half, np.nan, np.nan, -half], nan_ok=True)
    assert ratios[1] == pytest.approx([-half, np.nan, np.nan, half], nan_ok=True)


def test_trials_with_unequal_turns_are_not_compared():
    """One that was ended early has fewer: nothing is found of its block."""
    levels = block(np.random.default_rng(6), (0, 0))
    levels["trial-0"] = TurnLevels(levels["trial-0"].throughput[:7], levels["trial-0"].latency[:7])
    assert judge_levels(levels) == {}
    assert judge_levels({"trial-1": levels["trial-1"]}) == {}
