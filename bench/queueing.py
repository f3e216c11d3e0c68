"""A queue that is simulated: users or a schedule, servers, and what goes wrong, all stated.

Requests are served first come, first served by a number of equal servers. Times are in seconds from
the begin of the run. Nothing here knows what a judge of the results looks for.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Server:
    """What answers."""

    servers: int = 8
    service_s: float = 0.010
    """Mean; times are Gamma distributed with shape 4: a coefficient of variation of 0.5."""
    slower: Callable[[float], float] = lambda _: 1.0
    """Factor of the service time by the time at which it begins."""
    freezes: Sequence[tuple[float, float]] = ()
    """Begin and length of times at which nothing is served."""
    failing: float = 0.0
    """Share of requests that fail at once."""
    failing_s: float = 0.001


@dataclass(frozen=True)
class SimulatedRun:
    """Requests in the order in which they were sent."""

    start_s: _Floats
    latency_s: _Floats
    failed: NDArray[np.bool_]
    user: NDArray[np.int64]
    name: NDArray[np.int64]
    """Which of the kinds of request."""
    users: _Floats
    """How many users had begun when each was sent."""
    length_s: float
    dropped_s: _Floats = field(default_factory=lambda: np.zeros(0))
    """When requests were due that were never sent."""

    @property
    def size(self) -> int:
        """Number of requests sent."""
        return int(self.start_s.size)


class _Serving:
    """Takes requests in the order of their times, and says when each is answered."""

    def __init__(self, server: Server, random: np.random.Generator) -> None:
        self.server = server
        self.random = random
        self.free = [0.0] * server.servers

    def answer(self, at_s: float) -> tuple[float, bool]:
        """Return when a request is answered that comes at a time, and whether it failed."""
        if self.server.failing and self.random.random() < self.server.failing:
            return at_s + self.server.failing_s * (0.5 + self.random.random()), True
        begin = max(at_s, heapq.heappop(self.free))
        for freeze_s, for_s in self.server.freezes:
            if freeze_s <= begin < freeze_s + for_s:
                begin = freeze_s + for_s
        took = self.random.gamma(4.0, self.server.service_s / 4) * self.server.slower(begin)
        end = begin + took
        for freeze_s, for_s in self.server.freezes:
            if begin < freeze_s < end:
                end += for_s
        heapq.heappush(self.free, end)
        return end, False


def closed(
    server: Server,
    *,
    users: int,
    think_s: float,
    length_s: float,
    seed: int,
    ramp_s: float = 0.0,
    generator_s: float = 0.0,
    names: int = 1,
) -> SimulatedRun:
    """Return a run of users who wait for each answer, then pause (exponentially).

    Users begin evenly over the ramp. ``generator_s``: what the one thread of the generator takes
    to send each request, before its latency begins to count.
    """
    random = np.random.default_rng(seed)
    serving, rows = _Serving(server, random), []
    begin = [random.random() * min(0.05, think_s + server.service_s) + ramp_s * u / users
             for u in range(users)]  # fmt: skip
    due = [(at, user) for user, at in enumerate(begin)]
    heapq.heapify(due)
    generator_free = 0.0
    begun = np.sort(begin)
    while due:
        at, user = heapq.heappop(due)
        if at >= length_s:
            continue
        if generator_s:
            if generator_free > at:  # waits for its turn, in the order in which users are ready
                heapq.heappush(due, (generator_free, user))
                continue
            at += generator_s
            generator_free = at
        end, failed = serving.answer(at)
        rows.append((at, end - at, failed, user, int(random.integers(names))))
        pause = random.exponential(think_s) if think_s else 0.0
        heapq.heappush(due, (end + pause, user))
    run = _made(rows, length_s)
    counts = np.searchsorted(begun, run.start_s, side="right").astype(np.float64)
    return SimulatedRun(**{**vars(run), "users": counts})


def open_load(
    server: Server,
    *,
    rate_per_s: float,
    length_s: float,
    seed: int,
    poisson: bool = True,
    workers: int = 0,
    drops: bool = False,
    timeout_s: float = 0.0,
    names: int = 1,
) -> SimulatedRun:
    """Return a run of arrivals at a rate.

    ``workers`` bounds how many requests may be under way: further ones wait unseen, or are dropped.
    ``timeout_s``: the client gives up then, the server does not.
    """
    random = np.random.default_rng(seed)
    number = int(rate_per_s * length_s)
    if poisson:
        due = np.cumsum(random.exponential(1 / rate_per_s, number))
    else:
        due = np.arange(number) / rate_per_s
    serving, rows, dropped = _Serving(server, random), [], []
    busy: list[float] = []
    for at in due[due < length_s].tolist():
        sent = at
        if workers:
            while busy and busy[0] <= sent:
                heapq.heappop(busy)
            if len(busy) >= workers:
                if drops:
                    dropped.append(at)
                    continue
                sent = max(sent, heapq.heappop(busy))
        end, failed = serving.answer(sent)
        if timeout_s and end - sent > timeout_s:
            end, failed = sent + timeout_s + 0.002 * random.random(), True
        if workers:
            heapq.heappush(busy, end)
        rows.append((sent, end - sent, failed, len(rows), int(random.integers(names))))
    run = _made(rows, length_s)
    return SimulatedRun(**{**vars(run), "dropped_s": np.array(dropped)})


def _made(rows: list[tuple[float, float, bool, int, int]], length_s: float) -> SimulatedRun:
    start, latency, failed, user, name = (np.array(column) for column in zip(*rows, strict=True))
    order = np.argsort(start, kind="stable")
    return SimulatedRun(
        start[order], latency[order], failed[order].astype(bool), user[order], name[order],
        np.ones(start.size), length_s,
    )  # fmt: skip
