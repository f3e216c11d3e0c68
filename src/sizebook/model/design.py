"""A design: factors with levels, replicated in blocks, with fresh JVMs for each whole plot.

Factors that need a fresh stack (``plot="whole"``) vary between starts; factors that only change
the load (``plot="sub"``) vary within one start. That is a split-plot design (Box, Hunter, Hunter:
Statistics for Experimenters, 2nd ed., section 9.1): the start of the stack, not the trial, is the
unit of replication, and intervals are drawn over blocks.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Literal

from sizebook.model.errors import UsageError
from sizebook.model.plain_text import steering
from sizebook.model.records import Scalar

Treatment = Mapping[str, Scalar]

_CHART_SIGNS = frozenset(".:[]'\"\\")
"""What Vega-Lite and Altair read as a path, a type or a quotation in the name of a column."""


@dataclass(frozen=True)
class Factor:
    """One thing that a design varies, its levels in the order in which they are shown."""

    name: str
    levels: tuple[Scalar, ...]
    plot: Literal["whole", "sub"] = "whole"
    unit: str = ""

    def __post_init__(self) -> None:
        if not self.name.strip() or steering(self.name) or _CHART_SIGNS & {*self.name}:
            raise UsageError(
                found=f"a factor named {self.name!r}",
                expected="a name without " + " ".join(sorted(_CHART_SIGNS)) + " and line ends: it "
                "becomes a column, and charts read these signs as commands",
                next_step="rename it in the design, such as pool_size, and give charts the title",
            )
        for level in self.levels:
            if isinstance(level, str) and steering(level):
                raise UsageError(
                    found=f"level {level!r} of factor {self.name!r}",
                    expected="text on one line, in which nothing steers a terminal",
                    next_step="correct the level in the design",
                )
            if isinstance(level, float) and not math.isfinite(level):
                raise UsageError(
                    found=f"level {level} of factor {self.name!r}",
                    expected="a finite number",
                    next_step="correct the level in the design",
                )
        if not self.levels:
            raise ValueError(f"factor {self.name!r} has no levels")
        if len(set(self.levels)) != len(self.levels):
            raise ValueError(f"factor {self.name!r} names a level twice: {self.levels}")


@dataclass(frozen=True)
class Design:
    """Factors, replicates and seed. Building it runs nothing."""

    experiment: str
    factors: tuple[Factor, ...]
    replicates: int
    seed: int
    without: tuple[Treatment, ...] = field(default=())
    """Partial treatments that are left out of the full factorial."""

    def __post_init__(self) -> None:
        if self.replicates < 1:
            raise ValueError(f"replicates must be at least 1, not {self.replicates}")
        names = [factor.name for factor in self.factors]
        if len(set(names)) != len(names):
            raise ValueError(f"a factor is named twice: {names}")

    def treatments(self) -> tuple[Treatment, ...]:
        """Return every treatment once, in the order of the levels."""
        names = [factor.name for factor in self.factors]
        every = (
            MappingProxyType(dict(zip(names, levels, strict=True)))
            for levels in itertools.product(*(factor.levels for factor in self.factors))
        )
        return tuple(t for t in every if not any(_holds(t, out) for out in self.without))

    def blocks(self) -> Iterator[tuple[int, tuple[tuple[Treatment, ...], ...]]]:
        """Yield (replicate, whole plots); a plot is the treatments that share one fresh stack.

        Plots are in seeded random order within their block, treatments within their plot.
        """
        whole = [factor.name for factor in self.factors if factor.plot == "whole"]
        plots: dict[tuple[Scalar, ...], list[Treatment]] = {}
        for treatment in self.treatments():
            plots.setdefault(tuple(treatment[name] for name in whole), []).append(treatment)
        for replicate in range(self.replicates):
            order = random.Random(f"{self.seed}/{self.experiment}/{replicate}")
            shuffled = [order.sample(plot, len(plot)) for plot in plots.values()]
            order.shuffle(shuffled)
            yield replicate, tuple(tuple(plot) for plot in shuffled)


def _holds(treatment: Treatment, partial: Treatment) -> bool:
    return all(treatment.get(name) == level for name, level in partial.items())
