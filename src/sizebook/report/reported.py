"""What the five reports printed, as tidy tables and single values."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

import polars as pl

from sizebook.model.errors import UsageError
from sizebook.model.reported import ReportedClaim
from sizebook.report.reported_files import read_reported
from sizebook.store import Project


def reported(table: str, project: Project | None = None) -> pl.DataFrame:
    """Return ``measurements``, ``parameters`` or ``claims`` as printed in the reports.

    All columns are text but ``value`` and ``reported_ratio``. Raises UsageError for another name
    and UserError for a file that breaks the schema (``model.reported``).
    """
    return read_reported(table, project).frame


def find_reported(
    source: str,
    metric: str,
    treatment: str = "",
    project: Project | None = None,
    *,
    scenario: str = "",
) -> pl.DataFrame:
    """Return the measurements of a report with this metric whose treatment holds each part.

    ``treatment`` is written as in the table, parts separated by ``;``, in any order.
    """
    frame = reported("measurements", project).filter(
        (pl.col("source") == source) & (pl.col("metric") == metric)
    )
    if scenario:
        frame = frame.filter(pl.col("scenario") == scenario)
    for part in filter(None, treatment.split(";")):
        frame = frame.filter(pl.col("treatment").str.split(";").list.contains(part))
    return frame


def conditions(frame: pl.DataFrame, *names: str) -> pl.DataFrame:
    """Return the frame with one column a named condition of its ``treatment``, null where unsaid.

    A treatment such as ``stack=jersey;threads=20`` has the conditions ``stack`` and ``threads``.
    """
    return frame.with_columns(
        pl.col("treatment").str.extract(rf"(?:^|;){name}=([^;]*)").alias(name) for name in names
    )


def reported_claims(project: Project | None = None) -> dict[str, ReportedClaim]:
    """Return the claims of the reports by id, in the order of the file."""
    rows = read_reported("claims", project).rows
    return {row.claim_id: row for row in rows if isinstance(row, ReportedClaim)}


def reported_claim(claim_id: str, project: Project | None = None) -> ReportedClaim:
    """Return one claim by its id. Raises UsageError that names similar ids."""
    claims = reported_claims(project)
    if claim_id not in claims:
        near = difflib.get_close_matches(claim_id, claims, n=3, cutoff=0.4)
        raise UsageError(
            found=f"no claim {claim_id!r}",
            expected=f"an id such as {', '.join(near or list(claims)[:3])}",
            next_step="see data/reported/claims.csv",
        )
    return claims[claim_id]


def claims_frame(
    claim_ids: Iterable[str], project: Project | None = None, **fields: str
) -> pl.DataFrame:
    """Return one row a claim in this order; ``fields`` are columns and what they hold of it.

    Raises UsageError for an unknown id.
    """
    known = [reported_claim(claim_id, project) for claim_id in claim_ids]
    return pl.DataFrame(
        [[getattr(one, field) for field in fields.values()] for one in known],
        schema=dict.fromkeys(fields, pl.String),
        orient="row",
    )


def reported_ratio(claim_id: str, project: Project | None = None) -> float | None:
    """Return the ratio metric(left) / metric(right) that a report prints, None if it prints none.

    Raises UsageError for an unknown id.
    """
    return reported_claim(claim_id, project).reported_ratio
