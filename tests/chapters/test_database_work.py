"""Pieces of work over a ledger, and what is told of them."""

import polars as pl
import pytest
import synthetic_bundles as made

from sizebook.chapters.database_work import ledger, results
from sizebook.lab import MODES, Placement
from sizebook.lab.modes import ChosenModes
from sizebook.lab.profiles import get_profile

HERE = Placement(stack=(1,), generator=(0,), total_heap_mib=4096)


@pytest.fixture
def book():
    return ledger.Ledger(HERE, get_profile("quick", 0), 1, 259480, 512, 5)


def test_a_piece_of_work_is_asked_for_alone(book):
    """By one user, on a ledger in whole groups of accounts; the start is warmed by all of it."""
    setup = book.setup({"mode": "bare", "work": "all"})
    assert setup.load.settings == {"work": "all", "rows": 259480, "groups": 19, "programs": 20}
    assert setup.conditioning.settings["work"] == "every"
    assert (setup.probe_interval_s, setup.load.phases.measured_s) == (1.0, 2.5)


def test_where_the_cpu_is_software_the_load_is_patient(book):
    """The first request counts, trials are longer, and every answer is waited for."""
    setup = book.setup({"mode": "emulated-vm", "work": "all"})
    phases = setup.load.phases
    assert (phases.warmup_s, phases.measured_s, phases.drain_s) == (0.0, 5.0, 185.0)
    assert setup.load.request_timeout_s == 180.0 and setup.probe_interval_s == 6.0


def test_the_mix_has_dialogues_and_jobs(book):
    """It has lengths of its own, in every mode."""
    for mode in ("bare", "emulated-vm"):
        load = book.setup({"mode": mode, "work": ledger.MIX}).load
        assert [group.users for group in load.arrivals.groups] == [5, 1]
        assert (load.phases.warmup_s, load.phases.measured_s) == (4.0, 24.0)


def test_every_work_has_a_name():
    """Count, stages, both ways of each pair, jobs."""
    assert len(ledger.WORKS) == len(set(ledger.WORKS)) == 1 + 3 + 10 + 3
    assert results.sides("view") == (ledger.at("view-naive"), ledger.at("view-better"))
    assert ledger.in_system("count", "erm") == {"mode": "emulated-vm", "work": "count"}


def test_what_the_report_prints():
    """Stages of three systems, and ratios of its pairs in words."""
    assert results.reported_stages()["system"].to_list() == ["ERP", "ERC", "ERM"]
    assert results.printed_ratios("select-aggregates").startswith("ERP ")


def test_modes_and_what_they_stand_for(make_bundle):
    """Two systems of the report have the same stand-in."""
    trials = made.make_trials(make_bundle, "work", {"count": {}})
    none = trials.__class__(trials.design, [])
    found = results.modes_frame(none, ChosenModes((), {"virtio-vm": "no emulator"}), ["virtio-vm"])
    by = {row["mode"]: row for row in found.iter_rows(named=True)}
    assert list(by) == list(MODES)
    assert by["paravirtual-kernel"]["stands_for"] == "ERC, BIS"
    assert (by["virtio-vm"]["why"], by["bare"]["why"]) == ("no emulator", "not asked for")


@pytest.fixture
def measured():
    rows = [("bare", "count", 0, 4.0, 3.0), ("bare", "closing", 0, 10.0, 2.0),
            ("bare", "view-naive", 0, 6.0, 5.0), ("bare", "view-better", 0, 2.0, 1.0)]  # fmt: skip
    names = ["mode", "work", "replicate", "total_ms", "database_ms"]
    return pl.DataFrame(rows, schema=names, orient="row").with_columns(
        verdict=pl.lit("valid"),
        bundle=pl.lit("b"),
        first_ms=pl.lit(9.0),
        rest_ms=pl.col("total_ms") - pl.col("database_ms"),
    )


def test_jobs_are_told_apart(measured):
    """Database and application add up to the time of the job; other work has no part."""
    found = results.job_parts(measured)
    parts = {(row["work"], row["part"]): row["ms"] for row in found.iter_rows(named=True)}
    assert parts == {
        ("count", "database"): 3.0, ("count", "application"): 1.0,
        ("closing", "database"): 2.0, ("closing", "application"): 8.0,
    }  # fmt: skip


def test_the_first_count_and_later_ones(measured):
    """Two rows a trial of counting."""
    found = results.counts_by_execution(measured)
    assert dict(found.select("execution", "query_ms").iter_rows()) == {"first": 9.0, "repeat": 3.0}


def test_both_ways_of_a_pair(measured):
    """In microseconds, with their ratio in words and the report's."""
    found = results.pairs_frame(measured, ["bare"]).filter(pl.col("test") == "view")
    assert found.select("naive_us", "better_us").rows() == [(6000.0, 2000.0)]
    assert found["ratio"][0].startswith("3.0") and found["reported"][0]


def test_kinds_of_the_report_and_of_here():
    """Dialogue and background with the database's share, a row a system and a mode."""
    columns = {f"{kind}_{part}_ms": [value] for kind in ("dialogue", "background")
               for part, value in (("total", 8.0), ("database", 2.0))}  # fmt: skip
    mix = pl.DataFrame({"mode": ["bare"], "replicate": [0], "verdict": ["valid"]} | columns)
    found = results.kinds_frame(mix)
    assert found["system"].to_list()[-1] == "bare, here"
    assert found["dialogue share"].to_list()[-1] == 25.0
    assert {one.name for one in results.KINDS} <= set(found.columns)


def test_frames_of_trials(make_bundle):
    """All that the tables and sentences have; the mix alone has its kinds."""
    trials = made.make_trials(make_bundle, "work", {"count": {}})
    found = results.work_frame(trials)
    assert {"rest_ms", "first_ms", "changes", "failed_share"} <= set(found.columns)
