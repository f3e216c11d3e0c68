"""One question, several workloads: what becomes of each when the same heap is shared by more nodes.

A workload is some trials with the number of app nodes as one of their columns; how fast it goes and
what it takes is measured in its own way. Layouts are compared within a workload, by block, so that
what they have in common drops out; ratios of different workloads can then stand beside each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import polars as pl

from sizebook.lab import Trials
from sizebook.lab.trials import Measure
from sizebook.model.records import Scalar
from sizebook.report.summaries import ratio, usable
from sizebook.stats.intervals import Interval, ratio_interval

NODES = "nodes"
RATIOS: dict[str, type[pl.DataType]] = {
    "workload": pl.String,
    NODES: pl.Int64,
    "mean": pl.Float64,
    "low": pl.Float64,
    "high": pl.Float64,
    "n": pl.Int64,
}


@dataclass(frozen=True)
class Workload:
    """Trials of one load in several layouts: columns ``nodes``, ``replicate``, ``verdict``."""

    name: str
    frame: pl.DataFrame

    @classmethod
    def of(
        cls,
        name: str,
        groups: Iterable[Trials],
        levels: Mapping[str, Scalar],
        **measured: Measure,
    ) -> Workload:
        """Return the workload of some designs' trials at these levels of their other factors.

        Trials of a design without a factor ``nodes`` have one node. Designs without trials add
        nothing. Raises KeyError for a factor that a design with trials does not have.
        """
        parts = []
        for group in (group for group in groups if len(group)):
            frame = group.frame(**measured)
            for factor, level in levels.items():
                frame = frame.filter(frame[factor] == level)
            if NODES not in frame.columns:
                frame = frame.with_columns(pl.lit(1, pl.Int64).alias(NODES))
            parts.append(frame.select(NODES, "replicate", "verdict", "bundle", *measured))
        return cls(name, pl.concat(parts) if parts else pl.DataFrame())

    @property
    def layouts(self) -> tuple[int, ...]:
        """The numbers of nodes that it was measured with, usable or not, in order."""
        if NODES not in self.frame.columns:
            return ()
        return tuple(sorted(self.frame[NODES].drop_nulls().unique()))

    def ratio(self, metric: str, left: int, right: int) -> Interval:
        """Return how many times a metric with ``left`` nodes is that with ``right`` nodes.

        Without trials of both there is no estimate, and the result says why.
        """
        if not {left, right} <= set(self.layouts):
            return ratio_interval([], [])
        return ratio(self.frame, metric, {NODES: left}, {NODES: right})

    def fewest_to_most(self, metric: str) -> Interval:
        """Return how many times a metric with the fewest nodes is that with the most."""
        return self._between(metric, 0, -1)

    def most_to_fewest(self, metric: str) -> Interval:
        """Return how many times a metric with the most nodes is that with the fewest."""
        return self._between(metric, -1, 0)

    def _between(self, metric: str, left: int, right: int) -> Interval:
        if len(self.layouts) < 2:
            return ratio_interval([], [])
        return self.ratio(metric, self.layouts[left], self.layouts[right])


def java_of(groups: Iterable[Trials]) -> str:
    """Return the JVM generation that trials ran on, such as ``Java 25``; empty without trials."""
    titles = {
        trial.bundle.record.fingerprints.jvm for group in groups for trial in group
    }  # such as Debian 17.0.15
    found = {title.rpartition(" ")[2].partition(".")[0] for title in titles}
    return "Java " + " and ".join(sorted(found)) if found else ""


def ratios_to_fewest(workloads: Iterable[Workload], metric: str) -> pl.DataFrame:
    """Return one row a workload and layout: the metric over that with the fewest nodes.

    Columns ``RATIOS``, as ``summaries.summarize`` gives them. The fewest nodes are 1 by definition,
    without an interval; a workload that was not measured has one row, without a ratio.
    """
    rows: list[tuple[object, ...]] = []
    for one in workloads:
        known = metric in one.frame.columns and usable(one.frame)[metric].is_not_null().any()
        if not one.layouts or not known:
            rows.append((one.name, None, None, None, None, 0))
            continue
        base = one.layouts[0]
        for nodes in one.layouts:
            found = one.ratio(metric, nodes, base)
            if nodes != base:
                rows.append((one.name, nodes, found.estimate, found.low, found.high, found.n))
            elif found.estimate is not None:
                rows.append((one.name, nodes, 1.0, None, None, found.n))
    return pl.DataFrame(rows, schema=RATIOS, orient="row")


def ratios_of_most(workloads: Iterable[Workload], metrics: Mapping[str, str]) -> pl.DataFrame:
    """Return one row a workload and metric: the most nodes over the fewest, as ``RATIOS``.

    ``metrics`` are columns by what they are called in column ``what``. Without two layouts there
    is no ratio.
    """
    rows = []
    for one in workloads:
        most = one.layouts[-1] if len(one.layouts) > 1 else None
        for what, metric in metrics.items():
            found = (
                one.most_to_fewest(metric)
                if metric in one.frame.columns
                else ratio_interval([], [])
            )
            rows.append((one.name, most, found.estimate, found.low, found.high, found.n, what))
    return pl.DataFrame(rows, schema={**RATIOS, "what": pl.String}, orient="row")


@dataclass(frozen=True)
class LayoutAdvice:
    """How many nodes a workload is best served with, and why."""

    workload: str
    nodes: int | None
    """None: nothing usable was measured."""
    reason: str


def advise(ratios: pl.DataFrame, *, least: float, what: str) -> tuple[LayoutAdvice, ...]:
    """Return for each workload of :func:`ratios_to_fewest` the fewest nodes that are worth it.

    More nodes are worth it if the interval of their ratio lies above ``least`` (or below its
    inverse, if ``least`` is under 1: a metric that should be small); of several the best. Nodes
    that were not shown to bring anything are not advised: each takes memory of its own.
    """
    advice = []
    for (name,), rows in ratios.group_by("workload", maintain_order=True):
        known = rows.drop_nulls("mean").sort(NODES)
        if not known.height:
            advice.append(LayoutAdvice(str(name), None, "not measured"))
            continue
        better = pl.col("low") > least if least > 1 else pl.col("high") < least
        worth = known.filter(better.fill_null(value=False)).sort("mean", descending=least > 1)
        fewest = int(known[NODES][0])
        if worth.height:
            best = worth.row(0, named=True)
            text = f"{best['mean']:.2f} times the {what} of {_nodes(fewest)}"
            advice.append(LayoutAdvice(str(name), int(best[NODES]), text))
            continue
        most = known.row(-1, named=True)
        if known.height == 1:
            text = "measured with one layout only"
        elif most["low"] is None:
            text = "too few replicates to tell layouts apart"
        else:
            text = (
                f"more nodes were not shown to bring anything: {_nodes(most[NODES])} have "
                f"{most['mean']:.2f} ({most['low']:.2f} to {most['high']:.2f}) times the {what}"
            )
        advice.append(LayoutAdvice(str(name), fewest, text))
    return tuple(advice)


def advice_frame(advice: Sequence[LayoutAdvice]) -> pl.DataFrame:
    """Return one row a workload: ``workload``, ``nodes``, ``reason``."""
    rows = [(one.workload, one.nodes, one.reason) for one in advice]
    schema = {"workload": pl.String, NODES: pl.Int64, "reason": pl.String}
    return pl.DataFrame(rows, schema=schema, orient="row")


def _nodes(count: int) -> str:
    return "one node" if count == 1 else f"{count} nodes"
