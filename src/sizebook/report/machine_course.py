"""The machine over a trial's measured phase: paging, disk queue, CPU, memory, from interval to
interval, as average, least and greatest, and whether they stayed level.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import polars as pl

from sizebook.checks.facts import measured_mark
from sizebook.checks.rules import DoesNotApply
from sizebook.lab.trials import Measure
from sizebook.stats.trends import trend
from sizebook.store import Bundle
from sizebook.store.thread_cache import Once

Statistic = Literal["mean", "min", "max"]
STATISTICS: Mapping[Statistic, str] = {"mean": "average", "min": "minimum", "max": "maximum"}

SIGNIFICANT = 0.05
"""Level at which a trend of one quantity counts."""
_PAGE_BYTES = 4096
_BUSY = ("core_user_s", "core_system_s", "core_irq_s", "core_steal_s")
_IDLE = ("core_idle_s", "core_iowait_s")


@dataclass(frozen=True)
class CourseQuantity:
    """One of the quantities that administrators watch; named as in the reports' data."""

    name: str
    title: str
    unit: str
    digits: int
    definition: str


QUANTITIES: Mapping[str, CourseQuantity] = {
    one.name: one
    for one in (
        CourseQuantity("paging_pages_per_s", "Paging", "pages/s", 2,
                 "Pages read because a process touched what was not in memory (major faults), and "
                 "pages written to swap, a second."),
        CourseQuantity("disk_queue_length_requests", "Disk queue", "requests", 3,
                 "Mean number of disk requests waiting or being served: the time that requests "
                 "took, added up, over the time that went by, of all disks."),
        CourseQuantity("cpu_percent", "CPU", "%", 1,
                 "Share of the time of the stack's CPUs in which they ran anything at all."),
        CourseQuantity("available_ram_mb", "Available RAM", "MB", 0,
                 "Memory that programs could have without swapping, as the kernel estimates it."),
    )
}  # fmt: skip

_COURSES = Once[str, pl.DataFrame]()


def machine_course(bundle: Bundle) -> pl.DataFrame:
    """Return one row an interval between two readings within the measured phase.

    ``t_s`` is its middle in seconds from the phase's begin; the other columns are ``QUANTITIES``,
    null where the machine has no such counter. Empty where there are no two readings.
    """
    return _COURSES.get(bundle.sha256, lambda: _course(bundle))


def machine(quantity: str, how: Statistic = "mean") -> Measure:
    """Return a measure: average, least or greatest value of a quantity of the machine's course."""

    def measure(bundle: Bundle) -> float | None:
        value = getattr(machine_course(bundle)[quantity], how)()
        return None if value is None else float(value)

    return measure


def change_share(quantity: str) -> Measure:
    """Return a measure: by which share of its level a quantity changed over the measured phase.

    By Sen's slope, 0 where the trend is not significant (``stats.trends.trend``). None with too few
    readings, or for a quantity whose level is zero.
    """

    def measure(bundle: Bundle) -> float | None:
        found = trend(machine_course(bundle)[quantity].drop_nulls().to_numpy().astype(float))
        if found.p is None:
            return None
        return 0.0 if found.p > SIGNIFICANT else found.change_share

    return measure


def _course(bundle: Bundle) -> pl.DataFrame:
    schema = {"t_s": pl.Float64, **dict.fromkeys(QUANTITIES, pl.Float64)}
    try:
        mark = measured_mark(bundle)
    except DoesNotApply:
        return pl.DataFrame(schema=schema)
    host = bundle.counters.filter(
        (pl.col("source").cast(pl.String) == "host")
        & pl.col("value").is_not_null()
        & pl.col("time_ns").is_between(mark.begin_ns, mark.end_ns)
    ).select("time_ns", pl.col("metric").cast(pl.String).str.split("/"), "value")
    wide = (
        host.filter(_is_of_the_stack(bundle))
        .with_columns(metric=pl.col("metric").list.first())
        .group_by("time_ns", "metric")
        .agg(pl.col("value").sum())
        .pivot(on="metric", index="time_ns", values="value")
        .sort("time_ns")
    )
    if wide.height < 2:
        return pl.DataFrame(schema=schema)
    return wide.select(
        t_s=((pl.col("time_ns") + pl.col("time_ns").shift()) / 2 - mark.begin_ns) / 1e9,
        **{name: each.cast(pl.Float64) for name, each in _formulas(wide).items()},
    ).slice(1)


def _is_of_the_stack(bundle: Bundle) -> pl.Expr:
    """Return the condition that a reading is not of a CPU that the stack may not use."""
    cpus = {str(cpu) for role in bundle.record.trial.deployment.roles for cpu in role.cpus}
    if not cpus:
        return pl.lit(True)
    core = pl.col("metric").list.first().str.starts_with("core_")
    return ~core | pl.col("metric").list.last().is_in(sorted(cpus))


def _formulas(wide: pl.DataFrame) -> dict[str, pl.Expr]:
    seconds = pl.col("time_ns").diff() / 1e9
    missing = pl.lit(None, dtype=pl.Float64)

    def rise(*metrics: str) -> pl.Expr:
        there = [pl.col(metric).diff() for metric in metrics if metric in wide.columns]
        return pl.sum_horizontal(there) if there else missing

    busy, whole = rise(*_BUSY), rise(*_BUSY, *_IDLE)
    faults = rise("major_faults") + rise("swap_out_bytes") / _PAGE_BYTES
    ram = pl.col("memory_available_bytes") / 1e6 if "memory_available_bytes" in wide else missing
    return {
        "paging_pages_per_s": faults / seconds,
        "disk_queue_length_requests": rise("disk_wait_s", "disk_flush_s") / seconds,
        # Between two readings a moment apart, the kernel's clock may not have ticked.
        "cpu_percent": pl.when(whole > 0).then(100 * busy / whole),
        "available_ram_mb": ram,
    }
