"""Chapter 16 in its shortest form: CPUs came and went, nobody failed, JVMs count as told."""

import os
import shutil
import sys

import polars as pl
import pytest

from sizebook.book.records import read_records
from sizebook.chapters.capacity_on_demand import resizing
from sizebook.lab import place
from sizebook.report import measures
from sizebook.report.reported import reported_claims
from sizebook.store import find_bundles, open_bundle

needs_groups = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0 or shutil.which("taskset") is None,
    reason="hosts that can be resized need root on Linux",
)
CLAIMS = ("ow-cod-1", "gw-hardware-1")


@pytest.fixture(scope="module")
def measured(project):
    """The measured bundles of the chapter, by experiment."""
    found = {}
    for path in find_bundles(project.runs("capacity-on-demand")):
        bundle = open_bundle(path)
        if bundle.record.trial.purpose == "measured":
            found.setdefault(bundle.record.trial.experiment, []).append(bundle)
    return found


@needs_groups
def test_cpus_came_and_went_and_nothing_failed(measured):
    """Twice in each trial, by the trial's own events; every document was answered."""
    bundles = [*measured["courses"], *measured["jvms"]]
    assert {one.record.trial.treatment["jvm"] for one in bundles} == {
        "follows",
        "told one",
        "told two",
    }
    for bundle in bundles:
        assert len(resizing.resizes(bundle)) == 2
        assert resizing.failures(bundle) == 0


@needs_groups
def test_a_peak_is_more_than_one_cpu_serves(measured):
    """By the rate that users who do not pause got there, to two digits."""
    (alone,) = measured["capacity"]
    assert alone.record.trial.deployment.hosts[0].cpus == place().stack[:1]
    serves = measures.throughput_per_s(alone)
    for bundle in (*measured["courses"], *measured["jvms"]):
        calm, peak, after = (step.rate_per_s for step in bundle.record.trial.load.arrivals.steps)
        assert calm == after < serves < peak
        assert peak / serves == pytest.approx(1.35, rel=0.05)


@needs_groups
def test_a_jvm_counts_the_cpus_of_its_host_or_those_that_it_was_told(measured):
    """By its own first answer: the host has one CPU then."""
    expected = {"follows": 1, "told one": 1, "told two": 2}
    for bundle in (*measured["courses"], *measured["jvms"]):
        told = bundle.counters.filter(
            (pl.col("source").cast(pl.String) == "server/app-1")
            & (pl.col("metric").cast(pl.String) == "processors")
        ).sort("time_ns")["value"]
        assert told[0] == expected[bundle.record.trial.treatment["jvm"]]


@needs_groups
def test_flights_are_fetched_on_one_cpu_and_two(measured):
    """With both heaps, the same start for both numbers of CPUs."""
    seen = {
        (one.record.trial.treatment["heap_mib"], one.record.trial.treatment["cpus"])
        for one in measured["sizes"]
    }
    assert seen == {(heap, cpus) for heap in (256, 512) for cpus in (1, 2)}


def test_every_transferable_claim_is_decided_or_says_why_not(project):
    """The report's and the one that the protocols' report only guessed."""
    cards = read_records(project.page("capacity-on-demand"))
    assert set(CLAIMS) <= set(reported_claims())
    for name in CLAIMS:
        assert cards[name].fields["claim"]["reason"], name
