"""Jobs on a disk: how large they are, and what their trials tell beside the machine itself."""

import polars as pl
import pytest
import synthetic_bundles as made

from sizebook.chapters.disk import jobs, results
from sizebook.lab import MODES, Placement
from sizebook.lab.modes import ChosenModes
from sizebook.lab.profiles import get_profile

HERE = Placement(stack=(1,), generator=(0,), total_heap_mib=4096)


def make(has_fio=True):
    return jobs.DiskWork(HERE, get_profile("quick", 0), 1, 256, "libaio", has_fio)


def test_a_job_is_told_its_size():
    """Files of a set, or what fio is to do; the start is warmed by all jobs."""
    setup = make().setup({"mode": "bare", "job": "large"})
    assert setup.load.settings == {
        "job": "large",
        "files": 1,
        "least": 256 << 20,
        "most": 256 << 20,
    }
    fio = make().setup({"mode": "bare", "job": "log"}).load.settings
    assert fio == {"job": "log", "mib": 256, "runtime_ms": 1000, "engine": "libaio"}
    assert setup.conditioning.settings == {"job": "all"}


def test_without_fio_its_jobs_are_left_out():
    """And the job that does all of them is told so."""
    assert set(jobs.FIO) <= set(make().names)
    assert not set(jobs.FIO) & set(make(has_fio=False).names)
    warm = make(has_fio=False).setup({"mode": "bare", "job": "small"}).conditioning
    assert warm.settings["without_fio"] is True


def test_rates_of_the_report():
    """One row a system, one column a set of files."""
    assert set(results.reported_rates().columns) == {one.name for one in results.REPORTED}


@pytest.fixture
def trials(make_bundle):
    return made.make_trials(make_bundle, "jobs", {"log": {}})


def test_a_mode_without_trials_says_why(trials):
    """Not asked for, or what the machine lacks."""
    empty = trials.__class__(trials.design, [])
    found = results.modes_frame(empty, ChosenModes((), {"virtio-vm": "no emulator"}))
    why = dict(found.select("mode", "why").iter_rows())
    assert list(why) == list(MODES)
    assert why["virtio-vm"] == "no emulator" and why["bare"] == "not asked for"


def frame(**columns):
    rows = [("bare", 0, 2.0), ("bare", 1, 2.0), ("container", 0, 1.0), ("container", 1, 1.0)]
    made_up = pl.DataFrame(rows, schema=["mode", "replicate", "rate"], orient="row")
    names = {"disk_write", "disk_read", "read_iops", "write_iops", "network_mb_per_s"}
    return made_up.with_columns(
        pl.lit("valid").alias("verdict"),
        *(pl.lit(value).alias(name) for name, value in columns.items()),
        *(pl.col("rate").alias(name) for name in names),
    )


def test_rates_beside_the_machine_itself():
    """A ratio a rate and mode; none for jobs that were not run."""
    found = results.beside_bare(frame(job="small"), ["container"])
    assert found.height == 8
    ratios = dict(found.select("what", "mean").iter_rows())
    assert ratios["small files, on the disk"] == pytest.approx(0.5)
    assert ratios["network"] is None
    assert results.bare(frame(job="small"), "rate", "small") == 2.0


def test_fio_has_read_or_write(trials):
    """What a job does not do is taken from what it does; the way is what fio says."""
    whole = results.jobs_frame(trials).rename({"level": "job"}).with_columns(
        mode=pl.lit("bare"), read_iops=pl.lit(7.0)
    )  # fmt: skip
    (one,) = trials
    one.treatment.update({"mode": "bare", "job": "log"})
    found = results.fio_means(whole, trials)
    assert found["iops"].to_list() == [7.0]
    assert found["way"].to_list() == [""]
