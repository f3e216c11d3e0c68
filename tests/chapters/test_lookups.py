"""Look-ups in layouts, and the workloads that other chapters lend."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from sizebook.chapters.layouts import lent, lookups
from sizebook.hosts.paging import HEAP_IN_FILE
from sizebook.lab import Placement
from sizebook.lab.profiles import get_profile
from sizebook.model.load import ClosedLoop, Phases
from sizebook.probes.native_memory import LABELS
from sizebook.report.quantities import frame_of

BENCH = lookups.Lookups(
    Placement(stack=(0,), generator=(1,), total_heap_mib=2048), get_profile("quick", 0), 1, 2048,
    {"closed": ClosedLoop(users=16), "fixed": ClosedLoop(users=1)},
    Phases(warmup_s=4.0, measured_s=6.0),
)  # fmt: skip


def test_layouts_share_one_heap() -> None:
    """Each node has its part; the load after a start is the closed one."""
    setup = BENCH.setup("fixed", 4, "25")
    assert setup.deployment.find("app").heap_mib == 512
    assert (setup.load.arrivals, setup.conditioning.arrivals) == (
        ClosedLoop(users=1), ClosedLoop(users=16),
    )  # fmt: skip
    assert BENCH.setup("closed", 1, "25", total_mib=512).deployment.find("app").heap_mib == 512


def test_a_paged_node_keeps_its_heap_in_a_file() -> None:
    """In both states; pages are taken away in one, from the first second to the last."""
    left, paged = (BENCH.paged(state, "25", 256) for state in ("no-paging", "paging"))
    assert left.deployment == paged.deployment
    assert HEAP_IN_FILE in paged.deployment.find("app").flags
    assert (left.disturbances, paged.disturbances[0].for_s) == ((), 10.0)


class Group(list[Any]):
    """Trials with two layouts of which every measure is known."""

    def frame(self, **measures: Any) -> pl.DataFrame:
        known = {name: [2.0**20, 2.0**21] for name in measures}
        levels = {"nodes": [1, 2], "load": "closed", "state": ["paging", "no-paging"]}
        return pl.DataFrame({**levels, "replicate": 0, "verdict": "valid", **known})


def frame() -> pl.DataFrame:
    trials: Any = Group()
    return lookups.layouts_frame(trials, 512, generation="Java 25")


def test_memory_of_all_nodes() -> None:
    """In MiB; what is committed is told without the heap, rates for a GiB."""
    rows = frame().select("layout", "rss_mib", "committed_mib", "per_heap")
    besides = len(LABELS) - 1
    assert rows.rows() == [
        ("1 node", 1.0, besides, 2.0**21), ("2 nodes", 2.0, 2 * besides, 2.0**22),
    ]  # fmt: skip


def test_every_chart_and_table_builds() -> None:
    """One bar a layout; what a layout has not is left out."""
    for chart in (lookups.cpu_chart, lookups.native_chart, lookups.latency_chart):
        assert chart(frame()).to_dict()
    assert "Per 1,000 requests" in lookups.explain_table(frame()).as_raw_html()
    trials: Any = Group()
    paged = lookups.paged_table(frame_of(trials, *lookups.PAGED)).as_raw_html()
    assert "Page faults to disk" in paged


NOTHING: lent.Lent = {
    name: Group()  # type: ignore[misc]
    for name in [
        ("connectors", "connectors"), ("connectors", "older"), ("xml", "alone"), ("xml", "shared"),
        ("events", "layouts"), ("messaging", "layouts"), ("messaging", "older"),
        ("user-mix", "mix"),
    ]
}  # fmt: skip


def test_chapters_that_were_not_run() -> None:
    """Each is named once, and its workloads are empty, never an error."""
    assert lent.missing_chapters(NOTHING) == [
        "connectors", "xml", "events", "messaging", "user-mix",
    ]  # fmt: skip
    found = [
        *lent.lookups({}), *lent.calls(NOTHING).values(), *lent.documents(NOTHING),
        lent.events(NOTHING), *lent.messages(NOTHING).values(), lent.user_mix(NOTHING),
    ]  # fmt: skip
    assert len(found) == 14
    assert {one.layouts for one in found} == {()}
    assert found[0].name == "look-ups, newer (not run)"
    assert found[-1].most_to_fewest("busy").estimate is None


@pytest.mark.parametrize("lending", ["xml", "user-mix"])
def test_a_chapter_that_lends_something(lending: str) -> None:
    """One trial of any of its designs is enough."""
    some = {**NOTHING, next(name for name in NOTHING if name[0] == lending): Group([1])}
    assert lending not in lent.missing_chapters(some)
