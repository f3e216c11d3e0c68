"""Charts and tables of GC logs, as the tool of the 2011 lab drew them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import altair as alt
import polars as pl

from sizebook.gclog import GcLog, GcSummary
from sizebook.gclog.course import heap_course, overhead_course
from sizebook.report.tables import MISSING
from sizebook.report.theme import DOUBT, treatment_scale

if TYPE_CHECKING:
    pass

MIB = 1 << 20
_PANEL_PX = 200
_WIDTH_PX = 620
_MOST_PAUSES = 2000
_HEAP = {"used": "used_bytes", "free": "free_bytes", "total": "total_bytes"}
_WHOLE = ("full", "degenerated")
_SECONDS = "time since the JVM's start (s)"


def heap_chart(log: GcLog) -> alt.LayerChart | alt.FacetChart:
    """Return used, free and total heap over time, before and after each collection.

    A point marks what a collection of the whole heap left in use.
    """
    course = heap_course(log)
    long = pl.concat(
        course.select("t_s", "kind", "edge", what=pl.lit(what), mib=pl.col(column) / MIB)
        for what, column in _HEAP.items()
    ).drop_nulls(["mib", "t_s"])
    scale = treatment_scale(list(_HEAP))
    color = alt.Color(
        "what:N", title=None, sort=list(_HEAP), scale=scale, legend=alt.Legend(symbolType="stroke")
    )
    y = alt.Y("mib:Q", title="heap (MiB)", scale=_from_zero(long))
    lines = alt.Chart(long).mark_line(strokeWidth=1.5).encode(x=_time(log), y=y, color=color)
    whole = long.filter(
        pl.col("what") == "used", pl.col("edge") == "after", pl.col("kind").is_in(_WHOLE)
    )
    points = alt.Chart(whole).mark_point(size=40, filled=True).encode(
        x=_time(log), y=y, color=color,
        tooltip=[alt.Tooltip("t_s:Q", title="at (s)", format=",.3f"), "kind",
                 alt.Tooltip("mib:Q", title="in use after (MiB)", format=",.1f")],
    )  # fmt: skip
    return alt.layer(lines, points).properties(width="container", height=_PANEL_PX)


def overhead_chart(log: GcLog, windows: int = 60) -> alt.Chart:
    """Return the share of time in pauses, in equal windows."""
    course = overhead_course(log, windows).with_columns(
        percent=pl.col("overhead_share") * 100, end_s=pl.col("t_s") + pl.col("width_s")
    )
    return (
        alt.Chart(course)
        .mark_bar(cornerRadiusEnd=0)
        .encode(
            x=_time(log, bin="binned"),
            x2="end_s:Q",
            y=alt.Y("percent:Q", title="time in pauses (%)", scale=_from_zero(course)),
            tooltip=[
                alt.Tooltip("t_s:Q", title="from (s)", format=",.3f"),
                alt.Tooltip("percent:Q", title="in pauses (%)", format=".2f"),
            ],
        )
        .properties(width="container", height=_PANEL_PX // 2)
    )


def pauses_chart(log: GcLog) -> alt.LayerChart | alt.FacetChart:
    """Return each pause by its kind of collection; the longest one is named.

    Of many pauses the longest are shown.
    """
    kinds = log.collections.select("run", "id", "kind")
    rows = (
        log.pauses.join(kinds, on=["run", "id"], how="left", maintain_order="left")
        .sort("pause_ns", descending=True, maintain_order=True)
        .head(_MOST_PAUSES)
        .select(
            t_s="begin_s",
            kind=pl.col("kind").fill_null("not ended"),
            name="name",
            ms=pl.col("pause_ns") / 1e6,
        )
        .drop_nulls("t_s")
    )
    names = sorted(set(rows["kind"]))
    decades = _decades(rows["ms"])
    y = alt.Y("ms:Q", title="pause (ms)", scale=_from_zero(rows))
    if decades:
        scale = alt.Scale(type="log", domain=[decades[0], decades[-1]])
        axis = alt.Axis(values=decades, labelExpr="format(datum.value, '~r')")
        y = alt.Y("ms:Q", title="pause (ms)", scale=scale, axis=axis)
    base = alt.Chart(rows.filter(pl.col("ms") > 0) if decades else rows)
    points = base.mark_point(filled=True, size=22, opacity=0.8).encode(
        x=_time(log),
        y=y,
        color=alt.Color(
            "kind:N",
            title=None,
            sort=names,
            scale=treatment_scale(names),
            legend=alt.Legend() if names else None,
        ),
        tooltip=[
            alt.Tooltip("t_s:Q", title="at (s)", format=",.3f"),
            "kind",
            "name",
            alt.Tooltip("ms:Q", title="pause (ms)", format=",.3f"),
        ],
    )
    longest = rows.head(1).with_columns(
        label=pl.Series([f"{ms:.3g} ms" for ms in rows["ms"].head(1)], dtype=pl.String)
    )
    mark = alt.Chart(longest).encode(x=_time(log), y=y)
    ring = mark.mark_point(size=110, filled=False, color=DOUBT, strokeWidth=2)
    late = rows.height > 0 and _is_late(log, longest)
    text = mark.mark_text(
        align="right" if late else "left", dx=-9 if late else 9, color=DOUBT, fontWeight=600
    ).encode(text="label:N")
    return alt.layer(points, ring, text).properties(width="container", height=_PANEL_PX)


def gc_chart(log: GcLog) -> alt.VConcatChart:
    """Return heap, overhead and pauses of a log one below the other, over one axis of time."""
    return (
        alt.vconcat(*(chart(log).properties(width=_WIDTH_PX) for chart in _PANELS), spacing=14)
        .resolve_scale(x="shared", color="independent")
        .properties(title="")
    )


_PANELS = (heap_chart, overhead_chart, pauses_chart)


def summary_rows(summary: GcSummary) -> list[tuple[str, str]]:
    """Return the counters of a log as they are printed: what, and how much with its unit."""
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in summary.by_kind.items())
    longest = _ms(summary.longest_pause_ns)
    if summary.longest_pause_at_s is not None:
        longest += f" at {summary.longest_pause_at_s:,.3f} s"
    live = _mib(summary.live_bytes)
    if summary.live_bytes is not None:
        bound = "at most " if summary.live_from == "young" else ""
        live = f"{bound}{live} (after {_LIVE[summary.live_from]})"
    rate = summary.allocated_per_s
    return [
        ("collector", _collector(summary)),
        ("window", MISSING if summary.window_s is None else f"{summary.window_s:,.3f} s"),
        ("collections", f"{summary.collections:,}" + (f": {kinds}" if kinds else "")),
        ("allocation failures", f"{summary.allocation_failures:,}"),
        ("explicit collections", f"{summary.explicit_collections:,}"),
        ("overhead (time in pauses)", _percent(summary.overhead_share)),
        ("longest pause", longest),
        ("mean pause", _ms(summary.mean_pause_ns)),
        ("total of pauses", _ms(summary.pause_ns)),
        ("time collecting beside the application", _percent(summary.concurrent_share)),
        ("all threads stopped, whatever for", _percent(summary.stopped_share)),
        ("no room in time (stalls)", f"{summary.stalls:,}"),
        ("no room to move objects to", f"{summary.evacuation_failures:,}"),
        ("heap exhaustions", f"{summary.heap_exhaustions:,}"),
        ("largest request that failed at first", _mib(summary.largest_request_bytes)),
        ("allocation rate", MISSING if rate is None else f"{rate / MIB:,.1f} MiB/s"),
        ("live", live),
        ("peak used", _mib(summary.peak_used_bytes)),
        ("heap", _mib(summary.heap_bytes)),
    ]


def run_row(summary: GcSummary) -> dict[str, str]:
    """Return the main counters of one run among several, by the heading of each."""
    rows = dict(summary_rows(summary))
    columns = {
        "collector": "collector", "window": "window", "collections": "collections",
        "time in pauses": "overhead (time in pauses)", "longest pause": "longest pause",
        "live": "live", "heap": "heap",
    }  # fmt: skip
    return {heading: rows[what] for heading, what in columns.items()}


_LIVE = {"full": "full collections", "marking": "marking", "mixed": "mixed collections",
         "cycle": "a cycle", "young": "young collections", "": ""}  # fmt: skip


def _time(log: GcLog, **options: Any) -> alt.X:
    first, last = log.first_s or 0.0, log.last_s or 0.0
    domain = [first, last if last > first else first + 1.0]
    return alt.X("t_s:Q", title=_SECONDS, scale=alt.Scale(domain=domain, nice=False), **options)


def _from_zero(rows: pl.DataFrame) -> alt.Scale:
    """Return a scale from 0; an axis without any value would have no end."""
    return alt.Scale(zero=True) if rows.height else alt.Scale(domain=[0, 1])


def _decades(values: pl.Series) -> list[float]:
    """Return the powers of ten around values that want a logarithmic axis; else none."""
    low, high = values.filter(values > 0).min(), values.max()
    if not isinstance(low, float) or not isinstance(high, float) or high <= 50 * low:
        return []
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    return [float(f"1e{power}") for power in range(first, last + 1)]


def _is_late(log: GcLog, longest: pl.DataFrame) -> bool:
    at, first, last = longest["t_s"][0], log.first_s, log.last_s
    return None not in (at, first, last) and at > (first or 0.0) + 0.8 * (
        (last or 0.0) - (first or 0.0)
    )


def _collector(summary: GcSummary) -> str:
    facts = summary.facts
    generational = facts.collector in ("ZGC", "Shenandoah") and facts.is_generational
    parts = [facts.collector or MISSING, "generational" if generational else "", facts.version]
    return ", ".join(part for part in parts if part)


def _percent(share: float | None) -> str:
    return MISSING if share is None else f"{share:.2%}"


def _ms(ns: float | None) -> str:
    return MISSING if ns is None else f"{ns / 1e6:,.3f} ms"


def _mib(size: int | None) -> str:
    return MISSING if size is None else f"{size / MIB:,.1f} MiB"
