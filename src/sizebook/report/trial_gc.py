"""What the GC logs add to a trial's page: each node's heap and pauses over the trial."""

from __future__ import annotations

from collections.abc import Mapping

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
    course = heap_course(log, MOST_POINTS)
    points = zip(course["t_ns"].to_list(), course["used_bytes"].to_list(), strict=True)
    inside = [(t, used) for t, used in points if t is not None and _within(t, span)]
    return [(span.seconds(t), float(used)) for t, used in sorted(inside, key=lambda one: one[0])]


def _pause_points(log: GcLog, span: Span) -> list[Point]:
    ends = log.pauses["begin_ns"].to_list(), log.pauses["end_ns"].to_list()
    all_pauses = zip(*ends, log.pauses["pause_ns"].to_list(), strict=True)
    inside = [
        (begin, pause)
        for begin, end, pause in all_pauses
        if None not in (begin, end, pause) and _within(end, span)
    ]
    longest = sorted(inside, key=lambda one: one[1])[-(MOST_POINTS // 3) :]
    points: list[Point] = []
    for begin, pause in sorted(longest):
        t = span.seconds(begin)
        points += [(t, 0.0), (t, pause / 1e6), (t + pause / 1e9, 0.0)]
    return points


def _within(t_ns: int, span: Span) -> bool:
    return span.begin_ns <= t_ns <= span.end_ns
