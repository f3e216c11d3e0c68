"""Chapter nginx in its shortest form: nginx counts what the client does, settings do as said."""

import shutil

import polars as pl
import pytest

from sizebook.checks import judge
from sizebook.lab.measurement_cache import Archive
from sizebook.report.counter_increase import rise_per_request, risen
from sizebook.stack.servers import find_program
from sizebook.store import Project, find_bundles, open_bundle


@pytest.fixture(scope="module")
def measured(project):
    """The measured bundles of the chapter, by experiment."""
    if "/" not in find_program("nginx", Project(project.root).state):
        assert not shutil.which("dpkg"), "set-up unpacks nginx on Debian"
        pytest.skip("no nginx on this machine")
    found = {}
    for path in find_bundles(project.runs("nginx")):
        bundle = open_bundle(path)
        if bundle.record.trial.purpose == "measured":
            found.setdefault(bundle.record.trial.experiment, []).append(bundle)
    return found


def test_nginx_counted_what_the_client_counted(measured):
    """The same rule as for the book's own stack, in every trial."""
    for bundle in (one for bundles in measured.values() for one in bundles):
        assert bundle.record.outcome == "completed", bundle.record.failure
        findings = {finding.rule: finding for finding in judge(bundle).findings}
        assert findings["SB104-server-count"].passed, findings["SB104-server-count"].message
        used = risen("process/web-", "cpu_user_s", "cpu_system_s")(bundle)
        assert used is not None or was_late(bundle)
        assert bundle.record.versions["web"].startswith("nginx version: ")


def was_late(bundle):
    """Return whether counters were read too late at an edge of a turn: then they say nothing."""
    return any(
        one.metric.startswith("missed_ticks/") and one.values.max(initial=0.0) > 0
        for one in bundle.readings
    )


def test_connections_are_kept_or_not(measured):
    """By nginx's own count; it is read at a turn's edges, where a request may be under way."""
    opened = rise_per_request("server/web-", "told_total/stub_status_accepted_total")
    for bundle in measured["connections"]:
        kept = bundle.record.trial.treatment["keep_alive"] == "on"
        if (count := opened(bundle)) is None:
            assert was_late(bundle)
        else:
            assert count < 0.5 if kept else 0.5 < count <= 1.1


def test_gzip_sends_fewer_bytes(measured):
    """Of the same file."""
    sent = {}
    for bundle in measured["compression"]:
        levels = bundle.record.trial.treatment
        sent[levels["gzip"]] = bundle.requests.select(pl.col("body_bytes").mean()).item()
    assert 0.2 < sent["on"] / sent["off"] < 0.5


def test_another_nginx_would_be_measured_anew(project, measured):
    """Its version is in the fingerprints, and so in the key under which a trial is found again."""
    bundle = measured["files"][0]
    assert set(bundle.record.fingerprints.servers) == {"web"}
    key = Archive(Project(project.root), "nginx").key(bundle.record.trial)
    assert key == bundle.record.key
