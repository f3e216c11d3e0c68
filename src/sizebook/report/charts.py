"""Charts: one function, one kind; tidy frame in, chart out, nothing read or saved."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Mapping, Sequence
from typing import Literal

import altair as alt
import polars as pl

from sizebook.report.columns import named_plainly
from sizebook.report.theme import treatment_dashes, treatment_scale, treatment_slots

_HEIGHT = 320
_PANEL_PX = 440
_NUMBER = ",.4~r"
_SHAPES = [
    "circle",
    "square",
    "diamond",
    "triangle-up",
    "cross",
    "triangle-down",
    "triangle-left",
    "triangle-right",
]


@named_plainly("x", "series")
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


@named_plainly("category")
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


@named_plainly("category", "part", "value")
def stacked_bars(
    frame: pl.DataFrame,
    *,
    category: str,
    part: str,
    value: str,
    y_title: str,
    category_title: str = "",
    part_title: str = "",
    row_px: int = 38,
) -> alt.Chart:
    """Return a horizontal bar a category, made of its parts, which add up; ``row_px`` high each.

    Without any value the axis goes from 0 to 1 and stays empty.
    """
    parts = _names(frame, part)
    scale = alt.Scale() if frame[value].is_not_null().any() else alt.Scale(domain=[0, 1])
    return (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            x=alt.X(f"sum({value}):Q", title=y_title, scale=scale, axis=alt.Axis(tickCount=8)),
            y=alt.Y(f"{category}:N", title=category_title or None, sort=_names(frame, category)),
            color=alt.Color(
                f"{part}:N", title=part_title, scale=treatment_scale(parts), sort=parts
            ),
            order=alt.Order("part_order:Q"),
            tooltip=[category, part, alt.Tooltip(f"{value}:Q", title=y_title, format=_NUMBER)],
        )
        .transform_calculate(part_order=f"indexof({parts}, datum['{part}'])")
        .properties(width="container", height=40 + row_px * frame[category].n_unique())
    )


@named_plainly("value", "category")
def strips(
    frame: pl.DataFrame,
    *,
    value: str,
    category: str,
    y_title: str,
    category_title: str = "",
) -> alt.Chart:
    """Return one mark a trial by category: what replicates of one treatment look like.

    Without any value the axis goes from 0 to 1 and stays empty.
    """
    scale = alt.Scale(zero=False, nice=True)
    if not frame[value].is_not_null().any():
        scale.domain = [0, 1]
    return (
        alt.Chart(frame)
        .mark_tick(thickness=2.5, height=22)
        .encode(
            x=alt.X(f"{value}:Q", title=y_title, scale=scale),
            y=alt.Y(f"{category}:N", title=category_title or None, sort=_names(frame, category)),
            tooltip=[category, alt.Tooltip(f"{value}:Q", title=y_title, format=_NUMBER),
                     "replicate", "verdict"],
        )
        .properties(width="container", height=40 + 42 * frame[category].n_unique())
    )  # fmt: skip


@named_plainly("value", "category", "series", "low", "high", "label")
def dots(
    frame: pl.DataFrame,
    *,
    value: str,
    category: str,
    x_title: str,
    series: str | None = None,
    low: str | None = None,
    high: str | None = None,
    category_title: str = "",
    series_title: str = "",
    scale: Literal["linear", "log", "symlog"] = "linear",
    ticks: Sequence[float] = (),
    label: str | None = None,
    reference: float | None = None,
) -> alt.Chart | alt.LayerChart:
    """Return a mark for each value, a row a category and series, lines between categories.

    ``low`` and ``high`` are columns of a range, drawn as a rule; ``label`` is a column with what
    stands beside the marks. A logarithmic scale needs values above zero and has a tick a decade;
    ``symlog`` takes zero as well and needs ``ticks``. ``reference`` is where a dashed line stands,
    such as 1 for ratios. Without any value the axis is short and stays empty.
    """
    names = _names(frame, series) if series else []
    categories = _names(frame, category)

    marks = list(ticks) or (_decades(frame[value]) if scale == "log" else [])

    def along(column: str) -> alt.X:
        axis = alt.Axis(values=marks) if marks else alt.Axis(tickCount=6)
        axis.labelExpr, axis.grid = "format(datum.value, ',~r')", True
        axis.labelFlush = False  # else the last label is moved into the one before
        zero = alt.Undefined if scale == "log" else True
        kind = alt.Scale(type=scale, nice=not ticks, zero=zero)
        if not frame[value].is_not_null().any():
            kind.domain = [1, 10] if scale == "log" else [0, 1]
        return alt.X(f"{column}:Q", title=x_title, axis=axis, scale=kind)

    place = alt.Chart(frame).encode(
        y=alt.Y(
            f"{category}:N",
            title=category_title or None,
            sort=categories,
            axis=alt.Axis(
                labelLimit=300, grid=bool(series), tickBand="extent", ticks=False, labelPadding=9
            ),
        ),
        tooltip=[
            *filter(None, (category, series, low, high)),
            alt.Tooltip(f"{value}:Q", title=x_title, format=_NUMBER),
        ],
    )
    drawn = place
    if series:
        place = place.encode(yOffset=alt.YOffset(f"{series}:N", sort=names))
        drawn = place.encode(
            color=alt.Color(
                f"{series}:N", title=series_title or None, sort=names, scale=treatment_scale(names)
            )
        )
    layers: list[alt.Chart] = []
    if reference is not None:
        line = alt.Chart(pl.DataFrame({value: [reference]})).mark_rule(strokeDash=[4, 3])
        layers.append(line.encode(x=along(value)))
    if low and high and frame[low].is_not_null().any():
        layers.append(drawn.mark_rule(strokeWidth=2).encode(x=along(low), x2=f"{high}:Q"))
    mark = drawn.mark_point(filled=True, size=75, opacity=1).encode(x=along(value))
    if series:
        slots = treatment_slots(names)
        mark = mark.encode(
            shape=alt.Shape(
                f"{series}:N",
                title=series_title or None,
                sort=names,
                scale=alt.Scale(domain=names, range=[_SHAPES[slots[name]] for name in names]),
            )
        )
    layers.append(mark)
    if label:
        text = place.mark_text(align="left", dx=9, fontSize=11)
        layers.append(text.encode(x=along(value), text=f"{label}:N"))
    rows = frame.select(filter(None, (category, series))).n_unique()
    height = 20 + 10 * len(categories) + 20 * rows
    return functools.reduce(operator.add, layers).properties(width="container", height=height)


@named_plainly("x", "y", "series")
def lines(
    frame: pl.DataFrame,
    *,
    x: str,
    y: str,
    x_title: str,
    y_title: str,
    series: str | None = None,
    series_title: str = "",
    ordered: bool = False,
) -> alt.Chart:
    """Return a line with a mark a value, one a series; ``x`` is a number, or levels if ordered."""
    kind = "O" if ordered else "Q"
    chart = (
        alt.Chart(frame)
        .mark_line(point=True)
        .encode(
            x=alt.X(f"{x}:{kind}", title=x_title, sort=None, axis=alt.Axis(labelAngle=0)),
            y=alt.Y(f"{y}:Q", title=y_title, scale=alt.Scale(zero=True)),
            tooltip=[*filter(None, (series,)), alt.Tooltip(f"{x}:{kind}", title=x_title),
                     alt.Tooltip(f"{y}:Q", title=y_title, format=_NUMBER)],
        )
    )  # fmt: skip
    if series:
        names = _names(frame, series)
        legend = alt.Legend(symbolType="stroke")
        chart = chart.encode(
            color=alt.Color(f"{series}:N", title=series_title or None, sort=names,
                            scale=treatment_scale(names), legend=legend),
            strokeDash=alt.StrokeDash(f"{series}:N", title=series_title or None, sort=names,
                                      scale=treatment_dashes(names)),
        )  # fmt: skip
    return chart.properties(width="container", height=_HEIGHT)


def panels(
    charts: Mapping[str, alt.Chart | alt.LayerChart],
    *,
    columns: int = 1,
    width_px: int = _PANEL_PX,
    height_px: int | None = None,
    share: Literal["", "x", "y"] = "",
) -> alt.ConcatChart:
    """Return charts of one question beside each other or in rows, each under its title.

    They share colours and, where ``share`` says so, the scale of an axis. Widths are those of the
    drawing areas: what stands beside each other should fit ``chart.WIDTH_PX`` with its labels.
    """
    sized = [
        chart.properties(title=alt.Title(title, fontSize=12, anchor="start"), width=width_px)
        for title, chart in charts.items()
    ]
    if height_px:
        sized = [chart.properties(height=height_px) for chart in sized]
    return alt.concat(*sized, columns=columns).resolve_scale(
        color="shared",
        shape="shared",
        x="shared" if share == "x" else "independent",
        y="shared" if share == "y" else "independent",
    )


def _decades(values: pl.Series) -> list[float]:
    """Return the powers of ten from below the least value above zero to above the greatest."""
    decades = values.filter(values > 0).log10().to_list()
    if not decades:
        return []
    return [10.0**n for n in range(math.floor(min(decades)), math.ceil(max(decades)) + 1)]


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
