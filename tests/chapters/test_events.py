"""Events: what agents meet in each design, and the account of what they were told is safe."""

from __future__ import annotations

from typing import Any

import polars as pl

from sizebook.chapters import events
from sizebook.lab import Placement
from sizebook.lab.profiles import get_profile
from sizebook.model.load import Phases

AGENTS = events.Agents(
    Placement(stack=(0,), generator=(1,), total_heap_mib=1024),
    get_profile("quick", 0),
    seed=1,
    agents=32,
    heap_mib=1024,
    phases=Phases(warmup_s=0.5, measured_s=12.0),
    times=events.Times(12.0, 8.0, 2.0, 10.0),
)


def test_queues_are_bounded_where_rates_are_compared() -> None:
    """Layouts and the paged node alike; the other designs leave room."""
    bound = [
        setup.deployment.find("app").settings.get("broker_queue_max_bytes")
        for setup in (AGENTS.layout(2), AGENTS.paged("paging"), AGENTS.kill("node"))
    ]
    assert bound == [2**17, 2**17, None]


def test_what_is_killed() -> None:
    """The node with its queue, or the broker's process; agents outlast both."""
    for killed, process in (("node", "app-1"), ("broker", "broker-1")):
        setup = AGENTS.kill(killed)
        [kill] = setup.disturbances
        assert (kill.node, kill.action, kill.at_s) == (process, "restart", 2.0)
        assert setup.load.phases.drain_s == 60.0
        assert setup.load.settings["pause_s"] == 10.0


def test_documents_come_from_another_load() -> None:
    """Both kinds of work have few senders and a small heap."""
    small, large = AGENTS.need("events"), AGENTS.need("documents")
    assert (small.load.locustfile, large.load.locustfile) == ("events.py", "xml_transform.py")
    assert small.load.arrivals == large.load.arrivals
    assert (large.load.settings, large.stores) == ({}, {"document": "transform"})


def test_pages_are_taken_for_the_whole_load() -> None:
    """From its first second to its last, and only where the state says so."""
    [taking] = AGENTS.paged("paging").disturbances
    assert taking.for_s == 12.5
    assert AGENTS.paged("no-paging").disturbances == ()


class Group:
    """Trials of which a frame is known, whatever is asked of them."""

    def __init__(self, levels: dict[str, Any], **values: list[float | None]) -> None:
        self.levels, self.values = levels, values

    def frame(self, **measures: Any) -> pl.DataFrame:
        known = {name: self.values.get(name, [1.0, 2.0]) for name in measures}
        return pl.DataFrame({**self.levels, "replicate": [0, 1], "verdict": "valid", **known})


def test_an_account_closes_only_whole() -> None:
    """One event that was acknowledged and not stored is lost, one stored unsent is doubled."""
    trials: Any = Group(
        {"killed": "node"}, sent=[10.0, 10.0], acknowledged=[10.0, 10.0], stored=[10.0, 9.0],
        added=[5.0, 5.0], taken=[5.0, 5.0],
    )  # fmt: skip
    account = events.account_frame(trials)
    assert account["account_closes"].to_list() == [True, False]
    told = events.totals(account, events.SENT, events.AWAY[:1])
    assert told.select("killed", "trials", "sent", "lost", "doubled", "away_s").rows() == [
        ("node", 2, 20.0, 1.0, 0.0, 2.0)
    ]
    assert "Attempts that failed" in events.account_table(account).as_raw_html()
    assert "Queue: given up" in events.witnesses_table(account).as_raw_html()


def test_memory_is_shared_out_among_nodes() -> None:
    """Resident memory in MiB, of all nodes and of each; CPU in percent."""
    trials: Any = Group({"nodes": 2}, rss_mib=[2.0**21, 2.0**22], cpu_percent=[0.5, 1.0])
    rows = events.layouts_frame(trials).select("rss_mib", "each_mib", "cpu_percent").rows()
    assert rows == [(2.0, 1.0, 50.0), (4.0, 2.0, 100.0)]


def test_what_collections_could_not_free() -> None:
    """The fuller survivor and the old generation, in MB."""
    trials: Any = Group({"work": "events"}, s0=[1e6, 0.0], s1=[0.0, 2e6], old=[3e6, 3e6])
    assert events.needs_frame(trials)["kept_heap_mb"].to_list() == [4.0, 5.0]
