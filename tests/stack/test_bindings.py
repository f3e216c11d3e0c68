"""Sender and receiver in real nodes, with a broker process: who serves which binding."""

import json

import pytest
from tests.stack.part_stack import counters, load, post, started

from sizebook.lab.deployments import binding_stack
from sizebook.lab.placement import place

SERVED = {
    "direct": ("app-1", "web"),
    "copy": ("app-1", "web"),
    "queue": ("app-1", "bindings-queue"),
    "jms": ("backend-1", "bindings-jms"),
    "http": ("backend-1", "web"),
    "soap": ("backend-1", "web"),
    "rpc": ("backend-1", "bindings-rpc"),
}


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    """A sender, a receiver apart from it, a broker; started once."""
    deployment = binding_stack(place(), heap_mib=160, broker_heap_mib=96)
    with started(deployment, tmp_path_factory.mktemp("bindings")) as running:
        yield running


@pytest.mark.parametrize("way", SERVED)
def test_the_reply_tells_node_and_pool(stack, way):
    """And the calls are counted by the sender, the payloads by the receiver and its pool."""
    node, pool = SERVED[way]
    url = f"{stack.url('app')}/bindings/{way}?id=one&bytes=102400&calls=4"
    post(url)
    before = counters(stack)
    status, body = post(url)
    told = json.loads(body)
    assert status == 200, body
    assert (told["node"], told["pool"], told["sender"]) == (node, pool, "app-1")
    assert (told["bytes"], told["calls"]) == (102_400, 4)
    assert 0 < told["minNs"] <= told["meanNs"] <= told["maxNs"] and told["firstNs"] > 0
    assert 0 < told["heapFree"] <= told["heapTotal"]
    after = counters(stack)
    for metric in (f"binding_calls_total/{way}", f"binding_received_total/{way}"):
        assert after[metric] - before[metric] == 4
    assert after[f"binding_served_total/{pool}"] - before[f"binding_served_total/{pool}"] == 4
    assert after[f"binding_call_s/{way}"] > before[f"binding_call_s/{way}"]
    assert after[f"binding_first_s/{way}"] == before[f"binding_first_s/{way}"] > 0


@pytest.mark.parametrize("way", SERVED)
def test_the_load_profile_checks_the_payload(stack, tmp_path, way):
    """Sent by the client, its checksum is known here; every answer has it."""
    settings = {"way": way, "bytes": 5000, "calls": 2, "upload": True}
    collected = load(stack, tmp_path, "bindings.py", 2, settings)
    assert collected.facts.failed == 0 and collected.requests.height > 0


def test_errors_are_told_by_their_status(stack):
    """Unknown binding, too many calls, too large: each its status, and the next call passes."""
    url = f"{stack.url('app')}/bindings"
    assert post(f"{url}/pigeon?bytes=1")[0] == 404
    assert post(f"{url}/rpc?bytes=1&calls=10001")[0] == 400
    assert post(f"{url}/soap?bytes=2097153")[0] == 413
    assert post(f"{url}/jms?bytes=1")[0] == 200
    for node in stack.nodes:
        assert "\tat " not in node.process.log_tail(200)
