"""Queueing theory in closed form, and against simulation."""

import math

import numpy as np
import pytest

from sizebook.stats.queues import (
    bound_rate_per_s,
    closed_answer,
    demand,
    open_response_s,
    waiting_share,
)


def test_one_server_is_the_textbook_queue():
    """M/M/1: S / (1 - ρ); nothing to do costs the service alone; full is infinite."""
    assert open_response_s(50.0, 0.01) == pytest.approx(0.02)
    assert open_response_s(0.0, 0.01) == 0.01
    assert math.isinf(open_response_s(100.0, 0.01))


def test_erlang_c_agrees_with_its_table():
    """Two servers in closed form, 2ρ² / (1 + ρ); ten at 0.8 from the sum of factorials."""
    assert waiting_share(2, 0.5) == pytest.approx(2 * 0.25 / 1.5)
    offered = 8.0
    below = sum(offered**n / math.factorial(n) for n in range(10))
    top = offered**10 / math.factorial(10) / (1 - 0.8)
    assert waiting_share(10, 0.8) == pytest.approx(top / (below + top))
    assert waiting_share(1, 0.3) == pytest.approx(0.3)
    assert 0 < waiting_share(5000, 0.99) < 1


@pytest.mark.parametrize(("servers", "utilization"), [(0, 0.5), (1, 1.0), (1, -0.1)])
def test_a_queue_that_is_none_is_refused(servers, utilization):
    """No server, or more work than time."""
    with pytest.raises(ValueError, match="servers at a utilization"):
        waiting_share(servers, utilization)


def test_closed_network_of_one_station_is_the_repairman():
    """M/M/1//N in closed form: throughput (1 - p0) / D, with p0 = 1 / Σ N!/(N-k)! (D/Z)^k."""
    users, service_s, think_s = 12, 0.1, 1.0
    terms = [math.perm(users, k) * (service_s / think_s) ** k for k in range(users + 1)]
    exact = (1 - 1 / sum(terms)) / service_s
    found = closed_answer(users, [service_s], think_s)
    assert found.rate_per_s == pytest.approx(exact, rel=1e-12)
    assert found.rate_per_s * (think_s + found.response_s) == pytest.approx(users)


def test_closed_network_of_balanced_stations():
    """K equal stations without thinking: N / ((N + K - 1) D)."""
    found = closed_answer(7, [0.02, 0.02, 0.02])
    assert found.rate_per_s == pytest.approx(7 / (9 * 0.02))
    assert sum(found.queues) == pytest.approx(7)


def test_one_user_waits_for_nobody():
    """The response is the sum of the demands and the delay."""
    found = closed_answer(1, [0.02, 0.03], 0.5, 0.1)
    assert found.response_s == pytest.approx(0.15)
    assert found.rate_per_s == pytest.approx(1 / 0.65)


def test_bounds_hold():
    """Mean value analysis never exceeds the bounds and reaches them at both ends."""
    demands = [0.01, 0.004]
    for users in (1, 5, 20, 500):
        bound = bound_rate_per_s(users, demands, 0.2)
        assert closed_answer(users, demands, 0.2).rate_per_s <= bound + 1e-9
    assert closed_answer(500, demands, 0.2).rate_per_s == pytest.approx(100.0, rel=1e-3)


def test_a_network_in_which_nothing_takes_time_is_refused():
    """Users that neither wait nor think would ask infinitely often."""
    with pytest.raises(ValueError, match="nothing takes time"):
        closed_answer(3, [0.0])
    with pytest.raises(ValueError, match="0 users"):
        closed_answer(0, [0.1])


def test_demand_is_the_slope_of_the_utilization_law():
    """Exact points give slope and intercept; too few, or one rate alone, give nothing."""
    found = demand([10, 20, 40], [0.07, 0.12, 0.22])
    assert found.per_request.value == pytest.approx(0.005)
    assert found.idle.value == pytest.approx(0.02)
    assert found.rates == (10.0, 40.0)
    assert demand([10, 20], [0.1, 0.2]) is None
    assert demand([10, 10, 10], [0.1, 0.2, 0.1]) is None


def test_the_interval_of_a_demand_covers_it():
    """Of 500 seeded samples of eight trials about 95 in 100 intervals hold the true demand."""
    random = np.random.default_rng(3)
    rates = np.array([20, 40, 60, 80, 100, 120, 140, 160.0])
    hits = 0
    for _ in range(500):
        found = demand(rates, 0.03 + 0.004 * rates + random.normal(0, 0.02, rates.size))
        hits += found.per_request.low <= 0.004 <= found.per_request.high
    assert 0.92 <= hits / 500 <= 0.98


def test_processor_sharing_as_simulated():
    """A seeded simulation of processor sharing meets the formula within its own error."""
    random = np.random.default_rng(11)
    gaps, works = random.exponential(1 / 50, 300_000), random.exponential(0.01, 300_000)
    # With exponential work the number present is that of M/M/1, whatever the discipline: so the
    # mean response of first come, first served (Lindley's recursion) is that of sharing too.
    waited = total = 0.0
    for gap, work in zip(gaps, works, strict=True):
        waited = max(0.0, waited - gap)
        total += waited + work
        waited += work
    assert total / gaps.size == pytest.approx(open_response_s(50.0, 0.01), rel=0.02)
