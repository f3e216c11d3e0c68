"""Connectors: what each way is asked, what a message takes, and what a killed node leaves."""

from __future__ import annotations

from typing import Any

import polars as pl

from sizebook.chapters import connectors
from sizebook.lab import Placement
from sizebook.model.load import Phases
from sizebook.report.quantities import frame_of

SENDERS = connectors.Senders(
    Placement(stack=(0,), generator=(1,), total_heap_mib=2048), users=10, message_bytes=2048,
    total_heap_mib=0, phases=Phases(warmup_s=2.0, measured_s=12.0), seed=1,
)  # fmt: skip


def test_a_start_is_conditioned_by_all_ways() -> None:
    """So none of the three that share it comes to code that another one has compiled."""
    setup = SENDERS.setup("rpc", "25", nodes=4)
    assert setup.conditioning is not None
    assert setup.conditioning.settings == {"way": "all", "bytes": 2048}
    assert setup.load.settings == {"way": "rpc", "bytes": 2048}
    assert setup.stores == {"connector_message": "message"}


def test_a_node_is_killed_in_the_middle() -> None:
    """And the drain waits for it; every request may fail meanwhile."""
    setup = SENDERS.killed("logged", "25", 16.0, 4.0)
    [kill] = setup.disturbances
    assert (kill.at_s, kill.node) == (4.0, "app-1")
    assert (setup.load.phases.measured_s, setup.load.phases.drain_s) == (16.0, 30.0)
    assert setup.allowance.failed_share == 1.0


class Group:
    """Trials of three ways in one block, the second of which ended before it told anything."""

    def frame(self, **measures: Any) -> pl.DataFrame:
        values: dict[str, Any] = {name: [2.0, None, 1.0] for name in measures}
        if "stored" in values:
            values |= {"acknowledged": [9.0, None, 5.0], "stored": [8.0, None, 6.0]}
        levels = {"connector": list(connectors.WAYS), "replicate": 0, "verdict": "valid"}
        return pl.DataFrame({**levels, **values})


def test_messages_that_are_lost() -> None:
    """Rows that nobody was told of are none; a trial without an account is left out."""
    trials: Any = Group()
    account = frame_of(trials, *connectors.ACCOUNT)
    assert connectors.messages_lost(account) == 1.0
    html = connectors.account_table(account).as_raw_html()
    assert [way in html for way in connectors.WAYS] == [True, False, True]
    assert ">1<" in html  # the first block, not the one before


def test_cpu_time_by_role() -> None:
    """One bar a connector, made of app, back end and database."""
    trials: Any = Group()
    spec = connectors.cpu_chart(frame_of(trials, *connectors.COSTS)).to_dict()
    [rows] = spec["datasets"].values()
    assert {row["role"] for row in rows} == {"app", "back end", "database"}


def test_what_the_report_printed() -> None:
    """A layout that it left out is a dash."""
    printed = pl.DataFrame(
        {"platform": "p", "connector": "es", "nodes": ["4", "2", "1"], "value": [5.0, None, 3.25]}
    )
    html = connectors.printed_table(printed).as_raw_html()
    assert [word in html for word in ("4 nodes", ">5.0<", ">–<", ">3.2<")] == [True] * 4
