"""Chapter 10 in its shortest form: a heap that is too small, for real, and what is told of it."""

import shutil

import pytest

from sizebook.chapters.heap_gc import heaps
from sizebook.checks import judge
from sizebook.lab import Setup, messaging_stack, place
from sizebook.lab.measuring import measure
from sizebook.lab.planning import plan_sessions
from sizebook.lab.profiles import get_profile
from sizebook.model.design import Design, Factor
from sizebook.model.load import ClosedLoop, LoadProfile, Phases
from sizebook.report.gc_logs import gc_logs
from sizebook.store import Project, find_bundles, open_bundle

SETTINGS = {"consumers": 0, "broker_large_bytes": 4 << 20, "broker_global_max_bytes": 1 << 40}


@pytest.fixture(scope="module")
def piles(project):
    """The trials in which messages pile up, by the heap that the node had at first."""
    found = [open_bundle(path) for path in find_bundles(project.runs("heap-gc"))]
    return {
        bundle.record.trial.treatment["heap_mib"]: bundle
        for bundle in found
        if bundle.record.trial.experiment == "pile" and bundle.record.trial.purpose == "measured"
    }


def finding(bundle, rule):
    return next(one for one in judge(bundle).findings if one.rule == rule)


def test_the_small_heap_runs_out_and_the_node_comes_back_with_the_large_one(piles):
    """An outcome, no fault of the harness: an event with heap and reason, then a start."""
    small, large = min(piles), max(piles)
    bundle = piles[small]
    assert bundle.record.outcome == "completed"
    end, start = bundle.record.execution.events
    assert (end.action, end.node, end.heap_mib) == ("out-of-memory", "app-1", small)
    assert end.detail.startswith("java.lang.OutOfMemoryError")
    assert (start.action, start.heap_mib) == ("start", large)
    assert finding(bundle, "SB106-memory").passed
    assert [life.heap_mib for life in heaps.lives(bundle)] == [small, large]


def test_the_large_heap_holds_out(piles):
    """That it could have run out and did not is said as well."""
    bundle = piles[max(piles)]
    assert bundle.record.execution.events == ()
    assert finding(bundle, "SB106-memory").message == "app-1 could run out of memory and did not"


def test_every_message_is_accounted_for(piles):
    """Acknowledged is stored, once, whether the node ended in between or not."""
    for bundle in piles.values():
        settings = bundle.record.trial.load.settings
        account = finding(bundle, "SB105-stored")
        assert account.passed, account.message
        wanted = settings["messages"] * settings["runs"]
        assert account.numbers["messaging_row_rows"] == wanted
        assert account.numbers["messaging_row_acknowledged"] == wanted


def test_each_start_has_its_gc_log_and_none_left_a_heap_dump(piles):
    """The log of the first start ends with what it died of: collections that freed nothing."""
    bundle = piles[min(piles)]
    logs = gc_logs(bundle)
    assert {"app-1", "app-1.2"} <= set(logs)
    last = logs["app-1"].collections.tail(3)
    assert set(last["kind"]) == {"full"}
    assert (last["after_bytes"] > 0.8 * last["total_bytes"]).all()
    for one in piles.values():
        assert not [path for path in one.path.rglob("*") if path.suffix == ".hprof"]


def test_an_end_that_nobody_allowed_is_a_failed_trial(project):
    """Which node, with which heap, what to do; the rule's verdict, and an event with the time."""
    here = place()

    def treat(_):
        load = LoadProfile(
            locustfile="heap.py",
            arrivals=ClosedLoop(users=1, think_s=0.05),
            phases=Phases(warmup_s=0.0, measured_s=1.0, drain_s=60.0),
            settings={"messages": 100},
            cpus=here.generator,
        )
        stack = messaging_stack(here, total_heap_mib=96, settings=SETTINGS)
        return Setup(stack, load, stores={"messaging_row": "message"})

    design = Design("unexpected", (Factor("case", ("small heap",)),), 1, 1)
    sessions = plan_sessions("unexpected", get_profile("smoke"), design, treat, 0.0)
    copy = Project(project.root)
    try:
        measure(copy, "unexpected", sessions)
        (path,) = find_bundles(copy.runs / "unexpected")
        bundle = open_bundle(path)
        judgement, record = judge(bundle), bundle.record
    finally:  # no trial of the book's
        shutil.rmtree(copy.runs / "unexpected", ignore_errors=True)
    assert record.outcome == "failed"
    assert "app-1 ran out of memory with a heap of 96 MiB: java.lang.OutOf" in record.failure
    assert "give app-1 a larger heap or less load" in record.failure
    assert [(event.action, event.node) for event in record.execution.events] == [
        ("out-of-memory", "app-1")
    ]
    assert judgement.verdict == "failed"
    assert {"SB100-completed", "SB106-memory"} <= {one.rule for one in judgement.failed()}
