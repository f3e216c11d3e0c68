"""What can be bought for a load, side by side: fewer large nodes, or more small ones.

A candidate is judged in the state in which all of its spare nodes have failed. Nothing is
extrapolated: one that has more CPUs than were measured counts with those that were, one with more
nodes is refused.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from sizebook.stats.sizing.answers import Predicted, predict
from sizebook.stats.sizing.carried import LoadLimit, carried
from sizebook.stats.sizing.model import MIB, SizingModel
from sizebook.stats.sizing.questions import Demanded, prepare

Rejection = Literal["response", "utilization", "measured", "memory", "nodes", "cores"]
"""Why a candidate is none: what it does not keep, or where it is beyond what was measured."""
_MIB_A_GIB = 1024


@dataclass(frozen=True)
class Offer:
    """What can be bought: sizes of a node, and prices. Raises ValueError for none or nothing."""

    cpus: tuple[float, ...]
    """CPUs that a node can have."""
    memory_gib: tuple[float, ...] = ()
    """Memory that a node can have; empty: as much as it needs."""
    price_per_cpu: float = 0.0
    price_per_gib: float = 0.0
    price_per_node: float = 0.0
    beside_heap_mib: float = 0.0
    """What a node takes beside its heap."""

    def __post_init__(self) -> None:
        if not self.cpus or not all(0 < one < math.inf for one in (*self.cpus, *self.memory_gib)):
            raise ValueError("sizes above 0, and one at least")
        if min(self.price_per_cpu, self.price_per_gib, self.price_per_node) < 0:
            raise ValueError("no negative price")

    @property
    def is_priced(self) -> bool:
        """Whether there is a price of anything."""
        return bool(self.price_per_cpu or self.price_per_gib or self.price_per_node)

    def memory_for(self, needed_gib: float) -> float | None:
        """Return the least memory that holds what is needed; None: no node has so much."""
        if not self.memory_gib:
            return needed_gib
        return min((one for one in self.memory_gib if one >= needed_gib), default=None)


@dataclass(frozen=True)
class Candidate:
    """So many nodes of a size, and what becomes of the load when the spare ones have failed."""

    nodes: int
    cpus: float
    """Of each node."""
    heap_mib: float | None
    """Of each node; None where the model does not tell, or nothing is carried."""
    memory_gib: float | None
    """Of each node; None where the heap is, or no size holds it."""
    counted_cpus: float
    """Of all nodes that are left; no more than were measured."""
    predicted: Predicted
    utilization: float
    """Of the CPUs that count."""
    carries: float
    """Largest load of the kind asked for."""
    limit: LoadLimit
    """What limits that load."""
    rejected: Rejection | None
    """None: it keeps everything that is asked."""
    robust: bool
    """Whether it does so at the unfavourable end of the band, too."""
    price: float | None
    """None without prices, or where memory has one and is not known."""

    @property
    def total_cpus(self) -> float:
        """CPUs of all nodes."""
        return self.nodes * self.cpus


def candidates(model: SizingModel, asked: Demanded, offer: Offer) -> tuple[Candidate, ...]:
    """Return the best that fits of each size, best first, then the largest of each that does not.

    Best is cheapest; without prices, or where they are equal, the fewest CPUs, then nodes.
    """
    model, asked = prepare(model, asked)
    fit: list[Candidate] = []
    rejected: list[Candidate] = []
    for cpus in sorted(set(offer.cpus)):
        tried = list(_of_size(model, asked, offer, cpus))
        kept = [one for one in tried if one.rejected is None]
        fit += [min(kept, key=_rank)] if kept else []
        failed = [one for one in tried if one.rejected is not None]
        rejected += failed[-1:]
    return (*sorted(fit, key=_rank), *rejected)


def _of_size(model: SizingModel, asked: Demanded, offer: Offer, cpus: float) -> Iterator[Candidate]:
    """Yield candidates with nodes of one size: from the fewest to as many as were measured."""
    least = 1 + asked.spare_nodes
    for nodes in range(least, max(least, *model.domain.nodes) + 1):
        yield _judge(model, asked, offer, cpus, nodes)


def _judge(model: SizingModel, asked: Demanded, offer: Offer, cpus: float, nodes: int) -> Candidate:
    survivors = nodes - asked.spare_nodes
    cores = min(survivors * cpus, model.domain.cores[1])
    found = predict(model, asked, cores, nodes)
    most = carried(model, asked, cores, nodes)
    heap_mib = _heap_mib(model, found.rate_per_s / survivors)
    needed_gib = None if heap_mib is None else (heap_mib + offer.beside_heap_mib) / _MIB_A_GIB
    memory_gib = None if needed_gib is None else offer.memory_for(needed_gib)
    rejected: Rejection | None = None
    if nodes > max(model.domain.nodes):
        rejected = "nodes"
    elif cores < model.domain.cores[0]:
        rejected = "cores"
    elif asked.amount > most.amount:
        rejected = most.limit
    elif needed_gib is not None and memory_gib is None:
        rejected = "memory"
    return Candidate(
        nodes=nodes,
        cpus=cpus,
        heap_mib=heap_mib,
        memory_gib=memory_gib,
        counted_cpus=cores,
        predicted=found,
        utilization=found.rate_per_s / model.response.bearable_per_s(cores, nodes),
        carries=most.amount,
        limit=most.limit,
        rejected=rejected,
        robust=rejected is None
        and asked.amount <= carried(model, _at_worst(model, asked), cores, nodes).amount,
        price=_price(offer, cpus, nodes, memory_gib),
    )


def _at_worst(model: SizingModel, asked: Demanded) -> Demanded:
    """Return the question that is as much stricter as the model may err."""
    ceiling = None if asked.ceiling is None else asked.ceiling / model.bands["rate"]
    return replace(asked, limit_s=asked.limit_s / model.bands[asked.statistic], ceiling=ceiling)


def _heap_mib(model: SizingModel, rate: float) -> float | None:
    return None if model.heap is None else float(math.ceil(model.heap.bytes_for(rate)[0] / MIB))


def _price(offer: Offer, cpus: float, nodes: int, memory_gib: float | None) -> float | None:
    if not offer.is_priced or (offer.price_per_gib and memory_gib is None):
        return None
    memory = offer.price_per_gib * (memory_gib or 0.0)
    return nodes * (offer.price_per_node + offer.price_per_cpu * cpus + memory)


def _rank(one: Candidate) -> tuple[float, float, int]:
    return (math.inf if one.price is None else one.price, one.total_cpus, one.nodes)
