"""What is left out is predicted from the rest alone, and the band holds what it says."""

import math

import numpy as np
import pytest

from sizebook.stats.curves import Curve, Parameter
from sizebook.stats.holdout import HeldOut, choose, hold_out, leave_levels_out

SLOPE = Curve(
    "slope", (Parameter("slope", 0.0, 100.0, 1.0),), lambda table, values: values[0] * table["x"]
)


def test_a_level_never_predicts_itself():
    """What is predicted for a level comes from the other levels, replicates and all."""
    asked = []

    def predict(learn, out):
        asked.append((learn.tolist(), out.tolist()))
        return np.full(out.sum(), 1.0)

    leave_levels_out(["a", "b", "a"], [1.0, 2.0, 3.0], predict)
    assert asked == [
        ([False, True, False], [True, False, True]),
        ([True, False, True], [False, True, False]),
    ]


def test_errors_are_logarithms_of_shares():
    """A prediction of half of what is seen errs by the logarithm of two."""
    found = leave_levels_out([1, 2], [2.0, 4.0], lambda _, out: np.full(out.sum(), 2.0))
    assert found.errors == pytest.approx([0.0, math.log(2)])
    assert found.median_error == pytest.approx(math.sqrt(2) - 1)


def test_too_little_to_learn_from_leaves_a_level_without_prediction():
    """One level alone cannot be predicted from nothing: no error, no band, no choice."""
    found = hold_out(SLOPE, {"x": [1.0, 1.0]}, [2.0, 2.1], ["one", "one"])
    assert not found.complete
    assert found.median_error is None
    assert found.band() is None
    assert found.coverage() is None
    assert choose({"slope": found}) is None


def test_a_label_for_each_observation():
    """Labels and observations are as many."""
    with pytest.raises(ValueError, match="2 labels for 3 observations"):
        leave_levels_out([1, 2], [1.0, 2.0, 3.0], lambda _, out: np.ones(out.sum()))


def test_the_band_is_the_errors_quantile_with_one_more():
    """Nine errors of 1 to 9 %: the band of 80 % has rank 8, that of 95 % would need more."""
    truth = np.ones(9)
    held = HeldOut(tuple(range(9)), truth, truth / np.exp(np.arange(1, 10) / 100))
    assert held.band(0.8) == pytest.approx(math.exp(0.08))
    assert held.band(0.95) is None


def test_the_band_covers_new_observations_as_often_as_it_says():
    """Of seeded samples of 12 levels, bands of 90 % hold a thirteenth in 90 to 96 of 100."""
    random = np.random.default_rng(21)
    hits = covered = 0
    for _ in range(1000):
        seen = np.exp(random.normal(0, 0.1, 13))

        def predict(learn, out, seen=seen):
            return np.full(out.sum(), np.exp(np.log(seen[:12][learn]).mean()))

        known = leave_levels_out(list(range(12)), seen[:12], predict)
        whole = np.exp(np.log(seen[:12]).mean())
        hits += abs(math.log(seen[12] / whole)) <= math.log(known.band(0.9))
        covered += known.coverage(0.9)
    assert 0.88 <= hits / 1000 <= 0.97
    assert 0.85 <= covered / 1000 <= 0.99


def test_the_choice_is_the_least_error_and_of_equals_the_first():
    """A name whose prediction is incomplete is never chosen."""
    good = HeldOut((1, 2), np.array([1.0, 2.0]), np.array([1.1, 2.2]))
    same = HeldOut((1, 2), np.array([1.0, 2.0]), np.array([1.1, 2.2]))
    part = HeldOut((1, 2), np.array([1.0, 2.0]), np.array([1.0, np.nan]))
    assert choose({"part": part, "good": good, "same": same}) == "good"
    assert choose({}) is None
