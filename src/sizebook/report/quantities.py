"""Columns that know their label, decimals and measure: said once for frame, means and table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from sizebook.lab import Trials
from sizebook.report import summaries, tables
from sizebook.store import Bundle

if TYPE_CHECKING:
    from great_tables import GT


@dataclass(frozen=True)
class Quantity:
    """One column of a chapter's frames and tables.

    A table of two of them, the second under a heading that it shares with its neighbours::

        USERS = Quantity("users", "Users", 0)
        P95 = Quantity("p95_ms", "p95", 1, under="Latency (ms)", measure=measures.latency_ms(0.95))
        table_of(means_of(frame_of(trials, P95), ["users"], P95), USERS, P95)
    """

    name: str
    label: str
    digits: int | None = None
    """Decimals; None shows values as they are."""
    under: str = ""
    """Heading over it and its neighbours."""
    measure: Callable[[Bundle], Any] | None = None
    """What fills the column; None where it is a factor, or follows from other columns."""


def frame_of(trials: Trials, *quantities: Quantity) -> pl.DataFrame:
    """Return one row a trial with those quantities that have a measure; see ``Trials.frame``."""
    return trials.frame(**{one.name: one.measure for one in quantities if one.measure})


def means_of(frame: pl.DataFrame, by: Sequence[str], *quantities: Quantity) -> pl.DataFrame:
    """Return means over usable trials, one row a treatment, in the order of first appearance."""
    return summaries.means(frame, by, *(one.name for one in quantities))


def table_of(frame: pl.DataFrame, *quantities: Quantity, note: str = "") -> GT:
    """Return the table of these columns, in this order; those that the frame lacks are left out."""
    shown = [one for one in quantities if one.name in frame.columns]
    headed: dict[str, list[str]] = {}
    for one in shown:
        if one.under:
            headed.setdefault(one.under, []).append(one.name)
    return tables.plain_table(
        frame.select(one.name for one in shown),
        labels={one.name: one.label for one in shown},
        digits={one.name: one.digits for one in shown if one.digits is not None},
        spanners=headed,
        note=note,
    )
