"""What is asked of the node that keeps messages in its heap, and what its trials tell."""

import polars as pl
import pytest
import synthetic_bundles as made

from sizebook.chapters.heap_gc import results, workload
from sizebook.lab import Placement
from sizebook.lab.profiles import get_profile

HERE = Placement(stack=(1,), generator=(0,), total_heap_mib=4096)


def make(profile="quick"):
    return workload.Workload(HERE, get_profile(profile, 0), 1, "25")


def test_collectors_of_what_is_only_read():
    """The older generation has one collector in quick, one has two in smoke."""
    jvms = ["17", "25"]
    quick = workload.choose_collectors(jvms, "quick", "Serial", measures=False)
    assert quick["17"] == ["G1"] and "Serial" in quick["25"] and "G1" in quick["25"]
    smoke = workload.choose_collectors(jvms, "smoke", "Serial", measures=False)
    assert smoke == {"25": ["Serial", "G1"]}


def test_treatments_that_are_left_out():
    """All collectors at one heap, the swept one at all heaps, and nothing else."""
    collectors = {"17": ["G1"], "25": ["Serial", "G1"]}
    out = workload.left_out(collectors, [192, 384], side_by_side_mib=384, swept=("Serial", "25"))
    assert workload.names_of(collectors) == ["Serial", "G1"]
    assert {tuple(one.values()) for one in out} == {
        ("Serial", "17", 192), ("Serial", "17", 384), ("G1", "17", 192), ("G1", "25", 192),
    }  # fmt: skip


def test_a_pile_may_end_and_start_again():
    """With the heaps that are named, and what is sent is accounted for in the database."""
    setup = make().pile(384, 400, runs=2, restarts=[384, 1024])
    assert setup.disturbances[0].heaps_mib == (384, 1024)
    assert setup.load.settings == {"messages": 400, "runs": 2}
    assert setup.conditioning.settings == {"messages": 10, "runs": 0}
    assert setup.stores == {"messaging_row": "message"}


def test_callers_meet_a_collector_and_a_heap():
    """The treatment says which; the baseline has one caller on the usual generation."""
    setup = make().heaps({"collector": "Serial", "jvm": "17", "heap_mib": 192}, 64)
    node = setup.deployment.find("app")
    assert (node.jvm, node.heap_mib) == ("17", 192)
    assert any("Serial" in flag for flag in node.flags)
    baseline = make("full").baseline(384)
    assert baseline.load.arrivals.users == 1 and baseline.load.phases.measured_s == 30.0
    assert baseline.deployment.find("app").jvm == "25"


def test_stages_have_names():
    """Means by heap and stage; the lesser heap first."""
    rows = [(1024, "begin", "valid", 2.0), (384, "begin", "valid", 1.0), (384, "begin", "noisy", 3)]
    staged = pl.DataFrame(rows, schema=["heap_mib", "stage", "verdict", "per_s"], orient="row")
    staged = staged.with_columns(
        pl.lit(1.0).alias(name) for name in ("collections_per_s", "mean_pause_ms", "gc_overhead")
    )
    found = results.stage_means(staged)
    assert found.select("heap_mib", "stage", "per_s").rows() == [
        (384, "early", 2.0), (1024, "early", 2.0),
    ]  # fmt: skip


def test_what_first_starts_held():
    """Later starts do not count, nor other heaps; nothing where there was none."""
    lives = pl.DataFrame(
        [(384, "1: 384 MiB", 100), (384, "2: 384 MiB", 7), (1024, "1: 1024 MiB", 400)],
        schema=["heap", "start", "acknowledged"],
        orient="row",
    )
    assert results.held_by(lives, 384) == 100
    assert results.held_by(lives, 99) == 0


@pytest.fixture
def piles(make_bundle):
    return made.make_trials(make_bundle, "pile", {384: {"settings": {"runs": 2}}})


def test_the_account_of_a_pile(piles):
    """What was to be sent is messages times runs; without stages their columns are null."""
    found = results.account_frame(piles, 30, pl.DataFrame())
    assert found["wanted"].to_list() == [60]
    assert found["lives"].to_list() == [1] and found["first"].to_list() == [0]
    assert found["per_s_before"].to_list() == [None]
    assert found["closes"].to_list() != [True]
    staged = pl.DataFrame(
        {"bundle": found["bundle"], "stage": ["begin"], "gc_overhead": [5.0], "per_s": [9.0]}
    )
    beside = results.account_frame(piles, 30, pl.concat([
        staged, staged.with_columns(stage=pl.lit("before"))
    ]))  # fmt: skip
    assert beside["per_s_before"].to_list() == [9.0]


def test_one_start_that_ran_on(piles):
    """A trial without an end has one life; it is the example of a heap that no other trial had."""
    lives = results.lives_frame(piles.__class__(piles.design, []))
    assert lives.is_empty() and lives.columns == [one.name for one in results.LIVES]
    assert results.started_with(piles.__class__(piles.design, []), 384) is None
