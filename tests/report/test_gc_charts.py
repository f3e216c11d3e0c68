"""Charts and tables of GC logs: drawn for every collector, and for logs with next to nothing."""

import pytest
import witness

from sizebook.gclog import read_gc_log
from sizebook.gclog.course import heap_course, overhead_course
from sizebook.report import gc_charts
from sizebook.report.chart import prepare_chart, render_svg
from sizebook.report.trial_frame import Span
from sizebook.report.trial_gc import draw_gc_logs

BARE = {
    "no collection": b"[0.1s][info][gc] Using G1\n",
    "one": b"[0.1s][info][gc] Using G1\n[1s][info][gc] GC(0) Pause Full (Ergonomics) "
    b"9M->3M(64M) 2.0ms\n",
    "no times": b"[info][gc] GC(0) Pause Full (Ergonomics) 9M->3M(64M) 2.0ms\n",
    "no sizes": b"[1.0s][info][gc] GC(0) Pause Full 2.0ms\n",
}


@pytest.mark.parametrize("name", [*witness.NAMES, *BARE])
def test_every_log_is_drawn(name):
    """A picture comes out, and no number in it is endless."""
    log = read_gc_log(BARE[name]) if name in BARE else witness.recorded(name).log
    spec, fluid = prepare_chart(gc_charts.gc_chart(log))
    svg = render_svg(spec)
    assert not fluid
    assert svg.startswith("<svg")
    assert "NaN" not in svg
    assert "Infinity" not in svg


def test_the_course_of_a_long_log_keeps_its_extremes():
    """Of many collections the most before and the least after stay."""
    raw = witness.recorded("serial-17").raw
    log = read_gc_log(raw)
    thin, full = heap_course(log, 8), heap_course(log)
    assert thin.height <= 8 < full.height
    assert thin["used_bytes"].max() == full["used_bytes"].max()
    assert thin["used_bytes"].min() == full["used_bytes"].min()


def test_the_windows_hold_all_pauses():
    """Shares times widths are the sum of the pauses, also of those that lie in two windows."""
    for name in witness.NAMES:
        log = witness.recorded(name).log
        course = overhead_course(log, 23)
        assert course.height == 23
        spent = (course["overhead_share"] * course["width_s"]).sum()
        assert spent == pytest.approx(log.pauses["pause_ns"].sum() / 1e9, rel=0.02, abs=1e-4)


def test_a_trials_page_shows_the_part_of_its_trial():
    """Points lie within the trial, used heap before and after; other parts are left out."""
    log = witness.recorded("g1-17").log
    span = Span(log.first_ns, (log.first_ns + log.last_ns) // 2)
    heap, pauses = draw_gc_logs({"app-1": log}, span)
    for drawn in (heap, pauses):
        assert set(drawn.series) == {"app-1"}
        times = [t for t, _ in drawn.series["app-1"]]
        assert times == sorted(times)
        assert 0 <= times[0] <= times[-1] <= span.length_s + 0.1
    inside = log.pauses.filter(log.pauses["end_ns"].is_between(span.begin_ns, span.end_ns))
    assert max(v for _, v in pauses.series["app-1"]) == inside["pause_ns"].max() / 1e6
    assert draw_gc_logs({"app-1": log}, Span(1, 2)) == []
    assert draw_gc_logs({}, span) == []
