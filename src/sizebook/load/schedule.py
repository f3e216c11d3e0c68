"""When requests are to start, fixed before the run: arrival schedules as offsets in ns.

Pure functions: the same arrivals, length and seed give the same schedule. numpy promises that for
its bit generators, but lets the methods of ``Generator`` change their stream between versions; so
the schedule that was used is also stored beside the samples.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sizebook.model.load import ClosedLoop, OpenArrivals

Offsets = NDArray[np.int64]
"""Nanoseconds from the start of the trial, ascending."""

SPREAD_NS_PER_USER = 500_000
MAX_SPREAD_NS = 50_000_000


def arrival_offsets(arrivals: OpenArrivals, length_s: float, seed: int) -> Offsets:
    """Return the start of every arrival within ``length_s``, as ns after the start of the trial."""
    length_ns = round(length_s * 1e9)
    if arrivals.kind == "constant":
        return constant_offsets(arrivals.rate_per_s, length_ns)
    return poisson_offsets(arrivals.rate_per_s, length_ns, seed)


def constant_offsets(rate_per_s: float, length_ns: int) -> Offsets:
    """Return arrivals at equal gaps of 1/rate, the first at 0.

    The k-th arrival is round(k / rate): rounding each from k keeps the error under 1 ns where a sum
    of rounded gaps would drift.
    """
    count = int(np.ceil(length_ns * 1e-9 * rate_per_s)) + 1
    offsets = np.rint(np.arange(count, dtype=np.float64) * (1e9 / rate_per_s)).astype(np.int64)
    return offsets[offsets < length_ns]


def poisson_offsets(rate_per_s: float, length_ns: int, seed: int) -> Offsets:
    """Return a Poisson process of this rate: independent exponential gaps of mean 1/rate.

    Gaps are -ln(U)/rate in distribution (Knuth, The Art of Computer Programming 2, 3.4.1 D), drawn
    by numpy's ``Generator(PCG64(seed)).standard_exponential``. The first gap is counted from 0, so
    arrivals in any interval of length t are Poisson distributed with mean rate x t.
    """
    random = np.random.Generator(np.random.PCG64(seed))
    mean_ns = 1e9 / rate_per_s
    expected = length_ns / mean_ns
    block = int(expected + 6 * np.sqrt(expected)) + 16
    parts: list[NDArray[np.float64]] = []
    last = 0.0
    while last < length_ns:
        times = last + np.cumsum(random.standard_exponential(block) * mean_ns)
        parts.append(times)
        last = float(times[-1])
    offsets = np.rint(np.concatenate(parts)).astype(np.int64)
    return offsets[offsets < length_ns]


def worker_share(offsets: Offsets, worker: int, workers: int) -> Offsets:
    """Return the arrivals of one worker: every ``workers``-th, from its own index on.

    The shares partition the schedule. Of constant arrivals each share is constant again; of a
    Poisson process a share has Erlang gaps, but all shares together are the process drawn.
    """
    return offsets[worker::workers]


def user_share(users: int, worker: int, workers: int) -> range:
    """Return the numbers of the users that one worker carries: every ``workers``-th."""
    return range(worker, users, workers)


def user_start_offset_ns(user: int, users: int, ramp_s: float) -> int:
    """Return when a user of a closed loop starts: spread evenly over the ramp, no burst.

    Without a ramp they are spread over half a millisecond a user, 50 ms at most; a burst would
    queue inside the generator and be recorded as the server's latency.
    """
    spread_ns = round(ramp_s * 1e9) or min(SPREAD_NS_PER_USER * users, MAX_SPREAD_NS)
    return spread_ns * user // users


class ThinkTimes:
    """Pauses of one user in ns: all alike, or exponential, seeded by trial and user."""

    def __init__(self, arrivals: ClosedLoop, seed: int, user: int, block: int = 256) -> None:
        self._mean_ns = arrivals.think_s * 1e9
        self._block = block
        self._left: list[int] = []
        self._random = (
            np.random.Generator(np.random.PCG64([seed, user])) if arrivals.think_random else None
        )

    def next_ns(self) -> int:
        """Return the next pause."""
        if self._random is None:
            return round(self._mean_ns)
        if not self._left:
            gaps = self._random.standard_exponential(self._block) * self._mean_ns
            self._left = np.rint(gaps).astype(np.int64).tolist()[::-1]
        return self._left.pop()
