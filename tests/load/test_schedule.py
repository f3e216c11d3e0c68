"""Arrival schedules: exact, reproducible, and statistically what they claim."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from sizebook.load.schedule import (
    MAX_SPREAD_NS,
    ThinkTimes,
    arrival_offsets,
    constant_offsets,
    poisson_offsets,
    user_share,
    user_start_offset_ns,
    worker_share,
)
from sizebook.model.load import ClosedLoop, OpenArrivals

SECOND = 1_000_000_000


def test_constant_arrivals_do_not_drift():
    """The k-th arrival is k/rate to the nearest ns, however long the schedule."""
    offsets = constant_offsets(3000.0, 100 * SECOND)
    assert len(offsets) == 300_000
    assert offsets[0] == 0
    assert abs(int(offsets[-1]) - round(299_999 * 1e9 / 3000)) <= 1


@pytest.mark.parametrize(("rate", "length_s", "count"), [(1.0, 0.5, 1), (10.0, 1.0, 10), (7, 1, 7)])
def test_constant_arrivals_fill_the_length_and_no_more(rate, length_s, count):
    """An arrival at the very end belongs to what comes after."""
    assert len(constant_offsets(rate, round(length_s * SECOND))) == count


def test_poisson_gaps_are_exponential():
    """Mean and variance fit, and a Kolmogorov-Smirnov test does not reject the exponential law."""
    offsets = poisson_offsets(1000.0, 100 * SECOND, seed=7)
    gaps_s = np.diff(offsets, prepend=0) * 1e-9
    assert np.mean(gaps_s) == pytest.approx(1e-3, rel=0.02)
    assert np.std(gaps_s) == pytest.approx(1e-3, rel=0.02)
    assert stats.kstest(gaps_s, "expon", args=(0, 1e-3)).pvalue > 0.01


def test_poisson_counts_have_mean_equal_to_variance():
    """Arrivals a second are Poisson distributed: index of dispersion 1."""
    offsets = poisson_offsets(50.0, 2000 * SECOND, seed=3)
    counts = np.bincount(offsets // SECOND, minlength=2000)
    assert counts.mean() == pytest.approx(50, rel=0.02)
    assert counts.var() / counts.mean() == pytest.approx(1.0, abs=0.1)


def test_schedule_is_reproducible_and_ascending():
    """Same seed, same schedule; another seed, another one."""
    arrivals = OpenArrivals(kind="poisson", rate_per_s=500)
    one = arrival_offsets(arrivals, 10.0, seed=1)
    np.testing.assert_array_equal(one, arrival_offsets(arrivals, 10.0, seed=1))
    assert not np.array_equal(one[:100], arrival_offsets(arrivals, 10.0, seed=2)[:100])
    assert (np.diff(one) >= 0).all()
    assert one[0] >= 0
    assert one[-1] < 10 * SECOND


def test_a_schedule_may_be_empty():
    """At a low rate nothing may be due within a short time."""
    assert len(poisson_offsets(0.001, SECOND // 1000, seed=1)) == 0


def test_worker_shares_partition_the_schedule():
    """Every arrival is carried by exactly one worker, every user too."""
    offsets = poisson_offsets(300.0, 10 * SECOND, seed=5)
    shares = [worker_share(offsets, worker, 3) for worker in range(3)]
    np.testing.assert_array_equal(np.sort(np.concatenate(shares)), offsets)
    assert sorted(user for worker in range(3) for user in user_share(10, worker, 3)) == [*range(10)]


def test_users_start_evenly():
    """Over the ramp if there is one, over a few ms otherwise, never all at once."""
    starts = [user_start_offset_ns(user, 4, 2.0) for user in range(4)]
    assert starts == [0, SECOND // 2, SECOND, 3 * SECOND // 2]
    assert user_start_offset_ns(9, 10, 0.0) == 4_500_000
    assert user_start_offset_ns(99_999, 100_000, 0.0) < MAX_SPREAD_NS


def test_think_times():
    """Constant ones are constant; random ones are exponential with their mean, seeded by user."""
    constant = ThinkTimes(ClosedLoop(users=1, think_s=0.25), seed=1, user=0)
    assert constant.next_ns() == constant.next_ns() == 250_000_000
    arrivals = ClosedLoop(users=2, think_s=0.1, think_random=True)
    random = ThinkTimes(arrivals, seed=1, user=0)
    pauses = [random.next_ns() for _ in range(20_000)]
    assert stats.kstest(np.array(pauses) * 1e-9, "expon", args=(0, 0.1)).pvalue > 0.01
    again = ThinkTimes(arrivals, seed=1, user=0)
    assert [again.next_ns() for _ in range(300)] == pauses[:300]
    assert ThinkTimes(arrivals, seed=1, user=1).next_ns() != pauses[0]
