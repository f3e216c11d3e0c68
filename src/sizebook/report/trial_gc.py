"""What the GC logs add to a trial's page: each node's heap and pauses over the trial."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from sizebook.gclog import GcLog
from sizebook.gclog.course import heap_course
from sizebook.report.trial_counters import MOST_POINTS, MOST_SERIES, Drawn, Point
from sizebook.report.trial_frame import Span
from sizebook.report.trial_panels import Panel, Term

GROUP = "Garbage collection"
_LOG = (Term("gc log", (), value=True),)
_HEAP = Panel("Heap before and after each collection, by the GC log", "B", _LOG)
_PAUSES = Panel("Each pause for collection, by the GC log", "ms", _LOG)


def draw_gc_logs(logs: Mapping[str, GcLog], span: Span) -> list[Drawn]:
    """Return panels of the heap and of the pauses, a series a node; none without collections."""
    heap: dict[str, list[Point]] = {}
    pauses: dict[str, list[Point]] = {}
    for node, log in logs.items():
        heap |= {node: points} if (points := _heap_points(log, span)) else {}
        pauses |= {node: points} if (points := _pause_points(log, span)) else {}
    return [_drawn(panel, series) for panel, series in ((_HEAP, heap), (_PAUSES, pauses)) if series]


def _drawn(panel: Panel, series: Mapping[str, list[Point]]) -> Drawn:
    def most(name: str) -> float:
        return max((value or 0.0 for _, value in series[name]), default=0.0)

    shown = sorted(sorted(series, key=most, reverse=True)[:MOST_SERIES])
    return Drawn(panel, {name: series[name] for name in shown}, len(series) - len(shown))


def _heap_points(log: GcLog, span: Span) -> list[Point]:
    course = heap_course(log, MOST_POINTS).filter(
        pl.col("t_ns").is_between(span.begin_ns, span.end_ns)
    )
    rows = course.sort("t_ns", maintain_order=True).select("t_ns", "used_bytes").iter_rows()
    return [(span.seconds(t), float(used)) for t, used in rows]


def _pause_points(log: GcLog, span: Span) -> list[Point]:
    rows = log.pauses.drop_nulls(["begin_ns", "end_ns"])
    rows = rows.filter(pl.col("end_ns").is_between(span.begin_ns, span.end_ns))
    rows = rows.sort("pause_ns").tail(MOST_POINTS // 3).sort("begin_ns")
    points: list[Point] = []
    for begin, pause in rows.select("begin_ns", "pause_ns").iter_rows():
        t = span.seconds(begin)
        points += [(t, 0.0), (t, pause / 1e6), (t + pause / 1e9, 0.0)]
    return points
