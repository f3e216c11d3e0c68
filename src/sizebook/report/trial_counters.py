"""What the probes read during one trial, as series over time ready to be drawn."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import polars as pl

from sizebook.report.trial_windows import Span
from sizebook.store import Bundle

Point = tuple[float, float | None]
"""Seconds since the trial's begin, and a value; None where the line breaks."""
By = Literal["", "node", "label", "node label"]

MOST_SERIES = 8
MOST_POINTS = 300
_MOST_POINTS_OF_A_TRIAL = 9000
_GAP = 1.75
"""Times the usual distance between readings: from here on one is missing."""
_CLOSE = 0.5
"""Times the usual distance: readings closer than this make no rate of their own."""


@dataclass(frozen=True)
class Term:
    """Counters of one kind of source that make series together."""

    source: str
    metrics: tuple[str, ...]
    """Added up where they share source, label and time."""
    by: By = "node"
    """What tells series apart; what it leaves out is added up."""
    word: str = ""
    """Added to a series' name."""
    value: bool = False
    """True for gauges; False: differences of a counter over the time between readings."""
    factor: float = 1.0


@dataclass(frozen=True)
class Panel:
    """One small chart: what is drawn, in which unit."""

    title: str
    unit: str
    terms: tuple[Term, ...]


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


@dataclass
class _Series:
    times_s: list[float] = field(default_factory=list)
    values: list[float] = field(default_factory=list)


_SHARE = 100.0
_MS = 1000.0


def _rate(source: str, *metrics: str, by: By = "node", word: str = "", factor: float = 1) -> Term:
    return Term(source, metrics, by, word, factor=factor)


def _level(source: str, *metrics: str, by: By = "node", word: str = "", factor: float = 1) -> Term:
    return Term(source, metrics, by, word, value=True, factor=factor)


def _panel(title: str, unit: str, *terms: Term) -> Panel:
    return Panel(title, unit, terms)


_CORE = ("core_user_s", "core_system_s", "core_irq_s")
PANELS: Mapping[str, tuple[Panel, ...]] = {
    "Processors": (
        _panel("CPU by process", "CPUs", _rate("process", "cpu_user_s", "cpu_system_s")),
        _panel("CPU by core", "%", _rate("host", *_CORE, by="label", word="core", factor=_SHARE)),
        _panel("Steal", "%", _rate("host", "core_steal_s", by="label", word="core", factor=_SHARE)),
        _panel("Idle, waiting for a disk", "%",
               _rate("host", "core_iowait_s", by="label", word="core", factor=_SHARE)),
        _panel("Threads that could run", "", _level("host", "runnable_threads", by="")),
        _panel("Context switches", "/s", _rate("host", "context_switches", by="")),
        _panel("Some task waited (pressure)", "%",
               _rate("host", "pressure_some_s", by="label", factor=_SHARE)),
        _panel("Stopped at a CPU limit", "ms/s",
               _rate("cgroup", "cgroup_throttled_s", factor=_MS)),
    ),
    "Memory": (
        _panel("Heap", "B", _level("server", "heap_used_bytes", word="used"),
               _level("server", "heap_committed_bytes", word="committed")),
        _panel("Heap in use by space", "B", _level("jvm", "space_used_bytes", by="node label")),
        _panel("Resident memory", "B", _level("process", "rss_bytes")),
        _panel("Memory available on the machine", "B",
               _level("host", "memory_available_bytes", by="")),
        _panel("Class metadata", "B", _level("jvm", "metaspace_used_bytes")),
        _panel("Swapping", "B/s", _rate("host", "swap_in_bytes", by="", word="in"),
               _rate("host", "swap_out_bytes", by="", word="out")),
        _panel("Page faults that read a disk", "/s", _rate("host", "major_faults", by="")),
    ),
    "Garbage collection": (
        _panel("Allocation", "B/s", _rate("server", "allocated_bytes")),
        _panel("Collections", "/s", _rate("jvm", "gc_count", by="node label")),
        _panel("Pauses for collection", "ms/s", _rate("jvm", "gc_s", by="node label", factor=_MS)),
        _panel("All threads stopped", "ms/s", _rate("jvm", "safepoint_s", factor=_MS)),
    ),
    "Compiler": (
        _panel("Methods compiled", "/s", _rate("jvm", "jit_compilations")),
        _panel("Compiler threads at work", "CPUs", _rate("jvm", "jit_s")),
        _panel("Compiled code kept", "B", _level("server", "code_cache_used_bytes")),
        _panel("Classes loaded", "/s", _rate("jvm", "classes_loaded", word="from files"),
               _rate("jvm", "classes_shared_loaded", word="from archive")),
    ),
    "Threads and connections": (
        _panel("Worker threads", "", _level("server", "threads_busy", word="busy"),
               _level("server", "threads_limit", word="limit")),
        _panel("Threads of the JVM", "", _level("server", "threads_in_state", by="node label")),
        _panel("Monitors found taken", "/s", _rate("jvm", "monitor_contentions")),
        _panel("Connections of clients", "", _level("server", "connections_open")),
        _panel("Requests answered by nodes", "/s", _rate("server", "requests_total")),
        _panel("Answers with an error status", "/s", _rate("server", "request_errors_total")),
    ),
    "Pool of database connections": (
        _panel("Pooled connections", "", _level("server", "pool_active", word="lent"),
               _level("server", "pool_limit", word="limit")),
        _panel("Threads waiting for a connection", "", _level("server", "pool_waiting")),
        _panel("Time spent waiting for connections", "ms/s",
               _rate("server", "pool_acquire_s", factor=_MS)),
        _panel("Waits for a connection given up", "/s", _rate("server", "pool_timeouts_total")),
    ),
    "Database": (
        _panel("Database transactions", "/s",
               _rate("database", "commits_total", by="", word="committed"),
               _rate("database", "rollbacks_total", by="", word="rolled back")),
        _panel("Database rows", "/s", _rate("database", "rows_returned", by="", word="scanned"),
               _rate("database", "rows_fetched", by="", word="by index"),
               _rate("database", "rows_inserted", "rows_updated", "rows_deleted", by="",
                     word="written")),
        _panel("Database blocks", "/s", _rate("database", "blocks_hit", by="", word="in buffers"),
               _rate("database", "blocks_read", by="", word="read")),
        _panel("Sessions by state", "", _level("database", "backends_in_state", by="label")),
        _panel("Sessions that wait, and for what", "",
               _level("database", "backends_waiting", by="label")),
        _panel("Write-ahead log", "B/s", _rate("database", "wal_bytes", by="")),
        _panel("Temporary files", "B/s", _rate("database", "temporary_bytes", by="")),
        _panel("Checkpoints", "/s", _rate("database", "checkpoints", by="")),
        _panel("Deadlocks", "/s", _rate("database", "deadlocks", by="")),
    ),
    "Disk": (
        _panel("Disk, read", "B/s", _rate("host", "disk_read_bytes", by="label")),
        _panel("Disk, written", "B/s", _rate("host", "disk_written_bytes", by="label")),
        _panel("Disk, busy", "%", _rate("host", "disk_busy_s", by="label", factor=_SHARE)),
        _panel("Disk, queue", "", _rate("host", "disk_wait_s", by="label")),
        _panel("Disk, flushes", "/s", _rate("host", "disk_flushes", by="label")),
    ),
    "Network": (
        _panel("Network, sent", "B/s", _rate("host", "network_sent_bytes", by="label")),
        _panel("Network, received", "B/s", _rate("host", "network_received_bytes", by="label")),
        _panel("Network, packets sent", "/s", _rate("host", "network_sent_packets", by="label")),
        _panel("Packets discarded or broken", "/s",
               _rate("host", "network_drops", "network_errors", by="label")),
        _panel("TCP segments sent again", "/s", _rate("host", "tcp_retransmits", by="")),
    ),
    "Load generator": (
        _panel("Clock tick late by", "ms", _level("generator", "lag_p99_ms", by="", word="p99"),
               _level("generator", "lag_max_ms", by="", word="worst")),
        _panel("CPU of its process", "%",
               _level("generator", "cpu_share", by="", factor=_SHARE)),
        _panel("Users alive", "", _level("generator", "users", by="")),
    ),
    "Probes": (
        _panel("CPU of sampling", "ms/s", _rate("probes", "sampler_cpu_s", by="", factor=_MS)),
        _panel("Readings missed or failed", "/s",
               _rate("probes", "missed_ticks", by="", word="missed"),
               _rate("probes", "failed_reads", by="", word="failed")),
    ),
}  # fmt: skip
"""What a trial's page draws, in its order; a panel without readings is left out."""


def draw_counters(bundle: Bundle, counters: pl.DataFrame, span: Span) -> Counters:
    """Return the panels of a trial from its ``counters.parquet``.

    A missing reading, and a counter that fell, break the line; nothing is filled in. Series of
    more than MOST_POINTS readings are thinned: gauges to means of neighbours, counters to rates
    over several readings.
    """
    interval_s = bundle.record.trial.probe_interval_s
    raw = _gather(counters, span)
    single = _nodes_without_number(raw)
    found: dict[str, list[tuple[Panel, dict[str, list[Point]]]]] = {}
    zero: list[str] = []
    for group, panels in PANELS.items():
        for panel in panels:
            series = _panel_series(panel, raw, interval_s, single)
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


_Raw = dict[tuple[str, str, str, str], _Series]
"""Kind of source, node, metric without label, label."""


def _gather(counters: pl.DataFrame, span: Span) -> _Raw:
    grouped = (
        counters.filter(pl.col("value").is_not_null() & pl.col("value").is_finite())
        .with_columns(
            (pl.col("time_ns") - span.begin_ns) / 1e9,
            pl.col("host", "source", "metric").cast(pl.String),
        )
        .sort("time_ns", maintain_order=True)
        .group_by("host", "source", "metric", maintain_order=True)
        .agg("time_ns", "value")
        .sort("host", "source", "metric")
    )
    raw: _Raw = {}
    for host, source, metric, times, values in grouped.iter_rows():
        kind, _, node = source.partition("/")
        name, _, label = metric.partition("/")
        where = node if host == "local" else f"{host} {node}".strip()
        raw[kind, where, name, label] = _Series(times, values)
    return raw


def _nodes_without_number(raw: _Raw) -> dict[str, str]:
    """Return a short name of each node that is the only one of its role: ``app`` for ``app-1``."""
    nodes = {where for _, where, _, _ in raw}
    roles: dict[str, list[str]] = {}
    for node in nodes:
        roles.setdefault(re.sub(r"-\d+$", "", node), []).append(node)
    return {members[0]: role for role, members in roles.items() if len(members) == 1}


def _panel_series(
    panel: Panel, raw: _Raw, interval_s: float, short: Mapping[str, str]
) -> dict[str, list[Point]]:
    series: dict[str, list[Point]] = {}
    for term in panel.terms:
        parts: dict[str, list[list[Point]]] = {}
        for (kind, node, metric, label), one in raw.items():
            if kind == term.source and metric in term.metrics:
                name = _name(term, short.get(node, node), label)
                points = _levels(one, interval_s) if term.value else _rates(one, interval_s)
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


def _levels(one: _Series, interval_s: float) -> list[Point]:
    """Return the readings of a gauge, a break in each gap."""
    limit = _usual(one.times_s, interval_s) * _GAP
    points: list[Point] = []
    for t, value in zip(one.times_s, one.values, strict=True):
        if points and t - points[-1][0] > limit:
            points.append(((t + points[-1][0]) / 2, None))
        points.append((t, value))
    return points


def _rates(one: _Series, interval_s: float) -> list[Point]:
    """Return a counter's rate between readings as steps: each value holds until the next time."""
    usual = _usual(one.times_s, interval_s)
    kept = _spread(one, usual * _CLOSE)
    points: list[Point] = []
    for (t0, v0), (t1, v1) in itertools.pairwise(kept):
        missing = t1 - t0 > usual * _GAP or v1 < v0
        points.append((t0, None if missing else (v1 - v0) / (t1 - t0)))
    if points:
        points.append((kept[-1][0], points[-1][1]))
    return points


def _usual(times_s: Sequence[float], interval_s: float) -> float:
    """Return the usual distance of readings: the one asked for, or the median where longer."""
    steps = sorted(b - a for a, b in itertools.pairwise(times_s))
    return max(interval_s, steps[len(steps) // 2]) if steps else interval_s


def _spread(one: _Series, least_s: float) -> list[tuple[float, float]]:
    """Return the readings without those that follow another one too soon; the last one stays."""
    kept: list[tuple[float, float]] = []
    for t, value in zip(one.times_s, one.values, strict=True):
        if kept and t - kept[-1][0] < least_s:
            continue
        kept.append((t, value))
    if kept and one.times_s[-1] > kept[-1][0]:
        last = (one.times_s[-1], one.values[-1])
        kept = [*(kept[:-1] if len(kept) > 1 else kept), last]
    return kept


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
