"""Two results files compared: ratios of their figures, with what the course of each run allows.

Each run is cut into windows after its ramp and warm-up. A block bootstrap draws windows with
replacement, merges the requests in them and computes every figure anew, for both files; the
interval is that of the ratio (Künsch, Annals of Statistics 17, 1989; Hesterberg, The American
Statistician 69, 2015). Percentiles are those of merged requests and never averaged.

A window must be longer than neighbouring requests depend on each other; about 20 of them are a
compromise. The interval holds what varies within a run. What varies between runs (fresh starts, the
machine's day) is not in it: one run of each is no replicate, and the report says so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sizebook.judge.facts import ForeignCase
from sizebook.judge.findings import Unknowable
from sizebook.judge.judging import Judged
from sizebook.judge.results import SECOND_NS
from sizebook.judge.wording import say_percentile
from sizebook.stats import hdr
from sizebook.stats.intervals import Interval
from sizebook.stats.quantiles import is_supported

BLOCKS, LEAST_BLOCKS = 20, 8
RESAMPLES = 1000
LEVEL = 0.95
METHOD = "block bootstrap"
PERCENTILES = (50.0, 90.0, 95.0, 99.0, 99.9)
ONE_RUN = (
    "One run of each: the intervals hold what varied within the runs, and not what varies between "
    "runs. A claim needs several fresh starts of each."
)


@dataclass(frozen=True)
class ComparedFigure:
    """One figure of both files, and the ratio of the second to the first."""

    name: str
    unit: str
    first: float
    second: float
    ratio: Interval

    @property
    def words(self) -> str:
        """Whether the two differ, as far as the interval says."""
        differs = self.ratio.excludes(1.0)
        if differs is None:
            return self.ratio.reason
        if not differs:
            return "no difference seen"
        return "higher" if self.ratio.estimate and self.ratio.estimate > 1 else "lower"


@dataclass(frozen=True)
class Compared:
    """Two files beside each other."""

    figures: tuple[ComparedFigure, ...]
    method: str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Blocks:
    """Counts of latencies by block and bucket, and what the figures need besides."""

    counts: NDArray[np.int64]
    """A row a block."""
    sums_ns: NDArray[np.float64]
    values_ns: NDArray[np.float64]
    """Of each bucket."""
    width_s: float

    @property
    def size(self) -> int:
        return int(self.counts.shape[0])

    @property
    def requests(self) -> int:
        return int(self.counts.sum())

    def figures(self, weights: NDArray[np.float64], percentiles: list[float]) -> dict[str, float]:
        """Return rate, mean and percentiles with each block as often as its weight says."""
        number = weights @ self.counts
        total = float(number.sum())
        found = {"rate": total / (float(weights.sum()) * self.width_s)}
        if total == 0:
            return found
        found["mean"] = float(weights @ self.sums_ns) / total
        at = np.searchsorted(np.cumsum(number), np.array(percentiles) / 100 * total)
        values = self.values_ns[np.minimum(at, self.values_ns.size - 1)]
        return found | dict(zip(map(say_percentile, percentiles), map(float, values), strict=True))


def compare_results(first: Judged, second: Judged, *, seed: int = 0) -> Compared:
    """Return the figures of two files with the ratio of each, second over first."""
    notes = _notes(first, second)
    try:
        pair = [_blocks(judged.case) for judged in (first, second)]
    except Unknowable as reason:
        why = "no interval: a file has no course over time"
        figures = _of_sums(first.case, second.case, why)
        return Compared(figures, "none", (*notes, str(reason)))
    random = np.random.default_rng(seed)
    few = min(blocks.requests for blocks in pair)
    percentiles = [p for p in PERCENTILES if is_supported(p, few)]
    whole = [blocks.figures(np.ones(blocks.size), percentiles) for blocks in pair]
    drawn: list[list[dict[str, float]]] = []
    for blocks in pair:
        picks = random.integers(0, blocks.size, size=(RESAMPLES, blocks.size))
        drawn.append(
            [
                blocks.figures(np.bincount(pick, minlength=blocks.size).astype(float), percentiles)
                for pick in picks
            ]
        )
    names = [name for name in whole[0] if name in whole[1]]
    figures = tuple(_compared(name, whole, drawn, min(b.size for b in pair)) for name in names)
    widths = ", ".join(f"{blocks.size} blocks of {blocks.width_s:.3g} s" for blocks in pair)
    return Compared(figures, f"{METHOD} ({widths}; {RESAMPLES} draws)", (*notes, ONE_RUN))


def _compared(
    name: str, whole: list[dict[str, float]], drawn: list[list[dict[str, float]]], size: int
) -> ComparedFigure:
    a, b = whole[0][name], whole[1][name]
    unit = "per s" if name == "rate" else "ms"
    scale = 1.0 if name == "rate" else 1e6
    if min(a, b) <= 0:
        ratio = Interval(None, None, None, LEVEL, size, "none", "a value of zero has no ratio")
        return ComparedFigure(name, unit, a / scale, b / scale, ratio)
    logs: list[Any] = [
        np.log([max(each.get(name, 0.0), 1e-9) for each in draws]) for draws in drawn
    ]
    low, high = np.quantile(logs[1] - logs[0], [(1 - LEVEL) / 2, (1 + LEVEL) / 2])
    ratio = Interval(b / a, float(np.exp(low)), float(np.exp(high)), LEVEL, size, METHOD)
    return ComparedFigure(name, unit, a / scale, b / scale, ratio)


def _blocks(case: ForeignCase) -> _Blocks:
    """Return a run in blocks, from the end of its warm-up on."""
    table = case.table
    if table is None:
        return _course_blocks(case)
    found = case.windows
    try:
        since_ns = found.begin_ns + case.steady.crop * found.width_ns
    except Unknowable:
        since_ns = found.begin_ns
    stop_ns = found.begin_ns + found.count * found.width_ns
    number = min(BLOCKS, (stop_ns - since_ns) // max(1, table.clock_ns))
    if number < LEAST_BLOCKS:
        raise Unknowable("an interval", f"the steady part has {number} steps of its clock")
    width_ns = (stop_ns - since_ns) // number // table.clock_ns * table.clock_ns
    ends = table.start_ns + table.latency_ns
    at = (ends - since_ns) // width_ns
    inside = (at >= 0) & (at < number)
    at, latency = at[inside], np.minimum(table.latency_ns[inside], hdr.HIGHEST_NS)
    buckets, bucket = np.unique(hdr.bucket_indexes(latency), return_inverse=True)
    cells = np.bincount(at * buckets.size + bucket, minlength=int(number) * buckets.size)
    spent = np.bincount(at, weights=latency.astype(np.float64), minlength=int(number))
    sums = np.asarray(spent, dtype=np.float64)
    values = hdr.bucket_highest_ns(buckets).astype(np.float64)
    counts = cells.reshape(int(number), buckets.size)
    return _Blocks(counts, sums, values, width_ns / SECOND_NS)


def _course_blocks(case: ForeignCase) -> _Blocks:
    """Return a log of histograms in blocks of neighbouring intervals."""
    spectrum, course = case.results.spectrum, case.results.course
    if spectrum is None or course is None or not spectrum.steps:
        raise Unknowable("an interval", "the file has neither requests nor histograms over time")
    group = max(1, len(spectrum.steps) // BLOCKS)
    number = len(spectrum.steps) // group
    if number < LEAST_BLOCKS:
        raise Unknowable("an interval", f"the log has {len(spectrum.steps)} intervals")
    counts = np.zeros((number, spectrum.values_ns.size), dtype=np.int64)
    for step, (values, often) in enumerate(spectrum.steps[: number * group]):
        counts[step // group, np.searchsorted(spectrum.values_ns, values)] += often
    sums: NDArray[np.float64] = counts.astype(np.float64) @ spectrum.values_ns
    width_s = float(course.width_ns[: number * group].sum()) / SECOND_NS / number
    return _Blocks(counts, sums, spectrum.values_ns, width_s)


def _of_sums(first: ForeignCase, second: ForeignCase, why: str) -> tuple[ComparedFigure, ...]:
    """Return the figures that both files tell, with ratios and without intervals."""
    asked: list[tuple[str, str, float, Any]] = [
        ("rate", "per s", 1.0, lambda case: case.rate_per_s),
        ("mean", "ms", 1e6, lambda case: case.mean_ns),
    ]
    few = min(first.requests, second.requests)
    for p in PERCENTILES:
        if is_supported(p, few):
            asked.append((say_percentile(p), "ms", 1e6, lambda case, p=p: case.quantile_ns(p)))
    figures = []
    for name, unit, scale, ask in asked:
        a, b = ask(first), ask(second)
        if a and b:
            ratio = Interval(b / a, None, None, LEVEL, 1, "none", why)
            figures.append(ComparedFigure(name, unit, a / scale, b / scale, ratio))
    return tuple(figures)


def _notes(first: Judged, second: Judged) -> tuple[str, ...]:
    notes = []
    if first.results.tool != second.results.tool:
        notes.append(
            f"{first.results.tool} and {second.results.tool} measure different things: where "
            "latency begins and ends differs by tool"
        )
    for judged in (first, second):
        if judged.is_wrong:
            rules = ", ".join(each.rule for each in judged.of_weight("wrong"))
            notes.append(f"{judged.results.path.name} is wrong in itself by {rules}")
    return tuple(notes)
