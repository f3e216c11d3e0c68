"""The model of a system's response: from a load on some CPUs to its response time.

The response of a request, for throughput X on c CPUs, with ρ = X h / (μ c):

    R = h (B + A / c + W c^-e ρ^k / (1 - ρ))

B is time that CPUs do not shorten, A what they do, W what waiting adds, k how late the knee comes
(Sakasegawa, Annals of the Institute of Statistical Mathematics 29, 1977, has this form for M/M/m),
μ the requests a second that one CPU can bear, h what one costs where several nodes share them,
as a multiple. B = 0, A = W = 1/μ, k = e = 1 is processor sharing; W = 0 the asymptotic bounds. Of N
users who think for Z seconds X follows from X (Z + R) = N, which has one solution since R rises
with X. ``static/sizing.js`` of the book does the same steps in the same order: a test compares.

Nothing here extrapolates: what lies outside of the measured domain is said to.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from sizebook.stats.curves import Floats

STEPS = 64
"""Halvings in a search: more than a double has digits."""
MIB = 1 << 20

Statistic = Literal["mean", "p95"]
Amount = TypeVar("Amount", float, Floats)


@dataclass(frozen=True)
class Response:
    """The parameters of the response; see the module."""

    capacity_per_s: float
    """μ: requests a second that one CPU can bear."""
    base_s: float
    work_s: float
    wait_s: float
    power: float
    exponent: float
    """e: 1 where waiting is shorter with more CPUs, 0 where not."""
    node_cost: float
    """h with several nodes; 1 with one."""

    def seconds(self, rate: ArrayLike, cores: ArrayLike, nodes: ArrayLike) -> Floats:
        """Return R in seconds; infinite where the rate cannot be borne."""
        load, cost, waiting = self._waiting(rate, cores, nodes)
        work_s = self.work_s / np.asarray(cores, dtype=np.float64)
        return np.where(load < 1, cost * (self.base_s + work_s + waiting), np.inf)

    def seconds_at(self, rate: float, cores: float, nodes: int) -> float:
        """Return ``seconds`` of one load, in a fraction of the time."""
        load = rate / self.bearable_per_s(cores, nodes)
        if not load < 1:
            return math.inf
        _, pass_s, waits_s = self._limits(0.0, cores, self.cost(nodes))
        return pass_s + waits_s * math.pow(load, self.power) / (1 - load)

    def bearable_per_s(self, cores: float, nodes: int) -> float:
        """Return μ c / h, the rate at which the CPUs are full."""
        return self.capacity_per_s * cores / self.cost(nodes)

    def cost(self, nodes: int) -> float:
        """Return h."""
        return self.node_cost if nodes > 1 else 1.0

    def slope(self, rate: ArrayLike, cores: ArrayLike, nodes: ArrayLike) -> Floats:
        """Return dR/dX, in seconds for each request a second; infinite where R is."""
        load, cost, waiting = self._waiting(rate, cores, nodes)
        with np.errstate(divide="ignore", invalid="ignore"):
            rise = cost * waiting / np.asarray(rate) * (self.power + load / (1 - load))
        return np.where(load < 1, rise, np.inf)

    def _waiting(
        self, rate: ArrayLike, cores: ArrayLike, nodes: ArrayLike
    ) -> tuple[Floats, Floats, Floats]:
        """Return ρ, h, and what waiting adds; that is of no meaning where ρ is not below 1."""
        x, c = np.asarray(rate, dtype=np.float64), np.asarray(cores, dtype=np.float64)
        cost = np.where(np.asarray(nodes) > 1, self.node_cost, 1.0)
        load = x * cost / (self.capacity_per_s * c)
        if not self.wait_s:
            return load, cost, np.zeros_like(load)
        with np.errstate(divide="ignore", invalid="ignore"):
            waiting = self.wait_s * c**-self.exponent * load**self.power / (1 - load)
        return load, cost, waiting

    def rate_of(
        self, users: ArrayLike, think_s: ArrayLike, cores: ArrayLike, nodes: ArrayLike
    ) -> Floats:
        """Return the throughput of users who think; the response is N / X - Z."""
        n, z = np.asarray(users, dtype=np.float64), np.asarray(think_s, dtype=np.float64)
        c, several = np.asarray(cores, dtype=np.float64), np.asarray(nodes)
        cost = np.where(several > 1, self.node_cost, 1.0)
        bearable, idle_s, waits_s = self._limits(z, c, cost)
        low = np.zeros(np.broadcast(n, z, c, several).shape)
        high = np.minimum(bearable, n / idle_s)
        with np.errstate(divide="ignore", invalid="ignore"):
            for _ in range(STEPS):
                middle = 0.5 * (low + high)
                load = middle / bearable
                waiting = waits_s * load**self.power / (1 - load) if self.wait_s else 0.0
                fits = (middle * (idle_s + waiting) <= n) & (load < 1)
                low, high = np.where(fits, middle, low), np.where(fits, high, middle)
        return np.asarray(low)

    def rate_of_one(self, users: float, think_s: float, cores: float, nodes: int) -> float:
        """Return ``rate_of`` for one load, in a twentieth of the time: searches ask thousands."""
        cost = self.cost(nodes)
        bearable, idle_s, waits_s = self._limits(think_s, cores, cost)
        low, high = 0.0, min(bearable, users / idle_s) if idle_s > 0 else bearable
        for _ in range(STEPS):
            middle = 0.5 * (low + high)
            load = middle / bearable
            fits = load < 1
            if fits:
                waiting = waits_s * load**self.power / (1 - load) if self.wait_s else 0.0
                fits = middle * (idle_s + waiting) <= users
            low, high = (middle, high) if fits else (low, middle)
        return low

    def _limits(self, think_s: Amount, cores: Amount, cost: Amount) -> tuple[Amount, ...]:
        """Return the rate that can be borne, a pass without waiting, and the scale of waiting."""
        return (
            self.capacity_per_s * cores / cost,
            think_s + cost * (self.base_s + self.work_s / cores),
            cost * self.wait_s * cores**-self.exponent,
        )


@dataclass(frozen=True)
class Heap:
    """What the collector was seen to take, for the smallest heap that it can do with.

    As in ``gclog.advice``: with live set L, free room F and g seconds of pauses a request, a heap
    L + F g X / x keeps the share of time in pauses at x. ``least_ratio`` is the smallest heap over
    the live set.
    """

    live_bytes: float
    room_bytes: float
    pause_s: float
    """g, with its interval."""
    pause_low_s: float
    pause_high_s: float
    overhead: float
    """x."""
    least_ratio: float

    def bytes_for(self, rate: float) -> tuple[float, float, float]:
        """Return the heap of a node with its interval, for what it answers a second."""
        least = self.live_bytes * self.least_ratio

        def heap(pause_s: float) -> float:
            return max(least, self.live_bytes + self.room_bytes * pause_s * rate / self.overhead)

        return heap(self.pause_s), heap(self.pause_low_s), heap(self.pause_high_s)


@dataclass(frozen=True)
class Domain:
    """Between which bounds a model was measured."""

    cores: tuple[float, float]
    nodes: tuple[int, ...]
    rate_per_s: tuple[float, float]
    """Of all CPUs together."""
    users: tuple[float, float]
    think_s: tuple[float, float | None]
    """None: up to requests that come at random, which users are who think for long."""
    response_s: tuple[float, float]
    """Mean response times that were seen."""


@dataclass(frozen=True)
class SizingModel:
    """All that the calculator needs; as JSON by ``as_record``."""

    name: str
    response: Response
    tail: tuple[float, float]
    """a and b of p95 = a mean^b, in seconds."""
    bands: Mapping[str, float]
    """Factor within which observations lie, by quantity: ``mean``, ``p95``, ``rate``."""
    level: float
    """Share of observations that lie in a band."""
    domain: Domain
    heap: Heap | None
    """None where the trials do not tell."""

    def as_record(self) -> dict[str, Any]:
        """Return the model as plain JSON data."""
        record = asdict(self)
        record["bands"] = dict(self.bands)
        return {name: _lists(value) for name, value in record.items()}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> SizingModel:
        """Return the model of ``as_record``. Raises ValueError, in one line, if it is none."""
        try:
            known = {field.name: record[field.name] for field in fields(cls)}
            if set(record) - set(known):
                raise ValueError(f"unknown: {', '.join(sorted(set(record) - set(known)))}")
            known["response"] = Response(**{k: float(v) for k, v in known["response"].items()})
            known["domain"] = Domain(**{k: tuple(v) for k, v in known["domain"].items()})
            known["tail"] = tuple(known["tail"])
            if known["heap"] is not None:
                known["heap"] = Heap(**{k: float(v) for k, v in known["heap"].items()})
            return cls(**known)
        except (KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"no sizing model: {error}") from error

    def tail_s(self, mean_s: float) -> float:
        """Return the 95th percentile that goes with a mean response."""
        return self.tail[0] * math.pow(mean_s, self.tail[1])

    def mean_of_tail_s(self, p95_s: float) -> float:
        """Return the mean response that goes with a 95th percentile."""
        return math.pow(p95_s / self.tail[0], 1 / self.tail[1])

    def with_cpus_worth(self, worth: float) -> SizingModel:
        """Return the same model in CPUs each of which does ``worth`` of what a measured one did.

        Such as 0.6 for hardware threads where whole cores were measured. Its domain, too, is then
        in those CPUs.
        """
        if worth == 1:
            return self
        response = replace(
            self.response,
            capacity_per_s=self.response.capacity_per_s * worth,
            work_s=self.response.work_s / worth,
            wait_s=self.response.wait_s * math.pow(worth, -self.response.exponent),
        )
        low, high = self.domain.cores
        domain = replace(self.domain, cores=(low / worth, high / worth))
        return replace(self, response=response, domain=domain)


def _lists(value: Any) -> Any:
    """Return JSON data with lists for tuples, as it comes back from a file."""
    if isinstance(value, dict):
        return {key: _lists(each) for key, each in value.items()}
    return [_lists(each) for each in value] if isinstance(value, list | tuple) else value
