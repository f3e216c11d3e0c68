"""Chapter 9 in its shortest form: what its bundles promise, from the bundles that it left."""

import pytest

from sizebook.checks import judge
from sizebook.report.counter_increase import greatest, risen, rises
from sizebook.store import find_bundles, open_bundle

APP = "server/app-"


@pytest.fixture(scope="module")
def trials(project):
    """Return the measured bundles of the first design by layout and case."""
    opened = [open_bundle(path) for path in find_bundles(project.runs("pools"))]
    found = {
        (one.record.trial.treatment["pools"], one.record.trial.treatment["case"]): one
        for one in opened
        if one.record.trial.experiment == "sizes" and one.record.trial.purpose == "measured"
    }
    assert found
    return found


def test_every_message_that_was_acknowledged_is_stored(trials):
    """By the database's count, in every trial, those without messages included."""
    for case, bundle in trials.items():
        findings = {finding.rule: finding for finding in judge(bundle).findings}
        assert findings["SB105-stored"].passed, (case, findings["SB105-stored"].message)


def test_calls_and_messages_are_served_by_their_pools(trials):
    """Two pools beside each other, or one: the same load, and nothing of the web's threads."""
    served = {}
    for layout in ("own", "shared"):
        found = rises(trials[layout, "beside/flood"], "binding_served_total", APP)
        served[layout] = {label for _, label, rise in found.iter_rows() if rise > 0}
    assert served == {"own": {"bindings-queue", "bindings-jms"}, "shared": {"bindings-shared"}}


def test_limits_are_kept(trials):
    """One thread where one is allowed, and then no message out of order; many where none limits."""
    for case, pool in (("queue/1", "bindings-queue"), ("jms/1", "bindings-jms")):
        bundle = trials["own", case]
        assert greatest(APP, f"binding_pool_largest/{pool}")(bundle) == 1
        assert risen(APP, "binding_sent_total")(bundle) > 0
        assert risen(APP, "binding_late_total")(bundle) == 0
    largest = greatest(APP, "binding_pool_largest/bindings-queue")
    assert largest(trials["own", "backlog/10"]) == 10 < largest(trials["own", "backlog/0"])


def test_threads_at_work_are_no_more_than_there_may_be(trials):
    """Little's law by the pool's own counters: time at work, over the time that passed."""
    bundle = trials["own", "queue/1"]
    worked = risen(APP, "binding_worked_s/bindings-queue")(bundle)
    times = bundle.counters["time_ns"]
    assert 0 < worked <= (times.max() - times.min()) / 1e9
