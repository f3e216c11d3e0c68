"""The computed truth, against closed forms."""

import numpy as np
import pytest
from bench.law import delays_ns, draws, latencies_ns, mean_s, percentiles_us
from scipy import stats

S = 1_000_000_000
RATE = 1000
SCHEDULE = np.arange(10 * RATE, dtype=np.int64) * (S // RATE)
NO_DELAY = np.zeros(SCHEDULE.size, dtype=np.int64)


def test_draws_are_splitmix64():
    """The first outputs of the published generator with seed 0, upper 53 bits."""
    outputs = [0xE220A8397B1DCDAF, 0x6E789E6AA1B965F4, 0x06C45D188009454F]
    assert draws(0, 3).tolist() == [((z >> 11) + 0.5) * 2.0**-53 for z in outputs]


def test_draws_are_uniform():
    """By Kolmogorov and Smirnov; the sequence is fixed, so is the outcome."""
    assert stats.kstest(draws(1, 20_000), "uniform").pvalue > 0.01


@pytest.mark.parametrize(
    ("law", "percentile", "expected_us"),
    [
        ("constant:2000", 99.9, 2000.0),
        ("lognormal:4000,0.5", 50.0, 4000.0),
        ("lognormal:4000,0.5", 99.0, 4000 * np.exp(0.5 * 2.3263478740408408)),
        ("two-point:100,9000,0.1", 89.0, 100.0),
        ("two-point:100,9000,0.1", 91.0, 9000.0),
    ],
)
def test_delays_have_the_percentiles_of_their_law(law, percentile, expected_us):
    """Quantiles of the laws in closed form, up to the chance of a million draws."""
    found = percentiles_us(delays_ns(law, 1, 1_000_000), (percentile,))[0]
    assert found == pytest.approx(expected_us, rel=0.01)


@pytest.mark.parametrize(
    "law", ["constant:2000", "lognormal:4000,0.5", "two-point:100,9000,0.1", "lognormal:1000,0"]
)
def test_the_mean_is_that_of_the_delays(law):
    """In closed form, up to the chance of a million draws."""
    assert mean_s(law) == pytest.approx(delays_ns(law, 1, 1_000_000).mean() * 1e-9, rel=0.005)


@pytest.mark.parametrize("law", ["gamma:1", "constant:1,2", "lognormal:5"])
def test_unknown_laws_are_refused(law):
    """Nothing is guessed."""
    with pytest.raises(ValueError, match="no law"):
        delays_ns(law, 1, 1)
    with pytest.raises(ValueError, match="no law"):
        mean_s(law)


def test_without_freeze_the_latency_is_the_delay():
    """Open arrivals do not wait for one another."""
    delays = delays_ns("lognormal:4000,1", 1, SCHEDULE.size)
    assert (latencies_ns(SCHEDULE, delays) == delays).all()


def test_a_freeze_makes_a_triangle():
    """Constant arrivals, no delay, 2 s of freeze in 10 s: latency falls from 2 s to 0 by line.

    A fifth of the arrivals waits, evenly from 0 to 2 s: percentile p is 2 s less (100 - p) % of
    the 10 s.
    """
    latency = latencies_ns(SCHEDULE, NO_DELAY, (4 * S, 6 * S))
    assert latency.max() == 2 * S
    assert (latency > 0).sum() == 2 * RATE
    inside = latency[4 * RATE : 6 * RATE]
    assert (inside == 6 * S - SCHEDULE[4 * RATE : 6 * RATE]).all()
    found = percentiles_us(latency, (50.0, 90.0, 99.0, 99.9))
    assert found == pytest.approx([0.0, 1e6, 1.9e6, 1.99e6], abs=1001.0)


def test_an_answer_due_in_the_freeze_comes_at_its_end():
    """Read before the freeze with a delay that ends within it: the server could not answer."""
    intended = np.array([0], dtype=np.int64)
    assert latencies_ns(intended, np.array([5]), (3, 9)).tolist() == [9]
    assert latencies_ns(intended, np.array([2]), (3, 9)).tolist() == [2]
    assert latencies_ns(intended, np.array([10]), (3, 9)).tolist() == [10]


def test_what_waited_comes_through_at_the_ceiling():
    """At 40 % of the ceiling the wait after a freeze of 2 s is over 2 s x 0.4 / 0.6 later.

    The triangle has its base stretched to 2 s / (1 - share): fluid queue with constant rates.
    """
    share = 0.4
    latency = latencies_ns(SCHEDULE, NO_DELAY, (4 * S, 6 * S), share * S / RATE)
    assert latency.max() == pytest.approx(2 * S, rel=1e-3)
    waits = (latency > 2 * S // RATE).sum()
    assert waits == pytest.approx(2 * RATE / (1 - share), rel=0.01)
    p90 = percentiles_us(latency, (90.0,))[0]
    assert p90 == pytest.approx(2e6 - 0.1 * 10e6 * (1 - share), rel=0.01)


def test_nothing_and_one():
    """Degenerate sizes."""
    none = np.array([], dtype=np.int64)
    assert latencies_ns(none, none, (1, 2), 3.0).size == 0
    assert draws(1, 0).size == 0
    assert percentiles_us(np.array([7000]), (50.0, 99.9)) == [7.0, 7.0]
