"""Kinds of work side by side: how many times slower each mode is than the machine itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

import polars as pl

from sizebook.model.records import Scalar
from sizebook.report.quantities import Quantity
from sizebook.report.summaries import ratio, usable

SLOWDOWNS: dict[str, type[pl.DataType]] = {
    "work": pl.String,
    "mode": pl.String,
    "mean": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
}
ADVICE = (
    Quantity("mode", "Mode"),
    Quantity("near", "As good as the machine itself"),
    Quantity("dear", "At a price"),
    Quantity("far", "Not for"),
    Quantity("worst", "Slows most"),
    Quantity("times", "Times", 1),
)
"""What a mode is good for."""


_NAMES = tuple(one.name for one in ADVICE)


@dataclass(frozen=True)
class Work:
    """One kind of work, and the trials that show how fast it is done."""

    title: str
    frame: pl.DataFrame
    """One row a trial, as ``Trials.frame`` gives it, with column ``mode``; may be empty."""
    metric: str
    levels: Mapping[str, Scalar]
    """Which of the trials are meant, whatever their mode."""
    better: Literal["less", "more"] = "less"
    """``less``: the metric is a time; ``more``: it is a rate."""

    def modes(self) -> list[str]:
        """Return the modes with a number, in the order of the trials."""
        if not {"mode", self.metric, *self.levels} <= set(self.frame.columns):
            return []
        meant = [pl.col(name) == level for name, level in self.levels.items()]
        found = usable(self.frame).filter(*meant, pl.col(self.metric).is_not_null())
        return list(dict.fromkeys(found["mode"]))


def slowdowns(works: Iterable[Work], base: str) -> pl.DataFrame:
    """Return one row a kind of work and mode: ``SLOWDOWNS``, with 95 % intervals where they are.

    ``mean`` is how many times longer the work takes in that mode than in ``base``. Work that was
    not measured in ``base`` has no rows, nor has one whose ratio cannot be told.
    """
    rows = []
    for work in works:
        modes = work.modes()
        for mode in modes if base in modes else ():
            if mode == base:
                continue
            sides = [{**work.levels, "mode": one} for one in (mode, base)]
            slower, faster = sides if work.better == "less" else reversed(sides)
            found = ratio(work.frame, work.metric, slower, faster)
            if found.estimate is not None:
                rows.append((work.title, mode, found.estimate, found.low, found.high, found.n))
    return pl.DataFrame(rows, schema=SLOWDOWNS, orient="row")


def advise(found: pl.DataFrame, *, near: float, far: float) -> pl.DataFrame:
    """Return one row a mode: the work it is good for, at a price, and not, and what it slows most.

    ``found`` is what :func:`slowdowns` gives. Columns: ``mode``; ``near`` (slowdown below
    ``near``), ``dear`` (between) and ``far`` (``far`` and more), each a list in words or null;
    ``worst`` and ``times`` (the greatest slowdown and its work).
    """
    rows = []
    for (mode,), group in found.group_by(["mode"], maintain_order=True):
        worst = group.sort("mean", descending=True).row(0, named=True)
        times = pl.col("mean")
        parts = (times < near, (times >= near) & (times < far), times >= far)
        words = [", ".join(group.filter(part)["work"]) or None for part in parts]
        rows.append((mode, *words, worst["work"], worst["mean"]))
    schema = {name: pl.Float64 if name == "times" else pl.String for name in _NAMES}
    return pl.DataFrame(rows, schema=schema, orient="row")
