"""Chapter 14 in its shortest form: users with sessions, on one host and on hosts of their own."""

import os
import shutil

import polars as pl
import pytest

from sizebook.book.records import read_records
from sizebook.chapters.tiers import user_loads
from sizebook.checks import judge
from sizebook.model.deployment import LOCAL
from sizebook.report import measures
from sizebook.report.counter_increase import greatest, rise_per_request
from sizebook.report.reported import reported_claims
from sizebook.store import find_bundles, open_bundle

ROOT = hasattr(os, "geteuid") and os.geteuid() == 0 and shutil.which("ip") is not None
needs_hosts = pytest.mark.skipif(not ROOT, reason="hosts with a network of their own need root")
FREQUENT = {"draft-line", "customer", "customer-search", "item-search", "availability", "order"}
"""Transactions that even a second of work has."""


@pytest.fixture(scope="module")
def measured(project):
    """The measured bundles of the chapter, by experiment."""
    found = {}
    for path in find_bundles(project.runs("tiers")):
        bundle = open_bundle(path)
        if bundle.record.trial.purpose == "measured":
            found.setdefault(bundle.record.trial.experiment, []).append(bundle)
    return found


def test_users_are_users(measured):
    """Each has a connection, signs on before anything else, and pauses as long as stated."""
    for bundle in measured["headline"]:
        users = bundle.record.trial.load.arrivals.users
        assert bundle.record.execution.facts["connections_opened"] == users
        first = bundle.requests.sort("start_ns").group_by("user").first()
        assert set(first["name"].cast(pl.String)) == {"sign-on"}
        assert first.height == users
        think = next(one for one in judge(bundle).findings if one.rule == "SB304-think")
        assert think.passed or woken_late(bundle, think.numbers), think.message


def woken_late(bundle, numbers):
    """Return whether pauses were longer than stated by no more than the generator's tick was late.

    That is the machine's doing. Users who pause too short are not, nor is a generator that was on
    time.
    """
    longer_s = numbers["paused_s"] / numbers["begun"] - numbers["think_s"]
    return 0 < longer_s <= bundle.record.generator.lag_max_ms / 1e3


def test_the_node_did_what_users_were_told(measured):
    """Transactions by the node's own count are those that users were answered, of every kind."""
    for bundle in measured["headline"]:
        assert bundle.record.generator.failed == 0
        own = bundle.requests.group_by(pl.col("name").cast(pl.String)).len()
        rise = (
            bundle.counters.filter(
                (pl.col("source").cast(pl.String) == "server/app-1")
                & pl.col("metric").cast(pl.String).str.starts_with("business_done_total/")
            )
            .group_by(
                name=pl.col("metric").cast(pl.String).str.strip_prefix("business_done_total/")
            )
            .agg(rise=pl.col("value").max() - pl.col("value").min())
        )
        both = own.join(rise, on="name", how="inner")
        assert set(both["name"]) >= {"customer", "item-search"}
        assert both["len"].to_list() == both["rise"].cast(pl.Int64).to_list()


@needs_hosts
def test_tiers_are_where_they_should_be(measured):
    """One host or two, on the same CPUs; every tier's CPU time is told."""
    seen = set()
    for bundle in measured["placement"]:
        trial = bundle.record.trial
        hosts = {role.host for role in trial.deployment.roles}
        assert LOCAL not in hosts
        assert len(hosts) == {"one host": 1, "two hosts": 2}[trial.treatment["tiers"]]
        assert len({host.cpus for host in trial.deployment.hosts}) == 1
        for host in hosts:
            assert rise_per_request(f"cgroup/{host}", "cgroup_cpu_s")(bundle) > 0
        assert measures.cpu_ms_per_request("app")(bundle) > 0
        # in ticks of 10 ms a session of the database may use none meanwhile; its start took some
        assert measures.cpu_ms_per_request("database")(bundle) >= 0
        assert greatest("process/database-", "cpu_user_s")(bundle) > 0
        assert user_loads.stack_cpus(bundle) >= 1
        seen.add(trial.treatment["tiers"])
    assert seen == {"one host", "two hosts"}


@needs_hosts
def test_more_servers_share_the_sessions(measured):
    """Behind the balancer each session stays on its node, and every node has some."""
    for bundle in measured["servers"]:
        servers = bundle.record.trial.treatment["servers"]
        assert bundle.record.generator.failed == 0
        sessions = bundle.counters.filter(
            pl.col("metric").cast(pl.String) == "business_session_events_total/created"
        )
        by_node = sessions.group_by("source").agg(pl.col("value").max() - pl.col("value").min())
        assert by_node.height == servers
        assert (by_node["value"] > 0).all()


def test_the_page_shows_users_beside_the_report(project):
    """Users of here stand below the report's four columns, and the mix has transactions."""
    found = read_records(project.page("tiers"))
    table = found["headline"].text("text/html")
    assert all(text in table for text in ("14,148", "11,065", "here, "))
    assert "not run" not in found["validity"].text("text/html")
    mix = found["mix"].text("text/html")
    assert all(f">{name}</td>" in mix for name in FREQUENT)


def test_every_transferable_claim_is_decided_or_says_why_not(project):
    """Each claim of the benchmark and of placement that carries over has a card with a reason."""
    cards = read_records(project.page("tiers"))
    scenarios = ("web-html-benchmark", "tier-placement")
    claims = [
        claim_id
        for claim_id, claim in reported_claims().items()
        if claim.scenario in scenarios and not claim.transferable.startswith("no")
    ]
    assert len(claims) == 5
    for claim_id in claims:
        assert cards[claim_id].fields["claim"]["reason"], claim_id
