"""What disk jobs moved, from synthetic readings."""

from types import SimpleNamespace

import polars as pl
import pytest
from read_counters import bundle_with

from sizebook.report import disks

NODE = "server/app-1"


def bundle_of(**rises):
    """Return readings in which each counter of the node rises from 5 by so much.

    ``write__s=2.0`` is ``disk_job_s/write``; names that begin with ``host_`` are of the machine.
    """
    rows = []
    for name, rise in rises.items():
        direction, _, metric = name.partition("__")
        source = NODE
        full = f"disk_job_{metric}/{direction}"
        if name.startswith("host_"):
            source, full = "host", f"{name.removeprefix('host_')}/vda"
        rows += [(1, source, full, 5.0), (2, source, full, 5.0 + rise)]
    return bundle_with(rows)


SET = bundle_of(
    write__bytes=100e6, write__s=1.0, sync__s=3.0, read__bytes=100e6, read__s=0.5,
    reread__bytes=100e6, reread__s=0.1, read__device_bytes=100e6, reread__device_bytes=25e6,
    read__operations_total=50, read__waited_s=0.4, host_disk_written_bytes=110e6,
    host_disk_read_bytes=100e6,
)  # fmt: skip


def test_what_is_on_the_disk_took_writing_and_forcing():
    """The cache's rate and the disk's rate of the same bytes."""
    assert disks.mb_per_s("write")(SET) == pytest.approx(100)
    assert disks.mb_per_s("write", "sync")(SET) == pytest.approx(25)
    assert disks.mb_per_s("reread")(SET) == pytest.approx(1000)


def test_operations_and_their_times():
    """A rate over the time in which they were done, a mean over each one's own."""
    assert disks.operations_per_s("read")(SET) == pytest.approx(100)
    assert disks.mean_ms("read")(SET) == pytest.approx(8)


def test_what_reached_a_disk():
    """Bytes of the machine's disks for each byte of the jobs; both readings count."""
    assert disks.reached_disk("written")(SET) == pytest.approx(1.1)
    assert disks.reached_disk("read")(SET) == pytest.approx(0.5)
    assert disks.fetched_share("read")(SET) == pytest.approx(1)
    assert disks.fetched_share("reread")(SET) == pytest.approx(0.25)


def test_what_was_not_done_is_missing_not_zero():
    """No direct reading, no account of the system, no operation: None."""
    bare = bundle_of(write__bytes=10.0, write__s=1.0, read__bytes=0.0, read__s=0.0,
                     read__operations_total=0.0, read__waited_s=0.0)  # fmt: skip
    assert disks.mb_per_s("read")(bare) is None
    assert disks.mb_per_s("write", "sync")(bare) is None
    assert disks.operations_per_s("read")(bare) is None
    assert disks.mean_ms("read")(bare) is None
    assert disks.reached_disk("read")(bare) is None
    assert disks.fetched_share("read")(bare) is None
    assert disks.last_ms("read", 99)(bare) is None


def test_the_last_jobs_percentile_and_the_way_it_went():
    """The last reading of the gauge in ms; ways that were taken in this trial alone."""
    rows = [
        (1, NODE, "disk_job_p99_s/sync", 0.004),
        (2, NODE, "disk_job_p99_s/sync", 0.002),
        (1, NODE, "disk_job_operations_total/sync", 4.0),
        (2, NODE, "disk_job_operations_total/sync", 8.0),
        (1, NODE, "disk_job_p99_s/read", 0.004),
        (1, NODE, "disk_job_operations_total/read", 4.0),
        (2, NODE, "disk_job_operations_total/read", 4.0),
        (1, NODE, "disk_runs_total/libaio direct", 3.0),
        (2, NODE, "disk_runs_total/libaio direct", 3.0),
        (1, NODE, "disk_runs_total/psync direct", 0.0),
        (2, NODE, "disk_runs_total/psync direct", 2.0),
    ]
    found = bundle_with(rows)
    assert disks.last_ms("sync", 99)(found) == pytest.approx(2)
    assert disks.last_ms("read", 99)(found) is None  # a job before this trial read
    assert disks.ways(found) == ("psync direct",)


WHOLE = SimpleNamespace(digest={})
"""A bundle of which nothing was left out."""


@pytest.mark.parametrize(
    ("times", "percent"), [([1.0, 1.0, 1.0], 0.0), ([1.0, 2.0, 3.0], 50.0), ([1.0, 2.0], None)]
)
def test_variation_of_whole_jobs(monkeypatch, times, percent):
    """Standard deviation over mean; two jobs tell nothing."""
    monkeypatch.setattr(disks, "runs", lambda _: pl.DataFrame({"total_s": times}))
    assert disks.variation_percent(WHOLE) == (None if percent is None else pytest.approx(percent))


def test_the_network_carries_bytes_in_the_time_of_a_pass(monkeypatch):
    """Median of passes; none is None."""
    passes = pl.DataFrame({"total_s": [1.0, 2.0, 4.0], "received_bytes": [8_000_000] * 3})
    monkeypatch.setattr(disks, "runs", lambda _: passes)
    assert disks.network_mb_per_s(WHOLE) == pytest.approx(4)
    monkeypatch.setattr(disks, "runs", lambda _: passes.clear())
    assert disks.network_mb_per_s(WHOLE) is None
