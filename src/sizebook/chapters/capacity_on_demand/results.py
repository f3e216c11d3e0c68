"""What the trials of added CPUs tell: frames, and the quantities of their tables."""

from __future__ import annotations

import polars as pl

from sizebook.chapters.capacity_on_demand import resizing
from sizebook.chapters.capacity_on_demand.courses import CPUS, Lengths
from sizebook.lab import Trials
from sizebook.report import measures
from sizebook.report.quantities import Quantity

_WAY = Quantity("way", "Way")
_LATENCY, _USED = "Mean latency (ms)", "CPUs used"
COURSES = (
    _WAY,
    Quantity("course", "CPUs"),
    Quantity("calm_ms", "calm", 1, _LATENCY),
    Quantity("small_ms", "peak, before", 0, _LATENCY),
    Quantity("large_ms", "its last third", 1, _LATENCY),
    Quantity("after_ms", "calm again", 1, _LATENCY),
    Quantity("waiting", "Waiting then", 0),
    Quantity("settled_s", "In time after (s)", 2),
    Quantity("small_cpus", "before", 2, _USED),
    Quantity("large_cpus", "after", 2, _USED),
    Quantity("failed", "Failed", 0),
)
"""A peak and what becomes of it."""
_SEES, _POOL, _LATE = "CPUs it sees", "Common pool", "Latency, last third of the peak (ms)"
JVMS = (
    _WAY,
    Quantity("jvm", "JVM"),
    Quantity("cpus_before", "before", 0, _SEES),
    Quantity("cpus_after", "added", 0, _SEES),
    Quantity("cpus_end", "taken away", 0, _SEES),
    Quantity("noticed_s", "Seen after (s)", 1),
    Quantity("pool_before", "before ", 0, _POOL),
    Quantity("pool_after", "added ", 0, _POOL),
    Quantity("gc_threads", "Collector's threads", 0),
    Quantity("large_ms", "mean", 1, _LATE),
    Quantity("large_p95_ms", "95th percentile", 1, _LATE),
    Quantity("late_cpus", "CPUs used", 2),
)
"""What a JVM makes of it."""
SIZES = (
    Quantity("cpus", "CPUs"),
    Quantity("heap_mib", "Heap (MiB)"),
    Quantity("total_time_s", "Total time (s)", 2, measure=measures.total_time_s),
    Quantity("throughput_per_s", "Answers per second", 0, measure=measures.throughput_per_s),
    Quantity("box_cpus", "CPUs used", 2),
)
"""More CPUs or more memory."""
_NODE, _PROCESSORS, _THREADS = "server/app-1", "processors", "common_pool_threads"


def courses_frame(trials: Trials, at: Lengths, limit_ms: float) -> pl.DataFrame:
    """Return one row a trial with a peak: latencies and CPUs before and after CPUs are added.

    ``limit_ms`` is the mean latency that is in time again.
    """
    due, cpus, reading = (
        resizing.latency_due_ms,
        resizing.cpus_between,
        resizing.reading_between,
    )
    return trials.frame(
        calm_ms=due(0.0, at.calm_s, "mean"),
        small_ms=due(at.calm_s, at.added_s, "mean"),
        waiting=resizing.waiting_at(at.added_s),
        settled_s=resizing.settled_s(at.added_s, at.over_s, limit_ms),
        large_ms=due(at.late_s, at.over_s, "mean"),
        large_p95_ms=due(at.late_s, at.over_s, 0.95),
        after_ms=due(at.taken_s, at.length_s, "mean"),
        small_cpus=cpus("box", at.calm_s, at.added_s),
        large_cpus=cpus("box", at.added_s, at.over_s),
        late_cpus=cpus("box", at.late_s, at.over_s),
        failed=resizing.failures,
        more_s=resizing.used_more_s("box", 1.1),
        noticed_s=resizing.noticed_s(_NODE, _PROCESSORS),
        cpus_before=reading(_NODE, _PROCESSORS, 0.0, at.added_s),
        cpus_after=reading(_NODE, _PROCESSORS, at.added_s, at.taken_s),
        cpus_end=reading(_NODE, _PROCESSORS, at.taken_s, at.length_s + 5),
        pool_before=reading(_NODE, _THREADS, 0, at.added_s),
        pool_after=reading(_NODE, _THREADS, at.added_s, at.taken_s),
        gc_threads=resizing.gc_threads("app-1"),
    )


def busy_frame(added: pl.DataFrame) -> pl.DataFrame:
    """Return one row a trial and side: the share of its CPUs that the host kept busy, in percent.

    ``before`` CPUs are added, and ``after``, in the last third of the peak.
    """
    columns = {"before": ("small_cpus", 0), "after": ("late_cpus", 1)}
    return pl.concat(
        added.select(
            "way",
            "replicate",
            "verdict",
            "bundle",
            pl.lit(when).alias("when"),
            cpu_percent=100
            * pl.col(column)
            / pl.col("way").replace_strict(
                {way: sizes[side] for way, sizes in CPUS.items()}, return_dtype=pl.Float64
            ),
        )
        for when, (column, side) in columns.items()
    )
