"""Waiting until a nanosecond: one kernel timer for all greenlets of the generator.

gevent's own sleep ends on the next millisecond of ``epoll_wait`` and counts from a cached time, so
an arrival would start up to a millisecond early or late. A ``timerfd`` costs one system call a
wake-up and needs no spinning, which would show as CPU. What the kernel then takes to wake the
process (5 us on bare metal, 20 us on a virtual machine) is learned, and the alarm set so much
earlier.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable
from heapq import heappop, heappush
from time import monotonic_ns
from typing import Any, Protocol

import greenlet  # type: ignore[import-untyped]
from gevent.hub import get_hub

_CLOCK_MONOTONIC = 1
_TFD_TIMER_ABSTIME = 1
_SPIN_NS = 1_500_000
LEAD_STEP_NS = 100
MAX_LEAD_NS = 40_000


class Alarm(Protocol):
    """Calls back from the event loop at or after a time."""

    def set(self, due_ns: int | None) -> None:
        """Call at ``due_ns`` (CLOCK_MONOTONIC), which replaces what was set; None: never."""

    def close(self) -> None:
        """Release what the alarm holds."""


class _TimerSpec(ctypes.Structure):
    _fields_ = (
        ("interval_s", ctypes.c_long),
        ("interval_ns", ctypes.c_long),
        ("value_s", ctypes.c_long),
        ("value_ns", ctypes.c_long),
    )


class TimerFdAlarm:
    """Alarm on Linux's ``timerfd``. Raises OSError where the system has none."""

    def __init__(self, call: Callable[[], None]) -> None:
        library = ctypes.PyDLL(None, use_errno=True)  # which keeps the GIL: a call takes 0.3 us
        try:
            self._settime = library.timerfd_settime
            create = library.timerfd_create
        except AttributeError as error:
            raise OSError("no timerfd on this system") from error
        self._fd = create(_CLOCK_MONOTONIC, os.O_NONBLOCK | os.O_CLOEXEC)
        if self._fd < 0:
            raise OSError(ctypes.get_errno(), "timerfd_create")
        self._spec = _TimerSpec()
        self._spec_pointer = ctypes.byref(self._spec)
        self._watcher: Any = get_hub().loop.io(self._fd, 1)
        self._watcher.start(call)

    def set(self, due_ns: int | None) -> None:
        # A time of zero disarms; setting also clears "readable", so nothing needs to be read.
        spec = self._spec
        spec.value_s, spec.value_ns = divmod(due_ns, 1_000_000_000) if due_ns else (0, 0)
        self._settime(self._fd, _TFD_TIMER_ABSTIME, self._spec_pointer, None)

    def close(self) -> None:
        self._watcher.stop()
        self._watcher.close()
        os.close(self._fd)


class SpinAlarm:
    """Alarm for systems without ``timerfd``: gevent's timer until shortly before, then polling."""

    def __init__(self, call: Callable[[], None]) -> None:
        self._call = call
        self._timer: Any = None

    def set(self, due_ns: int | None) -> None:
        if self._timer is not None:
            self._timer.stop()
            self._timer.close()
            self._timer = None
        if due_ns is not None:
            wait_s = max(0, due_ns - _SPIN_NS - monotonic_ns()) * 1e-9
            self._timer = get_hub().loop.timer(wait_s)
            self._timer.start(self._call, update=True)

    def close(self) -> None:
        self.set(None)


def make_alarm(call: Callable[[], None]) -> Alarm:
    """Return the most exact alarm that this system has."""
    try:
        return TimerFdAlarm(call)
    except OSError:
        return SpinAlarm(call)


class Lead:
    """How much before a due time the alarm has to ring: what a quick wake-up takes here.

    A quantile found while it is used, by steps up and down in the ratio of its odds (Robbins and
    Monro, Annals of Mathematical Statistics 22, 1951). It is the lower quartile: three of four
    wake-ups come after the due time still, the fourth waits for it a microsecond or a few.
    """

    def __init__(self) -> None:
        self.ns = 0

    def learn(self, *, early: bool) -> None:
        """Take into account whether the process was awake before the due time."""
        if early:
            self.ns = max(self.ns - 3 * LEAD_STEP_NS, 0)
        else:
            self.ns = min(self.ns + LEAD_STEP_NS, MAX_LEAD_NS)


class Clock:
    """Lets any number of greenlets sleep until a time on CLOCK_MONOTONIC."""

    def __init__(self, alarm: Callable[[Callable[[], None]], Alarm] = make_alarm) -> None:
        self._to_loop = get_hub().switch
        self._sleepers: list[list[Any]] = []
        """Heap of due time, number, and the greenlet that sleeps; None: it sleeps no more."""
        self._count = 0
        self._lead = Lead()
        self._alarm = alarm(self._ring)

    def sleep_until(self, due_ns: int) -> None:
        """Return at ``due_ns`` or as soon after it as the event loop gets there.

        Returns at once if that time has come, and early if ``wake_all`` is called.
        """
        if monotonic_ns() >= due_ns:
            return
        self._count += 1
        sleeper = [due_ns, self._count, greenlet.getcurrent()]
        heappush(self._sleepers, sleeper)
        if self._sleepers[0] is sleeper:
            self._alarm.set(due_ns - self._lead.ns)
        try:
            self._to_loop()
        finally:
            sleeper[2] = None

    def wake_all(self) -> None:
        """Wake every sleeper now. To be called from the event loop."""
        sleepers, self._sleepers = self._sleepers, []
        self._alarm.set(None)
        for sleeper in sleepers:
            _wake(sleeper)

    def close(self) -> None:
        """Release the alarm; nobody may sleep any more."""
        self._alarm.close()

    def _ring(self) -> None:
        sleepers = self._sleepers
        if not sleepers:
            return
        due_ns = sleepers[0][0]
        early_ns = due_ns - monotonic_ns()
        if early_ns <= self._lead.ns:  # else it rang for a sleeper that is gone
            self._lead.learn(early=early_ns > 0)
            # Once a call only: answers that came meanwhile must not wait for the next arrival.
            while monotonic_ns() < due_ns:
                pass
        while sleepers and sleepers[0][0] <= monotonic_ns():
            _wake(heappop(sleepers))
        self._alarm.set(sleepers[0][0] - self._lead.ns if sleepers else None)


def _wake(sleeper: list[Any]) -> None:
    if sleeper[2] is not None:  # else its greenlet was killed meanwhile
        sleeper[2].switch()
