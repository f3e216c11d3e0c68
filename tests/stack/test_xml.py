"""Documents through real nodes: the same result in each way, a row of each, refused if hostile."""

import json

import pytest
from tests.stack.part_stack import ask, counters, load, post, started

from sizebook.lab.deployments import xml_stack
from sizebook.lab.placement import place
from sizebook.load.documents import production_orders
from sizebook.model.errors import UsageError

WAYS = ("xslt", "xslt-jdk", "actions")


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    """Two app nodes behind a balancer, started once."""
    deployment = xml_stack(place(), nodes=2, total_heap_mib=256, settings={"xml_max_body": "300KB"})
    with started(deployment, tmp_path_factory.mktemp("xml")) as running:
        yield running


def test_all_ways_find_what_the_document_was_made_with(stack):
    """Rows, total and size; one digest for all; a repeated id leaves no second row."""
    document = production_orders(50_000, 3)
    told = {}
    for way in WAYS:
        status, body = post(f"{stack.url('app')}/xml/transform/{way}?id=same-{way}", document.body)
        assert status == 200
        told[way] = json.loads(body)
        assert told[way]["rows"] == document.rows
        assert f'"total":{document.total},'.encode() in body
        assert told[way]["bytesIn"] == len(document.body) and told[way]["stored"] is True
    assert len({one["sha256"] for one in told.values()}) == 1
    again = post(f"{stack.url('app')}/xml/transform/xslt?id=same-actions", document.body)
    assert json.loads(again[1])["stored"] is False
    rows = ask(stack, "select way, total::text from document where id ~ '^same' order by way")
    assert rows == [(way, document.total) for way in sorted(WAYS)]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"<productionOrders>", 400),
        (b'<!DOCTYPE a [<!ENTITY e "ha">]><productionOrders>&e;</productionOrders>', 400),
        (b"<a>" * 10_000, 400),
        (b"x" * 300_001 * 2, 413),
    ],
)
def test_hostile_documents_are_refused_and_the_service_goes_on(stack, body, status):
    """A clear status, no stack trace in answer or log, a counter that moves."""
    before = counters(stack)
    found, text = post(f"{stack.url('app')}/xml/transform/actions?id=hostile", body)
    assert found == status and json.loads(text)["status"] == status
    assert b"Exception" not in text
    rise = {k: v - before.get(k, 0) for k, v in counters(stack).items() if "refused" in k}
    assert sum(rise.values()) == 1
    for node in stack.nodes:
        assert "\tat " not in node.process.log_tail(200)
    good = production_orders(1000, 1)
    assert post(f"{stack.url('app')}/xml/transform/xslt?id=after", good.body)[0] == 200


@pytest.mark.parametrize("way", WAYS)
def test_the_load_profile_stores_what_is_acknowledged(stack, tmp_path, way):
    """Every answer is checked; rows, counters and acknowledged requests agree."""
    rows = ask(stack, "select count(*) from document")[0][0]
    before = counters(stack)
    settings = {"way": way, "bytes": 20_000}
    collected = load(stack, tmp_path, "xml_transform.py", 2, settings)
    after = counters(stack)
    sent = collected.requests.height
    assert collected.facts.failed == 0 and sent > 0
    assert ask(stack, "select count(*) from document")[0][0] - rows == sent
    stored = f"documents_stored_total/{way}"
    assert after[stored] - before[stored] == sent
    allocated = f"document_allocated_bytes/{way}"
    assert after[allocated] - before[allocated] > 20_000 * sent
    assert after[f"document_cpu_s/{way}"] >= before[f"document_cpu_s/{way}"]


def test_layouts_share_the_heap():
    """1, 2, 4 nodes at constant total heap; too small a share is an error."""
    for nodes in (1, 2, 4):
        role = xml_stack(place(), nodes=nodes, total_heap_mib=1024).find("app")
        assert role.total_heap_mib == 1024 and role.nodes == nodes
    assert xml_stack(place(), nodes=1, total_heap_mib=512).balancer() is None
    with pytest.raises(UsageError, match="8 nodes"):
        xml_stack(place(), nodes=8, total_heap_mib=256)
