"""The largest load that CPUs carry, and what limits it first.

Response time, utilization and what was measured each bound the throughput X; the least of the three
counts. N users who think for Z seconds are carried where N = X (Z + R): at the bound by the
response, R is the criterion itself.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sizebook.stats.sizing.model import STEPS, Response, SizingModel
from sizebook.stats.sizing.questions import Demanded, prepare

LoadLimit = Literal["response", "utilization", "measured"]
"""What bounds a load: the criterion, the ceiling, or the greatest throughput of a trial."""


_SHY = 1 - 1e-9
"""Of a load at the very bound, so that rounding does not put it beyond."""


@dataclass(frozen=True)
class Carried:
    """The largest load of the kind asked for, and what limits it first."""

    amount: float
    limit: LoadLimit


def carried(model: SizingModel, asked: Demanded, cores: float, nodes: int) -> Carried:
    """Return the largest load that keeps criterion, ceiling and domain; its own load plays none."""
    model, asked = prepare(model, asked)
    bounds: dict[LoadLimit, float] = {"response": most_load(model, asked, cores, nodes)}
    if asked.ceiling is not None:
        full = model.response.bearable_per_s(cores, nodes)
        bounds["utilization"] = _at(model.response, asked, asked.ceiling * full, cores, nodes)
    most, every = model.domain.rate_per_s[1], model.domain.cores[1]
    if most < model.response.bearable_per_s(every, 1):
        # Of the most CPUs: with fewer the same users ask less often, and are no more known for it.
        bounds["measured"] = _at(model.response, asked, most, every, 1)
    limit = min(bounds, key=bounds.__getitem__)
    return Carried(bounds[limit], limit)


def most_load(model: SizingModel, asked: Demanded, cores: float, nodes: int) -> float:
    """Return the largest load of the kind asked for that keeps the criterion; 0: none does."""
    limit_s = asked.mean_limit_s(model)
    rate = _rate_within(model.response, limit_s, cores, nodes)
    return _SHY * (rate if asked.users is None else rate * (asked.think_s + limit_s))


def _rate_within(response: Response, limit_s: float, cores: float, nodes: int) -> float:
    """Return the greatest throughput with a mean response of at most ``limit_s``."""
    low, high = 0.0, response.bearable_per_s(cores, nodes)
    for _ in range(STEPS):
        middle = 0.5 * (low + high)
        if response.seconds_at(middle, cores, nodes) <= limit_s:
            low = middle
        else:
            high = middle
    return low


def _at(response: Response, asked: Demanded, rate: float, cores: float, nodes: int) -> float:
    """Return the load of the kind asked for that makes a throughput."""
    if asked.users is None:
        return _SHY * rate
    return _SHY * rate * (asked.think_s + response.seconds_at(rate, cores, nodes))
