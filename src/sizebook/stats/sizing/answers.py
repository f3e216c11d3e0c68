"""The answer to a question: the fewest CPUs that keep its criterion, and what lies outside."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sizebook.stats.sizing.carried import most_load
from sizebook.stats.sizing.model import MIB, STEPS, SizingModel
from sizebook.stats.sizing.questions import Demanded, prepare


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
        mean_s = response.seconds_at(rate, cores, nodes)
    return Predicted(rate, mean_s, model.tail_s(mean_s))


def size(model: SizingModel, asked: Demanded) -> Size:
    """Return how many CPUs a load needs to keep a criterion, and the rest of the answer."""
    model, asked = prepare(model, asked)
    domain, nodes = model.domain, 1 + asked.spare_nodes
    band, wide = model.bands[asked.statistic], model.bands["rate"]
    ceiling = math.inf if asked.ceiling is None else asked.ceiling
    limits = (
        (asked.limit_s, ceiling),
        (asked.limit_s * band, ceiling * wide),
        (asked.limit_s / band, ceiling / wide),
    )
    cores, low, high = (_cores(model, asked, nodes, each) for each in limits)
    rate = None if cores is None else predict(model, asked, cores, nodes).rate_per_s
    return Size(
        nodes=nodes,
        cores=cores,
        cores_low=low,
        cores_high=high,
        rate_per_s=rate,
        heap_mib=_heap_mib(model, rate),
        most=most_load(model, asked, domain.cores[1], nodes) if cores is None else None,
        outside=_outside(model, asked, nodes, rate, cores, high),
    )


def _cores(
    model: SizingModel, asked: Demanded, nodes: int, limits: tuple[float, float]
) -> float | None:
    """Return the fewest CPUs of the domain that keep the limits; None: not even the most do."""
    low, high = model.domain.cores
    if not _is_kept(model, asked, high, nodes, limits):
        return None
    if _is_kept(model, asked, low, nodes, limits):
        return low
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        if _is_kept(model, asked, middle, nodes, limits):
            high = middle
        else:
            low = middle
    return high


def _is_kept(
    model: SizingModel, asked: Demanded, cores: float, nodes: int, limits: tuple[float, float]
) -> bool:
    """Return whether response and utilization stay within their limits."""
    limit_s, ceiling = limits
    found = predict(model, asked, cores, nodes)
    kept_s = found.mean_s if asked.statistic == "mean" else found.p95_s
    return kept_s <= limit_s and found.rate_per_s <= ceiling * model.response.bearable_per_s(
        cores, nodes
    )


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
    look("response_s", asked.mean_limit_s(model), *domain.response_s)
    return tuple(found)
