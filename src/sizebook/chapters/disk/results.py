"""What the trials of disks tell: frames, and the quantities of their tables."""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import polars as pl

from sizebook.chapters.disk.jobs import FIO as FIO_JOBS
from sizebook.chapters.disk.jobs import NETWORK
from sizebook.chapters.disk.jobs import SETS as FILE_SETS
from sizebook.lab import MODES as MODES_KNOWN
from sizebook.lab import Trials
from sizebook.lab.modes import ChosenModes
from sizebook.report import charts, disks, measures, summaries
from sizebook.report.guests import printed_java
from sizebook.report.quantities import Quantity, means_of
from sizebook.report.reported import conditions, find_reported

REPORTED = (
    Quantity("platform", "System"),
    Quantity("small-files", "Many small files", 1),
    Quantity("110-120kb", "Files of 110-120 KB", 1),
    Quantity("1gb", "Files of up to 1 GB", 1),
)
"""Rates that the report prints."""
MODES = (
    Quantity("mode", "Mode"),
    Quantity("what", "What the node runs in"),
    Quantity("stands", "Stands for"),
    Quantity("trials", "Trials"),
    Quantity("java", "Java, as it printed"),
    Quantity("why", "Why not"),
)
"""A mode of the chapter."""
_STANDS_FOR = {
    "bare": "bare metal",
    "paravirtual-kernel": "paravirtualized guest",
    "emulated-vm": "fully virtualized guest",
}
_JOB = (Quantity("mode", "Mode"), Quantity("job", "Set"))
WAYS = (
    Quantity("cache_write", "given to the cache", 0, "MB/s", disks.mb_per_s("write")),
    Quantity("disk_write", "on the disk", 0, "MB/s", disks.mb_per_s("write", "sync")),
    Quantity("disk_read", "read past the cache", 0, "MB/s", disks.mb_per_s("read")),
    Quantity("cache_read", "read through the cache", 0, "MB/s", disks.mb_per_s("reread")),
)
"""The rates that tell the page cache apart."""
SETS = (
    *_JOB,
    *WAYS,
    Quantity("job_s", "Whole job (s)", 2, measure=measures.total_time_s),
    Quantity("variation_percent", "Jobs scatter by (%)", 0, measure=disks.variation_percent),
    Quantity("sync_ms", "A sync (ms)", 2, measure=disks.mean_ms("sync")),
)
"""A set of files."""
_NODE, _MACHINE = "Fetched from its disk, by the node's system", "Moved by this machine's disks"
CACHES = (
    *_JOB,
    Quantity("fetched", "past the cache", 2, _NODE, disks.fetched_share("read")),
    Quantity("fetched_again", "through it", 2, _NODE, disks.fetched_share("reread")),
    Quantity("host_read", "read", 2, _MACHINE, disks.reached_disk("read")),
    Quantity("host_written", "written", 2, _MACHINE, disks.reached_disk("written")),
)
"""What of a set came from a disk."""
_OPERATION, _SYNC = "An operation (ms)", "A sync (ms)"
FIO = (
    Quantity("mode", "Mode"),
    Quantity("job", "Job"),
    Quantity("mb", "MB/s", 0),
    Quantity("iops", "Operations/s", 0),
    Quantity("ms", "mean", 3, _OPERATION),
    Quantity("p99", "p99", 3, _OPERATION),
    Quantity("sync_ms", "mean", 3, _SYNC),
    Quantity("sync_p99_ms", "p99", 3, _SYNC),
    Quantity("way", "Way"),
)
"""A job of fio."""
_MEASURED = {
    "write_iops": disks.operations_per_s("write"),
    "read_iops": disks.operations_per_s("read"),
    "write_ms": disks.mean_ms("write"),
    "read_ms": disks.mean_ms("read"),
    "read_p99_ms": disks.last_ms("read", 99),
    "write_p99_ms": disks.last_ms("write", 99),
    "sync_p99_ms": disks.last_ms("sync", 99),
    "network_mb_per_s": disks.network_mb_per_s,
    "failed_share": measures.failed_share,
}
CARRIED = (
    Quantity("mode", "Mode"),
    Quantity("mean", "Mean", 0),
    Quantity("low", "From", 0, "MB/s, 95 %"),
    Quantity("high", "To", 0, "MB/s, 95 %"),
)
"""What the network carried."""
_BESIDE_BARE = (
    ("small", "disk_write", "small files, on the disk"),
    ("medium", "disk_write", "110-120 KB, on the disk"),
    ("large", "disk_write", "large file, on the disk"),
    ("large", "disk_read", "large file, read past the cache"),
    ("rand-read", "read_iops", "random reads"),
    ("rand-write", "write_iops", "random writes"),
    ("log", "write_iops", "blocks of a log"),
    (NETWORK, "network_mb_per_s", "network"),
)


def reported_rates() -> pl.DataFrame:
    """Return one row a system of the report, one column a set of files, in MB/s."""
    found = find_reported("itanium-2010", "throughput_mb_per_s", scenario="disk-copy")
    printed = conditions(found, "platform", "file_set")
    return printed.pivot(on="file_set", index="platform", values="value", maintain_order=True)


def modes_frame(trials: Trials, chosen: ChosenModes) -> pl.DataFrame:
    """Return one row a mode: its trials, what it stands for, and why it was not measured."""
    counts = {mode: sum(t.treatment["mode"] == mode for t in trials) for mode in MODES_KNOWN}
    rows = [
        {
            "mode": mode,
            "what": what,
            "stands": _STANDS_FOR.get(mode),
            "trials": counts[mode],
            "java": printed_java(trials, mode),
            "why": None if counts[mode] else chosen.missing.get(mode, "not asked for"),
        }
        for mode, what in MODES_KNOWN.items()
    ]
    texts = dict.fromkeys(("mode", "what", "stands", "java", "why"), pl.String)
    return pl.DataFrame(rows, schema_overrides=texts)


def jobs_frame(trials: Trials) -> pl.DataFrame:
    """Return one row a trial with all that is measured of jobs."""
    told = {one.name: one.measure for one in (*SETS, *CACHES) if one.measure}
    return trials.frame(**told, **_MEASURED)


def bare(frame: pl.DataFrame, column: str, job: str) -> float:
    """Return the mean of a job on the machine itself."""
    return summaries.mean_of(frame, column, {"mode": "bare", "job": job})


def rates_charts(in_sets: pl.DataFrame) -> alt.ConcatChart:
    """Return the rates of each set of files by mode and way."""

    def rates(name: str) -> pl.DataFrame:
        of_set = in_sets.filter(pl.col("job") == name)
        return pl.concat(
            summaries.summarize(of_set, ["mode"], way.name).with_columns(way=pl.lit(way.label))
            for way in WAYS
        )

    panels = {
        name: charts.dots(
            rates(name),
            value="mean",
            category="mode",
            series="way",
            low="low",
            high="high",
            x_title="MB/s",
            series_title="Way",
            scale="log",
        )
        for name in FILE_SETS
    }
    return charts.panels(panels, share="x")


def fio_means(frame: pl.DataFrame, trials: Trials) -> pl.DataFrame:
    """Return one row a mode and job of fio: ``FIO``; the way is what fio says it took."""
    how: dict[tuple[object, object], set[str]] = {}
    for trial in trials:
        key = (trial.treatment["mode"], trial.treatment["job"])
        how.setdefault(key, set()).update(disks.ways(trial.bundle))
    fio = frame.filter(pl.col("job").is_in(FIO_JOBS)).with_columns(
        mb=pl.coalesce("cache_write", "disk_read"),
        iops=pl.coalesce("write_iops", "read_iops"),
        ms=pl.coalesce("write_ms", "read_ms"),
        p99=pl.coalesce("write_p99_ms", "read_p99_ms"),
    )
    return means_of(fio, ["mode", "job"], *FIO[2:-1]).with_columns(
        way=pl.struct("mode", "job").map_elements(
            lambda s: ", ".join(sorted(how[s["mode"], s["job"]])), return_dtype=pl.String
        )
    )


def operations(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the mean time of a random read, a random write and a sync, with intervals."""
    told = (
        ("rand-read", "read_ms", "random read of 4 KB"),
        ("rand-write", "write_ms", "random write of 4 KB"),
        ("log", "sync_ms", "sync of a log block"),
    )
    return pl.concat(
        summaries.summarize(frame.filter(pl.col("job") == job), ["mode"], column).with_columns(
            what=pl.lit(words)
        )
        for job, column, words in told
    )


def beside_bare(frame: pl.DataFrame, modes: Sequence[str]) -> pl.DataFrame:
    """Return each rate and mode relative to the machine itself, with intervals."""
    rows = []
    for job, column, words in _BESIDE_BARE:
        for mode in modes:
            sides = ({"mode": one, "job": job} for one in (mode, "bare"))
            ratio = summaries.ratio(frame, column, *sides)
            rows.append((words, mode, ratio.estimate, ratio.low, ratio.high, ratio.n))
    texts = dict.fromkeys(("what", "mode"), pl.String)
    numbers = dict.fromkeys(("mean", "low", "high"), pl.Float64)
    return pl.DataFrame(rows, schema={**texts, **numbers, "n": pl.Int64}, orient="row")
