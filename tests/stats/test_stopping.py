"""Early stop: the rule by hand, what looking costs by simulation, degenerate sizes."""

import math

import numpy as np
import pytest

from sizebook.stats.intervals import mean_interval
from sizebook.stats.stopping import FIRST_LOOK, MORE, narrow_enough

STEADY = [100.0, 101.0, 99.0, 100.5, 99.5, 100.0, 100.2]


def test_stops_after_confirmation():
    """Narrow at the first look: stop two replicates later, not before, even if told three."""
    for done in range(len(STEADY) + 1):
        found = narrow_enough([STEADY[:done]], half_width=0.05, least=3, most=20)
        assert bool(found) == found.stop == (done >= FIRST_LOOK + MORE)
        assert found.replicates == done


def test_every_interval_must_be_narrow():
    """One treatment that scatters keeps all going; the widths are those of the t-intervals."""
    wild = [100.0, 140.0, 80.0, 100.0, 130.0, 70.0, 90.0]
    found = narrow_enough([STEADY, wild], half_width=0.05, most=20)
    assert not found and "not every" in found.reason
    for width, group in zip(found.half_widths, (STEADY, wild), strict=True):
        interval = mean_interval(group)
        assert width == pytest.approx(interval.half_width / interval.estimate)


def test_what_was_narrow_once_stays_so():
    """The two replicates that follow a narrow look may scatter: the answer is the same."""
    assert narrow_enough([[*STEADY[:4], 80.0, 120.0]], half_width=0.05, most=20)


def test_most_and_least():
    """All replicates run: stop, narrow or not. Below the least: go on, narrow or not."""
    wild = [1.0, 9.0, 2.0]
    assert narrow_enough([wild], half_width=0.01, most=3).reason == "all 3 replicates are run"
    waiting = narrow_enough([STEADY], half_width=0.05, least=8, most=20)
    assert not waiting and waiting.reason == "7 replicates of at least 8"
    assert narrow_enough([[*STEADY, 100.0]], half_width=0.05, least=8, most=20)


def test_groups_of_unequal_size():
    """The group with the fewest replicates decides how many there are."""
    assert narrow_enough([STEADY, STEADY[:5]], half_width=0.05, most=20).replicates == 5
    assert not narrow_enough([STEADY, []], half_width=0.05, most=20)


def test_degenerate():
    """No groups, constants, a mean of zero."""
    assert not narrow_enough([], half_width=0.05, most=5)
    assert narrow_enough([[7.0] * 6], half_width=0.01, most=20).half_widths == (0.0,)
    zero = narrow_enough([[1.0, -1.0] * 4], half_width=0.5, most=20)
    assert not zero and zero.half_widths == (None,)
    with pytest.raises(ValueError, match="missing"):
        narrow_enough([[1.0, math.nan]], half_width=0.05, most=5)
    with pytest.raises(ValueError, match="half width 0"):
        narrow_enough([STEADY], half_width=0, most=5)


def coverage(spread, runs, first_narrow_look):
    """Return the share of 95 % intervals that hold the mean, replicates run until told to stop."""
    random = np.random.default_rng(int(1000 * spread))
    hits = 0
    for row in random.normal(1, spread, (runs, 20)):
        for done in range(3, 21):
            if first_narrow_look:
                interval = mean_interval(row[:done])
                stop = interval.half_width / interval.estimate <= 0.05 or done == 20
            else:
                stop = narrow_enough([row[:done]], half_width=0.05, most=20)
            if stop:
                break
        hits += not mean_interval(row[:done]).excludes(1.0)
    return hits / runs


@pytest.mark.parametrize("spread", [0.03, 0.05, 0.08])
def test_coverage_is_kept(spread):
    """Stopped by the rule, 95 % intervals hold the truth in 93 % and more (90.5 for luck)."""
    assert coverage(spread, 300, first_narrow_look=False) >= 0.905


def test_stopping_at_the_first_narrow_look_costs_coverage():
    """Why the rule waits: stopped at the first narrow interval they hold it in about 91 %."""
    assert coverage(0.08, 600, first_narrow_look=True) < 0.93
