"""Laws that must hold between quantities measured in different ways."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sizebook.stats.groups import blocks

_Times = NDArray[np.int64]


@dataclass(frozen=True)
class LittleBalance:
    """Little's law over a window: mean in flight L against throughput times service time, λW."""

    in_flight: float
    """L: time integral of the number in flight over the window, divided by its length."""
    throughput_per_s: float
    """λ: the counted requests, divided by the window's length."""
    mean_service_s: float
    """W: mean service time of the counted requests; NaN if there are none."""
    carried_in: float
    """What requests due before the window add to L, in requests in flight."""
    carried_out: float
    """What lies beyond the window of requests due in it, in requests in flight."""

    @property
    def product(self) -> float:
        """λW in requests; 0 when nothing was counted."""
        return 0.0 if self.throughput_per_s == 0 else self.throughput_per_s * self.mean_service_s

    @property
    def residual(self) -> float:
        """L - λW less what the window's two edges explain, as a share of L; NaN if L is 0."""
        if self.in_flight == 0:
            return float("nan")
        edges = self.carried_in - self.carried_out
        return (self.in_flight - self.product - edges) / self.in_flight

    @property
    def edge_share(self) -> float:
        """The larger of the two edges as a share of L; NaN if L is 0. Small: a long window."""
        if self.in_flight == 0:
            return float("nan")
        return max(self.carried_in, self.carried_out) / self.in_flight


def little_balance(
    due_ns: _Times,
    start_ns: _Times,
    service_ns: _Times,
    counted: NDArray[np.bool_],
    begin_ns: int | _Times,
    end_ns: int | _Times,
) -> LittleBalance:
    """Return both sides of Little's law, L = λW, for the window [begin_ns, end_ns).

    Given several begins and ends, all windows together are one: they are in order and do not
    overlap, and each has edges of its own. L comes from clock times of *all* requests (start to
    start + service, cut at the window); λ and W from the requests that the recorder ``counted`` as
    the window's and from their service times. Over a finite window the two sides differ by the
    requests that cross its edges, exactly: both edges are returned, and the residual is what they
    do not explain. A request belongs to the window in which it was due, at ``due_ns``, however late
    it began. The residual is zero when phases, clocks, starts and service times agree with each
    other. Sources: Little, Operations Research 9 (1961); for finite windows Little, Operations
    Research 59 (2011), section 4.

    Raises ValueError for an empty window, windows that overlap or a negative service time.
    """
    begins, ends = np.atleast_1d(begin_ns), np.atleast_1d(end_ns)
    if np.any(ends <= begins) or np.any(begins[1:] < ends[:-1]):
        raise ValueError(f"window from {begins} to {ends} ns")
    if service_ns.size and service_ns.min() < 0:
        raise ValueError("a negative service time")
    length_ns = int((ends - begins).sum())
    number = inside_ns = service_sum_ns = in_ns = out_ns = 0
    for at in blocks(start_ns.size):
        due, start, service, mine = due_ns[at], start_ns[at], service_ns[at], counted[at]
        stop = start + service
        first, last = min(due.min(), start.min()), stop.max()
        if begins.size == 1 and first >= begins[0] and last <= ends[0] and mine.all():
            # Nothing crosses an edge: most parts of a long window are such.
            part_ns = int(service.sum())
            number += service.size
            inside_ns += part_ns
            service_sum_ns += part_ns
            continue
        inside = _passed(begins, ends, stop) - _passed(begins, ends, start)
        window = np.searchsorted(begins, due, side="right") - 1
        end = np.where(window >= 0, ends[window], begins[0])
        number += int(np.count_nonzero(mine))
        inside_ns += int(inside.sum())
        service_sum_ns += int(service.sum(where=mine))
        in_ns += int(inside.sum(where=~mine & ((window < 0) | (due >= end))))
        out_ns += int((service - inside).sum(where=mine & (window >= 0) & (stop > end)))
    return LittleBalance(
        in_flight=inside_ns / length_ns,
        throughput_per_s=number / (length_ns / 1e9),
        mean_service_s=service_sum_ns / number / 1e9 if number else float("nan"),
        carried_in=in_ns / length_ns,
        carried_out=out_ns / length_ns,
    )


def _passed(begins: _Times, ends: _Times, times: _Times) -> _Times:
    """Return how much of all windows has passed at each time, in ns."""
    before = np.concatenate(([0], np.cumsum(ends - begins)))
    at = np.searchsorted(begins, times, side="right")
    last = np.maximum(at - 1, 0)
    passed: _Times = before[at] - np.where(at > 0, np.maximum(ends[last] - times, 0), 0)
    return passed


@dataclass(frozen=True)
class PauseBalance:
    """How users who pause between their passes spent a window."""

    begun: int
    """Passes that began in the window: pauses that ended."""
    paused_s: float
    """Seconds of pauses in the window, of all users together."""

    def expected(self, mean_s: float) -> float:
        """Return how many pauses should have ended, were they exponential with this mean."""
        return self.paused_s / mean_s


def pause_balance(
    pass_begin_ns: _Times, pass_end_ns: _Times, users: int, begin_ns: int, end_ns: int
) -> PauseBalance:
    """Return the pauses of ``users`` users in the window [begin_ns, end_ns).

    A user who has no pass under way pauses; users must all be there before the window begins, and
    have one pass at a time. Pauses that are exponential with mean Z end at the rate of one in Z
    seconds however long they have lasted, so passes begun are a Poisson number with the mean
    paused_s / Z, in every window: the response time law X = (N - XR) / Z (Denning and Buzen,
    Computing Surveys 10 (1978)) without any need for whole cycles. Means of whole pauses would be
    too short, for the long ones are cut off by the window.

    Raises ValueError for an empty window, or if users are in more passes than there are users.
    """
    if end_ns <= begin_ns:
        raise ValueError(f"window from {begin_ns} to {end_ns} ns")
    inside = np.minimum(pass_end_ns, end_ns) - np.maximum(pass_begin_ns, begin_ns)
    busy_ns = int(inside[inside > 0].sum())
    paused_ns = users * (end_ns - begin_ns) - busy_ns
    if paused_ns < 0:
        raise ValueError(f"{users} users in more passes at a time than they are")
    begun = int(np.count_nonzero((pass_begin_ns >= begin_ns) & (pass_begin_ns < end_ns)))
    return PauseBalance(begun, paused_ns * 1e-9)
