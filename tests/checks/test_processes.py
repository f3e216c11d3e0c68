"""The server's count where its workers count for themselves, and what was never told."""

import json

import polars as pl
import pytest
import synthetic_bundles as made

from sizebook.checks import RULES
from sizebook.model.deployment import Deployment, GivenRole
from sizebook.model.notes import NOTES, SEVERAL_PROCESSES
from sizebook.model.server import CounterSource, Told

BY_ID = {rule.id: rule for rule in RULES}
COUNTERS = CounterSource(series=(Told(series="n_total", metric="requests_total"),))
SHOP = Deployment(roles=(GivenRole(role="shop", url="http://127.0.0.1:1", counters=COUNTERS),))


def found(tmp_path, rule, lacking=None, probe="prometheus:server/shop-1", **changes):
    notes = {"lacking": [{"probe": probe, "reasons": lacking or {"x": "y"}}]}
    logs = {NOTES: json.dumps(notes)} if lacking else {}
    bundle = made.write_synthetic(tmp_path, "b", deployment=SHOP, logs=logs, **changes)
    return BY_ID[rule](bundle)


def counted(server, processes=1.0):
    rows = [(-0.1, "server/shop-1", "requests_total", 0.0)]
    rows += [(at, "server/shop-1", "requests_total", value) for at, value in server]
    rows += [(at, "process/shop-1", "processes", processes) for at in (-0.1, 13.0)]
    return made.readings_of(*rows)


def test_several_processes_are_a_hint_where_counts_differ(tmp_path):
    """Not proof: where the count is right nothing is said."""
    short = found(tmp_path / "1", "SB104-server-count", readings=counted([(13, 2000.0)], 3.0))
    assert short.passed is False and short.verdict == "failed"
    assert "the server has 3 processes: if each counts for itself, add" in short.message
    alone = found(tmp_path / "2", "SB104-server-count", readings=counted([(13, 2000.0)]))
    assert alone.passed is False and alone.message.endswith("unanswered")
    right = found(tmp_path / "3", "SB104-server-count", readings=counted([(13, 4800.0)], 3.0))
    assert right.passed and "processes" not in right.message


def test_a_count_that_jumps_up_and_down_fails(tmp_path):
    """Each scrape was answered by another process; one fall alone is a server that began anew."""
    jumps = [(1.0, 50.0), (2.0, 30.0), (3.0, 900.0), (4.0, 800.0), (13.0, 1000.0)]
    finding = found(tmp_path / "1", "SB104-server-count", readings=counted(jumps))
    assert finding.passed is False and f"as if {SEVERAL_PROCESSES}" in finding.message
    anew = [(1.0, 50.0), (2.0, 0.0), (13.0, 4700.0)]
    finding = found(tmp_path / "2", "SB104-server-count", readings=counted(anew))
    assert finding.passed is None and "began anew" in finding.message


def test_what_the_probe_saw_is_said(tmp_path):
    """Its reason stands in the finding, with what to do."""
    seen = {"requests_total": f"{SEVERAL_PROCESSES}: its start differs"}
    finding = found(tmp_path, "SB104-server-count", seen, readings=counted([(13, 2000.0)]))
    assert finding.passed is False
    assert "its start differs" in finding.message and "multi-process mode" in finding.message


def test_a_count_that_is_not_there_has_its_reason(tmp_path):
    """A misspelt series: the rule cannot judge, and says why."""
    finding = found(
        tmp_path, "SB104-server-count", {"requests_total": "no series n_total"}, counters={}
    )
    assert finding.passed is None and "(no series n_total)" in finding.message


@pytest.mark.parametrize(
    ("probe", "passed"),
    [("prometheus:server/shop-1", True), ("process:process/shop-1", True)],
)
def test_what_was_never_told_is_in_the_findings(tmp_path, probe, passed):
    """Named, and no doubt about the rest."""
    ticks = [(float(at), "server/shop-1", "requests_total", 9.0 * at) for at in range(14)]
    finding = found(
        tmp_path,
        "SB405-readings",
        {"told/queue": "no series queue in the answer"},
        probe,
        readings=pl.concat([made.readings_of(*ticks)]),
    )
    source = probe.partition(":")[2]
    assert finding.passed is passed
    assert finding.message.endswith(f"; {source} lacks told/queue: no series queue in the answer")
