"""Charts: one function, one kind; tidy frame in, chart out, nothing read or saved."""

from __future__ import annotations

import functools
import operator
from collections.abc import Sequence

import altair as alt
import polars as pl

from sizebook.report.theme import treatment_dashes, treatment_scale

_HEIGHT = 320
_NUMBER = ",.4~r"


def curves(
    summary: pl.DataFrame,
    *,
    x: str,
    series: str,
    x_title: str,
    y_title: str,
    series_title: str = "",
    log_y: bool = False,
) -> alt.Chart | alt.LayerChart:
    """Return a line a series over an ordered factor, with 95 % intervals where there are any.

    ``summary`` has the columns ``x``, ``series``, ``mean``, ``low``, ``high``, ``n``.
    """
    names = _names(summary, series)
    scale = alt.Scale(type="log") if log_y else alt.Scale(zero=True)
    base = alt.Chart(summary).encode(
        x=alt.X(f"{x}:O", title=x_title, axis=alt.Axis(labelAngle=0), sort=None),
        color=alt.Color(
            f"{series}:N",
            title=series_title,
            scale=treatment_scale(names),
            sort=names,
            legend=alt.Legend(symbolType="stroke"),
        ),
    )
    y = alt.Y("mean:Q", title=y_title, scale=scale)
    lines = base.mark_line(point=True).encode(
        y=y,
        strokeDash=alt.StrokeDash(
            f"{series}:N", title=series_title, scale=treatment_dashes(names), sort=names
        ),
        tooltip=_tooltip(series, x, x_title, y_title),
    )
    errors = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=1.5)
    layers = [errors.encode(y=alt.Y("low:Q", title=y_title, scale=scale), y2="high:Q"), lines]
    return functools.reduce(operator.add, _drawn(summary, layers)).properties(
        width="container", height=_HEIGHT
    )


def bars(
    summary: pl.DataFrame,
    *,
    category: str,
    y_title: str,
    category_title: str = "",
    order: Sequence[str] | None = None,
) -> alt.Chart | alt.LayerChart:
    """Return a horizontal bar a category with its 95 % interval; colours as in every chart.

    ``summary`` has the columns ``category``, ``mean``, ``low``, ``high``, ``n``.
    """
    names = list(order) if order else _names(summary, category)
    base = alt.Chart(summary).encode(
        y=alt.Y(f"{category}:N", title=category_title or None, sort=names)
    )
    bar = base.mark_bar(height={"band": 0.62}).encode(
        x=alt.X("mean:Q", title=y_title, scale=alt.Scale(zero=True)),
        color=alt.Color(f"{category}:N", scale=treatment_scale(names), legend=None),
        tooltip=_tooltip(category, None, "", y_title),
    )
    errors = base.transform_filter("isValid(datum.low)").mark_rule(strokeWidth=2)
    layers = [errors.encode(x=alt.X("low:Q", title=y_title), x2="high:Q"), bar]
    return functools.reduce(operator.add, reversed(_drawn(summary, layers))).properties(
        width="container", height=40 + 38 * len(names)
    )


def stacked_bars(
    frame: pl.DataFrame,
    *,
    category: str,
    part: str,
    value: str,
    y_title: str,
    category_title: str = "",
    part_title: str = "",
) -> alt.Chart:
    """Return a horizontal bar a category, made of its parts, which add up."""
    parts = _names(frame, part)
    return (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=alt.X(f"sum({value}):Q", title=y_title),
            y=alt.Y(f"{category}:N", title=category_title or None, sort=_names(frame, category)),
            color=alt.Color(
                f"{part}:N", title=part_title, scale=treatment_scale(parts), sort=parts
            ),
            order=alt.Order("part_order:Q"),
            tooltip=[category, part, alt.Tooltip(f"{value}:Q", title=y_title, format=_NUMBER)],
        )
        .transform_calculate(part_order=f"indexof({parts}, datum['{part}'])")
        .properties(width="container", height=40 + 38 * frame[category].n_unique())
    )


def strips(
    frame: pl.DataFrame,
    *,
    value: str,
    category: str,
    y_title: str,
    category_title: str = "",
) -> alt.Chart:
    """Return one mark a trial by category: what replicates of one treatment look like."""
    return (
        alt.Chart(frame)
        .mark_tick(thickness=2.5, height=22)
        .encode(
            x=alt.X(f"{value}:Q", title=y_title, scale=alt.Scale(zero=False, nice=True)),
            y=alt.Y(f"{category}:N", title=category_title or None, sort=_names(frame, category)),
            tooltip=[category, alt.Tooltip(f"{value}:Q", title=y_title, format=_NUMBER),
                     "replicate", "verdict"],
        )
        .properties(width="container", height=40 + 42 * frame[category].n_unique())
    )  # fmt: skip


def _drawn(summary: pl.DataFrame, layers: list[alt.Chart]) -> list[alt.Chart]:
    """Return the layers, without the first one (the intervals) where there is no interval."""
    return layers if summary["low"].is_not_null().any() else layers[1:]


def _names(frame: pl.DataFrame, column: str) -> list[str]:
    return [str(name) for name in frame[column].unique(maintain_order=True)]


def _tooltip(series: str, x: str | None, x_title: str, y_title: str) -> list[alt.Tooltip]:
    first = [alt.Tooltip(f"{series}:N", title="treatment")]
    if x is not None:
        first.append(alt.Tooltip(f"{x}:O", title=x_title))
    return [
        *first,
        alt.Tooltip("mean:Q", title=y_title, format=_NUMBER),
        alt.Tooltip("low:Q", title="95 % from", format=_NUMBER),
        alt.Tooltip("high:Q", title="to", format=_NUMBER),
        alt.Tooltip("n:Q", title="replicates"),
    ]
