"""What the trials of a user mix tell: frames, and the quantities of their tables."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from sizebook.chapters.user_mix import machine_views, pace
from sizebook.lab import Trials
from sizebook.model.measurand import Measurand
from sizebook.model.records import Scalar
from sizebook.report import machine_course, measures, summaries
from sizebook.report.measured import MeasuredNumber
from sizebook.report.quantities import Quantity, frame_of
from sizebook.report.sides import name_levels

_USERS, _NODES, _STATE = (
    Quantity("users", "Users"),
    Quantity("nodes", "Nodes"),
    Quantity("state", "State"),
)
RATES = (
    _NODES,
    _USERS,
    _STATE,
    Quantity("name", "Group"),
    Quantity("period_s", "Every (s)", 1),
    Quantity("users_of_group", "Users of it"),
    Quantity("offered_per_s", "Offered per s", 2),
    Quantity("achieved_per_s", "Achieved per s", 2),
    Quantity("late_share", "Late", 4),
)
"""A group of users in a mix and layout."""
_WAITED = (
    Quantity("page_p50_ms", "Page, median (ms)", 1, measure=pace.pass_ms(0.5, "clerks")),
    Quantity("page_p95_ms", "Page, 95th percentile (ms)", 1, measure=pace.pass_ms(0.95, "clerks")),
    Quantity(
        "document_p50_ms", "Document, median (ms)", 1, measure=pace.pass_ms(0.5, "background")
    ),
)
WAITS = (_USERS, _NODES, _STATE, *_WAITED)
"""What users wait for."""
KEYS: Mapping[str, str] = {one.name: one.label for one in (_USERS, _NODES, _STATE)}
"""The factors of the chapter, and their labels."""
LEVEL, LATE, LOW, PAGING = 0.05, 0.01, 25, 1
"""Bounds of what is level, late, low and hardly paging: shares, percent, pages a second."""


def mix_frame(trials: Trials) -> pl.DataFrame:
    """Return one row a trial: the machine's quantities, pace, waiting times and costs."""
    machine = {
        f"{name}_{how}": machine_course.machine(name, how)
        for name in machine_course.QUANTITIES
        for how in machine_course.STATISTICS
    }
    frame = trials.frame(
        **machine,
        achieved=pace.achieved_share,
        late=pace.late_share,
        failed_share=measures.failed_share,
        ram_change=machine_course.change_share("available_ram_mb"),
        cpu_change=machine_course.change_share("cpu_percent"),
        app_cpu_ms=measures.cpu_ms_per_request("app"),
        database_cpu_ms=measures.cpu_ms_per_request("database"),
        compiler_s=measures.rise_in_phase(
            "jvm/app-", "jit_s", by=("server/app-", "requests_total")
        ),
    )
    waited = frame_of(trials, *_WAITED).select(one.name for one in _WAITED)
    found = pl.concat([frame, waited], how="horizontal")
    return found.with_columns(compiler_ms=1e3 * pl.col("compiler_s"))


def waits_frame(results: pl.DataFrame) -> pl.DataFrame:
    """Return one row a mix, layout and state: ``WAITS``."""
    return summaries.means(results, list(KEYS), *(one.name for one in _WAITED))


def largest(known: pl.DataFrame, column: str) -> MeasuredNumber | None:
    """Return the trend that is farthest from 0, with the treatment that it is of; None without."""
    rows = known.drop_nulls(column).to_dicts()
    if not rows:
        return None
    row = max(rows, key=lambda each: abs(each[column]))
    levels = {name: row[name] for name in KEYS}
    return MeasuredNumber(row[column], Measurand("trend", column, levels))


def treatment_of(found: MeasuredNumber | None) -> str:
    """Return the treatment that a trend is of, in words: "none" without one, "all" if it is 0."""
    if found is None or found.measurand is None:
        return "none"
    return "all" if float(found) == 0 else name_levels(found.measurand.levels)


def cpu_beside(printed: pl.DataFrame, own: pl.DataFrame) -> pl.DataFrame:
    """Return the CPU of the report's treatments and of ours, one row each, with their names.

    The report's 100 users on two nodes had a guest: they are beside the state ``spike``.
    """
    guest = (pl.col("users") == 100) & (pl.col("nodes") == 2)
    state = pl.when(guest).then(pl.lit("spike")).otherwise(pl.lit("quiet"))
    theirs = printed.with_columns(state=state, by=pl.lit("reported"))
    ours = own.with_columns(by=pl.lit("here"))
    shares = pl.concat([theirs, ours], how="diagonal_relaxed").drop_nulls("cpu_percent_mean")
    ordered = shares.sort("users", "state", "nodes", descending=[True, False, False])
    return machine_views.with_names(ordered, ["nodes", "users", "state"])


def cost_parts(known: pl.DataFrame) -> pl.DataFrame:
    """Return the mean CPU time of a request by treatment and role, in ms."""
    return (
        machine_views.with_names(known, ["nodes", "users", "state"])
        .group_by("treatment", maintain_order=True)
        .agg(app=pl.col("app_cpu_ms").mean(), database=pl.col("database_cpu_ms").mean())
        .unpivot(["app", "database"], index="treatment", variable_name="role", value_name="cpu_ms")
        .drop_nulls()
    )


def with_facts(results: pl.DataFrame) -> pl.DataFrame:
    """Return the frame with what is claimed of a state, each true or false of a trial."""
    return results.with_columns(
        cpu_percent=pl.col("cpu_percent_mean"),
        machine_level=(pl.col("ram_change").abs() <= LEVEL) & (pl.col("cpu_change").abs() <= LEVEL),
        cpu_low=pl.col("cpu_percent_mean") <= LOW,
        paging_low=pl.col("paging_pages_per_s_mean") < PAGING,
        reliable=(pl.col("failed_share") == 0) & (pl.col("late") <= LATE),
    )


def median_of(known: pl.DataFrame, column: str, levels: Mapping[str, Scalar]) -> float | None:
    """Return the median over the trials of a treatment; None without any."""
    these = known.filter(*(pl.col(name) == level for name, level in levels.items()))
    found: float | None = these.select(pl.col(column).median()).item()
    return found
