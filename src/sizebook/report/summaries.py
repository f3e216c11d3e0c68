"""From trials to treatments: means over replicates with intervals, ratios between treatments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from sizebook.model.measurand import Measurand
from sizebook.model.records import Scalar
from sizebook.report.measured import (
    MeasuredInterval,
    MeasuredNumber,
    MeasuredWords,
    measurand_of,
)
from sizebook.report.reported import conditions
from sizebook.report.wording import to_scalar
from sizebook.stats.equivalence import compare
from sizebook.stats.intervals import (
    Interval,
    mean_interval,
    positive_interval,
    ratio_interval,
)
from sizebook.stats.noise import NoiseFloor
from sizebook.stats.pairing import pair_blocks

UNUSABLE = ("failed",)
"""Verdicts whose numbers are not shown at all; other doubts are shown and said."""


def usable(frame: pl.DataFrame) -> pl.DataFrame:
    """Return the rows whose trials give numbers that may be shown, doubts included."""
    return frame.filter(~pl.col("verdict").is_in(UNUSABLE))


def means(frame: pl.DataFrame, by: Sequence[str], *metrics: str) -> pl.DataFrame:
    """Return the means of metrics over usable trials, one row a treatment.

    Rows keep the order in which treatments first appear.
    """
    return usable(frame).group_by(list(by), maintain_order=True).agg(pl.col(metrics).mean())


def summarize(frame: pl.DataFrame, by: Sequence[str], metric: str) -> pl.DataFrame:
    """Return one row a treatment: ``by`` columns, ``mean``, ``low``, ``high``, ``n``.

    The interval is 95 %, over replicates (fresh JVMs); null where there are fewer than two. It is
    drawn on the logarithm and stays above zero (``intervals.positive_interval``), unless a value of
    the metric is negative: then on the plain scale for all treatments. Rows keep the order in which
    treatments first appear.
    """
    rows = []
    shown = usable(frame)
    interval_of = mean_interval if (shown[metric] < 0).any() else positive_interval
    for levels, group in shown.group_by(list(by), maintain_order=True):
        interval = interval_of(_values(group, metric))
        rows.append(
            dict(zip(by, levels, strict=True))
            | {"mean": interval.estimate, "low": interval.low, "high": interval.high}
            | {"n": interval.n}
        )
    schema = {name: frame.schema[name] for name in by}
    numbers = dict.fromkeys(("mean", "low", "high"), pl.Float64)
    return pl.DataFrame(rows, schema={**schema, **numbers, "n": pl.Int64})


def ratio(
    frame: pl.DataFrame,
    metric: str,
    left: Mapping[str, Scalar],
    right: Mapping[str, Scalar],
) -> Interval:
    """Return how many times the metric of treatment ``left`` is that of ``right``.

    Treatments are given by some of their levels. Replicates are paired by block
    (``stats.pairing``).
    """
    a, b, paired = _sides(frame, metric, left, right)
    found = ratio_interval(a, b, paired=paired)
    return MeasuredInterval.of(found, Measurand("ratio", metric, _plain(left), _plain(right)))


def compared(
    frame: pl.DataFrame,
    metric: str,
    left: Mapping[str, Scalar],
    right: Mapping[str, Scalar],
    *,
    floor: NoiseFloor,
    margin: float | None = None,
) -> str:
    """Return in words whether two treatments differ: different, equivalent or undetermined.

    ``floor`` is the machine's noise floor of the metric; ``margin`` the least ratio that matters,
    twice the floor on logs without one (see ``stats.equivalence``).
    """
    a, b, paired = _sides(frame, metric, left, right)
    if not len(a) or not len(b):
        return "undetermined (no trials)"
    if margin is None and (least := floor.least_ratio(len(a), len(b))) is not None:
        margin = least**2
    found = compare(a, b, floor, margin, paired=paired)
    return f"{found.verdict}: {found.reason}"


def _sides(
    frame: pl.DataFrame, metric: str, left: Mapping[str, Scalar], right: Mapping[str, Scalar]
) -> tuple[list[float], list[float], bool]:
    """Return the values of both treatments, and whether they are paired by block."""
    sides = [_select(usable(frame), levels).drop_nulls(metric) for levels in (left, right)]
    by_block = [dict(side.group_by("replicate").agg(pl.col(metric).mean()).iter_rows())
                for side in sides]  # fmt: skip
    return pair_blocks(*by_block)


def mean_of(frame: pl.DataFrame, metric: str, levels: Mapping[str, Scalar]) -> float:
    """Return the metric's mean over the replicates of a treatment; NaN without any."""
    values = _values(_select(usable(frame), levels), metric)
    mean = float(values.mean()) if values.size else float("nan")
    return MeasuredNumber(mean, Measurand("mean", metric, _plain(levels)))


def lookup(found: Mapping[str, pl.DataFrame]) -> pl.DataFrame:
    """Return one row a treatment with the first reported value found for it: ``value``."""
    rows = [(name, frame["value"][0] if frame.height else None) for name, frame in found.items()]
    schema = {"treatment": pl.String, "value": pl.Float64}
    return pl.DataFrame(rows, schema=schema, orient="row")


def beside(
    found: Mapping[str, pl.DataFrame], name: str, condition: str, levels: Sequence[str]
) -> pl.DataFrame:
    """Return one row a treatment and one column a level of a condition: what a report printed.

    Column ``reported 20`` holds the values printed for level 20 of the condition, such as
    ``30; 25; 17``, in the report's order; null where it prints none.
    """
    rows = []
    for treatment, frame in found.items():
        table = conditions(frame, condition)
        row: dict[str, str | None] = {name: treatment}
        for level in levels:
            values = table.filter(pl.col(condition) == level)["value"]
            row[f"reported {level}"] = "; ".join(f"{v:g}" for v in dict.fromkeys(values)) or None
        rows.append(row)
    columns = (name, *(f"reported {level}" for level in levels))
    return pl.DataFrame(rows, schema=dict.fromkeys(columns, pl.String))


def words(interval: Interval, digits: int = 2) -> str:
    """Return an interval in words, such as ``2.47 (2.31 to 2.64, n = 3)``."""
    said, known = _words(interval, digits), measurand_of(interval)
    return said if known is None or interval.estimate is None else MeasuredWords(said, known)


def _words(interval: Interval, digits: int) -> str:
    if interval.estimate is None:
        return f"not known ({interval.reason})"
    if interval.low is None or interval.high is None:
        return f"{interval.estimate:.{digits}f} (n = {interval.n}, no interval)"
    return (
        f"{interval.estimate:.{digits}f} ({interval.low:.{digits}f} to "
        f"{interval.high:.{digits}f}, n = {interval.n})"
    )


def _select(frame: pl.DataFrame, levels: Mapping[str, Scalar]) -> pl.DataFrame:
    for name, level in levels.items():
        frame = frame.filter(pl.col(name) == level)
    return frame


def _plain(levels: Mapping[str, Scalar]) -> dict[str, Scalar]:
    known = {name: to_scalar(name, level) for name, level in levels.items()}
    return {name: level for name, level in known.items() if level is not None}


def _values(frame: pl.DataFrame, metric: str) -> np.ndarray:
    return frame[metric].drop_nulls().drop_nans().to_numpy()
