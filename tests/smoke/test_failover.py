"""Chapter 15 in its shortest form: clones were lost, the accounts of it close."""

import shutil

import pytest

from sizebook.book.records import read_records
from sizebook.chapters.failover import failures as failover
from sizebook.chapters.failover.balancer_log import node_states
from sizebook.checks import judge
from sizebook.report import stored_rows
from sizebook.report.reported import reported_claims
from sizebook.store import find_bundles, open_bundle

pytestmark = pytest.mark.skipif(shutil.which("haproxy") is None, reason="clones need HAProxy")


@pytest.fixture(scope="module")
def measured(project):
    """The measured bundles of the chapter, by experiment."""
    found = {}
    for path in find_bundles(project.runs("failover")):
        bundle = open_bundle(path)
        if bundle.record.trial.purpose == "measured":
            found.setdefault(bundle.record.trial.experiment, []).append(bundle)
    return found


def test_clones_were_lost_as_the_design_says(measured):
    """Killed or hung, by the trial's own events, sessions kept in both places."""
    seen = set()
    for bundle in measured["outages"]:
        treatment = bundle.record.trial.treatment
        event = failover.outage(bundle)
        assert event is not None
        assert event.action == {"killed": "kill", "hung": "hang"}[treatment["outage"]]
        seen.add((treatment["outage"], treatment["sessions"]))
    assert seen == {("killed", "memory"), ("killed", "database"), ("hung", "database")}


def test_a_killed_clone_is_found_down(measured):
    """The balancer wrote it down, after the kill."""
    for bundle in measured["outages"]:
        if bundle.record.trial.treatment["outage"] == "killed":
            assert "down" in node_states(bundle)["state"].to_list()
            assert failover.found_down_s(bundle) > 0


def test_no_acknowledged_write_is_lost(measured):
    """Rows in the database against what clerks were told, in every trial with writes."""
    for bundle in (*measured["layouts"], *measured["outages"]):
        told = failover.acknowledged("business_document")(bundle)
        open_ = failover.unsure("business_document")(bundle)
        assert told <= stored_rows.rows_stored("business_document")(bundle) <= told + open_
        assert told > 0


def test_the_accounts_agree(measured):
    """Client and balancer, to the last answer; nothing else is wrong with the count either."""
    for bundle in (*measured["layouts"], *measured["outages"]):
        found = {one.rule: one for one in judge(bundle).findings}
        for rule in ("SB101-accounting", "SB105-stored"):
            assert found[rule].passed is True, found[rule].message
        if bundle.record.trial.deployment.balancer() is not None:
            assert found["SB107-balancer-count"].passed is True, found[
                "SB107-balancer-count"
            ].message


def test_sessions_in_the_database_outlive_their_clone(measured):
    """Those in the memory of a killed one do not: somebody is told so."""
    for bundle in measured["outages"]:
        lost = failover.failed_of(failover.LOST_SESSION)(bundle)
        treatment = bundle.record.trial.treatment
        if treatment["sessions"] == "database":
            assert lost == 0
        else:
            assert lost > 0


def test_every_transferable_claim_is_decided_or_says_why_not(project):
    """Each claim of one large process and of clones has a card."""
    cards = read_records(project.page("failover"))
    claims = [
        name
        for name, claim in reported_claims().items()
        if claim.scenario in ("websphere-vertical-scaling", "websphere-cloning")
        and not claim.transferable.startswith("no")
    ]
    assert claims
    for name in claims:
        assert cards[name].fields["claim"]["reason"], name
