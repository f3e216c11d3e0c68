"""Waiting until a nanosecond, on either alarm."""

from __future__ import annotations

from time import monotonic_ns

import gevent
import pytest

from sizebook.load.clock import Clock, SpinAlarm, make_alarm


@pytest.fixture(params=[make_alarm, SpinAlarm])
def clock(request):
    made = Clock(request.param)
    yield made
    made.close()


def test_never_early_and_in_order(clock):
    """Sleepers wake in the order of their times, none before its time, most within a ms."""
    woken = []

    def sleep(index, due_ns):
        clock.sleep_until(due_ns)
        woken.append((index, monotonic_ns() - due_ns))

    begin_ns = monotonic_ns() + 5_000_000
    order = [7, 2, 9, 0, 4, 1, 8, 3, 6, 5]
    gevent.joinall([gevent.spawn(sleep, k, begin_ns + k * 3_333_333) for k in order])
    assert [index for index, _ in woken] == sorted(order)
    lateness = sorted(late for _, late in woken)
    assert lateness[0] >= 0
    assert lateness[5] < 5_000_000


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
    assert len(gevent.joinall(sleepers, timeout=1)) == 3


def test_killed_sleeper_does_not_stop_the_others(clock):
    """The alarm of a sleeper that is gone passes on to the next."""
    first = gevent.spawn(clock.sleep_until, monotonic_ns() + 10_000_000)
    second = gevent.spawn(clock.sleep_until, monotonic_ns() + 20_000_000)
    gevent.sleep(0.001)
    first.kill()
    assert gevent.joinall([second], timeout=1)
