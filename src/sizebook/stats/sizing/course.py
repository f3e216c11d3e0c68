"""The response of some CPUs as the load rises, with the band: the curve that a planner draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sizebook.stats.sizing.answers import predict, size
from sizebook.stats.sizing.candidates import Candidate
from sizebook.stats.sizing.carried import carried
from sizebook.stats.sizing.model import SizingModel
from sizebook.stats.sizing.questions import Demanded, prepare

BEYOND = 1.25
"""How far the curve goes, as a multiple of the load and of what is carried."""


@dataclass(frozen=True)
class CoursePoint:
    """What becomes of one load; infinite responses: it cannot be borne."""

    amount: float
    """Users or requests a second, as asked."""
    rate_per_s: float
    utilization: float
    seconds: float
    """The statistic of the criterion."""
    low_s: float
    high_s: float
    measured: bool
    """Whether throughput and response lie within what trials had."""


def course(
    model: SizingModel, asked: Demanded, cores: float, nodes: int, points: int
) -> tuple[CoursePoint, ...]:
    """Return loads in equal steps, up to a quarter beyond what is asked and what is carried."""
    model, asked = prepare(model, asked)
    top = BEYOND * max(asked.amount, carried(model, asked, cores, nodes).amount)
    band, domain = model.bands[asked.statistic], model.domain
    found = []
    for step in range(1, points + 1):
        amount = top * step / points
        said = predict(model, asked.with_amount(amount), cores, nodes)
        seconds = said.mean_s if asked.statistic == "mean" else said.p95_s
        found.append(
            CoursePoint(
                amount=amount,
                rate_per_s=said.rate_per_s,
                utilization=said.rate_per_s / model.response.bearable_per_s(cores, nodes),
                seconds=seconds,
                low_s=seconds / band,
                high_s=seconds * band,
                measured=said.rate_per_s <= domain.rate_per_s[1]
                and said.mean_s <= domain.response_s[1],
            )
        )
    return tuple(found)


def shown_cpus(
    model: SizingModel, asked: Demanded, offered: Sequence[Candidate]
) -> tuple[float, int]:
    """Return CPUs and nodes to draw the curve of: the best candidate's, after its failures.

    Without one that fits, the fewest that keep the criterion; if none do, the most measured.
    """
    if offered and offered[0].rejected is None:
        return offered[0].counted_cpus, offered[0].nodes
    found = size(model, asked)
    return found.cores or prepare(model, asked)[0].domain.cores[1], found.nodes
