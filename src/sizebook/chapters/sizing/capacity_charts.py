"""Charts of capacity models: what was measured as points, what a model says as lines."""

from __future__ import annotations

from typing import Literal

import altair as alt
import polars as pl

from sizebook.report.columns import named_plainly
from sizebook.report.theme import treatment_dashes, treatment_scale

_HEIGHT = 300
_NUMBER = ",.3~g"


@named_plainly("x", "y", "series", "band")
def points_and_curves(
    points: pl.DataFrame,
    drawn: pl.DataFrame,
    *,
    x: str,
    y: str,
    series: str,
    x_title: str,
    y_title: str,
    series_title: str = "",
    y_scale: Literal["linear", "log"] = "linear",
    band: tuple[str, str] | None = None,
) -> alt.LayerChart:
    """Return points of trials and curves of a model; both have columns ``x``, ``y``, ``series``.

    ``band``: columns of ``drawn`` with the ends of the prediction interval.
    """
    names = [str(name) for name in drawn[series].unique(maintain_order=True)]
    names += [str(n) for n in points[series].unique(maintain_order=True) if str(n) not in names]
    scale = alt.Scale(type=y_scale, zero=y_scale == "linear")
    color = alt.Color(f"{series}:N", title=series_title, scale=treatment_scale(names), sort=names)
    along = alt.X(f"{x}:Q", title=x_title)
    dash = alt.StrokeDash(
        f"{series}:N", title=series_title, scale=treatment_dashes(names), sort=names
    )
    line = (
        alt.Chart(drawn)
        .mark_line(strokeWidth=2)
        .encode(
            x=along, y=alt.Y(f"{y}:Q", title=y_title, scale=scale), color=color, strokeDash=dash
        )
    )
    mark = (
        alt.Chart(points)
        .mark_point(filled=True, size=40, opacity=0.85)
        .encode(
            x=along,
            y=alt.Y(f"{y}:Q", title=y_title, scale=scale),
            color=color,
            tooltip=[
                alt.Tooltip(f"{series}:N", title=series_title or series),
                alt.Tooltip(f"{x}:Q", title=x_title, format=_NUMBER),
                alt.Tooltip(f"{y}:Q", title=y_title, format=_NUMBER),
            ],
        )
    )
    layers = [line, mark]
    if band is not None:
        area = (
            alt.Chart(drawn)
            .mark_area(opacity=0.15)
            .encode(
                x=along,
                y=alt.Y(f"{band[0]}:Q", title=y_title, scale=scale),
                y2=f"{band[1]}:Q",
                color=color,
            )
        )
        layers.insert(0, area)
    return alt.LayerChart(layer=layers).properties(width="container", height=_HEIGHT)


@named_plainly("series")
def against(
    frame: pl.DataFrame, *, series: str, title: str, series_title: str = "", factor: float = 1.0
) -> alt.LayerChart:
    """Return what was predicted against what was measured, both on logarithmic axes.

    ``frame`` has the columns ``predicted``, ``measured``, ``series``. On the line both agree; the
    dashed lines are ``factor`` times more and less.
    """
    names = [str(name) for name in frame[series].unique(maintain_order=True)]
    ends = [
        value
        for name in ("predicted", "measured")
        for value in (frame[name].min(), frame[name].max())
    ]
    known = [float(value) for value in ends if isinstance(value, int | float)]
    low, high = (min(known), max(known)) if known else (1.0, 10.0)
    rays = pl.DataFrame(
        [
            {"of": name, "predicted": at, "measured": at * times}
            for name, times in (("same", 1.0), ("more", factor), ("less", 1 / factor))
            for at in (low, high)
        ]
    )
    scale = alt.Scale(type="log", domain=[low / 1.2, high * 1.2], nice=False, clamp=True)
    x = alt.X("predicted:Q", title=f"predicted {title}", scale=scale)
    y = alt.Y("measured:Q", title=f"measured {title}", scale=scale)
    guide = (
        alt.Chart(rays)
        .mark_line(color="#808890", strokeWidth=1.5)
        .encode(
            x=x,
            y=y,
            detail="of:N",
            strokeDash=alt.condition("datum.of == 'same'", alt.value([1, 0]), alt.value([4, 3])),
        )
    )
    mark = (
        alt.Chart(frame)
        .mark_point(filled=True, size=55, opacity=0.85)
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                f"{series}:N", title=series_title, scale=treatment_scale(names), sort=names
            ),
            tooltip=[
                alt.Tooltip(f"{series}:N", title=series_title or series),
                alt.Tooltip("predicted:Q", format=_NUMBER),
                alt.Tooltip("measured:Q", format=_NUMBER),
            ],
        )
    )
    return alt.LayerChart(layer=[guide, mark]).properties(width="container", height=_HEIGHT + 40)
