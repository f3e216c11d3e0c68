"""Part I in its shortest form: each chapter's own promises, from the bundles that it left."""

import polars as pl
import pytest

from sizebook.book.records import read_records
from sizebook.checks import judge
from sizebook.report.counter_increase import rises
from sizebook.store import find_bundles, open_bundle

STORING = ("connectors", "xml", "events", "messaging", "user-mix")
"""Chapters whose loads leave rows."""


def bundles(project, chapter, experiment):
    """Return the measured bundles of one design."""
    opened = [open_bundle(path) for path in find_bundles(project.runs(chapter))]
    found = [
        one
        for one in opened
        if one.record.trial.experiment == experiment and one.record.trial.purpose == "measured"
    ]
    assert found, f"no trial of {chapter}/{experiment}"
    return found


def records(project, chapter):
    """Return what the executed notebook of a chapter publishes."""
    return read_records(project.page(chapter))


@pytest.mark.parametrize("chapter", STORING)
def test_what_was_acknowledged_is_stored(project, chapter):
    """Sent = acknowledged = stored in every trial that names a table, by the database's count."""
    judged = 0
    for path in find_bundles(project.runs(chapter)):
        bundle = open_bundle(path)
        if not bundle.record.trial.stores:
            continue
        findings = {finding.rule: finding for finding in judge(bundle).findings}
        assert findings["SB105-stored"].passed, findings["SB105-stored"].message
        judged += 1
    assert judged


def test_a_connector_pays_what_it_says(project):
    """SOAP opens and logs in once a call, a logged call forces a record, a pooled one neither.

    Ways take turns, so the counts of a stack, first reading to last, are those of all three.
    """
    stacks = {}
    for bundle in bundles(project, "connectors", "connectors"):
        treatment = bundle.record.trial.treatment
        stacks.setdefault(treatment["nodes"], {})[treatment["connector"]] = bundle
    for nodes, ways in stacks.items():
        assert set(ways) == {"soap", "rpc", "logged"}
        calls = {way: bundle.columns.height for way, bundle in ways.items()}
        for bundle in ways.values():
            rise = bundle.readings.rise
            assert rise("server/backend-", "connector_logins_total/soap") == calls["soap"]
            assert rise("server/backend-", "connector_logins_total/rpc") <= 22 * nodes
            assert rise("server/app-", "connector_forces_total") >= calls["logged"] > 0


def test_what_a_way_does_is_booked_to_it(project):
    """Within its turns no other way's logins; where an edge was read too late, nobody's."""
    for bundle in bundles(project, "connectors", "connectors"):
        found = rises(bundle, "connector_logins_total", "server/backend-")
        logins = dict(found.select("label", "rise").iter_rows())
        if logins and bundle.record.trial.treatment["connector"] != "soap":
            assert logins["soap"] <= 10 * len(bundle.record.execution.turns), "under way at an edge"


@pytest.mark.parametrize(
    ("chapter", "experiment", "factor", "killed"),
    [
        ("connectors", "killed", "connector", {"logged"}),
        ("events", "restart", "killed", {"node", "broker"}),
    ],
)
def test_a_kill_in_the_middle_loses_nothing(project, chapter, experiment, factor, killed):
    """Node and broker were killed and started again under load; every acknowledged row is there.

    That some of them were acknowledged before the kill is made certain in ``tests/stack``: here a
    busy machine may let none through by then.
    """
    found = bundles(project, chapter, experiment)
    assert {one.record.trial.treatment[factor] for one in found} == killed
    for bundle in found:
        (event,) = bundle.record.execution.events
        assert event.action == "restart"
        served = bundle.columns.only("error", "")["start_ns"]
        assert bundle.columns["start_ns"].min() < event.begin_ns, "under load"
        assert event.begin_ns < served.max(), "served again"
        assert bundle.columns.height > served.size, "some were refused"


def test_every_way_of_xml_was_asked_for(project):
    """Stylesheet on two engines and the interpreter; documents of about a megabyte each."""
    ways = set()
    for bundle in bundles(project, "xml", "alone") + bundles(project, "xml", "shared"):
        way = bundle.record.trial.treatment["way"]
        done = rises(bundle, "documents_total", "server/").filter(pl.col("rise") > 0)
        assert set(done["label"]) == {way}
        ways.add(way)
        assert bundle.columns["sent_bytes"].min() > 900_000
    assert ways == {"xslt", "xslt-jdk", "actions"}


def test_the_mix_is_on_time_as_offered(project):
    """Users click at their own times: offered rates are known, and late passes counted."""
    for bundle in bundles(project, "user-mix", "mix"):
        finding = {one.rule: one for one in judge(bundle).findings}["SB302-offered"]
        assert finding.passed is not None, finding.message
        names = set(bundle.columns.words("name"))
        assert {"query", "display", "data"} <= names


def test_each_binding_was_served_by_its_own_pool(project):
    """The receiver tells the pool: the web's threads, a queue's, the broker's, the calls'."""
    served = {}
    for bundle in bundles(project, "bindings", "two JVMs"):
        way = bundle.record.trial.treatment["way"]
        pools = rises(bundle, "binding_served_total", "server/").filter(pl.col("rise") > 0)
        served.setdefault(way, set()).update(zip(pools["source"], pools["label"], strict=True))
    del served["all"]
    assert served == {
        "direct": {("server/app-1", "web")},
        "copy": {("server/app-1", "web")},
        "queue": {("server/app-1", "bindings-queue")},
        "jms": {("server/backend-1", "bindings-jms")},
        "http": {("server/backend-1", "web")},
        "soap": {("server/backend-1", "web")},
        "rpc": {("server/backend-1", "bindings-rpc")},
    }


@pytest.mark.parametrize(
    ("chapter", "key", "printed"),
    [
        ("connectors", "rates-table", ("38.8", "67.1", "9.06", "26.3")),
        ("bindings", "beside-report", ("1,400.0", "70.0", "27.0", "77.0")),
        ("user-mix", "reported-machine", ("5,004", "15,963", "9,134")),
    ],
)
def test_reported_numbers_stand_beside_ours(project, chapter, key, printed):
    """The reports' printed tables are in the page that measures the same."""
    table = records(project, chapter)[key].text("text/html")
    assert [number for number in printed if f">{number}</td>" not in table] == []
