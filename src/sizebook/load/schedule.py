"""When requests are to start, fixed before the run: arrival schedules as offsets in ns.

Every kind of open arrivals is an intensity, a piecewise linear rate (``model.load.Intensity``).
Its integral tells how many arrivals are due by a time, and the inverse of the integral turns
counts into times: the counts 0, 1, 2, ... into evenly spaced arrivals, the points of a Poisson
process of rate 1 into one of this intensity. Paced users have due times of their own, each user
from another moment of its period on.

Pure functions: the same arrivals, phases and seed give the same schedule. numpy promises that for
its bit generators, but lets the methods of ``Generator`` change their stream between versions; so
the schedule that was used is also stored beside the samples.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sizebook.model.intensity import Intensity
from sizebook.model.load import ClosedLoop, PacedUsers, Phases, ReplayedArrivals, Scheduled

Offsets = NDArray[np.int64]
"""Nanoseconds from the start of the trial, ascending."""

SPREAD_NS_PER_USER = 500_000
MAX_SPREAD_NS = 50_000_000
WHOLE = 1e-9
"""An integral this close to a whole number is one: rates times lengths are, but for rounding."""


def arrival_offsets(arrivals: Scheduled, phases: Phases, seed: int) -> Offsets:
    """Return the start of every arrival of a trial, up to the end of its measured phase."""
    intensity = arrivals.intensity(phases)
    if isinstance(arrivals, ReplayedArrivals):
        return replayed_offsets(arrivals, phases)
    if arrivals.poisson:
        return poisson_offsets(intensity, seed)
    return even_offsets(intensity)


def even_offsets(intensity: Intensity) -> Offsets:
    """Return evenly spaced arrivals: number k (from 0) is due when k have been expected.

    At a constant rate the gaps are 1/rate, the first arrival at 0. Each time is computed from k and
    rounded to 1 ns, where a sum of rounded gaps would drift. Any piece in which a whole number of
    arrivals is expected gets exactly that number.
    """
    change = TimeChange(intensity)
    return change.offsets(np.arange(math.ceil(change.total), dtype=np.float64))


def replayed_offsets(arrivals: ReplayedArrivals, phases: Phases) -> Offsets:
    """Return given times, from the begin of the measured phase on, and the even ones before them.

    The first of them is number ``leading`` of the schedule.
    """
    begin_ns, end_ns = measured_begin_ns(phases), round(phases.planned_s * 1e9)
    before = even_offsets(arrivals.intensity(phases))
    given: Offsets = begin_ns + np.array(arrivals.times_us, dtype=np.int64) * 1000
    return np.concatenate([before[before < begin_ns], given[given < end_ns]])


def measured_begin_ns(phases: Phases) -> int:
    """Return when the measured phase begins, in ns from the trial's start."""
    return round((phases.ramp_s + phases.warmup_s) * 1e9)


def leading(offsets: Offsets, phases: Phases) -> int:
    """Return how many arrivals of a schedule come before the measured phase."""
    return int(np.searchsorted(offsets, measured_begin_ns(phases)))


def poisson_offsets(intensity: Intensity, seed: int) -> Offsets:
    """Return a Poisson process of this intensity, by time change.

    Points with independent exponential gaps of mean 1 (Knuth, The Art of Computer Programming 2,
    3.4.1 D) are a Poisson process of rate 1; the inverse of the intensity's integral turns it into
    the Poisson process of that intensity (Cinlar, Introduction to Stochastic Processes, 1975, 4.7;
    "time-scale transformation" in Lewis and Shedler, Naval Research Logistics Quarterly 26, 1979,
    403-413). Arrivals in disjoint intervals are independent, and Poisson distributed with the mean
    ``intensity.expected``. Gaps are drawn by numpy's
    ``Generator(PCG64(seed)).standard_exponential``.
    """
    change = TimeChange(intensity)
    random = np.random.Generator(np.random.PCG64(seed))
    block = int(change.total + 6 * math.sqrt(change.total)) + 16
    parts: list[NDArray[np.float64]] = []
    last = 0.0
    while last < change.total:
        parts.append(last + np.cumsum(random.standard_exponential(block)))
        last = float(parts[-1][-1])
    return change.offsets(np.concatenate(parts) if parts else np.empty(0))


def paced_offsets(arrivals: PacedUsers, phases: Phases, seed: int) -> tuple[Offsets, ...]:
    """Return the due times of each user's passes, by user number, up to the end of the trial.

    A group's period is cut into as many equal parts as it has users; each user is due in one of
    them, at a random place within it, and in random order, then once a period. So the group's rate
    is kept in every stretch of time, to less than two passes, while users still meet by chance: N
    independent times would offer a rate of their own in each stretch, their even spacing would
    let nobody ever wait for another. Drawn by numpy's ``Generator(PCG64([seed, group])).random``.

    A user is due from the time on at which it joins (``user_start_offset_ns``).
    """
    found: list[Offsets] = []
    for number, group in enumerate(arrivals.groups):
        random = np.random.Generator(np.random.PCG64([seed, number]))
        order = np.argsort(random.random(group.users))
        first_s = (order + random.random(group.users)) * (group.period_s / group.users)
        for user, at_s in enumerate(first_s.tolist()):
            joins_ns = user_start_offset_ns(user, group.users, phases.ramp_s)
            found.append(_once_a_period(at_s, group.period_s, joins_ns, phases))
    return tuple(found)


def _once_a_period(first_s: float, period_s: float, joins_ns: int, phases: Phases) -> Offsets:
    most = math.ceil(phases.planned_s / period_s) + 1
    due: Offsets = np.rint((first_s + np.arange(most) * period_s) * 1e9).astype(np.int64)
    return due[(due >= joins_ns) & (due < round(phases.planned_s * 1e9))]


class TimeChange:
    """The integral of an intensity from 0 on, inverted for whole arrays of its values."""

    def __init__(self, intensity: Intensity) -> None:
        pieces = intensity.pieces
        self._end_ns = round(intensity.end_s * 1e9)
        self._begin_s = np.array([piece.begin_s for piece in pieces])
        self._length_s = np.array([piece.length_s for piece in pieces])
        self._rate = np.array([piece.begin_per_s for piece in pieces])
        self._slope = np.array([piece.slope for piece in pieces])
        sums = np.cumsum([0.0, *(piece.expected(piece.begin_s, piece.end_s) for piece in pieces)])
        whole = np.rint(sums)
        self._sums = np.where(np.abs(sums - whole) < WHOLE, whole, sums)

    @property
    def total(self) -> float:
        """The integral over all pieces: the number of arrivals expected."""
        return float(self._sums[-1])

    def offsets(self, counts: NDArray[np.float64]) -> Offsets:
        """Return the times at which the integral reaches these values, ascending, to 1 ns.

        A value that is reached at the begin of a piece without arrivals is placed at its end, where
        the next arrivals come; values of ``total`` and above are left out.
        """
        counts = counts[counts < self.total]
        piece = np.searchsorted(self._sums[1:], counts, side="right")
        rest, rate, slope = counts - self._sums[piece], self._rate[piece], self._slope[piece]
        # Of the two forms of a quadratic equation's root, the one that is exact at slope 0 and
        # does not cancel: rest = rate * t + slope * t^2 / 2.
        speed = rate + np.sqrt(np.maximum(rate**2 + 2 * slope * rest, 0.0))
        since_s = np.divide(2 * rest, speed, out=np.zeros_like(rest), where=speed > 0)
        since_s = np.minimum(since_s, self._length_s[piece])
        found: Offsets = np.rint((self._begin_s[piece] + since_s) * 1e9).astype(np.int64)
        return found[found < self._end_ns]


def worker_share(offsets: Offsets, worker: int, workers: int) -> Offsets:
    """Return the arrivals of one worker: every ``workers``-th, from its own index on.

    The shares partition the schedule. Of evenly spaced arrivals each share is evenly spaced again;
    of a Poisson process a share has Erlang gaps, but all shares together are the process drawn.
    """
    return offsets[worker::workers]


def user_share(users: int, worker: int, workers: int) -> range:
    """Return the numbers of the users that one worker carries: every ``workers``-th."""
    return range(worker, users, workers)


def user_start_offset_ns(user: int, users: int, ramp_s: float) -> int:
    """Return when a user of a closed loop, or a paced one, joins: evenly over the ramp, no burst.

    Without a ramp they are spread over half a millisecond a user, 50 ms at most; a burst would
    queue inside the generator and be recorded as the server's latency.
    """
    spread_ns = round(ramp_s * 1e9) or min(SPREAD_NS_PER_USER * users, MAX_SPREAD_NS)
    return spread_ns * user // users


class ThinkTimes:
    """Pauses of one user in ns: all alike, or exponential, seeded by trial and user.

    They are drawn ``block`` at a time: few, for there may be thousands of users who pause rarely.
    """

    def __init__(self, arrivals: ClosedLoop, seed: int, user: int, block: int = 16) -> None:
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
