"""What disk jobs moved, by the node's own account, and how much of it reached this machine's disks.

A trial has jobs of one kind, so its counters, labelled by direction, are that job's. They are read
before the first job and after the last, and count every job of the trial.
"""

from __future__ import annotations

from typing import Literal

import polars as pl

from sizebook.lab.trials import Measure
from sizebook.report.counter_increase import per_rise, risen, rises
from sizebook.report.measures import at_end, runs
from sizebook.store import Bundle
from sizebook.store.derived import derived

Direction = Literal["write", "sync", "read", "reread"]

_NODE = "server/app-"
_MEGA = 1e-6
_MILLI = 1e3


def mb_per_s(direction: Direction, *more: Direction) -> Measure:
    """Return a measure: megabytes (1e6 bytes) a second in one direction.

    The time of ``more`` directions counts as well: ``mb_per_s("write", "sync")`` is the rate at
    which files were on the disk, not in the cache. None where nothing was moved.
    """
    moved = risen(_NODE, f"disk_job_bytes/{direction}")
    took = risen(_NODE, *(f"disk_job_s/{each}" for each in (direction, *more)))

    def measure(bundle: Bundle) -> float | None:
        total, seconds = moved(bundle), took(bundle)
        return _MEGA * total / seconds if total and seconds else None

    return measure


def operations_per_s(direction: Direction) -> Measure:
    """Return a measure: operations a second in one direction; None where there was none."""
    return _when_above_zero(
        per_rise(_NODE, f"disk_job_operations_total/{direction}", _NODE, f"disk_job_s/{direction}")
    )


def mean_ms(direction: Direction) -> Measure:
    """Return a measure: mean time of an operation in ms; None where there was none."""
    return per_rise(
        _NODE,
        f"disk_job_waited_s/{direction}",
        _NODE,
        f"disk_job_operations_total/{direction}",
        _MILLI,
    )


def last_ms(direction: Direction, percent: Literal[50, 99]) -> Measure:
    """Return a measure: a percentile of the operations of the trial's last job, in ms.

    Of one job, since percentiles are never averaged. None where the trial's jobs had no such
    operation: what the node then says is of a job before the trial.
    """
    last = at_end(_NODE, f"disk_job_p{percent}_s/{direction}")
    done = risen(_NODE, f"disk_job_operations_total/{direction}")

    def measure(bundle: Bundle) -> float | None:
        seconds = last(bundle) if done(bundle) else None
        return None if seconds is None else _MILLI * seconds

    return measure


def reached_disk(direction: Literal["written", "read"]) -> Measure:
    """Return a measure: bytes that this machine's disks moved, for each byte of the jobs.

    0: a cache took it all; 1: every byte went to a disk; more: so did what else was written, such
    as the file system's own notes. Of what was read, both readings of a set of files count.
    """
    disks = risen("host", f"disk_{direction}_bytes")
    jobs = [
        risen(_NODE, f"disk_job_bytes/{each}")
        for each in (("write",) if direction == "written" else ("read", "reread"))
    ]

    def measure(bundle: Bundle) -> float | None:
        wanted = sum(each(bundle) or 0.0 for each in jobs)
        found = disks(bundle)
        return found / wanted if found is not None and wanted else None

    return measure


def fetched_share(direction: Literal["read", "reread"]) -> Measure:
    """Return a measure: share of the bytes read that the node's system fetched from its disk.

    By the account of the system that the node runs on, be it a guest's; None where it keeps none.
    """
    return per_rise(
        _NODE,
        f"disk_job_device_bytes/{direction}",
        _NODE,
        f"disk_job_bytes/{direction}",
    )


def ways(bundle: Bundle) -> tuple[str, ...]:
    """Return how the jobs of a trial went to the disk, such as ``libaio direct``, sorted."""
    found = rises(bundle, "disk_runs_total", _NODE).filter(pl.col("rise") > 0)
    return tuple(found["label"].unique().sort())


@derived("disks.network_mb_per_s")
def network_mb_per_s(bundle: Bundle) -> float | None:
    """Return the megabytes (1e6 bytes) a second of a pass that fetched bytes, median of passes."""
    found = runs(bundle)
    if not found.height:
        return None
    rate = (found["received_bytes"] / found["total_s"]).median()
    return _MEGA * rate if isinstance(rate, float) else None


@derived("disks.variation_percent")
def variation_percent(bundle: Bundle) -> float | None:
    """Return by how many percent of their mean the times of a trial's jobs scatter.

    Standard deviation over mean; None with fewer than three jobs.
    """
    times = runs(bundle)["total_s"]
    deviation, mean = times.std(), times.mean()
    if len(times) < 3 or not isinstance(deviation, float) or not isinstance(mean, float):
        return None
    return 100.0 * deviation / mean


def _when_above_zero(measure: Measure) -> Measure:
    def checked(bundle: Bundle) -> float | None:
        return measure(bundle) or None

    return checked
