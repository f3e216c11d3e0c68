"""What the machine did, as the reports print it and over time: tables and charts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

import altair as alt
import polars as pl

from sizebook.lab import Trials
from sizebook.report import charts
from sizebook.report.machine_course import QUANTITIES, STATISTICS, machine_course
from sizebook.report.reported import conditions, find_reported
from sizebook.report.tables import plain_table
from sizebook.store import Bundle

if TYPE_CHECKING:
    from great_tables import GT

CourseOf = Callable[[Bundle], pl.DataFrame]
"""Gives ``t_s``, seconds from the begin of the measured phase, and ``value``."""


def reported_statistics(source: str, scenario: str, keys: Sequence[str]) -> pl.DataFrame:
    """Return what a report prints of the machine: one row a treatment, as ``statistics_of``.

    ``keys`` are conditions of its treatments that are numbers, such as ``users`` and ``nodes``.
    """
    parts = [
        conditions(find_reported(source, name, scenario=scenario), *keys).with_columns(
            column=pl.format("{}_{}", "metric", "statistic")
        )
        for name in QUANTITIES
    ]
    found = pl.concat(parts).with_columns(pl.col(list(keys)).cast(pl.Int64)).drop_nulls(list(keys))
    wide = found.pivot(on="column", index=list(keys), values="value", maintain_order=True)
    return _whole(wide).select(*keys, *_columns())


def statistics_of(results: pl.DataFrame, keys: Sequence[str]) -> pl.DataFrame:
    """Return one row a treatment: average, minimum and maximum of each quantity over its trials.

    ``results`` has a column ``cpu_percent_mean`` and so on for each trial; averages are averaged,
    of the minima the least is taken and of the maxima the greatest.
    """
    how = {"mean": pl.Expr.mean, "min": pl.Expr.min, "max": pl.Expr.max}
    return (
        _whole(results)
        .group_by(list(keys), maintain_order=True)
        .agg(how[column.rpartition("_")[2]](pl.col(column)) for column in _columns())
    )


def statistics_table(frame: pl.DataFrame, labels: Mapping[str, str], *, note: str = "") -> GT:
    """Return average, minimum and maximum in rows below each other, as mii-2009 prints them.

    ``frame`` is that of ``statistics_of``; ``labels`` names its key columns.
    """
    rows = [
        frame.select(
            *labels,
            pl.lit(word).alias("statistic"),
            *(pl.col(f"{name}_{how}").alias(name) for name in QUANTITIES),
        ).with_row_index("at")
        for how, word in STATISTICS.items()
    ]
    shown = pl.concat(rows).sort("at", maintain_order=True).drop("at")
    first = pl.col("statistic") == next(iter(STATISTICS.values()))
    shown = shown.with_columns(
        pl.when(first).then(pl.col(key).cast(pl.String)).otherwise(pl.lit("")).alias(key)
        for key in labels
    )
    return plain_table(
        shown,
        labels={**labels, "statistic": "Statistic"}
        | {name: f"{one.title} ({one.unit})" for name, one in QUANTITIES.items()},
        digits={name: one.digits for name, one in QUANTITIES.items()},
        note=note,
    )


def course_panels(
    trials: Trials, quantities: Sequence[str], others: Mapping[str, CourseOf]
) -> alt.ConcatChart:
    """Return a small chart a quantity over the measured phase, a line a treatment.

    Lines are means over the trials that did not fail. ``others`` adds charts of other courses by
    their titles, before those of the machine.
    """
    courses = dict(others) | {
        f"{QUANTITIES[name].title} ({QUANTITIES[name].unit})": _of_machine(name)
        for name in quantities
    }
    panels = {
        title: charts.lines(
            _mean_course(trials, course),
            x="t_s",
            y="value",
            series="treatment",
            x_title="seconds of the measured phase",
            y_title=title.rpartition("(")[2].rstrip(")"),
        )
        for title, course in courses.items()
    }
    return charts.panels(panels, columns=2, width_px=270, height_px=180)


def name_treatment(treatment: Mapping[str, object]) -> str:
    """Return the levels of a treatment in words, such as ``100 users, 1 node``.

    A level that is a word stands for itself.
    """
    words = []
    for factor, level in treatment.items():
        word = factor[:-1] if level == 1 and factor.endswith("s") else factor
        words.append(level if isinstance(level, str) else f"{level} {word}")
    return ", ".join(reversed(words))


def with_names(frame: pl.DataFrame, factors: Sequence[str]) -> pl.DataFrame:
    """Return the frame with a column ``treatment``: the levels of these factors in words."""
    names = [name_treatment(row) for row in frame.select(factors).iter_rows(named=True)]
    return frame.with_columns(treatment=pl.Series(names, dtype=pl.String))


def _of_machine(quantity: str) -> CourseOf:
    return lambda bundle: machine_course(bundle).select("t_s", value=quantity)


def _mean_course(trials: Trials, course: CourseOf) -> pl.DataFrame:
    schema = {"treatment": pl.String, "t_s": pl.Float64, "value": pl.Float64}
    parts = []
    for trial in trials:
        if trial.verdict == "failed":
            continue
        every_s = trial.bundle.record.trial.probe_interval_s
        near = course(trial.bundle).with_columns((pl.col("t_s") / every_s).round() * every_s)
        parts.append(near.select(pl.lit(name_treatment(trial.treatment)).alias("treatment"), "*"))
    if not parts:
        return pl.DataFrame(schema=schema)
    whole = pl.concat(parts).drop_nulls("value")
    return whole.group_by("treatment", "t_s", maintain_order=True).agg(pl.col("value").mean())


def _columns() -> list[str]:
    return [f"{name}_{how}" for name in QUANTITIES for how in STATISTICS]


def _whole(frame: pl.DataFrame) -> pl.DataFrame:
    missing = [name for name in _columns() if name not in frame.columns]
    return frame.with_columns(pl.lit(None, dtype=pl.Float64).alias(name) for name in missing)
