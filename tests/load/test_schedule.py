"""Arrival schedules: exact, reproducible, and statistically what they claim."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy import stats

from sizebook.load.schedule import (
    MAX_SPREAD_NS,
    ThinkTimes,
    arrival_offsets,
    paced_offsets,
    user_share,
    user_start_offset_ns,
    worker_share,
)
from sizebook.model.load import (
    ClosedLoop,
    OpenArrivals,
    PacedGroup,
    PacedUsers,
    Phases,
    RampArrivals,
    StaircaseArrivals,
    Step,
)

SECOND = 1_000_000_000


def phases(measured_s: float, warmup_s: float = 0.0, ramp_s: float = 0.0) -> Phases:
    return Phases(ramp_s=ramp_s, warmup_s=warmup_s, measured_s=measured_s)


def constant(rate: float, length_s: float) -> np.ndarray:
    arrivals = OpenArrivals(kind="constant", rate_per_s=rate)
    return arrival_offsets(arrivals, phases(length_s), seed=1)


def poisson(rate: float, length_s: float, seed: int) -> np.ndarray:
    arrivals = OpenArrivals(kind="poisson", rate_per_s=rate)
    return arrival_offsets(arrivals, phases(length_s), seed)


def staircase(*steps: tuple[float, float], random: bool = False) -> StaircaseArrivals:
    made = tuple(Step(rate_per_s=rate, length_s=length_s) for rate, length_s in steps)
    return StaircaseArrivals(steps=made, poisson=random)


def per_interval(offsets: np.ndarray, bounds_s: list[float]) -> list[int]:
    """Return the number of arrivals from each bound up to, not including, the next."""
    return np.diff(np.searchsorted(offsets, np.array(bounds_s) * SECOND)).tolist()


def test_constant_arrivals_do_not_drift():
    """The k-th arrival is k/rate to the nearest ns, however long the schedule."""
    offsets = constant(3000.0, 100)
    assert len(offsets) == 300_000
    exact = np.arange(300_000) * SECOND / 3000
    assert np.abs(offsets - exact).max() <= 0.5 + 1e-3


@pytest.mark.parametrize(("rate", "length_s", "count"), [(1.0, 0.5, 1), (10.0, 1.0, 10), (7, 1, 7)])
def test_constant_arrivals_fill_the_length_and_no_more(rate, length_s, count):
    """An arrival at the very end belongs to what comes after."""
    assert len(constant(rate, length_s)) == count


def test_poisson_gaps_are_exponential():
    """Mean and variance fit, and a Kolmogorov-Smirnov test does not reject the exponential law."""
    gaps_s = np.diff(poisson(1000.0, 100, seed=7), prepend=0) * 1e-9
    assert np.mean(gaps_s) == pytest.approx(1e-3, rel=0.02)
    assert np.std(gaps_s) == pytest.approx(1e-3, rel=0.02)
    assert stats.kstest(gaps_s, "expon", args=(0, 1e-3)).pvalue > 0.01


def test_poisson_counts_have_mean_equal_to_variance():
    """Arrivals a second are Poisson distributed: index of dispersion 1."""
    counts = np.bincount(poisson(50.0, 2000, seed=3) // SECOND, minlength=2000)
    assert counts.mean() == pytest.approx(50, rel=0.02)
    assert counts.var() / counts.mean() == pytest.approx(1.0, abs=0.1)


def test_a_rate_draws_the_gaps_that_it_always_drew():
    """The schedule of one rate is the cumulated gaps themselves, whatever the general case does."""
    random = np.random.Generator(np.random.PCG64(7))
    gaps_ns = np.cumsum(random.standard_exponential(200)) * 1e9 / 1000
    np.testing.assert_allclose(poisson(1000.0, 0.1, seed=7)[:80], gaps_ns[:80], rtol=0, atol=1)


def test_staircase_has_its_number_of_arrivals_in_every_step():
    """Each step gets rate times length, evenly spaced, from its very begin."""
    offsets = arrival_offsets(staircase((100, 2), (300, 1), (50, 2)), phases(5), seed=1)
    assert per_interval(offsets, [0, 2, 3, 5]) == [200, 300, 100]
    assert {0, 2 * SECOND, 3 * SECOND} <= set(offsets.tolist())
    assert set(np.diff(offsets[:200])) == {10_000_000}
    assert set(np.diff(offsets[500:])) == {20_000_000}


def test_steps_count_from_the_measured_phase():
    """Ramp phase: from 0 to the first rate; warm-up: the first rate; after the steps: the last."""
    offsets = arrival_offsets(
        staircase((100, 1), (200, 1)), phases(5, warmup_s=2, ramp_s=4), seed=1
    )
    assert per_interval(offsets, [0, 4, 6, 7, 8, 11]) == [200, 200, 100, 200, 600]


def test_steps_beyond_the_trial_are_cut_off():
    """A shorter load of the same kind, such as the one that conditions a server, is its begin."""
    arrivals = staircase((100, 1), (200, 1), (400, 1))
    offsets = arrival_offsets(arrivals, phases(1.5), seed=1)
    assert per_interval(offsets, [0, 1, 1.5, 9]) == [100, 100, 0]
    whole = arrival_offsets(arrivals, phases(3), seed=1)
    np.testing.assert_array_equal(offsets, whole[: len(offsets)])


def test_a_step_may_be_a_pause():
    """At rate 0 nothing arrives; the arrival due at its begin comes when arrivals go on."""
    offsets = arrival_offsets(staircase((10, 1), (0, 5), (10, 1)), phases(7), seed=1)
    assert len(offsets) == 20
    assert offsets[9:11].tolist() == [900_000_000, 6 * SECOND]
    paused = arrival_offsets(staircase((0, 1), (10, 1)), phases(1), seed=1)
    assert len(paused) == 0


@pytest.mark.parametrize(("begin", "end"), [(0, 100), (100, 0), (20, 80), (80, 20), (50, 50)])
def test_ramp_is_a_parabola(begin, end):
    """By time t, begin * t + (end - begin) * t^2 / 2T arrivals have come: a closed form."""
    arrivals = RampArrivals(begin_per_s=begin, end_per_s=end, over_s=10)
    offsets = arrival_offsets(arrivals, phases(10), seed=1)
    assert len(offsets) == 5 * (begin + end)
    t = offsets * 1e-9
    reached = begin * t + (end - begin) * t**2 / 20
    np.testing.assert_allclose(reached, np.arange(len(offsets)), rtol=0, atol=1e-6)


def test_a_ramp_holds_its_last_rate():
    """After its length the rate stays, down to nothing if that is its end."""
    up = RampArrivals(begin_per_s=0, end_per_s=100, over_s=1)
    assert per_interval(arrival_offsets(up, phases(3), seed=1), [0, 1, 2, 3]) == [50, 100, 100]
    down = RampArrivals(begin_per_s=100, end_per_s=0, over_s=1)
    assert per_interval(arrival_offsets(down, phases(3), seed=1), [0, 1, 3]) == [50, 0]


def test_the_ramp_phase_climbs_to_the_rate():
    """One rate: half the arrivals in a ramp phase, then as many as ever."""
    arrivals = OpenArrivals(kind="constant", rate_per_s=100)
    offsets = arrival_offsets(arrivals, phases(2, warmup_s=1, ramp_s=2), seed=1)
    assert per_interval(offsets, [0, 1, 2, 3, 5]) == [25, 75, 100, 200]


CHANGING = [
    staircase((200, 10), (1000, 10), (50, 20), random=True),
    RampArrivals(begin_per_s=0, end_per_s=800, over_s=40, poisson=True),
    OpenArrivals(kind="poisson", rate_per_s=400),
]


@pytest.mark.parametrize("arrivals", CHANGING, ids=lambda arrivals: arrivals.kind)
def test_time_change_gives_back_exponential_gaps(arrivals):
    """Counted in expected arrivals instead of time, the gaps are exponential with mean 1."""
    shape = phases(40, warmup_s=2, ramp_s=5)
    intensity = arrivals.intensity(shape)
    offsets = arrival_offsets(arrivals, shape, seed=11)
    reached = np.array([intensity.expected(0, offset * 1e-9) for offset in offsets])
    gaps = np.diff(reached, prepend=0)
    assert stats.kstest(gaps, "expon").pvalue > 0.01
    assert abs(np.corrcoef(gaps[:-1], gaps[1:])[0, 1]) < 4 / np.sqrt(len(gaps))


@pytest.mark.parametrize("arrivals", CHANGING, ids=lambda arrivals: arrivals.kind)
def test_counts_of_many_seeds_are_poisson(arrivals):
    """In every interval the counts of 400 schedules have the stated mean, and that variance."""
    shape = phases(40)
    bounds = [0, 3, 10, 20, 25, 40]
    counts = np.array(
        [per_interval(arrival_offsets(arrivals, shape, seed), bounds) for seed in range(400)]
    )
    intensity = arrivals.intensity(shape)
    for index, (begin, end) in enumerate(itertools.pairwise(bounds)):
        mean = intensity.expected(begin, end)
        assert counts[:, index].mean() == pytest.approx(mean, abs=4 * np.sqrt(mean / 400))
        assert counts[:, index].var() / mean == pytest.approx(1.0, abs=0.3)


@pytest.mark.parametrize("arrivals", CHANGING, ids=lambda arrivals: arrivals.kind)
def test_schedule_is_reproducible_and_ascending(arrivals):
    """Same seed, same schedule; another seed, another one."""
    one = arrival_offsets(arrivals, phases(40), seed=1)
    np.testing.assert_array_equal(one, arrival_offsets(arrivals, phases(40), seed=1))
    assert not np.array_equal(one[:100], arrival_offsets(arrivals, phases(40), seed=2)[:100])
    assert (np.diff(one) >= 0).all()
    assert one[0] >= 0
    assert one[-1] < 40 * SECOND


def test_a_schedule_may_be_empty():
    """At a low rate nothing may be due within a short time."""
    assert len(poisson(0.001, 0.001, seed=1)) == 0


def test_worker_shares_partition_the_schedule():
    """Every arrival is carried by exactly one worker, every user too."""
    offsets = arrival_offsets(CHANGING[0], phases(40), seed=5)
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
    same = ThinkTimes(ClosedLoop(users=1, think_s=0.25), seed=1, user=0)
    assert same.next_ns() == same.next_ns() == 250_000_000
    arrivals = ClosedLoop(users=2, think_s=0.1, think_random=True)
    random = ThinkTimes(arrivals, seed=1, user=0)
    pauses = [random.next_ns() for _ in range(20_000)]
    assert stats.kstest(np.array(pauses) * 1e-9, "expon", args=(0, 0.1)).pvalue > 0.01
    again = ThinkTimes(arrivals, seed=1, user=0)
    assert [again.next_ns() for _ in range(300)] == pauses[:300]
    assert ThinkTimes(arrivals, seed=1, user=1).next_ns() != pauses[0]


def paced(*groups: tuple[int, float]) -> PacedUsers:
    return PacedUsers(groups=tuple(PacedGroup(users=n, period_s=s) for n, s in groups))


@pytest.mark.parametrize("period_s", [0.3, 7.0, 10.0])
def test_paced_users_are_due_once_a_period(period_s):
    """Each user's due times are one period apart, to rounding, and begin within the first one."""
    each = paced_offsets(paced((50, period_s)), phases(measured_s=61.0), seed=3)
    assert len(each) == 50
    for due in each:
        assert 0 <= due[0] < (period_s + 0.05) * SECOND
        assert due[-1] < 61 * SECOND <= due[-1] + period_s * SECOND + 1
        np.testing.assert_allclose(np.diff(due), period_s * SECOND, atol=1)


@pytest.mark.parametrize("seed", range(20))
def test_paced_groups_keep_their_rate_in_every_stretch_of_time(seed):
    """Between any two moments a group misses users / period by less than two passes."""
    users, period_s, length_s = 37, 9.0, 40.0
    each = paced_offsets(paced((users, period_s)), phases(length_s), seed)
    due = np.sort(np.concatenate(each)) / SECOND
    random = np.random.Generator(np.random.PCG64(seed))
    for begin, end in np.sort(random.uniform(0.1, length_s, (50, 2))):
        counted = np.searchsorted(due, end) - np.searchsorted(due, begin)
        assert abs(counted - (end - begin) * users / period_s) < 2


def test_paced_users_meet_by_chance():
    """Due times are not evenly spaced, nor in the order of the users' numbers."""
    each = paced_offsets(paced((200, 10.0)), phases(10.0), seed=1)
    firsts = np.array([due[0] for due in each])
    gaps = np.diff(np.sort(firsts)) / (10 * SECOND / 200)
    assert gaps.min() < 0.2 and gaps.max() > 1.5
    assert abs(np.corrcoef(np.arange(200), firsts)[0, 1]) < 0.25


def test_paced_users_join_in_the_ramp():
    """No pass is due before its user joined; then each user is due within one period."""
    users, ramp_s = 40, 8.0
    each = paced_offsets(paced((users, 2.0)), phases(4.0, ramp_s=ramp_s), seed=5)
    for user, due in enumerate(each):
        joins = user * ramp_s / users * SECOND
        assert joins <= due[0] < joins + 2 * SECOND


def test_paced_schedules_come_from_the_seed_and_the_group():
    """Same seed, same times; another seed or another group of the same shape, others."""
    shape = phases(20.0)
    one = paced_offsets(paced((5, 3.0), (5, 3.0)), shape, seed=1)
    again = paced_offsets(paced((5, 3.0), (5, 3.0)), shape, seed=1)
    other = paced_offsets(paced((5, 3.0), (5, 3.0)), shape, seed=2)
    assert all(map(np.array_equal, one, again))
    assert not any(map(np.array_equal, one, other))
    assert not any(map(np.array_equal, one[:5], one[5:]))


def test_a_period_longer_than_the_trial():
    """A user whose turn does not come within the trial has no due time; the others one."""
    each = paced_offsets(paced((100, 50.0)), phases(20.0), seed=1)
    counts = [len(due) for due in each]
    assert set(counts) == {0, 1}
    assert abs(sum(counts) - 40) < 2
