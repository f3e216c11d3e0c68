"""What CPUs that come and go mean to a load: latencies by due time, backlog, CPUs (made up)."""

import numpy as np
import polars as pl
import pytest
from synthetic_bundles import BEGIN, END, MEASURED, S, open_rows

from sizebook.chapters.capacity_on_demand import resizing
from sizebook.lab.trials import Trial
from sizebook.model.bundle import COUNTER_COLUMNS, StackEvent
from sizebook.model.trial import Disturbance, HostLimits
from sizebook.report import chart
from sizebook.store import Bundle

ADDED_S = 4.0


def queued():
    """Return ten requests a second, 20 ms each; from 2 s on each waits longer, until 6 s."""
    due = np.arange(BEGIN, END, S // 10, dtype=np.int64)
    at_s = (due - MEASURED) / S
    wait = np.select(
        [(at_s >= 2) & (at_s < 4), (at_s >= 4) & (at_s < 6)], [at_s - 2, 6 - at_s], 0.0
    )
    return open_rows(due, (20_000_000 + wait * S).astype(np.int64))


def readings(**series):
    """Return readings a second apart from the measured phase on, by source and metric."""
    kinds = {name: getattr(pl, kind) for name, kind in COUNTER_COLUMNS.items()}
    names = {"cpu": ("cgroup/box", "cgroup_cpu_s"), "sees": ("server/app-1", "processors")}
    rows = [
        (MEASURED + at * S, "local", *names[name], float(value))
        for name, values in series.items()
        for at, value in enumerate(values)
    ]
    return pl.DataFrame(rows, schema=kinds, orient="row")


def resized(bundle, treatment=None):
    """Return the bundle as if a host had been set at first, and got CPUs four seconds later."""
    at = (0.0, ADDED_S)
    planned = tuple(
        Disturbance(at_s=s, action="resize", node="app-1", limits=HostLimits(cpu_limit=1.0))
        for s in at
    )
    events = tuple(
        StackEvent(action="resize", node="app-1", begin_ns=MEASURED + int(s * S), end_ns=0)
        for s in at
    )
    trial = bundle.record.trial.model_copy(
        update={"disturbances": planned, "treatment": treatment or {}}
    )
    execution = bundle.record.execution.model_copy(update={"events": events})
    changed = bundle.record.model_copy(update={"trial": trial, "execution": execution})
    return Bundle(bundle.path, changed)


@pytest.fixture
def bundle(make_bundle):
    used = np.cumsum([0, 1, 1, 1, 1, 2, 2, 1, 1, 1, 1, 1])
    sees = [1, 1, 1, 1, 1, 2, 2, 2, 2, 2, 1, 1]
    return resized(make_bundle(rows=queued(), readings=readings(cpu=used, sees=sees)))


def test_what_is_set_at_the_begin_is_no_change(bundle):
    """Only the later one is a resize."""
    assert [one.begin_ns for one in resizing.resizes(bundle)] == [MEASURED + 4 * S]


def test_latencies_are_of_what_fell_due(bundle):
    """Calm before, a queue, and calm again; nothing due is no latency."""
    assert resizing.latency_due_ms(0, 2, "mean")(bundle) == pytest.approx(20)
    assert resizing.latency_due_ms(2, 4, 1.0)(bundle) == pytest.approx(1920)
    assert resizing.latency_due_ms(2, 4, "mean")(bundle) == pytest.approx(970)
    assert resizing.latency_due_ms(50, 60, "mean")(bundle) is None
    assert resizing.waiting_at(4.0)(bundle) == 10
    assert resizing.failures(bundle) == 0


def test_settled_is_when_all_that_follow_are_in_time(bundle):
    """Two seconds after the CPUs came; never within half a second."""
    assert resizing.settled_s(4.0, 10.0, 100.0)(bundle) == pytest.approx(2.0)
    assert resizing.settled_s(4.0, 4.5, 100.0)(bundle) is None
    assert resizing.settled_s(0.0, 2.0, 100.0)(bundle) == 0.0


def test_cpus_come_from_the_group(bundle):
    """Between the readings nearest to the times; the first interval above a level."""
    assert resizing.cpus_between("box", 0.0, 4.0)(bundle) == pytest.approx(1.0)
    assert resizing.cpus_between("box", 4.0, 6.0)(bundle) == pytest.approx(2.0)
    assert resizing.cpus_between("other", 0.0, 4.0)(bundle) is None
    assert resizing.used_more_s("box", 1.1)(bundle) == pytest.approx(1.0)
    assert resizing.used_more_s("box", 2.5)(bundle) is None


def test_what_the_jvm_notices(bundle):
    """The first reading that differs, and the last reading of a stretch of time."""
    seen = resizing.noticed_s("server/app-1", "processors")
    assert seen(bundle) == pytest.approx(1.0)
    last = resizing.reading_between("server/app-1", "processors", 4.5, 9.5)
    assert last(bundle) == 2
    assert resizing.noticed_s("server/app-1", "other")(bundle) is None
    assert resizing.gc_threads("app-1")(bundle) is None


@pytest.mark.parametrize("whole", [True, False])
def test_the_chart_has_three_panels(bundle, whole):
    """It is drawn, too, without any trial."""
    trials = [Trial(resized(bundle, {"course": name})) for name in ("added", "never")]
    frame = resizing.course(trials if whole else [], "course", "box")
    if whole:
        latency = frame.filter((pl.col("course") == "added") & (pl.col("what") == "latency"))
        assert latency["value"].max() == pytest.approx(1970, abs=60)
    drawn = resizing.course_chart(frame, factor="course", series_title="CPUs", marks_s=(4.0, 9.0))
    spec, _ = chart.prepare_chart(drawn)
    text = chart.render_svg(spec)
    for word in ("Answers", "CPU time of the host", "CPUs added"):
        assert word in text


def test_a_failed_trial_has_no_course(bundle, make_bundle):
    """One that ended before its requests were collected is passed over, not an error."""
    cut = make_bundle(outcome="failed", with_requests=False)
    trials = [Trial(resized(one, {"course": "added"})) for one in (cut, bundle)]
    found = resizing.course(trials, "course", "box")
    assert found.height and found.equals(resizing.course(trials[1:], "course", "box"))
    assert resizing.course(trials[:1], "course", "box").is_empty()
