"""Our ratios beside the ones that the reports print: as rows, as a table, as a chart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from sizebook.report.reported import reported_claim
from sizebook.report.tables import MISSING, plain_table
from sizebook.report.theme import treatment_scale
from sizebook.stats.intervals import Interval
from sizebook.store import Project

if TYPE_CHECKING:
    from great_tables import GT

_SCHEMA = {
    "claim_id": pl.String, "label": pl.String, "statement": pl.String, "estimate": pl.Float64,
    "low": pl.Float64, "high": pl.Float64, "n": pl.Int64, "reported": pl.Float64,
    "basis": pl.String,
}  # fmt: skip

_TICKS = [digit * 10.0**power for power in range(-4, 5) for digit in (1, 2, 5)]


def beside_reported(
    measured: Mapping[str, Interval],
    labels: Mapping[str, str] | None = None,
    project: Project | None = None,
) -> pl.DataFrame:
    """Return one row a claim: the ratio measured here and the one the report prints.

    ``measured`` has the ratio metric(left) / metric(right) by claim id, as ``summaries.ratio``
    gives it; ``labels`` what a claim is called in tables and charts, its id without one. Columns:
    ``claim_id``, ``label``, ``statement``, ``estimate``, ``low``, ``high``, ``n``, ``reported``
    (null where the report prints no ratio), ``basis``. Raises UsageError for an unknown claim.
    """
    rows = []
    for claim_id, ratio in measured.items():
        claim = reported_claim(claim_id, project)
        rows.append({
            "claim_id": claim_id, "label": (labels or {}).get(claim_id, claim_id),
            "statement": claim.statement, "estimate": ratio.estimate, "low": ratio.low,
            "high": ratio.high, "n": ratio.n, "reported": claim.reported_ratio,
            "basis": claim.reported_basis,
        })  # fmt: skip
    return pl.DataFrame(rows, schema=_SCHEMA)


def ratios_table(beside: pl.DataFrame) -> GT:
    """Return the rows of :func:`beside_reported` as a table."""
    shown = beside.select(
        "label",
        "statement",
        here=pl.struct("estimate", "low", "high").map_elements(_cell, return_dtype=pl.String),
        n="n",
        reported="reported",
        basis="basis",
    )
    labels = {"label": "Claim", "statement": "What the report says", "here": "Here (95 %)",
              "n": "n", "reported": "Reported", "basis": "Reported from"}  # fmt: skip
    return plain_table(
        shown,
        labels=labels,
        digits={"reported": 2},
        note="ratio of left to right treatment; n: replicates in fresh JVMs",
    )


def ratios_chart(beside: pl.DataFrame, *, x_title: str = "ratio") -> alt.LayerChart:
    """Return each claim's measured ratio with its interval, and the reported one, on a log scale.

    The line at 1 is where the two treatments are alike. A claim without printed ratio has one
    mark; one that was not measured has the reported mark alone.
    """
    long = pl.concat(
        beside.select("label", "n", kind=pl.lit(kind), ratio=column, low=low, high=high)
        for kind, column, low, high in (
            ("measured", "estimate", "low", "high"),
            ("reported", "reported", pl.lit(None, pl.Float64), pl.lit(None, pl.Float64)),
        )
    ).drop_nulls("ratio")
    kinds = ["measured", "reported"]
    scale = alt.Scale(type="log", nice=False, padding=24)
    axis = alt.Axis(values=_TICKS, labelExpr="format(datum.value, '~r')", grid=True)
    base = alt.Chart(long).encode(
        y=alt.Y("label:N", title=None, sort=list(dict.fromkeys(beside["label"]))),
        yOffset=alt.YOffset("kind:N", sort=kinds),
        color=alt.Color("kind:N", title=None, sort=kinds, scale=treatment_scale(kinds)),
        tooltip=["label", "kind", *(alt.Tooltip(f"{c}:Q", format=".4~r")
                                    for c in ("ratio", "low", "high")), "n"],
    )  # fmt: skip
    rule = base.transform_filter("isValid(datum.low) && isValid(datum.high)").mark_rule(
        strokeWidth=2.5
    )
    shape = alt.Shape("kind:N", title=None, sort=kinds,
                      scale=alt.Scale(domain=kinds, range=["circle", "diamond"]))  # fmt: skip
    mark = base.mark_point(filled=True, size=90, opacity=1).encode(
        x=alt.X("ratio:Q", title=x_title, scale=scale, axis=axis), shape=shape
    )
    one = alt.Chart(pl.DataFrame({"one": [1.0]})).mark_rule(strokeDash=[4, 3]).encode(x="one:Q")
    spans = rule.encode(x=alt.X("low:Q", title=x_title, scale=scale), x2="high:Q")
    layers = [one, mark] if long["low"].is_null().all() else [one, spans, mark]
    chart = alt.LayerChart(layer=layers)
    return chart.properties(width="container", height=50 + 32 * beside.height)


def _cell(row: Mapping[str, float | None]) -> str:
    if row["estimate"] is None:
        return MISSING
    if row["low"] is None or row["high"] is None:
        return f"{row['estimate']:.2f}"
    return f"{row['estimate']:.2f} ({row['low']:.2f} to {row['high']:.2f})"
