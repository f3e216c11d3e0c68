"""Numbers of trials that know how they are measured, headed and rounded, and tables of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from sizebook.lab import Trials
from sizebook.lab.trials import Measure
from sizebook.report.summaries import usable
from sizebook.report.tables import plain_table

if TYPE_CHECKING:
    from great_tables import GT


@dataclass(frozen=True)
class Quantity:
    """One number of each trial, as every table of a chapter shows it."""

    label: str
    """Head of its column, with the unit."""
    digits: int
    measure: Measure | None = None
    """How a bundle gives it; None: it is computed from other columns."""


Quantities = Mapping[str, Quantity]
"""The quantities of a chapter by the names of their columns."""


def frame_of(trials: Trials, quantities: Quantities) -> pl.DataFrame:
    """Return one row a trial with all quantities that are measured, see ``Trials.frame``."""
    measured = {name: one.measure for name, one in quantities.items() if one.measure is not None}
    return trials.frame(**measured)


def pick(quantities: Quantities, *names: str) -> dict[str, Quantity]:
    """Return some of the quantities, in this order. Raises KeyError for an unknown name."""
    return {name: quantities[name] for name in names}


def means(frame: pl.DataFrame, by: Sequence[str], names: Sequence[str]) -> pl.DataFrame:
    """Return one row a treatment with the means over its usable trials, in the order they came."""
    return usable(frame).group_by(list(by), maintain_order=True).agg(pl.col(list(names)).mean())


def means_table(
    frame: pl.DataFrame,
    by: Mapping[str, str],
    quantities: Quantities,
    *,
    spanners: Mapping[str, Sequence[str]] | None = None,
    note: str = "",
) -> GT:
    """Return a table of means, one row a treatment: columns ``by`` with labels, then quantities."""
    rows = means(frame, list(by), list(quantities))
    return rows_table(rows, by, quantities, spanners=spanners, note=note)


def rows_table(
    frame: pl.DataFrame,
    by: Mapping[str, str],
    quantities: Quantities,
    *,
    spanners: Mapping[str, Sequence[str]] | None = None,
    note: str = "",
) -> GT:
    """Return a table of the frame's rows: columns ``by`` with their labels, then the quantities."""
    return plain_table(
        frame.select(*by, *quantities),
        labels={**by, **{name: one.label for name, one in quantities.items()}},
        digits={name: one.digits for name, one in quantities.items()},
        spanners=spanners,
        note=note,
    )
