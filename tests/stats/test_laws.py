"""Little's law on requests whose numbers are known beforehand."""

import numpy as np
import pytest

from sizebook.stats.laws import little_balance, pause_balance

S = 1_000_000_000


def balance(start, service, begin=10 * S, end=20 * S, counted=None, due=None):
    start, service = np.array(start, dtype=np.int64), np.array(service, dtype=np.int64)
    due = start if due is None else np.array(due, dtype=np.int64)
    counted = (due >= begin) & (due < end) if counted is None else counted
    return little_balance(due, start, service, counted, begin, end)


def test_nothing():
    """No request: nothing in flight, no service time, no residual."""
    found = balance([], [])
    assert (found.in_flight, found.throughput_per_s, found.product) == (0, 0, 0)
    assert np.isnan(found.mean_service_s) and np.isnan(found.residual)


def test_one_inside():
    """One request of 2 s in a window of 10 s: a fifth of a request in flight."""
    found = balance([12 * S], [2 * S])
    assert found.in_flight == pytest.approx(0.2)
    assert found.product == pytest.approx(0.2)
    assert found.residual == pytest.approx(0)


def test_both_edges_are_explained():
    """Requests that cross the edges count on the side where they belong, with no residual."""
    found = balance([9 * S, 19 * S], [3 * S, 4 * S])
    assert found.in_flight == pytest.approx(0.3)
    assert (found.carried_in, found.carried_out) == pytest.approx((0.2, 0.3))
    assert found.residual == pytest.approx(0)


def test_one_that_covers_the_window():
    """A request longer than the window is in flight all the time and belongs to no throughput."""
    found = balance([5 * S], [30 * S])
    assert (found.in_flight, found.throughput_per_s) == (1.0, 0.0)
    assert found.residual == pytest.approx(0)


def test_mm1_queue():
    """An M/M/1 queue at 70 % load has 7/3 requests in the system, and the law closes."""
    random = np.random.default_rng(1)
    n = 200_000
    arrive = np.cumsum(random.exponential(1 / 700, n))
    work = random.exponential(1 / 1000, n)
    done = np.cumsum(work) + np.maximum.accumulate(
        arrive - np.concatenate([[0], np.cumsum(work)[:-1]])
    )
    start = (arrive * S).astype(np.int64)
    service = ((done - arrive) * S).astype(np.int64)
    found = balance(start, service, 10 * S, 250 * S)
    assert found.in_flight == pytest.approx(7 / 3, rel=0.1)
    assert abs(found.residual) < 1e-9
    assert found.edge_share < 0.01


def test_a_turn_s_edges_are_edges():
    """Two windows: what crosses out of one, into another, or from one to the next."""
    begin, end = np.array([10, 30]) * S, np.array([20, 40]) * S
    start = np.array([9, 12, 19, 25, 15, 22]) * S
    counted = np.array([False, True, True, False, True, False])
    service = np.array([2, 3, 4, 8, 18, 1]) * S
    found = little_balance(start, start, service, counted, begin, end)
    assert found.in_flight == pytest.approx((1 + 3 + 1 + 3 + 5 + 3) / 20)
    assert (found.carried_in, found.carried_out) == pytest.approx((4 / 20, 13 / 20))
    assert found.residual == pytest.approx(0)
    lost = little_balance(start, start, service, counted & (start != 12 * S), begin, end)
    assert lost.residual == pytest.approx(3 / 16)


def test_windows_one_after_the_other_are_one():
    """A window in pieces that touch has in flight what it has as one; only edges are more."""
    random = np.random.default_rng(3)
    start = np.sort(random.integers(0, 30 * S, 5_000))
    service = random.integers(0, S, start.size)
    counted = (start >= 10 * S) & (start < 20 * S)
    one = little_balance(start, start, service, counted, 10 * S, 20 * S)
    cuts = np.arange(10, 21) * S
    many = little_balance(start, start, service, counted, cuts[:-1], cuts[1:])
    assert many.in_flight == pytest.approx(one.in_flight)
    assert many.product == pytest.approx(one.product)
    assert abs(many.residual) < 1e-12 and abs(one.residual) < 1e-12


def test_late_starts_belong_where_they_were_due():
    """A request due before the window may begin in it, one due in it after its end."""
    found = balance([12 * S, 13 * S, 21 * S], [2 * S, S, S], due=[9 * S, 13 * S, 19 * S])
    assert found.in_flight == pytest.approx(0.3)
    assert (found.carried_in, found.carried_out) == pytest.approx((0.2, 0.1))
    assert found.residual == pytest.approx(0)


def test_wrong_service_times_leave_a_residual():
    """Rows counted for the window but outside of it are not explained by the edges."""
    start = np.arange(10 * S, 20 * S, S)
    counted = np.ones(start.size, dtype=bool)
    found = balance(start - 5 * S, np.full(start.size, S // 2), counted=counted)
    assert found.residual == pytest.approx(-1.0)


@pytest.mark.parametrize(("begin", "service"), [(20 * S, S), (10 * S, -1)])
def test_impossible_input_is_refused(begin, service):
    """An empty window and a negative service time are errors."""
    with pytest.raises(ValueError, match=r"window from|negative service"):
        balance([12 * S], [service], begin=begin)


def test_blocks_do_not_change_the_balance(monkeypatch):
    """Rows are added up in parts; where a part ends makes no difference."""
    random = np.random.default_rng(3)
    rows = np.sort(random.integers(0, 30 * S, 100)), random.integers(0, 9 * S, 100)
    whole = balance(*rows)
    monkeypatch.setattr("sizebook.stats.groups.BLOCK", 7)
    assert balance(*rows) == whole
    assert whole.carried_in > 0 < whole.carried_out


def test_pauses_of_users_who_think_at_random():
    """However short the window, passes begun are seconds paused over the mean of the pauses."""
    random = np.random.default_rng(5)
    begins, ends = [], []
    for _ in range(2000):
        at_s = 0.0
        while at_s < 40:
            busy_s = random.exponential(0.5)
            begins.append(at_s)
            ends.append(at_s + busy_s)
            at_s += busy_s + random.exponential(30.0)
    begin, end = ((np.array(one) * S).astype(np.int64) for one in (begins, ends))
    found = pause_balance(begin, end, 2000, 10 * S, 20 * S)
    assert found.expected(30.0) == pytest.approx(2000 * 10 / 30, rel=0.03)
    assert found.begun == pytest.approx(found.expected(30.0), abs=4 * found.begun**0.5)


def test_pauses_without_a_pass():
    """Users who do nothing pause all the time; a pass that covers the window leaves no pause."""
    none = np.empty(0, dtype=np.int64)
    assert pause_balance(none, none, 3, 0, 10 * S).paused_s == pytest.approx(30)
    whole = pause_balance(np.array([0]), np.array([30 * S]), 1, 10 * S, 20 * S)
    assert (whole.begun, whole.paused_s) == (0, 0)
    with pytest.raises(ValueError, match="1 users in more passes"):
        pause_balance(np.array([0, 1]), np.array([9, 9]), 1, 0, 9)
    with pytest.raises(ValueError, match="window from"):
        pause_balance(none, none, 1, 5, 5)
