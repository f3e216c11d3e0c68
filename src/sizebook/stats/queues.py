"""What queueing theory says of response times, and how much of a resource a request takes.

Times are in seconds, rates per second. Sources: Kleinrock, Queueing Systems 1 (1975) for M/M/m and
processor sharing; Reiser and Lavenberg, JACM 27 (1980) for mean value analysis; Denning and Buzen,
Computing Surveys 10 (1978) for the utilization law; Lazowska et al., Quantitative System
Performance (1984), chapter 5, for the bounds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from sizebook.stats.curves import Estimate
from sizebook.stats.intervals import two_sided_t


@dataclass(frozen=True)
class Demand:
    """How much of a resource a request takes, by the utilization law U = U0 + X D."""

    per_request: Estimate
    """D: seconds of the resource that a request takes."""
    idle: Estimate
    """U0: what it is busy with when nothing is asked, in resources' worth of time."""
    deviation: float
    """Residual standard deviation, in resources' worth of time."""
    points: int
    rates: tuple[float, float]
    """The least and the greatest throughput it was fitted to."""


def demand(rate_per_s: ArrayLike, busy: ArrayLike, *, level: float = 0.95) -> Demand | None:
    """Return the service demand, by regression of how busy a resource was on throughput.

    ``busy`` is in resources' worth of time: 0.5 is half of one CPU. Intervals are Student's t of
    ordinary least squares. None where throughput does not vary, or with fewer than three points.
    """
    x, u = np.asarray(rate_per_s, dtype=np.float64), np.asarray(busy, dtype=np.float64)
    if x.shape != u.shape:
        raise ValueError(f"{x.size} rates and {u.size} values of how busy the resource was")
    if x.size < 3 or np.ptp(x) == 0:
        return None
    line = scipy.stats.linregress(x, u)
    half = two_sided_t(level, x.size - 2)
    residuals = u - line.intercept - line.slope * x
    return Demand(
        per_request=_estimate(float(line.slope), float(line.stderr), half),
        idle=_estimate(float(line.intercept), float(line.intercept_stderr), half),
        deviation=math.sqrt(float((residuals**2).sum()) / (x.size - 2)),
        points=int(x.size),
        rates=(float(x.min()), float(x.max())),
    )


def waiting_share(servers: int, utilization: float) -> float:
    """Return the share of requests that find all servers of an M/M/m queue busy (Erlang's C).

    Raises ValueError for a utilization that is not in [0, 1).
    """
    if servers < 1 or not 0 <= utilization < 1:
        raise ValueError(f"{servers} servers at a utilization of {utilization}")
    offered = servers * utilization
    blocked = 1.0  # Erlang's B for no servers, then one more at a time: no factorials, no overflow
    for count in range(1, servers + 1):
        blocked = offered * blocked / (count + offered * blocked)
    return blocked / (1 - utilization * (1 - blocked))


def open_response_s(rate_per_s: float, service_s: float, servers: int = 1) -> float:
    """Return the mean response time of an M/M/m queue; infinite where the servers cannot keep up.

    With one server it is that of processor sharing too, whatever the distribution of the service.
    """
    utilization = rate_per_s * service_s / servers
    if utilization >= 1:
        return math.inf
    waiting = waiting_share(servers, utilization)
    return service_s + waiting * service_s / (servers * (1 - utilization))


@dataclass(frozen=True)
class ClosedAnswer:
    """What mean value analysis says of a number of users."""

    users: int
    rate_per_s: float
    response_s: float
    queues: tuple[float, ...]
    """Mean number at each station, those in service included."""


def closed_answer(
    users: int, demands_s: Sequence[float], think_s: float = 0.0, delay_s: float = 0.0
) -> ClosedAnswer:
    """Return throughput and response time of users who think, by exact mean value analysis.

    ``demands_s`` are the seconds that a request takes of each station with one server; ``delay_s``
    is spent where nobody waits, and is part of the response. Raises ValueError for fewer than one
    user, or a network in which nothing takes time.
    """
    if users < 1 or min([*demands_s, think_s, delay_s]) < 0:
        raise ValueError(f"{users} users, demands {list(demands_s)}, {think_s} s of thinking")
    work = np.asarray(demands_s, dtype=np.float64)
    if work.sum() + think_s + delay_s == 0:
        raise ValueError("a network in which nothing takes time")
    queues = np.zeros_like(work)
    rate = response = 0.0
    for count in range(1, users + 1):
        times = work * (1 + queues)
        response = float(times.sum()) + delay_s
        rate = count / (think_s + response)
        queues = rate * times
    return ClosedAnswer(users, rate, response, tuple(float(one) for one in queues))


def bound_rate_per_s(users: float, demands_s: Sequence[float], think_s: float = 0.0) -> float:
    """Return the throughput that users who think cannot exceed: few of them, or one station."""
    most = max(demands_s, default=0.0)
    return min(users / (think_s + sum(demands_s)), 1 / most if most else math.inf)


def _estimate(value: float, error: float, half: float) -> Estimate:
    return Estimate(value, error, value - half * error, value + half * error)
