"""What the sweeps tell: frames, and the quantities of their tables."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from sizebook.lab import Trials
from sizebook.lab.trials import Measure
from sizebook.report import measures, summaries, sweeps
from sizebook.report.counter_increase import greatest, per_rise
from sizebook.report.gc_logs import gc_measure, overhead_percent
from sizebook.report.quantities import Quantity, frame_of, means_of

_APP = "server/app-"
_REQUESTS = (_APP, "requests_total")
_USED = ("cpu_user_s", "cpu_system_s")
STATED = (
    Quantity("id", "Claim"),
    Quantity("statement", "The report says"),
    Quantity("transferable", "Can be carried over"),
)
"""A rule of the report."""
_MEAN = Quantity("mean_ms", "Mean (ms)", 2, measure=measures.mean_latency_ms)
_P95 = Quantity("p95_ms", "95 % within (ms)", 1, measure=measures.latency_ms(0.95))
_RATE = Quantity("per_s", "Per second", 0, measure=measures.throughput_per_s)
LEVELS = (
    Quantity("rule", "Limit"),
    Quantity("level", "Level"),
    _MEAN,
    _P95,
    _RATE,
    Quantity("cpu_ms", "CPU (ms)", 2),
    Quantity("at_work", "In the node", 1),
    Quantity("held", "Connections in use", 1),
    Quantity(
        "restored",
        "Sessions read, each",
        2,
        measure=per_rise(_APP, "business_session_events_total/restored", *_REQUESTS),
    ),
)
"""A level of a limit."""
_SHARE = Quantity("mb_per_user", "MB a user")
_OVERHEAD = Quantity("gc_overhead", "Overhead (%)", 2, measure=gc_measure(overhead_percent))
HEAPS = (
    _SHARE,
    _MEAN,
    _P95,
    _RATE,
    _OVERHEAD,
    Quantity("collections", "Collections", 1, measure=gc_measure(lambda log: log.collections)),
    Quantity(
        "full", "of the whole heap", 1, measure=gc_measure(lambda log: log.by_kind.get("full", 0))
    ),
    Quantity(
        "live_mib",
        "Live (MiB)",
        0,
        measure=gc_measure(lambda log: None if log.live_bytes is None else log.live_bytes / 2**20),
    ),
)
"""A heap."""
BEYOND = (_SHARE, _MEAN, _P95, _RATE, _OVERHEAD, Quantity("faults_per_s", "Faults a second", 1))
"""A heap that fits into its host, or does not."""
_AROUND, _OVER = "Levels around the best", "Advised level over the best"
VERDICTS = (
    Quantity("rule", "Rule"),
    Quantity("advised", "Advised"),
    Quantity("best", "Best here"),
    Quantity("span", "Within 5 %", under=_AROUND),
    Quantity("sure", "Surely", under=_AROUND),
    Quantity("possible", "Possibly", under=_AROUND),
    Quantity("ratio", "Ratio", 3, _OVER),
    Quantity("low", "from", 3, _OVER),
    Quantity("high", "to", 3, _OVER),
    Quantity("answer", "The advised level is"),
)
"""A rule, and what was found."""
_RULES = {  # what is limited, its unit, the advised level, and how a level is written
    "threads": ("web threads", "threads (% of the users)", 50.0, "{:g} %"),
    "kept": ("connections kept", "requests on an open connection (%)", 100.0, "{:g} %"),
    "sessions": ("sessions in memory", "sessions in memory (% of the users)", 90.0, "{:g} %"),
    "connections": ("database connections", "connections (% of the users)", 40.0, "{:g} %"),
    "workers": ("users a worker", "users a worker", 7.5, "{:g}"),
}


def limits_frame(trials: Trials, cpus: int) -> pl.DataFrame:
    """Return one row a trial of limits; shares are of so many CPUs of the stack.

    ``at_work`` and ``held``: users in the node and connections in use at a time, by Little's law.
    """
    each = trials.frame(
        app_s=_each("process/app-", *_USED),
        database_s=_each("process/database-", *_USED),
        in_node_s=_each(_APP, "request_s"),
        held_s=_each(_APP, "pool_usage_s"),
        peak=greatest(_APP, "pool_active"),
    ).select("app_s", "database_s", "in_node_s", "held_s", "peak")
    rate, cpu_s = pl.col("per_s"), pl.col("app_s") + pl.col("database_s")
    return pl.concat([frame_of(trials, *LEVELS), each], how="horizontal").with_columns(
        cpu_ms=1e3 * cpu_s,
        cpu_share=100 / cpus * rate * cpu_s,
        at_work=rate * pl.col("in_node_s"),
        held=rate * pl.col("held_s"),
    )


def rows_of(every: pl.DataFrame, rule: str) -> pl.DataFrame:
    """Return the trials of a sweep with the level as a number.

    Ample limits are the level that has one of everything for each user.
    """
    level = pl.col("case").str.split("/").list.get(1).cast(pl.Float64)
    own = every.filter(pl.col("case").str.starts_with(f"{rule}/")).with_columns(level=level)
    top = pl.lit(1.0 if rule == "workers" else 100.0)
    return pl.concat([own, every.filter(pl.col("case") == "ample").with_columns(level=top)])


def limit_sweeps(every: pl.DataFrame) -> dict[str, sweeps.Sweep]:
    """Return the sweep of each rule about a limit."""
    return {
        rule: sweeps.Sweep(
            title,
            unit,
            advised,
            sweeps.sweep_of(rows_of(every, rule), "level", "mean_ms"),
            form.format,
        )
        for rule, (title, unit, advised, form) in _RULES.items()
    }


def heap_sweep(measured: pl.DataFrame) -> sweeps.Sweep:
    """Return the sweep of the rule about heap."""
    found = sweeps.sweep_of(measured, "mb_per_user", "mean_ms")
    return sweeps.Sweep("heap", "heap (MB a user)", 4.0, found, "{:g} MB".format)


def levels_means(every: pl.DataFrame) -> pl.DataFrame:
    """Return the means of each level of each limit: ``LEVELS``."""
    return pl.concat(
        means_of(rows_of(every, rule), ["level"], *LEVELS[2:])
        .sort("level")
        .with_columns(rule=pl.lit(title))
        for rule, (title, *_) in _RULES.items()
    )


def beyond_frame(trials: Trials | None) -> pl.DataFrame:
    """Return one row a trial of heaps in a host with little memory; none where none was run."""
    if trials is None:
        texts = dict.fromkeys(("verdict", "bundle"), pl.String)
        numbers = dict.fromkeys((one.name for one in BEYOND), pl.Float64)
        return pl.DataFrame(schema={**numbers, "replicate": pl.Int64, **texts})
    faults = trials.frame(faults=_each("process/app-", "process_major_faults"))["faults"]
    return frame_of(trials, *BEYOND).with_columns(faults_per_s=faults * pl.col("per_s"))


def times_of_ample(every: pl.DataFrame, cases: Mapping[str, object]) -> dict[str, float]:
    """Return the mean response over that of ample limits, by case about what is at work."""
    usual = summaries.mean_of(every, "mean_ms", {"case": "ample"})
    return {
        case: summaries.mean_of(every, "mean_ms", {"case": case}) / usual
        for case in cases
        if case.partition("/")[0] in ("threads", "connections", "workers")
    }


def _each(source: str, *metrics: str) -> Measure:
    """Return a measure: what counters rise by for each transaction, after the rush."""
    return measures.rise_in_phase(source, *metrics, by=_REQUESTS)
