"""Pools of threads: what a load sets, what a pool can do at most, and in which order it did it."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from sizebook.chapters.pools import loads, results
from sizebook.lab import Placement
from sizebook.lab.profiles import get_profile
from sizebook.model.load import ClosedLoop, Phases

PHASES = Phases(warmup_s=0.5, measured_s=1.0)
NODE = loads.PoolNode(
    Placement(stack=(0,), generator=(1,), total_heap_mib=1024), 256, 50, 40, PHASES, 1
)


def test_a_load_sets_every_limit() -> None:
    """What it does not name is reset, so that no trial inherits the limits of the one before."""
    own = NODE.load(limits={"web": 2}, work="row")
    assert own.arrivals == ClosedLoop(users=40)
    assert own.settings == {
        "pools": "web?threads=2;bindings-queue?threads=10;bindings-jms?threads=10;"
        "bindings-jms-sessions?threads=10;bindings-rpc?threads=10&grows=false&idle=0s",
        "work": "row",
    }
    assert NODE.load(limits={"bindings-queue": 0}).settings["pools"].count("threads=0") == 1


def test_one_shared_pool_is_another_node() -> None:
    """Its single executor is part of the deployment; limits of pools that it has not stay unset."""
    own, shared = NODE.setup({}), NODE.setup({"limits": loads.jms(40, 10)}, shared_threads=20)
    assert own.deployment != shared.deployment
    assert shared.load.settings["pools"] == "web?threads=50;bindings-jms-sessions?threads=40"
    assert shared.conditioning is not None
    assert shared.conditioning.settings["pools"] == shared.load.settings["pools"]


def test_many_clients_meet_a_heap_that_is_touched() -> None:
    """So what the process holds beyond its heap is native memory."""
    app = NODE.many(500, PHASES, 1024, "25", threads=1000).deployment.find("app")
    assert app.flags == ("-XX:+AlwaysPreTouch",)
    assert (app.settings["pool"], app.settings["threads"]) == (50, 1000)


def test_only_quick_loads_are_longer() -> None:
    """A drift needs 12 s to be told from noise; smoke proves nothing, full is long by itself."""
    quick, backlog = loads.measured_phases(get_profile("quick"))
    assert (quick.measured_s, backlog.measured_s) == (12.0, 4.5)
    full = get_profile("full")
    assert loads.measured_phases(full) == (full.phases, full.phases)


def test_claims_are_said_with_the_year_of_their_report() -> None:
    """One row a claim, in the order asked for."""
    said = results.claims_said(["wps-pools-1", "mii-tuning-1"])
    assert said["report"].to_list() == ["2011", "2009"]
    assert all(said["claim"])


def test_a_pool_is_bound_by_threads_and_by_cpu() -> None:
    """Little's law: two threads at 20 ms are 100 calls a second; 2 ms of CPU allow 500."""
    frame = pl.DataFrame(
        {
            "pools": "own", "verdict": "valid", "load": "wait", "limit": ["10", "2"],
            "per_s": [400.0, 90.0], "call_ms": [25.0, 20.0], "cpu_ms": 2.0, "latency_ms": 1.0,
            "switches": 3.0,
        }
    )  # fmt: skip
    rows = results.bounds(frame, "wait", cpus=1)
    assert rows.select("limit", "by_threads", "by_cpu", "busy").rows() == [
        (2, 100.0, 500.0, 1.8), (10, 500.0, 500.0, 10.0),
    ]  # fmt: skip
    assert "At most per second" in results.bounds_table(rows).as_raw_html()
    assert results.bounds_chart(rows).to_dict()
    assert results.bounds(frame.clear(), "wait", cpus=1).is_empty()


def test_order_is_kept_by_one_consumer_alone() -> None:
    """As the report claims it: none late with a limit of one, some late with more."""
    frame = pl.DataFrame({"limit": ["1", "1", "100", "100"], "late": [0.0, 1.0, 0.0, 2.0]})
    assert results.in_order(frame)["order_as_claimed"].to_list() == [True, False, False, True]


class Group(list[Any]):
    """Trials of which a frame is known, whatever is asked of them."""

    def frame(self, **measures: Any) -> pl.DataFrame:
        columns = {"case": ["jms/10", "queue/1", "beside/flood"], "pools": "own"}
        values = {name: [1.0, 2.0, 3.0] for name in measures}
        values |= {f"jms_{name}": [7.0] * 3 for name in ("waited_ms", "worked_ms", "largest")}
        return pl.DataFrame({**columns, "verdict": "valid", "replicate": 0, **values})


def test_messages_waited_in_the_pool_that_did_them() -> None:
    """Over the broker that is another one than over the queue in memory."""
    trials: Any = Group()
    rows = results.messages_frame(trials).select("load", "limit", "waited_ms", "out_of_order")
    assert rows.rows() == [("jms", "10", 7.0, 100.0), ("queue", "1", 2.0, 100.0)]


def test_what_stands_beside_messages() -> None:
    """The trials with callers and messages, told in words; a chart and a table of them."""
    trials: Any = Group()
    rows = results.beside_frame(trials)
    assert rows.select("layout", "beside", "calls").rows() == [
        ("pools of their own", "flood of messages", 3.0)
    ]
    assert results.isolation_chart(rows).to_dict()
    assert "a note" in results.isolation_table(rows, "a note").as_raw_html()
    assert results.named_frame(trials)["pools_as_named"].to_list() == [False, True, False]
    assert "Pool of the thread" in results.served_table(trials).as_raw_html()
    native = results.kinds_frame(trials, 1)["native_mb"]
    assert native.to_list() == pytest.approx([-1, -1, -1], abs=1e-5)
