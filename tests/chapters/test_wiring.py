"""Hosts that are wired in one way or another, and what a frame costs."""

import polars as pl
import pytest

from sizebook.chapters.network import results, wiring
from sizebook.lab import Placement
from sizebook.lab.profiles import get_profile

HERE = Placement(stack=(1,), generator=(0,), total_heap_mib=4096)


@pytest.fixture
def wires():
    return wiring.Wiring(HERE, get_profile("quick", 0), 1, {"bulk": 60.0, "small": 400.0}, 40, 1000)


def test_answers_cross_a_link_or_the_shared_network(wires):
    """Frames and offloads are those of the treatment; the rate is that of the answers."""
    t = {"frame": 1492, "offloads": "off", "answers": "bulk", "way": "link"}
    link, shared = wires.answered(t), wires.answered({**t, "way": "shared"})
    assert [one.ends for one in link.deployment.network.links] == [("local", "web")]
    assert shared.deployment.network.links == ()
    assert link.deployment.network.offloads is False
    assert link.load.arrivals.rate_per_s == 60 and link.load.settings == {"expect_bytes": 2**20}


def test_a_router_or_links_of_the_same_capacity(wires):
    """Every app node has a link to the database, or all share the router."""
    links = wires.routed({"network": "links", "users": 8}).deployment.network
    router = wires.routed({"network": "router", "users": 8}).deployment.network
    assert [one.rate_mbit_per_s for one in links.links] == [40, 40]
    assert router.router_mbit_per_s == 40 and router.links == ()


def test_tiers_have_a_link_of_their_own(wires):
    """Rows cross it, and so do look-ups at full load, at a rate."""
    rows = wires.worked({"frame": 8996, "offloads": "on"})
    full = wires.filled({"frame": 8996})
    assert rows.deployment.network.links[0].frame_bytes == 8996
    assert full.deployment.network.links[0].rate_mbit_per_s == 1000
    assert (rows.load.arrivals.users, full.load.arrivals.users) == (2, 8)


def test_designs_leave_out_what_tells_nothing():
    """The shared network as it comes, small answers with offloads at one size."""
    designs = wiring.make_designs([1492, 8996], ("on", "off"), 2, 1, smoke=False)
    bytes_alone = list(designs["bytes"].treatments())
    assert {(one["frame"], one["offloads"]) for one in bytes_alone if one["way"] == "shared"} == {
        (1492, "on")
    }
    assert {"frame": 8996, "offloads": "on", "answers": "small", "way": "link"} not in bytes_alone
    assert len(list(designs["rows"].treatments())) == 4
    assert len(list(designs["sharing"].treatments())) == 4
    smoke = wiring.make_designs([1492, 8996], ("on", "off"), 1, 1, smoke=True)
    assert len(list(smoke["rows"].treatments())) == 2


def test_why_an_experiment_cannot_be_run():
    """All need hosts, some a rate; what else a machine lacks is no reason."""
    lacking = {"rate": "no queue", "offloads": "no ethtool"}
    assert wiring.why_not("bytes", lacking) == ""
    assert wiring.why_not("sharing", lacking) == "no queue"
    assert wiring.why_not("full-load", {"hosts": "no root"} | lacking) == "no root; no queue"


def cut(frames_per_mb, cpu_ms, frame):
    return (frame, "off", 0, "valid", frames_per_mb, cpu_ms)


def test_a_frame_costs_what_many_cost_more_than_few():
    """Microseconds of CPU over the difference of frames."""
    frame = pl.DataFrame(
        [cut(800.0, 1.9, 1492), cut(200.0, 0.7, 8996)],
        schema=["frame", "offloads", "replicate", "verdict", "frames_per_mb", "cpu_ms"],
        orient="row",
    )
    assert results.frame_cost_us(frame, 1492, 8996) == pytest.approx(2.0)
    assert results.means(frame, ["offloads", "frame"], (
        results.COSTS[0], results.COSTS[1],
    ))["frame"].to_list() == [1492, 8996]  # fmt: skip


def test_what_crosses_several_links(make_bundle):
    """Unknown if it is of one of them."""
    assert results.across(("web1", "db"), ("web2", "db"))(make_bundle()) is None
