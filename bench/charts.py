"""Charts of the instrument's page: tidy frame in, chart out."""

from __future__ import annotations

import altair as alt
import polars as pl

from bench.frames import TRUTHS, WAYS
from sizebook.report.theme import INK, PALETTE

_KINDS = alt.Scale(domain=["ours", "peer"], range=[PALETTE[1], PALETTE[7]])


def ceilings(frame: pl.DataFrame) -> alt.LayerChart:
    """Return a dot a tool with its smallest and largest round, on a logarithmic scale.

    A bar would need a zero, which such a scale does not have.
    """
    tools = frame["tool"].to_list()
    base = alt.Chart(frame).encode(y=alt.Y("tool:N", sort=tools, title=None))
    title = "recorded requests per second and core"
    scale = alt.Scale(type="log", nice=False, padding=24)
    spread = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title=title, scale=scale),
        x2="high:Q",
        color=alt.Color("kind:N", scale=_KINDS, legend=None),
    )
    dots = base.mark_point(filled=True, size=90, opacity=1).encode(
        x=alt.X("median:Q", title=title, scale=scale),
        color=alt.Color("kind:N", scale=_KINDS, legend=None),
        tooltip=["tool", alt.Tooltip("median:Q", title=title, format=",.0f")],
    )
    text = base.mark_text(align="left", dx=10, color=INK).encode(
        x="median:Q", text=alt.Text("median:Q", format=",.0f")
    )
    chart: alt.LayerChart = (spread + dots + text).properties(
        width="container", height=40 + 34 * len(tools)
    )
    return chart


def percentiles(frame: pl.DataFrame) -> alt.LayerChart:
    """Return recorded latency over percentile, a line a tool, and the truth as a wide band.

    ``frame`` is one server at one rate, of ``truth_frame``.
    """
    labels = [f"p{value:g}" for value in sorted(frame["percentile"].unique())]
    rows = frame.with_columns(
        label=pl.format("p{}", pl.col("percentile").cast(pl.String).str.strip_suffix(".0"))
    )
    tools = rows["tool"].unique(maintain_order=True).to_list()
    ours = rows.filter(pl.col("tool") == tools[0])
    x = alt.X("label:N", sort=labels, title="percentile", axis=alt.Axis(labelAngle=0))
    scale = alt.Scale(type="log")
    title = "latency from intended start (ms)"
    truth = (
        alt.Chart(ours)
        .mark_line(strokeWidth=10, opacity=0.35, color=PALETTE[7])
        .encode(x=x, y=alt.Y("truth:Q", title=title, scale=scale))
    )
    lines = (
        alt.Chart(rows)
        .mark_line(point=True)
        .encode(
            x=x,
            y=alt.Y("recorded:Q", title=title, scale=scale),
            color=alt.Color(
                "tool:N",
                title="says",
                sort=tools,
                scale=alt.Scale(domain=tools, range=[PALETTE[1], PALETTE[0], PALETTE[2]]),
                legend=alt.Legend(symbolType="stroke"),
            ),
            tooltip=["tool", "label", alt.Tooltip("recorded:Q", title=title, format=",.2f")],
        )
    )
    chart: alt.LayerChart = (truth + lines).properties(width="container", height=300)
    return chart


def errors(frame: pl.DataFrame) -> alt.LayerChart:
    """Return the errors of our recorded percentiles against each truth, by share of the ceiling.

    In multiples of what is allowed, 1 % or 50 us, whichever is more: the band. ``frame`` is one
    server, our tool, of ``truth_frame``.
    """
    labels = [f"p{value:g}" for value in sorted(frame["percentile"].unique())]
    names = list(TRUTHS.values())
    long = (
        frame.with_columns(
            label=pl.format("p{}", pl.col("percentile").cast(pl.String).str.strip_suffix(".0"))
        )
        .unpivot(
            on=[f"{name}_error" for name in TRUTHS],
            index=["share", "label", "allowed"],
            variable_name="what",
            value_name="error_us",
        )
        .drop_nulls("error_us")
        .with_columns(
            pl.col("what").replace({f"{name}_error": words for name, words in TRUTHS.items()}),
            multiple=pl.col("error_us") / pl.col("allowed"),
            share=pl.col("share").round(0).cast(pl.Int64),
        )
    )
    scale = alt.Scale(type="symlog", constant=1)
    axis = alt.Axis(values=[-100, -10, -1, 0, 1, 10, 100])
    y_title = "recorded less truth, in multiples of what is allowed"
    band = (
        alt.Chart(pl.DataFrame({"low": [-1.0], "high": [1.0]}))
        .mark_rect(color=PALETTE[7], opacity=0.2)
        .encode(y=alt.Y("low:Q", title=y_title, scale=scale, axis=axis), y2="high:Q")
    )
    dots = (
        alt.Chart(long)
        .mark_point(filled=True, size=80, opacity=1)
        .encode(
            x=alt.X("label:N", sort=labels, title="percentile", axis=alt.Axis(labelAngle=0)),
            y=alt.Y("multiple:Q", title=y_title, scale=scale, axis=axis),
            xOffset=alt.XOffset("share:O"),
            shape=alt.Shape("share:N", title="% of the ceiling"),
            color=alt.Color(
                "what:N",
                title="less",
                sort=names,
                scale=alt.Scale(domain=names, range=[PALETTE[7], PALETTE[0], PALETTE[1]]),
            ),
            tooltip=["share", "label", "what", alt.Tooltip("error_us:Q", format="+,.0f")],
        )
    )
    chart: alt.LayerChart = (band + dots).properties(width="container", height=300)
    return chart


def differences(frame: pl.DataFrame) -> alt.LayerChart:
    """Return how far equal stacks differ, a dot a block, in turns and one after the other.

    ``frame`` is that of ``turns_frame``; the line is the truth.
    """
    title = "difference of two equal stacks (%)"
    truth = (
        alt.Chart(pl.DataFrame({"truth": [0.0]}))
        .mark_rule(color=PALETTE[7], strokeWidth=2)
        .encode(x=alt.X("truth:Q", title=title))
    )
    dots = (
        alt.Chart(frame)
        .mark_point(filled=True, size=90, opacity=0.8)
        .encode(
            x=alt.X("difference:Q", title=title),
            y=alt.Y("way:N", sort=list(WAYS), title=None),
            color=alt.Color(
                "way:N",
                legend=None,
                scale=alt.Scale(domain=list(WAYS), range=[PALETTE[1], PALETTE[0]]),
            ),
            tooltip=["block", "way", alt.Tooltip("difference:Q", format="+.1f")],
        )
    )
    chart: alt.LayerChart = (truth + dots).properties(width="container", height=110)
    return chart
