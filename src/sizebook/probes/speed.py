"""How quick the stack's CPUs are while a load runs: a fixed piece of work, timed again and again.

A machine shared with others is not equally quick from one second to the next, and no counter of a
guest says so: its CPU seconds are as many as ever, they do less. On two shared CPUs the throughput
of a closed loop that kept its CPU busy differed by 15 % from one 8 s to the next (standard
deviation); the logarithm of what such work took, in a process of its own, explained it to within
6 % (r = 0.93); in this thread of the harness it follows less closely (second by second 0.71). It is
the way to memory that slows down more than the arithmetic: a checksum explained half as much, and a
loop of the interpreter as much in that hour but less in another (second by second 0.52, reading
memory 0.79).
"""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from sizebook.model.deployment import LOCAL
from sizebook.probes.base import CounterSample, QuietProbe

SOURCE = "speed"
PERIOD_S = 0.06
"""From the end of a piece to the next: with 0.15 ms each, a quarter of a hundredth of one CPU."""
_PLACES = 1 << 20
"""Of 8 bytes each: more than the caches of one CPU hold, unless it has them to itself."""
_READ = 3000
_NICENESS = -20
"""A piece that waits for its turn, or is cut in two, finds its caches gone."""


@dataclass
class _Done:
    """What was done on one CPU since the probe was made."""

    pieces: int = 0
    cpu_ns: int = 0
    log_us: float = 0.0
    """Sum of the natural logarithms of the pieces' CPU times in µs."""
    told: tuple[int, float] = (0, 0.0)
    """Pieces and logarithms at the last reading that had a new piece."""
    piece_s: float | None = None
    """Geometric mean of the pieces between the last two such readings."""


class SpeedProbe(QuietProbe):
    """CPU time of a fixed piece of work on each of these CPUs in turn, some sixteen a second.

    Source ``speed``, a label for each CPU. It works from its first reading until it is detached, in
    a thread of its own that goes before others where it may. On Linux it stays on the CPU that it
    asks; elsewhere the system chooses.
    """

    def __init__(self, cpus: Sequence[int], *, interval_s: float = 1.0) -> None:
        """``cpus``: those of the stack, at least one."""
        self.name = SOURCE
        self.host = LOCAL
        self.interval_s = interval_s
        self._done = {cpu: _Done() for cpu in cpus}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._thread: threading.Thread | None = None

    def sample(self) -> Iterator[CounterSample]:
        if self._thread is None:
            self._stop.clear()
            self._thread = threading.Thread(target=self._work, name="speed", daemon=True)
            self._thread.start()
        with self._lock:
            told = {cpu: self._tell(done) for cpu, done in self._done.items()}
        for cpu, (pieces, cpu_s, log_us, piece_s) in told.items():
            yield CounterSample(SOURCE, f"speed_pieces/{cpu}", pieces)
            yield CounterSample(SOURCE, f"speed_cpu_s/{cpu}", cpu_s)
            yield CounterSample(SOURCE, f"speed_log_us/{cpu}", log_us)
            if piece_s is not None:
                yield CounterSample(SOURCE, f"speed_piece_s/{cpu}", piece_s)

    def detach(self) -> None:
        if self._thread is not None:
            self._stop.set()
            self._thread.join()
            self._thread = None

    @staticmethod
    def _tell(done: _Done) -> tuple[int, float, float, float | None]:
        pieces, log_us = done.pieces - done.told[0], done.log_us - done.told[1]
        if pieces:
            done.piece_s = math.exp(log_us / pieces) / 1e6
            done.told = done.pieces, done.log_us
        return done.pieces, done.cpu_ns / 1e9, done.log_us, done.piece_s

    def _work(self) -> None:
        with contextlib.suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)
        piece = _make_piece()
        piece()  # its memory is there from then on
        for cpu in itertools.cycle(self._done):
            if self._stop.wait(PERIOD_S):
                return
            with contextlib.suppress(OSError, AttributeError):
                os.sched_setaffinity(threading.get_native_id(), {cpu})
            begin_ns = time.thread_time_ns()
            piece()
            took_ns = max(1, time.thread_time_ns() - begin_ns)
            with self._lock:
                done = self._done[cpu]
                done.pieces += 1
                done.cpu_ns += took_ns
                done.log_us += math.log(took_ns / 1e3)


@functools.cache
def _make_piece() -> Callable[[], object]:
    """Return the work: numbers read all over some memory, the same ones each time."""
    places = np.random.default_rng(1)
    memory, read = places.integers(0, _PLACES, _PLACES), places.integers(0, _PLACES, _READ)

    def piece() -> object:
        return memory[read].sum()

    return piece
