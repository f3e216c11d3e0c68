"""Layouts beside each other: ratios within a workload, and how many nodes are worth it."""

from __future__ import annotations

from types import SimpleNamespace

import polars as pl
import pytest
from read_counters import bundle_with

from sizebook.chapters.layouts.workloads import (
    RATIOS,
    Workload,
    advice_frame,
    advise,
    java_of,
    ratios_of_most,
    ratios_to_fewest,
)
from sizebook.report import measures


def workload(name, rates, verdict="valid"):
    """Return a workload from the rates of each layout, block by block."""
    rows = [
        {"nodes": nodes, "replicate": block, "verdict": verdict, "rate": rate}
        for nodes, values in rates.items()
        for block, rate in enumerate(values)
    ]
    kinds = {"nodes": pl.Int64, "replicate": pl.Int64, "verdict": pl.String, "rate": pl.Float64}
    return Workload(name, pl.DataFrame(rows, schema=kinds))


SLOWER = workload("slower", {4: [50.0, 51.0, 49.0], 1: [100.0, 102.0, 98.0]})
FASTER = workload("faster", {1: [100.0, 101.0, 99.0], 2: [150.0, 153.0, 147.0], 4: [120.0] * 3})


def test_ratios_are_to_the_fewest_nodes():
    """Pairs of blocks, so that what a block has in common drops out; one node is 1 to itself."""
    found = ratios_to_fewest([SLOWER, FASTER], "rate")
    assert dict(found.schema) == RATIOS
    means = {(row["workload"], row["nodes"]): row["mean"] for row in found.iter_rows(named=True)}
    assert means == pytest.approx(
        {("slower", 1): 1, ("slower", 4): 0.5, ("faster", 1): 1, ("faster", 2): 1.5,
         ("faster", 4): 1.2}, rel=0.01,
    )  # fmt: skip
    four = found.filter((pl.col("workload") == "slower") & (pl.col("nodes") == 4)).row(
        0, named=True
    )
    assert four["low"] <= 0.5 <= four["high"] < 0.51
    assert four["n"] == 3


def test_what_was_not_measured_is_an_empty_row():
    """No trials, failed trials, another metric: a row without a number, never a failure."""
    empty = Workload("empty", pl.DataFrame())
    failed = workload("failed", {1: [1.0], 2: [2.0]}, verdict="failed")
    for one in (empty, failed, Workload("other", SLOWER.frame.drop("rate"))):
        [row] = ratios_to_fewest([one], "rate").iter_rows(named=True)
        assert (row["nodes"], row["mean"], row["n"]) == (None, None, 0)
    alone = ratios_to_fewest([workload("alone", {2: [5.0]})], "rate")
    assert alone.select("nodes", "mean", "low").rows() == [(2, 1.0, None)]


def test_advice_is_the_fewest_nodes_that_are_worth_it():
    """More nodes only if their interval shows it; what should be small is judged the other way."""
    found = ratios_to_fewest([SLOWER, FASTER, Workload("none", pl.DataFrame())], "rate")
    advice = advise(found, least=1.05, what="throughput")
    assert [(one.workload, one.nodes) for one in advice] == [
        ("slower", 1), ("faster", 2), ("none", None),
    ]  # fmt: skip
    assert "not shown to bring" in advice[0].reason
    assert "1.50 times the throughput of one node" in advice[1].reason
    assert [one.nodes for one in advise(found, least=0.95, what="time")] == [4, 1, None]
    alone = ratios_to_fewest([workload("alone", {1: [1.0, 2.0]})], "rate")
    assert advise(alone, least=1.05, what="rate")[0].reason == "measured with one layout only"
    single = ratios_to_fewest([workload("single", {1: [1.0], 2: [3.0]})], "rate")
    assert advise(single, least=1.05, what="throughput")[0].reason.startswith("too few")
    assert advice_frame(advice).height == 3


def test_the_last_reading_of_a_gauge():
    """Readings of all sources and labels are added up; what was never read is missing."""
    rows = [
        (1, "l", "jvm/app-1", "native_bytes/heap", 5.0),
        (9, "l", "jvm/app-1", "native_bytes/heap", 7.0),
        (9, "l", "jvm/app-2", "native_bytes/heap", 3.0),
        (9, "l", "jvm/app-2", "native_bytes/code", 1.0),
        (9, "l", "jvm/app-2", "native_bytes/gc", None),
    ]
    bundle = bundle_with(rows)
    assert measures.at_end("jvm/app-", "native_bytes")(bundle) == 11.0
    assert measures.at_end("jvm/app-", "native_bytes/heap")(bundle) == 10.0
    assert measures.at_end("jvm/backend-", "native_bytes")(bundle) is None


def test_the_most_nodes_against_the_fewest():
    """Both ways round, by metric; without two layouts, or the metric, there is no ratio."""
    assert SLOWER.fewest_to_most("rate").estimate == pytest.approx(2.0, rel=0.01)
    assert SLOWER.most_to_fewest("rate").estimate == pytest.approx(0.5, rel=0.01)
    others = [workload("alone", {1: [1.0, 2.0]}), Workload("empty", pl.DataFrame())]
    found = ratios_of_most([SLOWER, *others], {"Rate": "rate", "Other": "other"})
    rows = found.select("workload", "nodes", "what", known=pl.col("mean").is_not_null()).rows()
    assert rows == [
        ("slower", 4, "Rate", True), ("slower", 4, "Other", False), ("alone", None, "Rate", False),
        ("alone", None, "Other", False), ("empty", None, "Rate", False),
        ("empty", None, "Other", False),
    ]  # fmt: skip


def test_workloads_from_trials():
    """One design has no factor nodes, one has several levels of another; one has no trials."""
    trial = {"replicate": 0, "verdict": "valid", "bundle": "b"}
    alone = Group(
        pl.DataFrame([{"way": w, **trial, "rate": r} for w, r in (("a", 1.0), ("b", 9.0))])
    )
    shared = Group(pl.DataFrame([{"nodes": 4, "way": "a", **trial, "rate": 3.0}]))
    found = Workload.of("x", [alone, shared, Group()], {"way": "a"}, rate=lambda _: 0.0)
    assert found.frame.select("nodes", "rate").rows() == [(1, 1.0), (4, 3.0)]
    assert found.layouts == (1, 4)
    assert Workload.of("x", [Group()], {"way": "a"}, rate=lambda _: 0.0).layouts == ()
    assert java_of([Group(), shared]) == "Java 17 and 25"
    assert java_of([Group()]) == ""


class Group(list):
    """Trials that give a made-up frame."""

    def __init__(self, frame=None):
        titles = ("Debian 17.0.15", "Some Firm, Inc. 25.0.1")
        prints = [SimpleNamespace(fingerprints=SimpleNamespace(jvm=title)) for title in titles]
        bundles = [SimpleNamespace(record=record) for record in prints]
        trials = [SimpleNamespace(bundle=bundle) for bundle in bundles]
        super().__init__([] if frame is None else trials)
        self.made = frame

    def frame(self, **_):
        return self.made
