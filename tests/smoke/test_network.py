"""Chapter 17 in its shortest form: networks were as they were asked for, by their own counters."""

import os
import sys

import polars as pl
import pytest

from sizebook.book.records import read_records
from sizebook.chapters.network import links
from sizebook.hosts.wires import Wire, shaping_words
from sizebook.report.reported import reported_claims
from sizebook.store import find_bundles, open_bundle

ROOT = sys.platform == "linux" and os.geteuid() == 0
needs_hosts = pytest.mark.skipif(not ROOT, reason="networks of their own need root on Linux")
HEADER_BYTES = 14
"""Of the link, on each frame."""


@pytest.fixture(scope="module")
def measured(project):
    """The measured bundles of the chapter, by experiment."""
    found = {}
    for path in find_bundles(project.runs("network")):
        bundle = open_bundle(path)
        if bundle.record.trial.purpose == "measured":
            assert bundle.record.outcome == "completed", bundle.record.failure
            found.setdefault(bundle.record.trial.experiment, []).append(bundle)
    return found


@needs_hosts
def test_frames_are_as_large_as_they_may_be(measured):
    """Without offloads no frame is larger, and most are full where megabytes are sent."""
    counts = {}
    for bundle in measured["bytes"]:
        levels = bundle.record.trial.treatment
        if levels["answers"] == "bulk" and levels["way"] == "link":
            counts[levels["offloads"], levels["frame"]] = links.frames_per_mb("web", "local")(
                bundle
            )
    for frame in (1492, 8996):
        assert counts["off", frame] >= 1e6 / (frame + HEADER_BYTES)
    assert counts["off", 8996] < counts["off", 1492] / 3
    assert counts["on", 1492] < counts["off", 1492] / 2


@needs_hosts
def test_what_a_link_was_set_to_is_kept_with_the_trial(measured):
    """By the kernel's own words, for both ends."""
    for bundle in measured["rows"]:
        levels = bundle.record.trial.treatment
        runs = {run.name: run for run in bundle.record.execution.hosts}
        for host, peer in (("web", "db"), ("db", "web")):
            told = runs[host].links[peer]
            assert f"frames of {levels['frame']} bytes" in told
            assert ("tso" in told) == (levels["offloads"] == "on")


@needs_hosts
def test_rows_take_the_way_that_the_network_says(measured):
    """Over the link where there is one, and through the router no faster than it lets them."""
    for bundle in measured["sharing"]:
        rate = bundle.record.trial.deployment.network.router_mbit_per_s
        shared = links.carried_mb("web1", links.SHARED)(bundle)
        own = links.carried_mb("web1", "db")(bundle)
        if rate is None:
            assert own > 2 * shared
        else:
            assert own is None
            assert shared > 0
            assert_kept_to(rate, bundle, ("web1", "web2"))


def assert_kept_to(rate_mbit_per_s, bundle, receivers):
    """Behind the router, all together got no more in all readings' time than it lets through."""
    (words,) = shaping_words(Wire(rate_mbit_per_s=rate_mbit_per_s))
    burst_bytes = int(words[words.index("burst") + 1])
    per_s, received = rate_mbit_per_s * 1e6 / 8, 0.0
    for host in receivers:
        readings = bundle.counters.filter(
            (pl.col("source").cast(pl.String) == f"link/{host}")
            & (pl.col("metric").cast(pl.String) == f"link_received_bytes/{links.SHARED}")
        ).sort("time_ns")
        received += readings["value"][-1] - readings["value"][0]
        span_s = (readings["time_ns"][-1] - readings["time_ns"][0]) / 1e9
    # A reading is made at some time of its interval, and its time stands for all of it.
    assert received <= per_s * (span_s + bundle.record.trial.probe_interval_s) + burst_bytes


@needs_hosts
def test_utilization_is_of_the_rate_that_was_set(measured):
    for bundle in measured["full-load"]:
        used = links.utilization_percent("web", "db")(bundle)
        carried = links.mb_per_s("web", "db")(bundle)
        assert 0 < used <= 100 * carried * 8 / 1000


def test_every_transferable_claim_is_decided_or_says_why_not(project):
    cards = read_records(project.page("network"))
    claims = [name for name, claim in reported_claims().items() if claim.scenario == "network"]
    assert len(claims) == 5
    for name in claims:
        assert cards[name].fields["claim"]["reason"], name
