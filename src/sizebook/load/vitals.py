"""The generator's own state during a trial: how late its event loop runs, what CPU it uses.

A clock tick is due every 10 ms. How late it comes is how late any request could have been started
or its answer noticed. Ticks missed in a stall count with their own lateness each: the stall would
otherwise be one sample among thousands.
"""

from __future__ import annotations

import resource
from array import array
from collections.abc import Callable
from time import monotonic_ns

import numpy as np

from sizebook.load.clock import Clock

TICK_NS = 10_000_000
TICKS_PER_ROW = 100
SHORTEST_ROW_NS = 500_000_000
"""After a stall the missed ticks come all at once; they must not make seconds of no length."""

Counters = Callable[[], tuple[int, int, int]]
"""Returns requests recorded, requests failed, users alive."""


def cpu_seconds() -> float:
    """Return the CPU time of this process, user and system."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


class Vitals:
    """Ticks from ``start_ns`` until ``stop``, and one row of counters a second."""

    def __init__(self, clock: Clock, counters: Counters) -> None:
        self._clock = clock
        self._counters = counters
        self._late_ns = array("q")
        self._running = True
        self._start_ns = 0
        self.seconds: list[tuple[int, dict[str, float]]] = []
        """End of each second in CLOCK_MONOTONIC ns, and its counters by metric."""

    def run(self, start_ns: int, on_second: Callable[[int, int, int, float], None]) -> None:
        """Tick until stopped; ``on_second`` gets requests, failed, users and seconds elapsed."""
        self._start_ns = start_ns
        self._clock.sleep_until(start_ns)
        seen = monotonic_ns(), cpu_seconds(), *self._counters()
        due_ns = start_ns
        while True:
            due_ns += TICK_NS
            while (now_ns := monotonic_ns()) < due_ns and self._running:
                self._clock.sleep_until(due_ns)  # which returns early at the end of a trial
            if not self._running:
                return
            self._late_ns.append(now_ns - due_ns)
            if len(self._late_ns) % TICKS_PER_ROW == 0 and now_ns - seen[0] > SHORTEST_ROW_NS:
                seen = self._add_row(seen)
                on_second(seen[2], seen[3], seen[4], (seen[0] - start_ns) * 1e-9)

    def stop(self) -> None:
        """End ``run`` at its next tick."""
        self._running = False

    def lag_ms(self, begin_ns: int, end_ns: int) -> tuple[float, float]:
        """Return 99th percentile and maximum of the lateness of the ticks due in this time.

        Where none was due in it, all ticks count; zeros if there was none at all.
        """
        first = max(0, (begin_ns - self._start_ns) // TICK_NS)
        last = max(0, (end_ns - self._start_ns) // TICK_NS)
        late = np.array(self._late_ns[first:last] or self._late_ns, dtype=np.float64) * 1e-6
        if not late.size:
            return 0.0, 0.0
        return float(np.percentile(late, 99)), float(late.max())

    def _add_row(
        self, before: tuple[int, float, int, int, int]
    ) -> tuple[int, float, int, int, int]:
        now = monotonic_ns(), cpu_seconds(), *self._counters()
        late = np.array(self._late_ns[-TICKS_PER_ROW:], dtype=np.float64) * 1e-6
        length_s = max(1, now[0] - before[0]) * 1e-9
        row = {
            "cpu_share": (now[1] - before[1]) / length_s,
            "lag_p99_ms": float(np.percentile(late, 99)),
            "lag_max_ms": float(late.max()),
            "requests": float(now[2] - before[2]),
            "failed": float(now[3] - before[3]),
            "users": float(now[4]),
        }
        self.seconds.append((now[0], row))
        return now
