"""What the trials of work tell: frames, and the quantities of their tables."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import polars as pl

from sizebook.chapters.database_work.ledger import JOBS, MIX, PAIRS, SYSTEMS, at
from sizebook.lab import MODES as MODES_KNOWN
from sizebook.lab import Trials
from sizebook.lab.modes import ChosenModes
from sizebook.lab.trials import Measure
from sizebook.report import measures, summaries
from sizebook.report.counter_increase import per_rise
from sizebook.report.guests import printed_java
from sizebook.report.quantities import Quantity, frame_of
from sizebook.report.reported import conditions, find_reported

_ITANIUM, _APP = "itanium-2010", "server/app-"
_LEAST = "Least time of several attempts (s)"
STAGES = (
    Quantity("system", "System"),
    Quantity("on", "Ran on"),
    Quantity("1-initial-summary", "Summary", 0, _LEAST),
    Quantity("2-all-items-dialog", "Items, dialogue", 0, _LEAST),
    Quantity("3-final-report", "Final report", 0, _LEAST),
)
"""The stages as the report prints them."""
MODES = (
    Quantity("mode", "Mode"),
    Quantity("what", "What runs the stack"),
    Quantity("stands_for", "Stands for"),
    Quantity("trials", "Trials"),
    Quantity("java", "Java, as it printed"),
    Quantity("why", "Why not"),
)
"""A mode of the chapter."""


def _of_work(metric: str, of: str = "work_done_total", scale: float = 1e3) -> Measure:
    """Return a measure: what a counter of the node rises by for each piece of work."""
    return per_rise(_APP, metric, _APP, of, scale)


_TIME, _CPU = "Time (ms)", "CPU time (ms)"
WORK = (
    Quantity("mode", "Mode"),
    Quantity("work", "Work"),
    Quantity("total_ms", "total", 2, _TIME, _of_work("work_done_s")),
    Quantity("database_ms", "database", 2, _TIME, _of_work("work_done_database_s")),
    Quantity("rest_ms", "rest", 2, _TIME),
    Quantity("app_cpu_ms", "app", 2, _CPU, measures.cpu_ms_per_request("app")),
    Quantity("database_cpu_ms", "database", 2, _CPU, measures.cpu_ms_per_request("database")),
    Quantity(
        "statements",
        "Statements",
        0,
        measure=_of_work("work_statements_total", "work_requests_total", 1.0),
    ),
    Quantity(
        "rows_read", "Rows", 0, measure=_of_work("work_rows_total", "work_requests_total", 1.0)
    ),
)
"""A piece of work."""
_BOTH = "Time (\u00b5s)"
PAIRED = (
    Quantity("test", "Pair"),
    Quantity("mode", "Mode"),
    Quantity("naive_us", "naive", 0, _BOTH),
    Quantity("better_us", "better", 0, _BOTH),
    Quantity("ratio", "Naive over better"),
    Quantity("reported", "The report's ratios"),
)
"""Both ways of a pair."""
_KINDS = ("dialogue", "background")
KINDS = (
    Quantity("system", "System"),
    *(
        Quantity(f"{kind} {part}", f"{part} ({unit})", digits, kind.capitalize())
        for kind in _KINDS
        for part, unit, digits in (("total", "ms", 1), ("database", "ms", 1), ("share", "%", 0))
    ),
)
"""Response times of dialogue and background."""


def reported_stages() -> pl.DataFrame:
    """Return one row a system of the report with the times of the three stages."""
    found = find_reported(_ITANIUM, "elapsed_time_s", scenario="fs10n")
    printed = conditions(found, "system", "stage")
    wide = printed.pivot(on="stage", index="system", values="value", maintain_order=True)
    ran_on = {name: on for name, (on, _) in SYSTEMS.items()}
    return wide.with_columns(
        on=pl.col("system").replace_strict(ran_on), system=pl.col("system").str.to_uppercase()
    )


def modes_frame(trials: Trials, chosen: ChosenModes, asked: Collection[str]) -> pl.DataFrame:
    """Return one row a mode: its trials, the systems it stands for, and why it is not there."""
    rows = [
        {
            "mode": mode,
            "what": what,
            "stands_for": ", ".join(
                name.upper() for name, (_, its) in SYSTEMS.items() if its == mode
            )
            or None,
            "trials": sum(trial.treatment["mode"] == mode for trial in trials),
            "java": printed_java(trials, mode),
            "why": chosen.missing.get(mode) if mode in asked else "not asked for",
        }
        for mode, what in MODES_KNOWN.items()
    ]
    texts = dict.fromkeys(("java", "why", "stands_for"), pl.String)
    return pl.DataFrame(rows, schema_overrides=texts)


def work_frame(trials: Trials) -> pl.DataFrame:
    """Return one row a trial: ``WORK``, and what only some of the pieces of work tell."""
    more = trials.frame(
        throughput_per_s=measures.throughput_per_s,
        failed_share=measures.failed_share,
        first_ms=measures.at_end(_APP, "work_first_database_s/count"),
        changes=per_rise("host", "context_switches", _APP, "work_done_total"),
    ).select("throughput_per_s", "failed_share", pl.col("first_ms") * 1e3, "changes")
    return pl.concat([frame_of(trials, *WORK), more], how="horizontal").with_columns(
        rest_ms=pl.col("total_ms") - pl.col("database_ms")
    )


def job_parts(results: pl.DataFrame) -> pl.DataFrame:
    """Return the mean time of jobs and of the count by mode, told apart by where it is spent."""
    jobs = results.filter(pl.col("work").is_in([*JOBS, "count"]))
    return (
        summaries.usable(jobs)
        .select("mode", "work", database="database_ms", application="rest_ms")
        .unpivot(index=["mode", "work"], variable_name="part", value_name="ms")
        .group_by("mode", "work", "part", maintain_order=True)
        .agg(pl.col("ms").mean())
        .with_columns(where=pl.format("{}, {}", "work", "mode"))
    )


def counts_by_execution(results: pl.DataFrame) -> pl.DataFrame:
    """Return one row a trial of counting and execution: the very first count, and later ones."""
    counts = results.filter(pl.col("work") == "count")
    kept = ["mode", "replicate", "verdict", "bundle"]
    columns = {"first": "first_ms", "repeat": "database_ms"}
    return pl.concat(
        counts.select(*kept, execution=pl.lit(execution), query_ms=column)
        for execution, column in columns.items()
    )


def sides(pair: str, mode: str = "bare") -> tuple[dict[str, bool | int | float | str], ...]:
    """Return the treatments of the naive and the better way."""
    return at(f"{pair}-naive", mode), at(f"{pair}-better", mode)


def pairs_frame(results: pl.DataFrame, modes: Sequence[str]) -> pl.DataFrame:
    """Return one row a mode and pair: ``PAIRED``."""
    rows = []
    for mode in modes:
        for test, pair in PAIRS.items():
            naive, better = sides(pair, mode)
            ratio = summaries.ratio(results, "total_ms", naive, better)
            rows.append(
                {
                    "test": pair,
                    "mode": mode,
                    "naive_us": 1e3 * summaries.mean_of(results, "total_ms", naive),
                    "better_us": 1e3 * summaries.mean_of(results, "total_ms", better),
                    "ratio": summaries.words(ratio, 1),
                    "reported": printed_ratios(test),
                }
            )
    numbers = {"naive_us": pl.Float64, "better_us": pl.Float64}
    return pl.DataFrame(rows, schema_overrides=numbers)


def printed_ratios(test: str) -> str:
    """Return how many times the report's systems took for the slower way of a pair, in words."""
    rows = find_reported(_ITANIUM, "runtime_us", f"test={test}")
    found = conditions(rows, "system", "variant")
    wide = found.pivot(on="variant", index="system", values="value", maintain_order=True)
    ratio = (pl.col("similar") / pl.col("main")).round(1)
    each = wide.select(pl.format("{} {}", pl.col("system").str.to_uppercase(), ratio))
    return "; ".join(each.to_series())


def mix_frame(trials: Trials) -> pl.DataFrame:
    """Return one row a trial of the mix: total and database time of a request by kind, in ms."""
    told = {
        f"{kind}_{part}_ms": _of_work(f"{metric}/{kind}", f"work_requests_total/{kind}")
        for part, metric in (("total", "work_s"), ("database", "work_database_s"))
        for kind in _KINDS
    }
    return trials.frame(**told).filter(pl.col("work") == MIX)


def kinds_frame(mix: pl.DataFrame) -> pl.DataFrame:
    """Return one row a system of the report and a mode of here: ``KINDS``."""
    found = find_reported(_ITANIUM, "response_time_ms", scenario="st03n-workload")
    names = {name: f"{name.upper()}, report: {on}" for name, (on, _) in SYSTEMS.items()}
    reported = conditions(found, "system", "task_type", "part").select(
        pl.col("system").replace_strict(names),
        kind=pl.col("task_type").replace("dialog", "dialogue"),
        part=pl.col("part").replace("db", "database"),
        mean="value",
    )
    own = [
        summaries.summarize(mix, ["mode"], f"{kind}_{part}_ms").select(
            system=pl.format("{}, here", "mode"), kind=pl.lit(kind), part=pl.lit(part), mean="mean"
        )
        for kind in _KINDS
        for part in ("total", "database")
    ]
    times = pl.concat([reported, *own]).with_columns(what=pl.format("{} {}", "kind", "part"))
    wide = times.pivot(on="what", index="system", values="mean", maintain_order=True)
    return wide.with_columns(
        (100 * pl.col(f"{kind} database") / pl.col(f"{kind} total")).alias(f"{kind} share")
        for kind in _KINDS
    )
