"""One and the same thing, measured twice."""

import polars as pl
import pytest
import synthetic_bundles as made

from sizebook.chapters import calibration
from sizebook.lab import Placement
from sizebook.lab.profiles import get_profile

HERE = Placement(stack=(1,), generator=(0,), total_heap_mib=4096)


def test_the_treatment_is_the_same_under_both_names():
    """Names vary between JVMs, passes within one."""
    same = calibration.SameTwice(HERE, get_profile("quick", 0), 1, 10)
    treatments = same.design().treatments()
    assert len(treatments) == 4
    assert len({repr(same.setup(t)) for t in treatments}) == 1


@pytest.fixture
def every():
    rows = [(name, n, time_s) for name in ("A", "A again") for n, time_s in enumerate((1.0, 1.1))]
    frame = pl.DataFrame(rows, schema=["name", "replicate", "total_time_s"], orient="row")
    same = {one: pl.col("total_time_s") for one in calibration.COMPARED[1:]}
    return frame.with_columns(verdict=pl.lit("valid"), **same)


def test_noise_of_each_metric(every):
    """The means are equal, and still two trials differ."""
    found = calibration.floors_frame(every)
    assert found.height == len(calibration.COMPARED)
    assert {one.name for one in calibration.FLOORS} == set(found.columns)
    assert found["ratio"][0].startswith("1.000") and found["largest"][0] == pytest.approx(1.1)


def test_more_starts_find_less(every):
    """The least ratio that a design finds falls with its fresh JVMs."""
    found = calibration.detectable_frame(every, ["cpu_ms"], [2, 5, 20])
    assert {one.name for one in calibration.DETECTABLE} == set(found.columns)
    assert found["least"].to_list() == sorted(found["least"].to_list(), reverse=True)


def test_noise_between_and_within_jvms(every):
    """Two trials in each JVM that differ in nothing: all of it lies between JVMs."""
    found = calibration.split_frame(pl.concat([every, every]))
    assert {one.name for one in calibration.SPLIT} == set(found.columns)
    spread = dict(found.select("level", "sd").iter_rows())
    assert spread["fresh JVM"] > 0 and not spread["trial in a JVM"]


def test_frames_of_trials(make_bundle):
    """All that the tables and sentences have."""
    trials = made.make_trials(make_bundle, "aa", {"A": {}})
    assert set(calibration.COMPARED) <= set(calibration.same_frame(trials).columns)
    assert "generator_cpu_share" in calibration.ceiling_frame(trials).columns
