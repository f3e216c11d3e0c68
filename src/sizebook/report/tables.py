"""Tables: tidy frame in, formatted table out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import polars as pl

from sizebook.lab import Trials
from sizebook.lab.plan_only import is_planned_only

if TYPE_CHECKING:
    from great_tables import GT

MISSING = "–"


class Undrawn:
    """Stands for a table in a plan, which nobody sees: takes every call and draws nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *_, **__: self


def plain_table(
    frame: pl.DataFrame,
    *,
    labels: Mapping[str, str] | None = None,
    digits: Mapping[str, int] | None = None,
    spanners: Mapping[str, Sequence[str]] | None = None,
    note: str = "",
) -> GT:
    """Return a frame as a table: column labels, decimals by column, a dash for what is missing.

    In a plan, ``Undrawn``: its library takes longer to load than the plan of a chapter.
    """
    if is_planned_only():
        return cast("GT", Undrawn())
    from great_tables import GT  # noqa: PLC0415 - a plan does without

    table = GT(frame)
    for name, places in (digits or {}).items():
        table = table.fmt_number(columns=name, decimals=places)
    table = table.sub_missing(missing_text=MISSING)
    if labels:
        table = table.cols_label({k: v for k, v in labels.items() if k in frame.columns})
    for title, columns in (spanners or {}).items():
        table = table.tab_spanner(title, list(columns))
    return table.tab_source_note(note) if note else table


def validity_table(trials: Mapping[str, Trials]) -> GT:
    """Return the verdicts by design: trials planned, run, of each verdict, and why not valid.

    Where trials were measured more than once, be it that the machine interfered or that they
    failed, their number is a column.
    """
    rows = []
    for name, group in trials.items():
        reasons = group.findings()
        failed = (
            reasons.filter(pl.col("passed") == False)  # noqa: E712 - null is not False
            .group_by("rule")
            .len()
            .sort("len", "rule", descending=[True, False])
            if reasons.height
            else pl.DataFrame({"rule": [], "len": []})
        )
        why = ", ".join(f"{rule} ({count})" for rule, count in failed.iter_rows())
        valid = sum(trial.verdict == "valid" for trial in group)
        rows.append(
            {
                "design": name,
                "planned": group.expected,
                "run": len(group),
                "valid": valid,
                "doubtful": sum(t.verdict not in ("valid", "failed") for t in group),
                "failed": sum(t.verdict == "failed" for t in group),
                "again": sum("attempt" in t.bundle.record.execution.facts for t in group),
                "why": why or MISSING,
            }
        )
    labels = {"design": "Design", "planned": "Planned", "run": "Run", "valid": "Valid"}
    labels |= {"doubtful": "Doubtful", "failed": "Failed", "again": "Measured again"}
    labels |= {"why": "Rules not passed (trials)"}
    frame = pl.DataFrame(rows)
    if not frame["again"].sum():
        frame = frame.drop("again")
    return plain_table(frame, labels=labels)


def intervals_table(
    summary: pl.DataFrame,
    *,
    rows: str,
    columns: str,
    row_label: str,
    column_title: str,
    digits: int,
    extra: pl.DataFrame | None = None,
    extra_title: str = "",
    extra_labels: Mapping[str, str] | None = None,
    note: str = "",
) -> GT:
    """Return a cross table of means with their 95 % intervals: one row and column a level.

    ``summary`` is what ``summaries.summarize`` gives; ``extra`` has further columns by ``rows``,
    such as the reports' values. Both ends of an interval are printed, since it reaches farther up
    than down.
    """
    cells = summary.with_columns(
        cell=pl.struct("mean", "low", "high").map_elements(
            lambda s: _cell(s["mean"], s["low"], s["high"], digits), return_dtype=pl.String
        )
    )
    wide = cells.pivot(on=columns, index=rows, values="cell", maintain_order=True)
    measured = [name for name in wide.columns if name != rows]
    if extra is not None:
        wide = wide.join(extra, on=rows, how="left", maintain_order="left")
    spanners = {column_title: measured}
    if extra is not None:
        spanners[extra_title] = [name for name in extra.columns if name != rows]
    return plain_table(
        wide,
        labels={rows: row_label, **(extra_labels or {})},
        spanners=spanners,
        note=note or "mean (95 % interval over fresh JVMs)",
    )


def _cell(mean: float | None, low: float | None, high: float | None, digits: int) -> str:
    if mean is None:
        return MISSING
    if low is None or high is None:
        return f"{mean:,.{digits}f}"
    return f"{mean:,.{digits}f} ({low:,.{digits}f} to {high:,.{digits}f})"
