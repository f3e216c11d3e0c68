"""Best levels: a textbook's numbers, closed forms, intervals by simulation, sizes 0 and 1."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from sizebook.stats.flatness import find_optimum

GRAFTS = {  # Montgomery, Design and Analysis of Experiments, 8th ed., example 4.1
    8500: (90.3, 89.2, 98.2, 93.9, 87.4, 97.9),
    8700: (92.5, 89.5, 90.6, 94.7, 87.0, 95.8),
    8900: (85.5, 90.8, 89.6, 86.2, 88.0, 93.4),
    9100: (82.5, 89.5, 85.6, 87.4, 78.9, 90.7),
}


def test_a_textbook_of_blocks():
    """Error mean square 7.33 with 15 degrees of freedom, Tukey's q 4.08: half width 4.51."""
    found = find_optimum(list(GRAFTS), np.exp(list(GRAFTS.values())), better="more")
    assert found.best == 8500 and found.n == 6
    worst = found.at(9100)
    apart = np.mean(GRAFTS[8500]) - np.mean(GRAFTS[9100])
    assert math.log(worst.ratio) == pytest.approx(apart)
    assert math.log(worst.high) - apart == pytest.approx(4.08 * math.sqrt(7.33 / 6), abs=0.01)
    assert math.log(worst.low) == pytest.approx(apart - 4.51, abs=0.01)


def test_without_blocks_it_is_scipy_s_tukey():
    """Where blocks explain nothing the interval is Tukey's, but for the degrees of freedom."""
    random = np.random.default_rng(3)
    logs = random.normal(size=(3, 4))
    logs -= logs.mean(axis=0) - logs.mean()
    found = find_optimum([1, 2, 3], np.exp(logs))
    theirs = stats.tukey_hsd(*logs).confidence_interval(0.95)
    at, other = int(found.best) - 1, np.argmax(logs.mean(axis=1))
    half = (theirs.high[at, other] - theirs.low[at, other]) / 2
    scale = stats.studentized_range.ppf(0.95, 3, 6) / stats.studentized_range.ppf(0.95, 3, 9)
    worst = found.at(other + 1)
    own = math.log(worst.high) - math.log(worst.ratio)
    assert own == pytest.approx(half * scale * math.sqrt(9 / 6), rel=1e-6)


def test_less_of_a_time_and_more_of_a_rate_are_the_same():
    """Turning a time into a rate changes neither the best level nor any distance."""
    times = np.array([[3.0, 3.1], [2.0, 2.2], [2.05, 2.1]])
    less = find_optimum([10, 20, 40], times)
    more = find_optimum([10, 20, 40], 1 / times, better="more")
    assert less.best == more.best == 40
    for one, other in zip(less.distances, more.distances, strict=True):
        assert one.ratio == pytest.approx(other.ratio) and one.high == pytest.approx(other.high)


def test_spans_are_unbroken_and_nested():
    """A good level behind a bad one does not belong; sure within estimated within possible."""
    found = find_optimum(
        [40, 10, 20, 80, 5], [[1.0, 1.01], [1.02, 1.0], [1.5, 1.52], [1.03, 1.01], [1.0, 1.02]]
    )
    assert [one.level for one in found.distances] == [5, 10, 20, 40, 80]
    ends = [found.sure_span, found.span, found.possible_span]
    assert found.best in (5, 10, 40, 80)
    assert found.span in ((5, 10), (40, 80))
    known = [span for span in ends if span is not None]
    for inner, outer in itertools.pairwise(known):
        assert outer[0] <= inner[0] <= inner[1] <= outer[1]


def test_a_noisy_sweep_shows_nothing_and_says_so_by_its_spans():
    """With wide intervals no level is surely within the margin, and none surely beyond."""
    found = find_optimum([1, 2, 3], [[1.0, 2.0, 1.2], [1.5, 1.1, 2.2], [2.0, 1.0, 1.4]])
    assert found.sure_span is None and found.possible_span == (1, 3)


def simulated(true, sd, blocks, runs, seed=1):
    """Return the true distances and the optimum of each run, with blocks that differ."""
    random = np.random.default_rng(seed)
    true = np.asarray(true)
    levels = list(range(len(true)))
    for _ in range(runs):
        logs = true[:, None] + random.normal(0, sd, (len(true), blocks))
        logs += random.normal(0, 0.5, blocks)
        yield true - true.min(), find_optimum(levels, np.exp(logs))


@pytest.mark.parametrize("blocks", [3, 10])
@pytest.mark.parametrize("true", [(0, 0, 0, 0), (0.3, 0.02, 0, 0.05, 0.1)])
def test_all_intervals_hold_together(true, blocks):
    """Every distance lies in its interval in 95 % of the runs, the winner's included."""
    right = [
        all(
            math.log(one.low) - 1e-9 <= far <= math.log(one.high)
            for far, one in zip(apart, found.distances, strict=True)
        )
        for apart, found in simulated(true, 0.03, blocks, 400)
    ]
    assert np.mean(right) >= 0.93


def test_equal_levels_are_rarely_told_apart_and_many_blocks_show_them_equal():
    """Equal levels: none is beyond the margin in 95 %; with little noise all are surely within."""
    found = [one for _, one in simulated((0, 0, 0, 0), 0.05, 3, 400)]
    assert np.mean([one.possible_span == (0, 3) for one in found]) >= 0.95
    calm = [one for _, one in simulated((0, 0, 0, 0), 0.01, 10, 100)]
    assert np.mean([one.sure_span == (0, 3) for one in calm]) >= 0.95


def test_levels_and_blocks_with_gaps():
    """A level without values is left out, then blocks that are not complete."""
    gap = math.nan
    found = find_optimum(
        [1, 2, 3], [[1.0, 1.1, 5.0], [gap, gap, gap], [2.0, 2.1, gap]], margin=1.05
    )
    assert found.n == 2 and found.at(2) is None
    assert found.at(3).ratio == pytest.approx(math.sqrt(2 * 2.1 / 1.1))
    apart = find_optimum([1, 2], [[1.0, gap], [gap, 3.0]])
    assert apart.n == 0 and apart.best == 1 and apart.at(2).ratio == pytest.approx(3)
    assert apart.at(2).low is None and "0 complete blocks" in apart.reason


@pytest.mark.parametrize(
    ("levels", "values", "best", "why"),
    [
        ([], [], None, "nothing"),
        ([1, 2], [[math.nan], [math.nan]], None, "nothing"),
        ([7], [[1.0, 1.1]], 7, "one level"),
        ([1, 2], [[1.0], [2.0]], 1, "1 complete blocks"),
    ],
)
def test_without_spread_there_is_no_interval(levels, values, best, why):
    """No level, no value, one level, one block: what there is, and why there is no more."""
    found = find_optimum(levels, values)
    assert found.best == best and why in found.reason and found.sure_span is None
    assert all(one.low is None for one in found.distances)


@pytest.mark.parametrize(
    ("levels", "values", "margin"),
    [([1, 1], [[1.0], [2.0]], 1.05), ([1], [[0.0]], 1.05), ([1], [[1.0]], 1.0)],
)
def test_what_cannot_be_is_refused(levels, values, margin):
    """A level twice, a value of zero, no margin."""
    with pytest.raises(ValueError):
        find_optimum(levels, values, margin=margin)
