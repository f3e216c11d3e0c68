"""The generator's own state during a trial: how late its event loop runs, what CPU it uses.

While the load runs, numbers are only noted; what is computed from them comes after. A millisecond
of arithmetic once a second would be a millisecond in some requests' latency.

A clock tick is due every 10 ms. How late it comes is how late any request could have been started
or its answer noticed. Ticks missed in a stall count with their own lateness each: the stall would
otherwise be one sample among thousands.
"""

from __future__ import annotations

import resource
from array import array
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from time import monotonic_ns
from typing import NamedTuple

import numpy as np

from sizebook.load.clock import Clock
from sizebook.load.turns import Turn

TICK_NS = 10_000_000
TICKS_PER_ROW = 100
SHORTEST_ROW_NS = 500_000_000
"""After a stall the missed ticks come all at once; they must not make seconds of no length."""


class _Mark(NamedTuple):
    """What is noted at the end of a second."""

    at_ns: int
    cpu_s: float
    ticks: int
    requests: int
    failed: int
    users: int


Counters = Callable[[], tuple[int, int, int]]
"""Returns requests recorded, requests failed, users alive."""

OnSecond = Callable[[int, int, int, float], None]
"""Gets requests, failed, users and seconds elapsed."""


def cpu_seconds() -> float:
    """Return the CPU time of this process, user and system."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class Vitals:
    """Ticks from ``start_ns`` until ``stop``, and one row of counters a second.

    Of a trial that takes turns it ticks in these alone; a row is the first part of one, which does
    not count, or the rest.
    """

    def __init__(self, clock: Clock, counters: Counters) -> None:
        self._clock = clock
        self._counters = counters
        self._due_ns = array("q")
        self._late_ns = array("q")
        self._running = True
        self._marks: list[_Mark] = []

    def run(self, start_ns: int, on_second: OnSecond, turns: Sequence[Turn] = ()) -> None:
        """Tick until stopped or the last of the turns, if there are any, is over."""
        self._clock.sleep_until(start_ns)
        told = self._in_turns(turns) if turns else self._throughout(start_ns)
        for mark in told:
            on_second(mark.requests, mark.failed, mark.users, (mark.at_ns - start_ns) * 1e-9)

    def _throughout(self, start_ns: int) -> Iterator[_Mark]:
        self._note()
        due_ns = start_ns
        while self._tick(due_ns := due_ns + TICK_NS):
            whole = len(self._late_ns) % TICKS_PER_ROW == 0
            if whole and monotonic_ns() - self._marks[-1].at_ns > SHORTEST_ROW_NS:
                yield self._note()

    def _in_turns(self, turns: Sequence[Turn]) -> Iterator[_Mark]:
        for turn in turns:
            self._wait(turn.begin_ns)
            self._note()
            for begin_ns, end_ns in pairwise(turn):
                due = range(begin_ns + TICK_NS, end_ns + 1, TICK_NS)
                whole = all(self._tick(due_ns) for due_ns in due)
                mark = self._note()
                if not whole:
                    return
            yield mark

    def _tick(self, due_ns: int) -> bool:
        """Note how late this process is at a time; return whether it was to wait so long."""
        now_ns = self._wait(due_ns)
        if self._running:
            self._due_ns.append(due_ns)
            self._late_ns.append(now_ns - due_ns)
        return self._running

    def _wait(self, due_ns: int) -> int:
        """Return the time, which has come unless this was stopped."""
        while (now_ns := monotonic_ns()) < due_ns and self._running:
            self._clock.sleep_until(due_ns)  # which returns early at the end of a trial
        return now_ns

    def stop(self) -> None:
        """End ``run`` at its next tick."""
        self._running = False

    def lag_ms(self, begin_ns: int, end_ns: int) -> tuple[float, float]:
        """Return 99th percentile and maximum of the lateness of the ticks due in this time.

        Where none was due in it, all ticks count; zeros if there was none at all.
        """
        first, last = np.searchsorted(self._due_ns, (begin_ns, end_ns), side="right")
        late = np.array(self._late_ns[first:last] or self._late_ns, dtype=np.float64) * 1e-6
        if not late.size:
            return 0.0, 0.0
        return float(np.percentile(late, 99)), float(late.max())

    def seconds(self) -> list[tuple[int, dict[str, float]]]:
        """Return the end of each second in CLOCK_MONOTONIC ns, and its counters by metric."""
        return [(after.at_ns, self._row(before, after)) for before, after in self._spans()]

    @property
    def turns_cpu_s(self) -> float:
        """CPU time of this process in the turns that have passed."""
        return sum(after.cpu_s - before.cpu_s for before, after in self._spans())

    def _spans(self) -> Iterator[tuple[_Mark, _Mark]]:
        """Give begin and end of each row; between two turns there is none."""
        return (pair for pair in pairwise(self._marks) if pair[1].ticks > pair[0].ticks)

    def _note(self) -> _Mark:
        mark = _Mark(monotonic_ns(), cpu_seconds(), len(self._late_ns), *self._counters())
        self._marks.append(mark)
        return mark

    def _row(self, before: _Mark, after: _Mark) -> dict[str, float]:
        late = np.array(self._late_ns[before.ticks : after.ticks], dtype=np.float64) * 1e-6
        length_s = max(1, after.at_ns - before.at_ns) * 1e-9
        return {
            "cpu_share": (after.cpu_s - before.cpu_s) / length_s,
            "lag_p99_ms": float(np.percentile(late, 99)),
            "lag_max_ms": float(late.max()),
            "requests": float(after.requests - before.requests),
            "failed": float(after.failed - before.failed),
            "users": float(after.users),
        }
