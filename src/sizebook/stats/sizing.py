"""From a load to its response time and back: the arithmetic of the calculator.

The response of a request, for throughput X on c CPUs, with ρ = X h / (μ c):

    R = h (B + A / c + W c^-e ρ^k / (1 - ρ))

B is time that CPUs do not shorten, A what they do, W what waiting adds, k how late the knee comes
(Sakasegawa, Annals of the Institute of Statistical Mathematics 29, 1977, has this form for M/M/m),
μ the requests a second that one CPU can bear, h what one costs where several nodes share them,
as a multiple. B = 0, A = W = 1/μ, k = e = 1 is processor sharing; W = 0 the asymptotic bounds. Of N
users who think for Z seconds X follows from X (Z + R) = N, which has one solution since R rises
with X. ``static/calculator.js`` of the book does the same steps in the same order: a test compares.

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
        cost = self.node_cost if nodes > 1 else 1.0
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


@dataclass(frozen=True)
class Demanded:
    """What a system has to carry, and how fast it has to answer."""

    statistic: Statistic
    limit_s: float
    users: float | None = None
    think_s: float = 0.0
    rate_per_s: float | None = None
    """Requests a second that come at random; instead of users."""
    spare_nodes: int = 0
    """Nodes that may fail while the others go on."""

    def __post_init__(self) -> None:
        if (self.users is None) == (self.rate_per_s is None):
            raise ValueError("either users or requests a second")
        amount = self.users if self.users is not None else self.rate_per_s
        if not (amount and amount > 0 and self.limit_s > 0 and self.think_s >= 0):
            raise ValueError("a load above 0, a limit above 0, and no negative think time")


@dataclass(frozen=True)
class Predicted:
    """What a model says of a load on a number of CPUs; infinite: it cannot be borne."""

    rate_per_s: float
    mean_s: float
    p95_s: float


@dataclass(frozen=True)
class Outside:
    """One bound of the domain that a question, or its answer, lies beyond."""

    key: str
    found: float
    low: float
    high: float


@dataclass(frozen=True)
class Size:
    """The answer: CPUs with interval, nodes, heap of each with interval, what is outside."""

    nodes: int
    cores: float | None
    """None: more than was measured."""
    cores_low: float | None
    cores_high: float | None
    rate_per_s: float | None
    heap_mib: tuple[float, float, float] | None
    """Of each node: estimate, low, high."""
    most: float | None
    """Largest load of the kind asked for that the most CPUs measured keep the criterion with."""
    outside: tuple[Outside, ...]


def predict(model: SizingModel, load: Demanded, cores: float, nodes: int = 1) -> Predicted:
    """Return throughput and response times of a load; the criterion plays no part."""
    response = model.response
    if load.users is not None:
        rate = response.rate_of_one(load.users, load.think_s, cores, nodes)
        mean_s = load.users / rate - load.think_s
    else:
        assert load.rate_per_s is not None
        rate = load.rate_per_s
        mean_s = float(response.seconds(rate, cores, nodes))
    return Predicted(rate, mean_s, model.tail_s(mean_s))


def size(model: SizingModel, asked: Demanded) -> Size:
    """Return how many CPUs a load needs to keep a criterion, and the rest of the answer."""
    domain, nodes = model.domain, 1 + asked.spare_nodes
    band = model.bands[asked.statistic]
    cores, low, high = (
        _cores(model, asked, nodes, limit)
        for limit in (asked.limit_s, asked.limit_s * band, asked.limit_s / band)
    )
    rate = None if cores is None else predict(model, asked, cores, nodes).rate_per_s
    outside = _outside(model, asked, nodes, rate, cores, high)
    return Size(
        nodes=nodes,
        cores=cores,
        cores_low=low,
        cores_high=high,
        rate_per_s=rate,
        heap_mib=_heap_mib(model, rate),
        most=most_load(model, asked, domain.cores[1], nodes) if cores is None else None,
        outside=outside,
    )


def most_load(model: SizingModel, asked: Demanded, cores: float, nodes: int) -> float:
    """Return the largest load of the kind asked for that keeps the criterion; 0: none does."""
    low, high = 0.0, asked.users if asked.users is not None else asked.rate_per_s or 0.0
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        if middle > 0 and _kept_s(model, _with_load(asked, middle), cores, nodes) <= asked.limit_s:
            low = middle
        else:
            high = middle
    return low


def _with_load(asked: Demanded, amount: float) -> Demanded:
    if asked.users is not None:
        return replace(asked, users=amount)
    return replace(asked, rate_per_s=amount)


def _cores(model: SizingModel, asked: Demanded, nodes: int, limit_s: float) -> float | None:
    """Return the fewest CPUs of the domain with which a limit is kept; None: not even the most."""
    low, high = model.domain.cores
    if not _kept_s(model, asked, high, nodes) <= limit_s:
        return None
    if _kept_s(model, asked, low, nodes) <= limit_s:
        return low
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        if _kept_s(model, asked, middle, nodes) <= limit_s:
            high = middle
        else:
            low = middle
    return high


def _kept_s(model: SizingModel, asked: Demanded, cores: float, nodes: int) -> float:
    found = predict(model, asked, cores, nodes)
    return found.mean_s if asked.statistic == "mean" else found.p95_s


def _heap_mib(model: SizingModel, rate: float | None) -> tuple[float, float, float] | None:
    """Return the heap of a node that must carry all when the spare ones have failed."""
    if model.heap is None or rate is None:
        return None
    heap, low, high = (float(math.ceil(one / MIB)) for one in model.heap.bytes_for(rate))
    return heap, low, high


def _outside(
    model: SizingModel,
    asked: Demanded,
    nodes: int,
    rate: float | None,
    cores: float | None,
    high: float | None,
) -> tuple[Outside, ...]:
    domain = model.domain
    found = []

    def look(key: str, value: float, low: float, high: float | None) -> None:
        top = math.inf if high is None else high
        if not low <= value <= top:
            found.append(Outside(key, value, low, -1.0 if high is None else high))

    look("nodes", nodes, min(domain.nodes), max(domain.nodes))
    if asked.users is not None:
        look("users", asked.users, 1.0, domain.users[1])
        look("think_s", asked.think_s, *domain.think_s)
        offered = asked.users / asked.think_s if asked.think_s > 0 else None
    else:
        offered = asked.rate_per_s
        if domain.think_s[1] is not None:
            found.append(Outside("open", offered or 0.0, 0.0, 0.0))
    if cores is None:
        found.append(Outside("cores", offered or 0.0, *domain.cores))
    elif high is None:
        found.append(Outside("cores_high", cores, *domain.cores))
    if rate is not None:
        look("rate_per_s", rate, 0.0, domain.rate_per_s[1])
    mean_s = asked.limit_s
    if asked.statistic == "p95":
        mean_s = (asked.limit_s / model.tail[0]) ** (1 / model.tail[1])
    look("response_s", mean_s, *domain.response_s)
    return tuple(found)


def _lists(value: Any) -> Any:
    """Return JSON data with lists for tuples, as it comes back from a file."""
    if isinstance(value, dict):
        return {key: _lists(each) for key, each in value.items()}
    return [_lists(each) for each in value] if isinstance(value, list | tuple) else value
