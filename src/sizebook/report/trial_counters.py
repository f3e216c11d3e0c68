"""What the probes read during one trial, as series over time ready to be drawn."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sizebook.report.trial_frame import Span
from sizebook.report.trial_panels import PANELS, Panel, Term
from sizebook.store import Bundle
from sizebook.store.readings import TimeSeries

Point = tuple[float, float | None]
"""Seconds since the trial's begin, and a value; None where the line breaks."""
MOST_SERIES = 8
MOST_POINTS = 300
_MOST_POINTS_OF_A_TRIAL = 9000
_GAP = 1.75
"""Times the usual distance between readings: from here on one is missing."""
_CLOSE = 0.5
"""Times the usual distance: readings closer than this make no rate of their own."""


@dataclass(frozen=True)
class Drawn:
    """A panel with the data of one trial."""

    panel: Panel
    series: Mapping[str, Sequence[Point]]
    """At most MOST_SERIES, those with the highest means."""
    left_out: int = 0
    """Series beyond them."""


@dataclass(frozen=True)
class Counters:
    """A trial's panels by group, and the titles of those whose readings were all zero."""

    groups: Mapping[str, Sequence[Drawn]]
    zero: Sequence[str] = ()


class _Clock:
    """When readings came, in seconds since a trial began; those read together share their times."""

    def __init__(self, begin_ns: int, interval_s: float) -> None:
        self._begin_ns = begin_ns
        self._interval_s = interval_s
        self._known: dict[int, tuple[NDArray[np.int64], _Times]] = {}

    def times(self, series: TimeSeries) -> _Times:
        """Return the times of a series."""
        key = id(series.times_ns)
        if key not in self._known:  # the array is kept, so that no other one has its number
            times_s = ((series.times_ns - self._begin_ns) / 1e9).tolist()
            self._known[key] = series.times_ns, _Times(times_s, self._interval_s)
        return self._known[key][1]


class _Times:
    """The times of a series, and what is usual among them."""

    def __init__(self, times_s: list[float], interval_s: float) -> None:
        self.seconds = times_s
        self._usual_s = _usual(times_s, interval_s)
        self.longest_s = self._usual_s * _GAP
        """Distance beyond which a reading is missing."""

    @cached_property
    def spread(self) -> list[int]:
        """Places of the readings without those that follow another too soon; the last stays."""
        least_s, times = self._usual_s * _CLOSE, self.seconds
        kept: list[int] = []
        for place, t in enumerate(times):
            if not kept or t - times[kept[-1]] >= least_s:
                kept.append(place)
        if kept and times[-1] > times[kept[-1]]:
            kept = [*(kept[:-1] if len(kept) > 1 else kept), len(times) - 1]
        return kept


def draw_counters(bundle: Bundle, readings: Iterable[TimeSeries], span: Span) -> Counters:
    """Return the panels of a trial from its readings.

    A missing reading, and a counter that fell, break the line; nothing is filled in. Series of
    more than MOST_POINTS readings are thinned: gauges to means of neighbours, counters to rates
    over several readings.
    """
    clock = _Clock(span.begin_ns, bundle.record.trial.probe_interval_s)
    raw = _gather(readings)
    single = _nodes_without_number(raw)
    found: dict[str, list[tuple[Panel, dict[str, list[Point]]]]] = {}
    zero: list[str] = []
    for group, panels in PANELS.items():
        for panel in panels:
            series = _panel_series(panel, raw, clock, single)
            if not series:
                continue
            if all(not value for points in series.values() for _, value in points):
                zero.append(panel.title[0].lower() + panel.title[1:])
                continue
            found.setdefault(group, []).append((panel, series))
    count = sum(min(MOST_SERIES, len(series)) for panels in found.values() for _, series in panels)
    most = min(MOST_POINTS, _MOST_POINTS_OF_A_TRIAL // max(1, count))
    drawn = {
        group: [_drawn(panel, series, most) for panel, series in panels]
        for group, panels in found.items()
    }
    return Counters(drawn, zero)


def natural_order(name: str) -> list[tuple[int, str]]:
    """Return what sorts "core 5" before "core 10"."""
    return [
        (int(part), "") if part.isdecimal() else (-1, part) for part in re.split(r"(\d+)", name)
    ]


@dataclass(frozen=True)
class _Reading:
    """One counter of a node, and its label."""

    node: str
    label: str
    series: TimeSeries


_Raw = dict[tuple[str, str], list[_Reading]]
"""By kind of source, and metric without label."""


def _gather(readings: Iterable[TimeSeries]) -> _Raw:
    raw: _Raw = {}
    for one in readings:
        if not one.values.size:
            continue
        kind, _, node = one.source.partition("/")
        name, _, label = one.metric.partition("/")
        where = node if one.host == "local" else f"{one.host} {node}".strip()
        raw.setdefault((kind, name), []).append(_Reading(where, label, one))
    return raw


def _nodes_without_number(raw: _Raw) -> dict[str, str]:
    """Return a short name of each node that is the only one of its role: ``app`` for ``app-1``."""
    nodes = {one.node for found in raw.values() for one in found}
    roles: dict[str, list[str]] = {}
    for node in nodes:
        roles.setdefault(re.sub(r"-\d+$", "", node), []).append(node)
    return {members[0]: role for role, members in roles.items() if len(members) == 1}


def _panel_series(
    panel: Panel, raw: _Raw, clock: _Clock, short: Mapping[str, str]
) -> dict[str, list[Point]]:
    series: dict[str, list[Point]] = {}
    for term in panel.terms:
        draw = _levels if term.value else _rates
        parts: dict[str, list[list[Point]]] = {}
        for metric in term.metrics:
            for one in raw.get((term.source, metric), ()):
                name = _name(term, short.get(one.node, one.node), one.label)
                points = draw(clock.times(one.series), one.series.values.tolist())
                parts.setdefault(name, []).append(points)
        for name, members in parts.items():
            summed = _add(members)
            if any(value is not None for _, value in summed):
                series[name] = [(t, None if v is None else v * term.factor) for t, v in summed]
    return dict(sorted(series.items(), key=lambda item: natural_order(item[0])))


def _name(term: Term, node: str, label: str) -> str:
    words = [node if "node" in term.by else "", label if "label" in term.by else ""]
    if term.word == "core":  # "core 3", not "3 core"
        words.reverse()
        words = ["core", *words]
    else:
        words.append(term.word)
    return " ".join(word for word in words if word)


def _levels(times: _Times, values: Sequence[float]) -> list[Point]:
    """Return the readings of a gauge, a break in each gap."""
    points: list[Point] = []
    for t, value in zip(times.seconds, values, strict=True):
        if points and t - points[-1][0] > times.longest_s:
            points.append(((t + points[-1][0]) / 2, None))
        points.append((t, value))
    return points


def _rates(times: _Times, values: Sequence[float]) -> list[Point]:
    """Return a counter's rate between readings as steps: each value holds until the next time."""
    points: list[Point] = []
    t0 = t1 = 0.0
    for before, after in itertools.pairwise(times.spread):
        t0, t1, rise = times.seconds[before], times.seconds[after], values[after] - values[before]
        missing = t1 - t0 > times.longest_s or rise < 0
        points.append((t0, None if missing else rise / (t1 - t0)))
    if points:
        points.append((t1, points[-1][1]))
    return points


def _usual(times_s: Sequence[float], interval_s: float) -> float:
    """Return the usual distance of readings: the one asked for, or the median where longer."""
    steps = sorted(b - a for a, b in itertools.pairwise(times_s))
    return max(interval_s, steps[len(steps) // 2]) if steps else interval_s


def _add(members: Sequence[Sequence[Point]]) -> list[Point]:
    """Return the sum of series; where one of them has no value at a time of another, a break."""
    if len(members) == 1:
        return list(members[0])
    known: dict[float, list[float | None]] = {}
    for points in members:
        for t, value in points:
            known.setdefault(t, []).append(value)
    summed: list[Point] = []
    for t in sorted(known):
        values = [value for value in known[t] if value is not None]
        whole = len(values) == len(known[t]) == len(members)
        summed.append((t, sum(values) if whole else None))
    return summed


def _drawn(panel: Panel, series: Mapping[str, list[Point]], most: int) -> Drawn:
    """Return the panel with its series thinned; labels that stayed at zero are left out."""
    moved = {name: points for name, points in series.items() if any(v for _, v in points)}
    ranked = sorted(moved, key=lambda name: -_mean(moved[name]))[:MOST_SERIES]
    steps = not panel.terms[0].value
    shown = {name: _thin(points, most, steps) for name, points in moved.items() if name in ranked}
    return Drawn(panel, shown, len(moved) - len(shown))


def _mean(points: Iterable[Point]) -> float:
    values = [value for _, value in points if value is not None]
    return math.fsum(values) / len(values) if values else 0.0


def _thin(points: list[Point], most: int, steps: bool) -> list[Point]:
    """Return at most ``most`` points: neighbours become their mean, weighted by how long each
    holds where they are steps; a gap among them stays a gap."""
    width = -(-len(points) // max(2, most - 1))
    if width <= 1:
        return points
    thinned: list[Point] = []
    body = points[:-1] if steps else points
    for first in range(0, len(body), width):
        part = body[first : first + width]
        after = points[min(first + width, len(points) - 1)][0]
        weights = (
            [b[0] - a[0] for a, b in zip(part, [*part[1:], (after, None)], strict=True)]
            if steps
            else [1.0] * len(part)
        )
        values = [value for _, value in part if value is not None]
        if len(values) < len(part) or not math.fsum(weights):
            thinned.append((part[0][0], None))
            continue
        mean = math.fsum(v * w for v, w in zip(values, weights, strict=True)) / math.fsum(weights)
        thinned.append((part[0][0], mean))
    if steps:
        thinned.append((points[-1][0], thinned[-1][1]))
    return thinned
