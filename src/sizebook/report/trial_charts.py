"""The charts of a trial's page, as Vega-Lite specifications that hold their data.

They are written by hand instead of through Altair, which checks each chart for tens of
milliseconds: a book has thousands of pages. The theme is given once a page: :func:`page_config`.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from sizebook.probes.registry import COUNTERS
from sizebook.report.theme import PALETTE, sizebook_theme, treatment_slots
from sizebook.report.trial_counters import Counters, Drawn, Point
from sizebook.report.trial_frame import Frame
from sizebook.report.trial_windows import Course, Distribution

_SMALL_PX = 96
_LARGE_PX = 170
_AXIS_PX = 46
_LEFT_OUT = "left out"
_SHADES = {
    "ramp": "#7a5fb024",
    "warm-up": "#a87b0024",
    "between": "#7c7c7c14",
    "measured": "#0072b20c",
    "drain": "#7c7c7c28",
    _LEFT_OUT: "#d55e0029",
}
"""Colour of each phase's background, the last two digits its opacity."""
_FAILED = "#d55e00"
_PREFIXES = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))

Spec = dict[str, Any]


@dataclass(frozen=True)
class TrialChart:
    """One chart of a trial's page."""

    title: str
    alt: str
    spec: Spec
    note: str = ""
    about: str = ""
    """What its counters mean, by the registry."""


def page_config() -> Spec:
    """Return the configuration that all charts of a page share: the book's theme, small."""
    config: Spec = dict(sizebook_theme()["config"])
    config["axis"] = config["axis"] | {
        "labelFontSize": 11, "titleFontSize": 11, "titlePadding": 6, "tickCount": 4,
    }  # fmt: skip
    config["legend"] = config["legend"] | {
        "labelFontSize": 11, "title": None, "symbolSize": 60, "rowPadding": 1, "columnPadding": 8,
        "offset": 4, "labelLimit": 170,
    }  # fmt: skip
    config["line"] = {"strokeWidth": 1.6}
    config["point"] = {"filled": True, "size": 14}
    config["padding"] = {"left": 2, "right": 6, "top": 4, "bottom": 2}
    return config


def course_charts(course: Course, frame: Frame) -> list[TrialChart]:
    """Return requests per second, latency and, where there were any, failures over time."""
    windows = course.windows
    charts = [
        _over_time(
            frame,
            {"": _steps(windows, "per_s", course.width_s)},
            f"Requests {course.counted} per second, by windows of {course.width_s:g} s",
            unit="req/s",
            height=_LARGE_PX,
            phases_named=True,
        ),
        _latency(course, frame),
    ]
    if windows["failed_per_s"].sum():
        failed = {"": _steps(windows, "failed_per_s", course.width_s)}
        title = "Failed requests per second"
        charts.append(_over_time(frame, failed, title, unit="req/s", colours=[_FAILED]))
    return charts


def distribution_chart(found: Distribution) -> TrialChart:
    """Return latency at percentiles, as far as the number of requests supports them."""
    points = found.points
    columns = {"from the intended start": "latency_ms"}
    if points["service_ms"].count():
        columns["from the actual start"] = "service_ms"
    rows = [
        (number, row["inverse"], row[column])
        for number, column in enumerate(columns.values())
        for row in points.iter_rows(named=True)
    ]
    values = [float(value) for _, _, value in rows if value]
    log = bool(values) and max(values) > 20 * min(values)
    most = float(points["inverse"][-1])
    ticks = [t for t in (1, 2, 10, 100, 1000, 10_000, 100_000, 1_000_000) if t <= most]
    label = "format(100 - 100 / datum.value, '.6~r') + '\\u2009%'"
    x: Spec = {
        "field": "t", "type": "quantitative", "title": "percentile",
        "scale": {"type": "log", "domain": [1, most], "nice": False},
        "axis": {"values": ticks, "labelExpr": label, "labelOverlap": False, "grid": True},
    }  # fmt: skip
    y = _value_axis("ms", _log_ticks(values) if log else ())
    spec = _sized(_LARGE_PX + 40) | {
        "data": _csv(rows),
        "transform": [_named(columns), {"calculate": "100 - 100 / datum.t", "as": "p"}],
        "mark": {"type": "line", "clip": True},
        "encoding": {
            "x": x,
            "y": y,
            "color": _colour(list(columns), [PALETTE[0], PALETTE[5]]),
            "tooltip": [
                {"field": "p", "title": "percentile", "format": ".6~r", "type": "quantitative"},
                {"field": "v", "title": "ms", "format": ".4~r", "type": "quantitative"},
            ],
        },
    }
    if len(columns) > 1:
        spec["encoding"]["color"]["legend"]["columns"] = len(columns)
    title = f"Latency at percentiles, {found.n:,} good requests"
    worst = float(points["latency_ms"][-1])
    alt = f"{title}; {worst:.4g} ms at the highest, {found.highest:.6g} %"
    return TrialChart(title, alt, spec)


def counter_charts(counters: Counters, frame: Frame) -> dict[str, list[TrialChart]]:
    """Return the small charts of each group of counters."""
    return {
        group: [_counter_chart(drawn, frame) for drawn in panels]
        for group, panels in counters.groups.items()
    }


def _counter_chart(drawn: Drawn, frame: Frame) -> TrialChart:
    factor, unit = _prefixed(drawn)
    steps = not drawn.panel.terms[0].value
    series = {
        name: [(t, None if v is None else v * factor) for t, v in points]
        for name, points in drawn.series.items()
    }
    note = next(iter(series)) if len(series) == 1 else ""
    if drawn.left_out:
        note = f"the {len(series)} highest of {len(series) + drawn.left_out}"
    chart = _over_time(
        frame,
        {name: _closed(points) if steps else points for name, points in series.items()},
        drawn.panel.title,
        unit=unit,
        note=note,
        steps=steps,
        colours=_colours(list(series)),
    )
    names = dict.fromkeys(name for term in drawn.panel.terms for name in term.metrics)
    meanings = [f"{name}: {COUNTERS[name].meaning}" for name in names if name in COUNTERS]
    return dataclasses.replace(chart, about="\n".join(meanings))


def _latency(course: Course, frame: Frame) -> TrialChart:
    if course.single.height:
        return _single(course, frame)
    middle = course.width_s / 2
    series = {"median": _points(course.windows, "median_ms", middle)}
    title = "Median latency of requests due in each window"
    if course.upper is not None:
        title = f"Latency of requests due in each window: median and {course.upper:g} %"
        series[f"{course.upper:g} %"] = _points(course.windows, "upper_ms", middle)
    values = [v for points in series.values() for _, v in points if v]
    log = _log_ticks(values) if values and max(values) > 50 * min(values) else ()
    return _over_time(
        frame, series, title, unit="ms", height=_LARGE_PX, log=log, steps=False,
        colours=[PALETTE[0], PALETTE[5]],
    )  # fmt: skip


def _single(course: Course, frame: Frame) -> TrialChart:
    words = ["answered", "failed"]
    rows = [(int(failed), t, latency) for t, latency, failed in course.single.iter_rows()]
    chart = _over_time(
        frame, {}, "Latency of each request", unit="ms", height=_LARGE_PX, steps=False
    )
    chart.spec["layer"].append(
        {
            "data": _csv(rows),
            "transform": [_named(words)],
            "mark": {"type": "point", "clip": True, "opacity": 0.6},
            "encoding": _encoding(frame, "ms")
            | {"color": _colour(words, [PALETTE[0], _FAILED]), "tooltip": _tooltip("ms", True)},
        }
    )
    return TrialChart(chart.title, f"{len(rows)} requests, each a point", chart.spec)


def _over_time(
    frame: Frame,
    series: Mapping[str, Sequence[Point]],
    title: str,
    *,
    unit: str,
    height: int = _SMALL_PX,
    note: str = "",
    steps: bool = True,
    log: Sequence[float] = (),
    phases_named: bool = False,
    colours: Sequence[str] = (),
) -> TrialChart:
    names = list(series)
    rows = [(n, t, v) for n, points in enumerate(series.values()) for t, v in points]
    encoding = _encoding(frame, unit, log)
    many = len(names) > 1
    layers = [_shades(frame, named=phases_named)]
    if any(v is not None and math.isfinite(v) for _, _, v in rows):
        line: Spec = {
            "data": _csv(rows),
            "mark": {"type": "line", "clip": True, "interpolate": "step-after"}
            if steps
            else {"type": "line", "clip": True, "point": len(rows) <= 60},
            "encoding": encoding | {"tooltip": _tooltip(unit, many)},
        }
        if many:
            line["transform"] = [_named(names)]
            line["encoding"]["color"] = _colour(names, colours or _colours(names))
        else:
            line["mark"]["color"] = (colours or _colours(names))[0]
        layers.append(line)
    if frame.crop_s is not None and frame.begin_s <= frame.crop_s <= frame.end_s:
        layers.append(_crop(frame))
    spec = _sized(height) | {"layer": layers, "resolve": {"scale": {"color": "independent"}}}
    return TrialChart(title, _describe(series, unit), spec, note)


def _shades(frame: Frame, *, named: bool) -> Spec:
    rows = [{"phase": name, "a": _round(a), "b": _round(b)} for name, a, b in frame.phases]
    measured = next(((a, b) for name, a, b in frame.phases if name == "measured"), None)
    if frame.crop_s is not None and measured and frame.crop_s > measured[0]:
        end = min(frame.crop_s, measured[1])
        rows.append({"phase": _LEFT_OUT, "a": _round(measured[0]), "b": _round(end)})
    present = [name for name in _SHADES if any(row["phase"] == name for row in rows)]
    legend = {"symbolType": "square", "symbolSize": 110, "symbolStrokeWidth": 0}
    return {
        "data": {"values": rows},
        "mark": {"type": "rect", "clip": True},
        "encoding": {
            "x": _time_axis(frame) | {"field": "a"},
            "x2": {"field": "b"},
            "color": {
                "field": "phase", "type": "nominal", "legend": legend if named else None,
                "scale": {"domain": present, "range": [_SHADES[name] for name in present]},
            },
        },
    }  # fmt: skip


def _crop(frame: Frame) -> Spec:
    return {
        "data": {"values": [{"t": _round(frame.crop_s or 0.0)}]},
        "mark": {
            "type": "rule",
            "clip": True,
            "color": _FAILED,
            "strokeDash": [5, 3],
            "strokeWidth": 1.5,
        },
        "encoding": {"x": _time_axis(frame) | {"field": "t"}},
    }


def _encoding(frame: Frame, unit: str, log: Sequence[float] = ()) -> Spec:
    return {"x": _time_axis(frame), "y": _value_axis(unit, log)}


def _value_axis(unit: str, log: Sequence[float]) -> Spec:
    """Return the axis of values; ticks given for it make it logarithmic."""
    axis: Spec = {"minExtent": _AXIS_PX, "format": ".4~r" if unit else "~s"}
    scale: Spec = {"zero": True, "nice": True}
    if log:
        axis |= {"values": list(log), "labelOverlap": False}
        scale = {"type": "log", "domain": [log[0], log[-1]]}
    shown = {"field": "v", "type": "quantitative", "title": unit or "number"}
    return shown | {"scale": scale, "axis": axis}


def _log_ticks(values: Sequence[float]) -> list[float]:
    """Return 1, 2, 5, 10, … around the values, every second or third where they span much."""
    first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    steps = (1, 2, 5) if last - first <= 2 else (1, 3) if last - first <= 3 else (1,)
    ticks = [step * 10.0**power for power in range(first, last) for step in steps] + [10.0**last]
    low = max(tick for tick in ticks if tick <= min(values))
    high = min(tick for tick in ticks if tick >= max(values))
    return [float(f"{tick:.6g}") for tick in ticks if low <= tick <= high]


def _time_axis(frame: Frame) -> Spec:
    domain = [_round(frame.begin_s), _round(frame.end_s)]
    return {
        "field": "t", "type": "quantitative", "title": None,
        "scale": {"domain": domain, "nice": False},
        "axis": {"labelExpr": "datum.label + '\\u2009s'"},
    }  # fmt: skip


def _sized(height: int) -> Spec:
    fit = {"type": "fit-x", "contains": "padding"}
    return {"width": "container", "height": height, "autosize": fit}


def _csv(rows: Iterable[tuple[int, float, float | None]]) -> Spec:
    """Return inline data ``c,t,v``: a third of the size of JSON; an empty value is a gap."""
    lines = ["c,t,v"]
    lines += [
        f"{c},{_round(t):g},{'' if v is None or not math.isfinite(v) else f'{v:.4g}'}"
        for c, t, v in rows
    ]
    kinds = {"c": "number", "t": "number", "v": "number"}
    return {"values": "\n".join(lines), "format": {"type": "csv", "parse": kinds}}


def _named(names: Iterable[str]) -> Spec:
    """Return the transform that gives each series its name: as data, never as an expression."""
    rows = [{"c": number, "s": name} for number, name in enumerate(names)]
    return {"lookup": "c", "from": {"data": {"values": rows}, "key": "c", "fields": ["s"]}}


def _colour(names: Sequence[str], colours: Sequence[str]) -> Spec:
    fitting = int(290 // (24 + 6.3 * max(map(len, names), default=0)))
    legend = {"symbolType": "stroke", "columns": max(1, fitting)} if len(names) > 1 else None
    scale = {"domain": list(names), "range": list(colours)}
    return {"field": "s", "type": "nominal", "scale": scale, "legend": legend}


def _colours(names: Sequence[str]) -> list[str]:
    """Return a role's own colour where all names are roles, else the palette in its order."""
    roles = [name.partition("-")[0] for name in names]
    known = ("app", "database", "backend", "generator")
    if names and len(set(roles)) == len(roles) and all(role in known for role in roles):
        slots = treatment_slots(roles)
        return [PALETTE[slots[role]] for role in roles]
    return [PALETTE[number % len(PALETTE)] for number in range(max(1, len(names)))]


def _tooltip(unit: str, many: bool) -> list[Spec]:
    shown: list[Spec] = [{"field": "s", "title": "series", "type": "nominal"}] if many else []
    shown.append({"field": "t", "title": "at (s)", "format": ".4~r", "type": "quantitative"})
    shown.append({"field": "v", "title": unit or "is", "format": ".4~r", "type": "quantitative"})
    return shown


def _steps(frame: pl.DataFrame, column: str, width_s: float) -> list[Point]:
    points: list[Point] = [(float(t), v) for t, v in frame.select("t_s", column).iter_rows()]
    return [*points, (points[-1][0] + width_s, points[-1][1])] if points else []


def _points(frame: pl.DataFrame, column: str, shift_s: float) -> list[Point]:
    return [(float(t) + shift_s, v) for t, v in frame.select("t_s", column).iter_rows()]


def _closed(points: Sequence[Point]) -> list[Point]:
    """Return steps that reach up to each gap: a line to a missing point is not drawn at all."""
    closed: list[Point] = []
    for t, value in points:
        if value is None and closed and closed[-1][1] is not None:
            closed.append((t, closed[-1][1]))
        closed.append((t, value))
    return closed


def _prefixed(drawn: Drawn) -> tuple[float, str]:
    """Return the factor and unit that keep a panel's numbers short: bytes become MB."""
    unit = drawn.panel.unit
    if not unit.startswith("B"):
        return 1.0, unit
    values = [v for points in drawn.series.values() for _, v in points if v]
    most = max(values, default=0.0)
    for size, prefix in _PREFIXES:
        if most >= size:
            return 1 / size, prefix + unit
    return 1.0, unit


def _describe(series: Mapping[str, Sequence[Point]], unit: str) -> str:
    """Return what the lines show, in words, for readers who cannot see them."""
    parts = []
    for name, points in series.items():
        values = [v for _, v in points if v is not None]
        if values:
            extent = f"{min(values):.3g} to {max(values):.3g} {unit}".strip()
            parts.append(f"{name} {extent}".strip())
    return "Over the trial: " + "; ".join(parts) if parts else "No values"


def _round(t: float) -> float:
    return round(t, 3)
