"""What a lost node meant to users: failures by reason, times to recover, the balancer's own words
(all made up).
"""

import numpy as np
import polars as pl
import pytest
from synthetic_bundles import BEGIN, END, MEASURED, S, rows_from

from sizebook.chapters.failover import balancer_log
from sizebook.chapters.failover import failures as failover
from sizebook.lab.trials import Trial
from sizebook.model.bundle import StackEvent
from sizebook.model.trial import Stored
from sizebook.report import chart
from sizebook.store import Bundle

LOST = MEASURED + 3 * S
LOG = """\
[NOTICE]   (11) : New worker (12) forked
1970-01-01T00:00:04.500000+00:00 Server nodes/app-1 is UP. 2 active and 0 backup servers online.
1970-01-01T00:00:05.200000+00:00 request SHVN 502 retries=0 node=app-1 ms=12 POST
1970-01-01T00:00:05.250000+00:00 request --DI 200 retries=+1 node=app-2 ms=1002 GET
[WARNING]  (12) : Server nodes/app-1 is DOWN. 1 active and 0 backup servers left.
1970-01-01T02:00:05.500000+02:00 Server nodes/app-1 is DOWN. 1 active and 0 backup servers left.
1970-01-01T00:00:05.600000+00:00 request sHVN 504 retries=0 node=app-1 ms=3001 POST
1970-01-01T00:00:05.700000+00:00 request C
1970-01-01T00:00:07.000000+00:00 Server nodes/app-1 is UP/READY (leaving forced maintenance).
1970-01-01T00:00:08.000000+00:00 Server nodes/app-2 is going DOWN for maintenance. 1 active
1970-01-01T00:00:09.000000+00:00 Server nodes/app-2 enters drain state. 1 active and 0 backup
"""
"""The wall clock read 0 when the trial began: the outage is at its fifth second."""


def requests(*rows):
    """Return requests of 100 ms: (start after the outage in s, user, status, error)."""
    after_s, user, status, error = zip(*rows, strict=True)
    start = LOST + (np.array(after_s) * S).astype(np.int64)
    took = np.full(start.size, S // 10)
    return rows_from(start, start, took, np.array(user), status=status, error=error)


def lost(bundle, action="kill", treatment=None):
    """Return the bundle as if a node had been lost three seconds into the measured phase."""
    event = StackEvent(action=action, node="app-1", begin_ns=LOST, end_ns=LOST + S)
    execution = bundle.record.execution.model_copy(update={"events": (event,)})
    trial = bundle.record.trial.model_copy(update={"treatment": treatment or {}})
    changed = bundle.record.model_copy(update={"execution": execution, "trial": trial})
    return Bundle(bundle.path, changed)


HIT = (
    (-1.0, 0, 200, ""),
    (0.1, 1, 502, "status"),
    (0.2, 1, 401, "status"),
    (0.3, 2, 0, "connect"),
    (0.4, 3, 0, "timeout"),
    (0.6, 3, 504, "status"),
    (1.2, 0, 200, "body"),
    (1.6, 0, 200, ""),
    (2.1, 1, 200, ""),
)


def test_failures_have_reasons(make_bundle):
    """Each failed request counts once, for what is known of it."""
    bundle = lost(make_bundle(rows=requests(*HIT)))
    assert failover.failures_by_kind(bundle) == {
        "refused": 1, "silent": 1, "502": 1, "503": 0, "504": 1, "session lost": 1,
        "unexpected": 1, "other": 0,
    }  # fmt: skip
    assert failover.failed(bundle) == 6
    assert failover.failed_of("504")(bundle) == 1
    assert failover.users_hit(bundle) == 4


def test_the_mean_is_of_good_answers(make_bundle):
    """Requests of the measured phase that succeeded; none is no mean."""
    assert failover.mean_ms(make_bundle(rows=requests(*HIT))) == pytest.approx(100)
    assert failover.mean_ms(make_bundle(rows=requests((0.0, 0, 502, "status")))) is None


def test_writes_are_acknowledged_or_left_open(make_bundle):
    """Of those that fill the table: told to be done, or perhaps done and not told."""
    bundle = lost(make_bundle(rows=requests(*HIT)))
    filling = Stored(request="other", also=("detail",))
    trial = bundle.record.trial.model_copy(update={"stores": {"thing": filling}})
    storing = Bundle(bundle.path, bundle.record.model_copy(update={"trial": trial}))
    assert failover.acknowledged("thing")(storing) == 3
    assert failover.unsure("thing")(storing) == 4
    assert failover.acknowledged("thing")(bundle) is None
    assert failover.unsure("thing")(bundle) is None


def test_times_count_from_the_outage(make_bundle):
    """The first and the last failure, and the first window after which all is well."""
    bundle = lost(make_bundle(rows=requests(*HIT)))
    assert failover.first_failure_s(bundle) == pytest.approx(0.1)
    assert failover.last_failure_s(bundle) == pytest.approx(1.3)
    assert failover.recovered_s(1000.0)(bundle) == 1.5
    assert failover.recovered_s(50.0)(bundle) is None
    well = make_bundle(rows=requests(*HIT))
    for measure in (failover.first_failure_s, failover.last_failure_s, failover.found_down_s):
        assert measure(well) is None
    assert failover.recovered_s(1000.0)(well) is None


def test_slow_answers_are_no_recovery(make_bundle):
    """Nothing fails, but for a second answers come late."""
    rows = requests((-1.0, 0, 200, ""), *((at / 10, 0, 200, "") for at in range(40)))
    slow = rows["start_ns"].is_between(LOST, LOST + S - 1)
    late = pl.when(slow).then(5 * S).otherwise(pl.col("latency_ns"))
    bundle = lost(make_bundle(rows=rows.with_columns(latency_ns=late, service_ns=late)))
    assert failover.recovered_s(1000.0)(bundle) == 1.0
    assert failover.failed(bundle) == 0


def test_what_the_balancer_wrote_down(make_bundle):
    """States by node and odd requests, at times of the trial's clock; the rest is left alone."""
    bundle = lost(make_bundle(rows=requests(*HIT), logs={balancer_log.LOG: LOG}))
    states = balancer_log.node_states(bundle)
    assert states.select("node", "state").rows() == [
        ("app-1", "up"),
        ("app-1", "down"),
        ("app-1", "up"),
        ("app-2", "taken out"),
        ("app-2", "draining"),
    ]
    assert states["at_ns"][1] == BEGIN + 5.5 * S
    odd = balancer_log.odd_requests(bundle)
    assert odd.select("status", "retries", "elsewhere", "node", "ms", "method").rows() == [
        (502, 0, False, "app-1", 12, "POST"),
        (200, 1, True, "app-2", 1002, "GET"),
        (504, 0, False, "app-1", 3001, "POST"),
    ]
    assert failover.found_down_s(bundle) == pytest.approx(0.5)
    assert failover.found_up_s(bundle) == pytest.approx(2.0)
    assert failover.sent_elsewhere(bundle) == 1
    assert failover.balancer_failures(bundle).rows() == [
        (502, "the node broke off, or refused", 1),
        (504, "the node gave no answer in time", 1),
    ]
    assert failover.disagreement(bundle) == 0


def test_counts_that_differ_are_told(make_bundle):
    """A failure that the balancer did not write down, and a trial without its log."""
    rows = requests(*HIT, (2.2, 1, 502, "status"))
    assert failover.disagreement(lost(make_bundle(rows=rows, logs={balancer_log.LOG: LOG}))) == 1
    without = lost(make_bundle(rows=rows))
    assert failover.disagreement(without) == 3
    assert balancer_log.node_states(without).is_empty()
    assert failover.found_down_s(without) is None


@pytest.mark.parametrize("whole", [True, False])
def test_the_chart_has_a_panel_a_level(make_bundle, whole):
    """It is drawn, too, where no node was lost."""
    bundle = make_bundle(rows=requests(*HIT))
    trials = [Trial(lost(bundle, name, {"outage": name})) for name in ("kill", "drain")]
    frame = failover.around(trials if whole else [], "outage")
    if whole:
        kill = frame.filter((pl.col("outage") == "kill") & (pl.col("what") == "failed"))
        assert (kill["value"] * 0.25).sum() == 6
        assert kill["t_s"].min() == pytest.approx((MEASURED - LOST) / S)
        assert kill["t_s"].max() < (END - LOST) / S
    titles = {"kill": "killed", "drain": "drained"}
    drawn = failover.around_chart(frame, factor="outage", titles=titles)
    spec, _ = chart.prepare_chart(drawn)
    text = chart.render_svg(spec)
    assert "killed" in text and "seconds after the outage began" in text


def test_a_failed_trial_has_no_course(make_bundle):
    """One that ended before its requests were collected is passed over, not an error."""
    whole = make_bundle(rows=requests(*HIT))
    cut = make_bundle(outcome="failed", with_requests=False)
    trials = [Trial(lost(bundle, "kill", {"outage": "kill"})) for bundle in (cut, whole)]
    assert failover.around(trials, "outage").equals(failover.around(trials[1:], "outage"))
    assert failover.around(trials[:1], "outage").is_empty()
