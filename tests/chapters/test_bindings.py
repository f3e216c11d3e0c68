"""Calls over a binding, and what is told of them."""

import math

import polars as pl
import pytest
import synthetic_bundles as made

from sizebook.chapters.bindings import calls, results, starts
from sizebook.lab import Placement
from sizebook.lab.profiles import get_profile

HERE = Placement(stack=(1,), generator=(0,), total_heap_mib=4096)


@pytest.fixture
def book():
    return calls.Calls(HERE, get_profile("quick", 0), 1, 384)


def test_every_way_has_every_size(book):
    """And all of both in turn is a treatment of its own."""
    two, one, first = (design.treatments() for design in book.designs())
    assert len(two) == len(calls.WAYS) * len(calls.SIZES) + 1
    assert {"way": calls.EVERY, "size": calls.EVERY} in [dict(t) for t in two]
    assert (len(one), len(first)) == (3, 1)


def test_slow_ways_are_measured_for_longer(book):
    """Twice as long, with the largest payload three times."""
    lasts = [
        book.two(calls.at(way, size)).load.phases.measured_s
        for way, size in (("http", "1 MB"), ("jms", "1 KB"), ("soap", "1 MB"))
    ]
    assert lasts == [5.0, 10.0, 15.0]


def test_one_client_calls_and_two_warm_up(book):
    """The client of a trial pauses."""
    assert book.two(calls.at("http")).load.arrivals == calls.ONE
    every = book.two(calls.at(calls.EVERY, calls.EVERY)).load
    assert (every.arrivals.users, every.settings["bytes"]) == (2, 1024)


def test_a_first_run_pauses_as_it_goes(book):
    """Its second run and a load like that of other trials come before what is measured."""
    load = book.first({"way": "direct"}).load
    assert load.settings == {"way": "direct", "bytes": 1024, "opening": True}
    assert load.phases.warmup_s == 12.5
    roles = [role.role for role in book.alone({"way": "rpc", "size": "1 KB"}).deployment.roles]
    assert "broker" not in roles


def test_what_the_report_prints():
    """Five bindings, in words; beside them ours, in multiples of the first."""
    assert set(results.printed_times()["binding"]) == set(results.NAMES.values())
    rows = [("direct", 0, 1.0), ("jms", 0, 8.0), ("direct", 1, 2.0), ("jms", 1, 4.0)]
    frame = pl.DataFrame(rows, schema=["way", "replicate", "call_ms"], orient="row").with_columns(
        size=pl.lit("100 KB"), jvms=2, verdict=pl.lit("valid")
    )
    found = results.beside_report(frame)
    times = dict(found.select("way", "here_times").iter_rows())
    assert times["direct"] == 1.0
    assert times["jms"] == pytest.approx(4.0)  # by blocks: 8 times and twice
    assert {one.name for one in results.BESIDE} == set(found.columns)


def test_frames_of_trials(make_bundle):
    """What tables and charts have; a way that was not measured takes nobody knows what."""
    trials = made.make_trials(make_bundle, "two JVMs", {"jms": {}})
    trials = trials.__class__(trials.design, [])
    assert results.pools_frame(trials).columns == ["way", "source", "label", "rise"]
    assert starts.first_calls_of(trials).height == 0
    rows = {"way": ["jms"], "size": "1 KB", "syncs": 2.0, "app_cpu_ms": 1.0}
    counted = pl.DataFrame(rows | {"backend_cpu_ms": 3.0, "broker_cpu_ms": 4.0})
    assert results.jms_call(counted, "1 KB", "syncs") == 2.0
    assert math.isnan(results.jms_call(counted, "1 MB", "syncs"))
    parts = dict(results.cpu_parts(counted).select("role", "cpu_ms").iter_rows())
    assert parts == {"sender": 1.0, "receiver": 3.0, "broker": 4.0}


@pytest.fixture
def apart():
    rows = [("direct", "1 KB", 2, 1.0), ("rpc", "1 KB", 2, 6.0), ("rpc", "1 KB", 1, 4.0)]
    names = ["way", "size", "jvms", "call_ms"]
    return pl.DataFrame(rows, schema=names, orient="row").with_columns(
        verdict=pl.lit("valid"), replicate=pl.lit(0)
    )


def test_protocol_and_process_border(apart):
    """In the process, to the own JVM, to another."""
    found = dict(results.border_times(apart).select("where", "mean").iter_rows())
    assert found == {"within the process": 1.0, "to another JVM": 6.0, "to its own JVM": 4.0}


def test_multiples_of_the_direct_call(apart):
    """A row a way and size; null where it was not measured."""
    shape = pl.DataFrame(
        schema={"way": pl.String, "size": pl.String, "mean": pl.Float64}
        | {"low": pl.Float64, "high": pl.Float64, "n": pl.Int64}
    )
    found = results.times_direct(apart.filter(pl.col("jvms") == 2), shape)
    assert found.height == 6 * 3
    means = {(row["way"], row["size"]): row["mean"] for row in found.iter_rows(named=True)}
    assert means["rpc", "1 KB"] == pytest.approx(6.0) and means["jms", "1 MB"] is None


def test_first_runs_beside_the_report():
    """In words for the chart, and means for the table."""
    seen = pl.DataFrame(
        {"calls": [10, 10, 30], "call_ms": [4.0, 2.0, 1.0], "start": [1, 2, 1]}
    ).with_columns(heap_total_mb=pl.lit(8.0), heap_free_mb=pl.lit(5.0))
    chart = starts.so_far(seen)
    ours = chart.filter(pl.col("series").str.starts_with("here"))
    assert set(ours["calls"]) == {"10 calls"} and "report, 2011" in chart["series"]
    table = starts.beside_report(seen)
    assert table["call_ms"].to_list() == [3.0, 1.0]
    assert {one.name for one in starts.FIRST_RUN} == set(table.columns)


def test_a_warm_second_run():
    """Means over the starts; nothing is known without one."""
    rows = {"first_run_ms": [4.0, 8.0], "second_run_ms": [2.0, 2.0], "verdict": ["valid", "failed"]}
    warming = pl.DataFrame(rows).with_columns(free_early_mb=9.0, free_late_mb=6.0)
    assert (starts.first_over_second(warming), starts.heap_shrunk_mb(warming)) == (2.0, 3.0)
    none = warming.clear()
    assert math.isnan(starts.first_over_second(none)) and starts.heap_shrunk_mb(none) == 0.0
    assert len(starts.first_beside_later()) == len(calls.WAYS)
