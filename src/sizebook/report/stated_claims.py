"""The claims of the reports as a table: what a chapter is about to test."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import polars as pl

from sizebook.report.quantities import Quantity, table_of
from sizebook.report.reported import reported_claims

if TYPE_CHECKING:
    from great_tables import GT

_COLUMNS = (
    Quantity("id", "Claim"),
    Quantity("statement", "The report says"),
    Quantity("basis", "Where it shows it"),
    Quantity("transferable", "Carries over"),
)


def stated_claims(*scenarios: str, also: Collection[str] = ()) -> pl.DataFrame:
    """Return claims of the reports, one row a claim: ``id``, ``statement``, ``basis`` and more.

    ``also`` are ids of claims beside those of the scenarios; ``transferable`` is what carries over.
    """
    rows = [
        (one.claim_id, one.statement, one.reported_basis, one.transferable)
        for one in reported_claims().values()
        if one.scenario in scenarios or one.claim_id in also
    ]
    return pl.DataFrame(rows, schema=[column.name for column in _COLUMNS], orient="row")


def stated_claims_table(
    *scenarios: str, also: Collection[str] = (), carries_over: bool = True
) -> GT:
    """Return the claims of some scenarios of the reports, one row a claim, in the reports' order.

    ``also`` are ids of further claims; ``carries_over`` is whether a column says what carries over
    to other machines.
    """
    columns = _COLUMNS if carries_over else _COLUMNS[:-1]
    return table_of(stated_claims(*scenarios, also=also), *columns)
