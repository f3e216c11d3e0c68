"""Chapter 11 in its shortest form: the jobs that were done, the bytes moved, the claims."""

import shutil

import pytest

from sizebook.book.records import read_records
from sizebook.report import disks
from sizebook.report.counter_increase import rises
from sizebook.report.reported import reported_claims
from sizebook.store import find_bundles, open_bundle

SETS = {"small", "medium", "large"}
FIO = {"seq-write", "seq-read", "rand-read", "rand-write", "log"}


@pytest.fixture(scope="module")
def measured(project):
    """The measured bundles of the chapter."""
    opened = [open_bundle(path) for path in find_bundles(project.runs("disk"))]
    return [one for one in opened if one.record.trial.purpose == "measured"]


def risen(bundle, metric):
    """Return label and rise of a counter of the node."""
    found = rises(bundle, metric, "server/app-").filter(rises(bundle, metric)["rise"] > 0)
    return dict(found.select("label", "rise").iter_rows())


def test_a_trial_does_its_job_and_no_other(measured):
    """As many jobs as requests; a set of files is written whole and read whole."""
    done = set()
    for bundle in measured:
        job = bundle.record.trial.treatment["job"]
        done.add(job)
        if job == "network":
            assert disks.network_mb_per_s(bundle) > 0
            continue
        assert risen(bundle, "disk_jobs_total") == {job: bundle.columns.height}
        if job in SETS:
            moved = risen(bundle, "disk_job_bytes")
            assert len(set(moved.values())) == 1 and {"write", "reread"} <= set(moved)
            assert disks.mb_per_s("write")(bundle) > disks.mb_per_s("write", "sync")(bundle)
    assert done == SETS | {"network"} | (FIO if shutil.which("fio") else set())


def test_every_transferable_claim_is_decided_or_says_why_not(project):
    """A claim that was not run names what is missing for it."""
    cards = read_records(project.page("disk"))
    scenarios = ("disk-copy", "network-copy")
    claims = [
        name
        for name, claim in reported_claims().items()
        if claim.scenario in scenarios and not claim.transferable.startswith("no")
    ]
    assert len(claims) == 7
    for name in claims:
        assert cards[name].fields["claim"]["reason"], name
