"""What the five reports printed, as tidy tables."""

from __future__ import annotations

import polars as pl

from sizebook.model.errors import UsageError
from sizebook.store import Project, find_project

_TEXT = {
    "measurements": ("value",),
    "parameters": (),
    "claims": ("reported_ratio",),
}


def reported(table: str, project: Project | None = None) -> pl.DataFrame:
    """Return ``measurements``, ``parameters`` or ``claims`` as printed in the reports.

    All columns are text but ``value`` and ``reported_ratio``. Raises UsageError for another name.
    """
    if table not in _TEXT:
        raise UsageError(
            found=f"reported table {table!r}",
            expected=f"one of {', '.join(_TEXT)}",
            next_step="see data/reported/README.md",
        )
    path = (project or find_project()).root / "data" / "reported" / f"{table}.csv"
    frame = pl.read_csv(path, infer_schema_length=0)
    return frame.with_columns(pl.col(name).cast(pl.Float64, strict=False) for name in _TEXT[table])


def find_reported(
    source: str, metric: str, treatment: str = "", project: Project | None = None
) -> pl.DataFrame:
    """Return the measurements of a report with this metric whose treatment holds each part.

    ``treatment`` is written as in the table, parts separated by ``;``, in any order.
    """
    frame = reported("measurements", project).filter(
        (pl.col("source") == source) & (pl.col("metric") == metric)
    )
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
