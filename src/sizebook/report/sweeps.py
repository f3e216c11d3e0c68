"""Rules of thumb put to the test: one setting swept, where its best lies, and how flat it is there.

A rule advises one level of a setting. A sweep measures levels around it with everything else the
same. What matters of it: the best level, the levels that are as good within a margin, and how much
the advised one costs beside the best.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

import altair as alt
import polars as pl

from sizebook.report.summaries import usable
from sizebook.report.theme import treatment_scale
from sizebook.stats.flatness import Better, Optimum, Span, find_optimum

Answer = Literal["as good as the best", "worse than the best", "not settled", "not measured"]

DISTANCES: dict[str, type[pl.DataType]] = {
    "level": pl.Float64,
    "name": pl.String,
    "ratio": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "kind": pl.String,
}
RULES: dict[str, type[pl.DataType]] = {
    "rule": pl.String,
    "advised": pl.String,
    "best": pl.String,
    "span": pl.String,
    "sure": pl.String,
    "possible": pl.String,
    "ratio": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
    "answer": pl.String,
}
ADVISED, SWEPT = "advised", "other levels"
_HEIGHT = 170


@dataclass(frozen=True)
class Sweep:
    """One rule, the level that it advises, and what the levels around it did."""

    rule: str
    """The rule in a few words; title of its row and its panel."""
    unit: str
    """What levels are, with their unit: title of the axis."""
    advised: float
    optimum: Optimum
    words: Callable[[float], str] = "{:g}".format
    """How a level is written."""

    @property
    def answer(self) -> Answer:
        """What the sweep says of the advised level."""
        found = self.optimum.at(self.advised)
        if found is None:
            return "not measured"
        if found.low is None or found.high is None:
            return "not settled"
        if found.high <= self.optimum.margin:
            return "as good as the best"
        return "worse than the best" if found.low > self.optimum.margin else "not settled"


def sweep_of(
    frame: pl.DataFrame, level: str, metric: str, *, better: Better = "less", margin: float = 1.05
) -> Optimum:
    """Return where the best level of a sweep lies, from one row a trial.

    ``frame`` is that of ``Trials.frame`` with a numeric column ``level``. Trials that failed, and
    those without the metric, count as not measured; several trials of a level in one block, such as
    of a treatment that is part of two sweeps, as their mean.
    """
    known = usable(frame).filter(
        pl.col(metric).is_not_null() & pl.col(metric).is_not_nan() & (pl.col(metric) > 0)
    )
    levels = sorted(known[level].unique().to_list())
    if not levels:
        return find_optimum([], [], better=better, margin=margin)
    table = known.pivot(on="replicate", index=level, values=metric, aggregate_function="mean")
    values = table.sort(level).drop(level).cast(pl.Float64).fill_null(float("nan")).to_numpy()
    return find_optimum(levels, values, better=better, margin=margin)


def rules_frame(sweeps: Iterable[Sweep]) -> pl.DataFrame:
    """Return one row a rule: ``RULES``.

    ``span`` holds the levels around the best whose mean is within the margin, ``sure`` those that
    are shown to be, ``possible`` those that are not shown to be beyond it. ``ratio`` is how many
    times worse the advised level is than the best, ``low`` to ``high`` its interval.
    """
    rows = []
    for sweep in sweeps:
        found, at = sweep.optimum, sweep.optimum.at(sweep.advised)
        rows.append(
            {
                "rule": sweep.rule,
                "advised": sweep.words(sweep.advised),
                "best": None if found.best is None else sweep.words(found.best),
                "span": _ends(found.span, sweep.words),
                "sure": _ends(found.sure_span, sweep.words),
                "possible": _ends(found.possible_span, sweep.words),
                "ratio": at.ratio if at else None,
                "low": at.low if at else None,
                "high": at.high if at else None,
                "n": found.n,
                "answer": sweep.answer,
            }
        )
    return pl.DataFrame(rows, schema=RULES)


def distances_frame(sweep: Sweep) -> pl.DataFrame:
    """Return one row a level that was measured: ``DISTANCES``, by rising level."""
    return pl.DataFrame(
        [
            (
                one.level,
                sweep.words(one.level),
                one.ratio,
                one.low,
                one.high,
                ADVISED if one.level == sweep.advised else SWEPT,
            )
            for one in sweep.optimum.distances
        ],
        schema=DISTANCES,
        orient="row",
    )


def sweep_chart(sweep: Sweep) -> alt.Chart | alt.LayerChart:
    """Return how many times worse than the best each level is, the advised one marked.

    A logarithmic scale from 1 up; the dashed line is the margin within which a level is as good as
    the best. Intervals, where there are any, hold together.
    """
    frame = distances_frame(sweep)
    highest = frame.select(pl.max_horizontal(pl.col("ratio").max(), pl.col("high").max())).item()
    top = max(1.3, 1.05 * (highest or 1.0))
    scale = alt.Scale(type="log", domain=[1 / top**0.05, top], nice=False)
    y = alt.Y("ratio:Q", title="times the best", scale=scale, axis=alt.Axis(tickCount=5))
    base = alt.Chart(frame).encode(
        x=alt.X("name:O", title=sweep.unit, sort=None, axis=alt.Axis(labelAngle=0)),
        tooltip=[
            alt.Tooltip("name:O", title=sweep.unit),
            alt.Tooltip("ratio:Q", title="times the best", format=".3f"),
            alt.Tooltip("low:Q", title="95 % from", format=".3f"),
            alt.Tooltip("high:Q", title="to", format=".3f"),
        ],
    )
    edge = alt.Chart(pl.DataFrame({"ratio": [sweep.optimum.margin]})).mark_rule(strokeDash=[4, 3])
    layers: list[alt.Chart] = [edge.encode(y=y), base.mark_line(opacity=0.5).encode(y=y)]
    if frame["low"].is_not_null().any():
        rules = base.mark_rule(strokeWidth=1.5)
        layers.append(rules.encode(y=alt.Y("low:Q", title="times the best", scale=scale),
                                   y2="high:Q"))  # fmt: skip
    kinds = [ADVISED, SWEPT]
    layers.append(
        base.mark_point(filled=True, size=80, opacity=1).encode(
            y=y,
            color=alt.Color("kind:N", title=None, sort=kinds, scale=treatment_scale(kinds)),
            shape=alt.Shape(
                "kind:N",
                title=None,
                sort=kinds,
                scale=alt.Scale(domain=kinds, range=["diamond", "circle"]),
            ),
        )
    )
    return functools.reduce(operator.add, layers).properties(width="container", height=_HEIGHT)


def _ends(span: Span | None, words: Callable[[float], str]) -> str | None:
    if span is None:
        return None
    low, high = span
    return words(low) if low == high else f"{words(low)} to {words(high)}"
