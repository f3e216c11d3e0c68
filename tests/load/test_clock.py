"""Waiting until a nanosecond, on either alarm."""

from __future__ import annotations

from time import monotonic_ns

import gevent
import numpy as np
import pytest
from tests.waiting import HANGS_S

from sizebook.load import clock as clock_module
from sizebook.load.clock import MAX_LEAD_NS, Clock, Lead, SpinAlarm, make_alarm


@pytest.fixture(params=[make_alarm, SpinAlarm])
def clock(request):
    made = Clock(request.param)
    yield made
    made.close()


def test_never_early_and_in_order(clock, monkeypatch):
    """Sleepers wake in the order of their times, none before its time.

    The clock stands still until all of them sleep: a machine busy meanwhile lets nobody come late.
    """
    woken = []

    def sleep(index, due_ns):
        clock.sleep_until(due_ns)
        woken.append((index, monotonic_ns() - due_ns))

    still_ns = monotonic_ns()
    begin_ns = still_ns + 5_000_000
    order = [7, 2, 9, 0, 4, 1, 8, 3, 6, 5]
    with monkeypatch.context() as stopped:
        stopped.setattr(clock_module, "monotonic_ns", lambda: still_ns)
        sleepers = [gevent.spawn(sleep, k, begin_ns + k * 3_333_333) for k in order]
        gevent.sleep(0)
        assert woken == []
    gevent.joinall(sleepers)
    assert [index for index, _ in woken] == sorted(order)
    assert min(late for _, late in woken) >= 0


def test_the_past_is_no_wait(clock):
    """A time that has come returns at once, without a switch."""
    clock.sleep_until(monotonic_ns())
    clock.sleep_until(0)


def test_everybody_can_be_woken(clock):
    """An early end wakes the sleepers; one that was killed is no trouble."""
    sleepers = [gevent.spawn(clock.sleep_until, monotonic_ns() + 10**12) for _ in range(3)]
    gevent.sleep(0.01)
    sleepers[0].kill()
    gevent.get_hub().loop.run_callback(clock.wake_all)
    assert len(gevent.joinall(sleepers, timeout=HANGS_S)) == 3


def test_killed_sleeper_does_not_stop_the_others(clock):
    """The alarm of a sleeper that is gone passes on to the next."""
    first = gevent.spawn(clock.sleep_until, monotonic_ns() + 10_000_000)
    second = gevent.spawn(clock.sleep_until, monotonic_ns() + 20_000_000)
    gevent.sleep(0.001)
    first.kill()
    assert gevent.joinall([second], timeout=HANGS_S)


class SlowAlarm:
    """Rings by hand, to show when it was set."""

    def __init__(self, call):
        self.call = call
        self.due_ns = None

    def set(self, due_ns):
        self.due_ns = due_ns

    def close(self):
        pass


def test_the_lead_becomes_the_lower_quartile_of_what_a_wake_up_takes():
    """Wake-ups that take 10 to 30 us, evenly: a quarter takes less than 15 us."""
    lead = Lead()
    for took_ns in np.random.default_rng(1).uniform(10_000, 30_000, 50_000):
        lead.learn(early=took_ns < lead.ns)
    assert lead.ns == pytest.approx(15_000, rel=0.1)


@pytest.mark.parametrize("early", [True, False])
def test_the_lead_stays_within_bounds(early):
    """A process that is never awake in time must not ask for ever more."""
    lead = Lead()
    for _ in range(1000):
        lead.learn(early=early)
    assert lead.ns == (0 if early else MAX_LEAD_NS)


def test_the_alarm_rings_before_the_time_and_nobody_wakes_before_it(monkeypatch):
    """What is left of the lead is waited for, by one sleeper a call."""
    now_ns = 10**9

    def passing():
        nonlocal now_ns
        now_ns += 100  # as much time as a look at the clock takes
        return now_ns

    monkeypatch.setattr(clock_module, "monotonic_ns", passing)
    alarms = []
    clock = Clock(lambda call: alarms.append(SlowAlarm(call)) or alarms[0])
    for _ in range(100):
        clock._lead.learn(early=False)
    lead_ns = clock._lead.ns
    due_ns = now_ns + 50_000_000
    woken = []
    for at_ns in (due_ns, due_ns + 1):
        gevent.spawn(lambda at_ns=at_ns: (clock.sleep_until(at_ns), woken.append(passing())))
    gevent.sleep(0)
    assert alarms[0].due_ns == due_ns - lead_ns
    loop = gevent.get_hub().loop
    loop.run_callback(alarms[0].call)  # for a sleeper that is gone: much too early
    gevent.sleep(0)
    assert (woken, clock._lead.ns) == ([], lead_ns)
    now_ns = due_ns - lead_ns
    loop.run_callback(alarms[0].call)
    gevent.sleep(0.001)
    assert due_ns <= woken[0] <= due_ns + 1_000  # the clock was looked at until then
    loop.run_callback(alarms[0].call)
    gevent.sleep(0.001)
    assert len(woken) == 2
    assert due_ns <= woken[0]
    assert alarms[0].due_ns is None
    clock.close()
