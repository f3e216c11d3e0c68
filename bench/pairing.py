"""Request by request: what the generator recorded beside what the server's own clock says.

Both clocks are the same, CLOCK_MONOTONIC. One thread sends the requests and one reads them, in the
order in which they arrive, so number k sent is number k read; ``contradictions`` counts the pairs
for which that cannot be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bench.law import Times
from bench.rig import Timeline
from sizebook.load.collect import Collected

CAUGHT_UP_NS = 1_000_000


@dataclass(frozen=True)
class Pairs:
    """The requests of the measured phase in the order of their start; all times in ns."""

    intended: Times
    start: Times
    """When the generator sent the request."""
    read: Times
    """When the server had read it."""
    answered: Times
    """When the server had sent the answer: taken after the call that sends, so a few microseconds
    after the answer left."""
    end: Times
    """When the generator had the whole answer."""
    law: Times
    """The delay that the law has for the request."""

    @property
    def recorded(self) -> Times:
        """Latency from intended start, as recorded."""
        return self.end - self.intended

    @property
    def witnessed(self) -> Times:
        """From the intended start until the answer was sent, by the server's own clock."""
        return self.answered - self.intended

    @property
    def parts(self) -> Mapping[str, Times]:
        """What adds up to recorded latency less the law's delay, in the order of time."""
        return {
            "late start": self.start - self.intended,
            "way there": self.read - self.start,
            "server's timer": self.answered - self.read - self.law,
            "way back": self.end - self.answered,
        }

    @property
    def contradictions(self) -> int:
        """Pairs of which the server read before the start, or had to answer after the end."""
        return int(((self.read < self.start) | (self.end < self.read + self.law)).sum())

    @property
    def peak_in_flight(self) -> int:
        """The most requests under way at once; as many as connections: some waited for one."""
        ended = np.searchsorted(np.sort(self.end), self.start, side="right")
        return int((np.arange(1, self.start.size + 1) - ended).max(initial=0))


def pair(collected: Collected, timeline: Timeline, law: Times) -> Pairs:
    """Return the measured requests with their times at the server.

    Raises ValueError where the numbers of requests differ.
    """
    rows = collected.requests
    names = ("intended_ns", "start_ns", "latency_ns")
    intended, start, latency = (rows[name].to_numpy() for name in names)
    if not start.size == timeline.read_ns.size == law.size:
        raise ValueError(f"{start.size} requests, {timeline.read_ns.size} at the server")
    order = np.argsort(start, kind="stable")
    at = np.flatnonzero((rows["phase"] == "measured").to_numpy()[order])
    ours = order[at]
    return Pairs(
        intended=intended[ours],
        start=start[ours],
        read=timeline.read_ns[at],
        answered=timeline.answered_ns[at],
        end=(intended + latency)[ours],
        law=law[at],
    )


def drained_per_s(intended: Times, timeline: Timeline) -> float:
    """Return the rate at which what waited behind a freeze was read by the server.

    Counted from the end of the freeze until a request is read within ``CAUGHT_UP_NS`` of its
    intended start. Raises ValueError if there was no freeze, or nothing waited behind it.
    """
    if timeline.freeze_ns is None:
        raise ValueError("a server that did not freeze")
    _, end_ns = timeline.freeze_ns
    first = int(np.searchsorted(timeline.read_ns, end_ns))
    late = (timeline.read_ns - intended)[first:]
    on_time = np.flatnonzero(late < CAUGHT_UP_NS)
    waited = int(on_time[0]) if on_time.size else late.size
    if waited == 0:
        raise ValueError("nothing waited behind the freeze")
    return waited / (1e-9 * float(timeline.read_ns[first + waited - 1] - end_ns))
