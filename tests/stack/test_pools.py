"""Pools of a real node: each its own or one for all, resized, counted; virtual threads."""

import json
import time

import pytest
from tests.asking import asked_again
from tests.stack.part_stack import ask, counters, load, post, started
from tests.waiting import wait_until

from sizebook.lab.deployments import binding_stack
from sizebook.lab.placement import place
from sizebook.model.errors import TrialError
from sizebook.stack.jvms import find_jvms

OWN = {"queue": "bindings-queue", "jms": "bindings-jms", "rpc": "bindings-rpc"}
VIRTUAL = [jvm.feature for jvm in find_jvms() if int(jvm.feature) >= 21]
WITHOUT = [jvm.feature for jvm in find_jvms() if int(jvm.feature) < 21]


def deployment(jvm="", **settings):
    return binding_stack(
        place(), apart=False, heap_mib=160, broker_heap_mib=96, settings=settings, jvm=jvm
    )


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    """A node that is sender and receiver, with a pool for each kind of work, and a broker."""
    with started(deployment(jms_senders=20), tmp_path_factory.mktemp("own-pools")) as running:
        yield running


def served_by(stack, way):
    status, body = post(f"{stack.url('app')}/bindings/{way}?bytes=100")
    assert status == 200, body
    return json.loads(body)["pool"]


def rises(stack, load_of):
    """Return what a load made of it, by how much counters rose, and the seconds it took."""
    before, begin = counters(stack), time.monotonic()
    collected = load_of()
    seconds = time.monotonic() - begin
    after = counters(stack)
    return collected, {name: after[name] - before.get(name, 0.0) for name in after}, seconds


def await_rows(stack, count):
    query = "select count(*) from binding_message"
    assert wait_until(lambda: ask(stack, query)[0][0] == count), f"not {count} rows"


def test_each_way_has_its_own_pool(own):
    """And each is told, with its limit."""
    assert {way: served_by(own, way) for way in OWN} == OWN
    found = counters(own)
    for pool in OWN.values():
        assert found[f"binding_pool_limit/{pool}"] == 10
        assert found[f"binding_done_total/{pool}"] >= 1


def test_threads_at_work_are_rate_times_time(own, tmp_path):
    """Six callers, three threads: by the counters alone, no more than three worked at a time."""
    settings = {"way": "queue", "work": "pause:20", "pools": "bindings-queue?threads=3"}
    waits = "binding_waited_s/bindings-queue"
    done = "binding_done_total/bindings-queue"
    collected, rise, seconds = asked_again(
        lambda: rises(own, lambda: load(own, tmp_path, "pools.py", 6, settings)),
        lambda found: found[1][waits] > 0.02 * (found[1][done] - 3) / 2,
        "callers came so late that three threads were enough",
    )
    assert collected.facts.failed == 0
    done = rise["binding_done_total/bindings-queue"]
    worked = rise["binding_worked_s/bindings-queue"]
    waited = rise["binding_waited_s/bindings-queue"]
    assert done == rise["binding_calls_total/queue"] == collected.requests.height
    assert worked / done >= 0.02
    assert 0 < worked / seconds <= 3
    # The thread's own time ends a little after its reply, which may be after the caller's.
    assert waited + 0.02 * done <= rise["binding_call_s/queue"] <= 6 * seconds
    assert counters(own)["binding_pool_largest/bindings-queue"] == 3


@pytest.mark.parametrize(("way", "pool"), [("queue", "queue"), ("jms", "jms-sessions")])
def test_one_thread_keeps_the_order_and_every_message_is_done(own, tmp_path, way, pool):
    """Acknowledged at once, stored later, each once, in the order of its sender."""
    rows = ask(own, "select count(*) from binding_message")[0][0]
    settings = {"way": way, "work": "row", "one_way": True, "pools": f"bindings-{pool}?threads=1"}

    def messages():
        collected = load(own, tmp_path, "pools.py", 4, settings, measured_s=0.3)
        await_rows(own, rows + collected.requests.height)
        return collected

    collected, rise, _ = rises(own, messages)
    assert collected.facts.failed == 0 and collected.requests.height > 0
    assert set(collected.requests["name"].cast(str)) == {"one-way"}
    assert rise[f"binding_sent_total/{way}"] == collected.requests.height
    assert rise.get(f"binding_late_total/{way}", 0) == 0


def test_a_pool_without_a_limit_has_as_many_threads_as_work(own, tmp_path):
    """No limit is no number; a thread may still be at its end when the next call has begun."""
    settings = {"way": "queue", "work": "pause:1000", "pools": "bindings-queue?threads=0"}
    collected = load(own, tmp_path, "pools.py", 15, settings)
    assert collected.facts.failed == 0
    found = counters(own)
    assert found["binding_pool_largest/bindings-queue"] >= 15
    assert "binding_pool_limit/bindings-queue" not in found


def test_a_pool_that_is_not_there_stops_the_trial(own, tmp_path):
    """Before any request counts, with what the node answered."""
    with pytest.raises(TrialError, match="no such pool"):
        load(own, tmp_path, "pools.py", 1, {"pools": "sauna?threads=1"})


def test_one_executor_serves_all(tmp_path):
    """The same calls run in the threads of one pool, virtual ones where the JVM has them."""
    jvm = VIRTUAL[-1] if VIRTUAL else ""
    virtual = {"virtual_threads": True, "binding_virtual": True} if VIRTUAL else {}
    with started(deployment(jvm, binding_shared_threads=4, **virtual), tmp_path) as stack:
        assert {served_by(stack, way) for way in OWN} == {"bindings-shared"}
        assert served_by(stack, "direct") == "web"
        found = counters(stack)
        assert found["binding_pool_limit/bindings-shared"] == 4
        assert ("threads_limit" in found) == (not VIRTUAL)


@pytest.mark.skipif(not WITHOUT, reason="no JVM here is too old for virtual threads")
def test_virtual_threads_are_refused_where_there_are_none(tmp_path):
    """In one line that names the setting and the release that it needs."""
    wrong = deployment(WITHOUT[0], virtual_threads=True)
    with (
        pytest.raises(TrialError, match=r"virtual.enabled is 'true': it needs Java 21 or later"),
        started(wrong, tmp_path),
    ):
        pass
