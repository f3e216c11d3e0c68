"""Tails: closed forms, scipy's p values, the duality with intervals, sizes 0 and 1."""

import numpy as np
import pytest
from scipy import stats

from sizebook.stats.intervals import ratio_interval
from sizebook.stats.tails import Tails, ratio_tails

A = [1.5, 1.7, 1.4, 1.65]
B = [1.0, 1.02, 0.97, 1.05]


@pytest.mark.parametrize("edge", [0.9, 1.0, 1.5, 2.0])
def test_tails_are_the_p_values_of_t_tests(edge):
    """Paired and Welch's, one-sided on logs: the numbers that scipy prints."""
    logs_a, logs_b = np.log(A) - np.log(edge), np.log(B)
    for name, theirs in (
        (True, [stats.ttest_rel(logs_a, logs_b, alternative=way) for way in ("greater", "less")]),
        (False, [stats.ttest_ind(logs_a, logs_b, equal_var=False, alternative=way)
                 for way in ("greater", "less")]),
    ):  # fmt: skip
        ours = ratio_tails(A, B, edge, paired=name)
        assert ours == pytest.approx([each.pvalue for each in theirs])


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("n", [2, 3, 30])
def test_an_interval_at_the_p_value_just_excludes_the_edge(n, paired):
    """At the level of the tail the interval's end lies on the edge, also for a bootstrap."""
    random = np.random.default_rng([n, paired])
    a, b = random.lognormal(0.05, 0.1, n), random.lognormal(0.0, 0.1, n)
    above, below = ratio_tails(a, b, 1.0, paired=paired)
    tail = min(above, below)
    found = ratio_interval(a, b, paired=paired, level=1 - 2 * tail)
    end = found.low if above < below else found.high
    assert end == pytest.approx(1.0, abs=1e-9 if n < 30 else 1e-3)


def test_values_that_never_vary_are_on_one_side_for_sure():
    """Bytes that are always the same leave no doubt."""
    assert ratio_tails([30.0] * 3, [10.0] * 3, 2.0, paired=True) == Tails(0.0, 1.0)
    assert ratio_tails([30.0] * 3, [10.0] * 3, 4.0) == Tails(1.0, 0.0)
    assert ratio_tails([2.0] * 3, [1.0] * 3, 2.0) == Tails(0.0, 0.0)
    assert ratio_tails([2.0] * 40, [1.0] * 40, 1.0) == Tails(0.0, 1.0)


def test_a_bootstrap_says_no_more_than_its_resamples():
    """However clear the effect, the p value is no smaller than one part in their number."""
    random = np.random.default_rng(1)
    a, b = random.lognormal(3.0, 0.1, 40), random.lognormal(0.0, 0.1, 40)
    assert ratio_tails(a, b, 1.0) == Tails(1 / 4000, 1.0)


@pytest.mark.parametrize(
    ("a", "b", "edge"),
    [([], [], 1.0), ([1.0], [2.0], 1.0), ([0.0, 1.0], [1.0, 1.0], 1.0), (A, B, 0.0)],
)
def test_what_has_no_interval_has_no_tails(a, b, edge):
    """Too few replicates, a value of zero, an edge of zero."""
    with pytest.raises(ValueError, match=r"replicates|edge"):
        ratio_tails(a, b, edge)
