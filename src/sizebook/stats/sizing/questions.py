"""What is asked of the calculator: a load, a criterion, and what is kept in reserve."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

from sizebook.stats.sizing.model import SizingModel, Statistic


@dataclass(frozen=True)
class Demanded:
    """What a system has to carry, and how fast it has to answer.

    Raises ValueError for half a question, or a number that nothing can have.
    """

    statistic: Statistic
    limit_s: float
    users: float | None = None
    think_s: float = 0.0
    rate_per_s: float | None = None
    """Requests a second that come at random; instead of users."""
    spare_nodes: int = 0
    """Nodes that may fail while the others go on."""
    growth: float = 0.0
    """Of the load in a year, as a share: 0.2 is 20 %."""
    years: float = 0.0
    """Until the load has to be carried."""
    headroom: float = 0.0
    """Share of the load that is added to it."""
    ceiling: float | None = None
    """Greatest utilization of the CPUs, above 0 and below 1; None: as far as the criterion goes."""
    cpu_worth: float = 1.0
    """What a CPU does, as a share of a measured one: SMT, another clock."""

    def __post_init__(self) -> None:
        if (self.users is None) == (self.rate_per_s is None):
            raise ValueError("either users or requests a second")
        if not (self.amount > 0 and self.limit_s > 0 and self.think_s >= 0):
            raise ValueError("a load above 0, a limit above 0, and no negative think time")
        if min(self.spare_nodes, self.growth, self.years, self.headroom) < 0:
            raise ValueError("no negative number of failures, growth, time or headroom")
        if not self.cpu_worth > 0 or not (self.ceiling is None or 0 < self.ceiling < 1):
            raise ValueError("a CPU that does something, and a ceiling between 0 and 1")
        try:
            ends = math.isfinite(self.amount * self.growth_factor)
        except OverflowError:
            ends = False
        if not ends:
            raise ValueError("a load that grows to a number")

    @property
    def amount(self) -> float:
        """Users or requests a second, whichever was given."""
        amount = self.users if self.users is not None else self.rate_per_s
        return 0.0 if amount is None else amount

    @property
    def growth_factor(self) -> float:
        """The load at the end, headroom included, over today's."""
        return math.pow(1 + self.growth, self.years) * (1 + self.headroom)

    def with_amount(self, amount: float) -> Demanded:
        """Return the same question of another load of the same kind."""
        if self.users is not None:
            return replace(self, users=amount)
        return replace(self, rate_per_s=amount)

    def mean_limit_s(self, model: SizingModel) -> float:
        """Return the mean response at which the criterion is just kept."""
        return self.limit_s if self.statistic == "mean" else model.mean_of_tail_s(self.limit_s)


def prepare(model: SizingModel, asked: Demanded) -> tuple[SizingModel, Demanded]:
    """Return the model in the CPUs that are asked for, and the question with the load grown.

    What is returned may be prepared again: nothing changes then.
    """
    grown = asked.with_amount(asked.amount * asked.growth_factor)
    rest = replace(grown, growth=0.0, years=0.0, headroom=0.0, cpu_worth=1.0)
    return model.with_cpus_worth(asked.cpu_worth), rest
