"""Messaging: what is drained and asked, and what of it a page shows."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from read_counters import bundle_with

from sizebook.chapters import messaging
from sizebook.lab import Placement
from sizebook.model.load import Phases
from sizebook.model.trial import Stored

HERE = Placement(stack=(0,), generator=(1,), total_heap_mib=1024)
AMOUNTS = messaging.Amounts(4000, 0.02, 20.0, 0.5, 2.0)
QUEUES = messaging.Queues(HERE, AMOUNTS, 1024, 0, 1)


def test_a_layout_shares_its_consumers() -> None:
    """Each node has its share; a drain may take thirty times as long as it should."""
    setup = QUEUES.drain("25", 4, 16)
    assert setup.load.settings["consumers"] == 4
    assert setup.load.settings["shared"] is False
    assert setup.load.phases.drain_s == 60.0
    assert setup.stores == {"messaging_row": Stored(request="fill", each=500)}
    assert QUEUES.drain("25", 1, 16, "process").load.settings["shared"] is True


def test_documents_take_longer_than_answers() -> None:
    """A call that hands in a document is measured for twice the time."""
    phases = Phases(warmup_s=1.0, measured_s=3.0)
    measured = {
        call: QUEUES.call("25", call, phases, 400).load.phases.measured_s
        for call in ("sync", "async", "data", "receipt")
    }
    assert measured == {"sync": 6.0, "async": 6.0, "data": 3.0, "receipt": 3.0}


class Group(list[Any]):
    """Trials of which a frame is known, whatever is asked of them."""

    def __init__(self, levels: dict[str, Any], **values: list[float]) -> None:
        self.levels, self.values = levels, values

    def frame(self, **measures: Any) -> pl.DataFrame:
        known = {name: self.values.get(name, [1.0, 1.0]) for name in measures}
        return pl.DataFrame({**self.levels, "replicate": [0, 1], "verdict": "valid", **known})


def frame() -> pl.DataFrame:
    """Return two designs: one node that levels off once, and two nodes with too many workers."""
    free = {"free_min": [96.0, 90.0], "free_mean": [100.0, 100.0], "paged": [0.0, 0.0]}
    rate: Any = Group({"nodes": 1, "consumers": 4}, drained_per_s=[100.0, 120.0], **free)
    older: Any = Group({"nodes": 2}, most_busy=[2.0, 3.0], drained_per_s=[90.0, 80.0])
    return messaging.drained_frame(
        (rate, {"jvm": "25"}), (older, {"jvm": "17", "consumers": 4})
    )  # fmt: skip


def test_designs_become_one_frame() -> None:
    """With what is fixed in each, memory in MiB, and what claims ask of each trial."""
    rows = frame().select("jvm", "nodes", "consumers", "levels_off", "workers_bounded")
    assert rows.rows() == [
        ("25", 1, 4, True, True), ("25", 1, 4, False, True),
        ("17", 2, 4, False, True), ("17", 2, 4, False, False),
    ]  # fmt: skip
    assert frame()["free_min"][0] == 96 / 2**20


def test_peaks_stand_beside_the_platform_they_stand_for() -> None:
    """The best layout of each JVM; a platform without a printed rate has a dash."""
    printed = pl.DataFrame({"platform": ["old"], "value": [50.0]})
    html = messaging.peaks_table(frame(), printed, {"17": "old", "25": "new"}, 6600).as_raw_html()
    assert [word in html for word in (">85<", ">110<", ">50<", ">1.0<", ">–<")] == [True] * 5


def test_memory_is_average_least_and_held() -> None:
    """By the number of nodes; what was paged is a sum."""
    html = messaging.memory_table(frame(), "MiB").as_raw_html()
    assert "Available, least" in html
    assert "MiB" in html


def test_what_was_swapped() -> None:
    """Both ways, of the machine; a machine that does not swap has paged nothing."""
    rows = [(t, "host", f"swap_{way}_bytes", t * 10.0) for way in ("in", "out") for t in (0, 5)]
    bundle: Any = bundle_with(rows)
    assert messaging.paged_bytes(bundle) == pytest.approx(100)
    empty: Any = bundle_with([])
    assert messaging.paged_bytes(empty) == 0
