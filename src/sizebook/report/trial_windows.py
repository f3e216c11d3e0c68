"""One trial over time, in windows, and its latency distribution.

Both come from the bundle's requests or, where a bundle came without them, from its histogram log:
that knows the second in which a request was due, not the one in which it ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sizebook.model.bundle import PhaseMark
from sizebook.model.errors import BundleError
from sizebook.stats import hdr
from sizebook.stats.histograms import (
    SECOND_NS,
    Interval,
    IntervalLogError,
    merge_intervals,
    read_interval_log,
)
from sizebook.stats.quantiles import highest_supported, least_samples
from sizebook.store import Bundle
from sizebook.store.bundles import HISTOGRAMS, REQUESTS, verify_file

MOST_WINDOWS = 120
WANTED = ((30, 10), (250, 20))
"""Windows are widened until this many requests fall into one on average, as long as so many
windows are left: enough for medians first, for 95 % where that costs little."""
MOST_SINGLE = 600
"""Requests that may be drawn one by one, where windows hold too few for a median."""
DISTRIBUTION_POINTS = 80

_WIDTHS_NS = tuple(
    int(step * 10**power) for power in range(7, 13) for step in (1, 2, 5)
)  # 10 ms to 5000 s
_UPPER = (99.0, 95.0, 90.0)
_WINDOW_COLUMNS = {
    "t_s": pl.Float64,
    "per_s": pl.Float64,
    "failed_per_s": pl.Float64,
    "median_ms": pl.Float64,
    "upper_ms": pl.Float64,
}


@dataclass(frozen=True)
class Span:
    """From the first phase's begin to the last one's end, CLOCK_MONOTONIC ns."""

    begin_ns: int
    end_ns: int

    @property
    def length_s(self) -> float:
        """Length in seconds."""
        return (self.end_ns - self.begin_ns) / 1e9

    def seconds(self, time_ns: int) -> float:
        """Return a time as seconds since the span's begin."""
        return (time_ns - self.begin_ns) / 1e9


@dataclass(frozen=True)
class Frame:
    """What all charts over time of one trial share: the axis, the phases, the crop."""

    begin_s: float
    end_s: float
    phases: Sequence[tuple[str, float, float]]
    crop_s: float | None
    """Where results begin to count; None where it is not known."""


@dataclass(frozen=True)
class Course:
    """What clients saw over the whole trial, window by window."""

    windows: pl.DataFrame
    """``t_s`` (a window's begin, seconds since the first phase's), ``per_s`` and ``failed_per_s``,
    ``median_ms`` and ``upper_ms`` of good requests' latency; null where a window holds too few."""
    width_s: float
    upper: float | None
    """Percentile of ``upper_ms``; None where windows do not support one."""
    counted: Literal["ended", "due"]
    """Whether ``per_s`` counts requests that ended in a window, or that were due in it."""
    single: pl.DataFrame
    """``t_s``, ``latency_ms``, ``failed`` of each request where windows hold too few for medians;
    empty otherwise."""


@dataclass(frozen=True)
class Distribution:
    """Latency of the good requests that count, at percentiles that their number supports."""

    points: pl.DataFrame
    """``inverse`` = 1/(1-p), ``percent``, ``latency_ms``, ``service_ms`` (null where equal)."""
    n: int
    highest: float | None
    """Highest percentile that ``n`` supports."""


@dataclass(frozen=True)
class Requests:
    """A bundle's requests as far as these pages need them, whatever they were read from."""

    rows: pl.DataFrame | None = None
    intervals: tuple[Interval, ...] = ()
    trouble: str = ""
    """Why there are none; empty when there are."""


def find_span(bundle: Bundle) -> Span | None:
    """Return the time from the first phase to the last, None for a trial that had no phase."""
    phases = bundle.record.execution.phases
    if not phases:
        return None
    span = Span(min(p.begin_ns for p in phases), max(p.end_ns for p in phases))
    return span if span.end_ns > span.begin_ns else None


def make_frame(
    span: Span, phases: Sequence[PhaseMark], crop_ns: int | None, times_s: Iterable[float] = ()
) -> Frame:
    """Return the frame of a trial; readings a little before or after the phases widen it."""
    length = span.length_s
    near = [t for t in times_s if -0.05 * length - 0.5 <= t <= 1.05 * length + 0.5]
    marks = [(p.name, span.seconds(p.begin_ns), span.seconds(p.end_ns)) for p in phases]
    crop = None if crop_ns is None else span.seconds(crop_ns)
    return Frame(min(0.0, *near, 0.0), max(length, *near, length), marks, crop)


def read_requests(bundle: Bundle) -> Requests:
    """Return a bundle's requests, from the table or the log; says why if neither can be read."""
    try:
        if REQUESTS in bundle.record.files:
            return Requests(rows=bundle.requests)
        if HISTOGRAMS in bundle.record.files:
            verify_file(bundle, HISTOGRAMS)
            return Requests(intervals=tuple(read_interval_log(bundle.path / HISTOGRAMS)))
    except BundleError as error:
        return Requests(trouble=error.found)
    except (IntervalLogError, OSError) as error:
        return Requests(trouble=str(error))
    return Requests(trouble="the bundle holds neither requests nor histograms")


def follow_course(requests: Requests, span: Span) -> Course | None:
    """Return the trial in windows; None where there is not one request."""
    if requests.rows is not None:
        return _course_of_rows(requests.rows, span) if requests.rows.height else None
    latencies = [one for one in requests.intervals if one.quantity == "latency"]
    return _course_of_intervals(latencies, span) if latencies else None


def distribute(requests: Requests, from_ns: int) -> Distribution | None:
    """Return the distribution over good requests of the measured phase, due at ``from_ns`` or
    later (for a histogram log: in a second that begins then); None below 20 of them."""
    if requests.rows is not None:
        good = requests.rows.filter(
            (pl.col("phase") == "measured")
            & (pl.col("error").cast(pl.String) == "")
            & (pl.col("intended_ns") >= from_ns)
        )
        latency, service = good["latency_ns"].to_numpy(), good["service_ns"].to_numpy()
        grid = _grid(good.height)
        if grid is None:
            return None
        quantiles = [_quantiles(latency, grid)]
        if not np.array_equal(latency, service):
            quantiles.append(_quantiles(service, grid))
        return _distribution(good.height, grid, quantiles)
    chosen = [one for one in requests.intervals if one.begin_ns >= from_ns - SECOND_NS // 2]
    merged = merge_intervals(chosen)
    grid = _grid(merged.total_count)
    if grid is None:
        return None
    quantiles = [hdr.percentiles_ns(merged, list(100 * grid))]
    if any(one.quantity == "service" for one in chosen):
        service_times = merge_intervals(chosen, quantity="service")
        quantiles.append(hdr.percentiles_ns(service_times, list(100 * grid)))
    return _distribution(merged.total_count, grid, quantiles)


def choose_width_ns(length_ns: int, requests: int, least_ns: int = _WIDTHS_NS[0]) -> int:
    """Return a round window width: at most MOST_WINDOWS of them, with what is WANTED in each."""
    fitting = [w for w in _WIDTHS_NS if w >= least_ns and length_ns <= w * MOST_WINDOWS]
    chosen = fitting[0] if fitting else _WIDTHS_NS[-1]
    for wider in fitting[1:]:
        for per_window, windows in WANTED:
            if requests * chosen < per_window * length_ns and windows * wider <= length_ns:
                chosen = wider
    return chosen


def _course_of_rows(rows: pl.DataFrame, span: Span) -> Course:
    width = choose_width_ns(span.end_ns - span.begin_ns, rows.height)
    count = _count_windows(span, width)
    failed = (rows["error"].cast(pl.String) != "").to_numpy()
    ended = rows["start_ns"].to_numpy() + rows["service_ns"].to_numpy()
    ended_at = (ended - span.begin_ns) // width
    good = rows.filter(~pl.Series(failed)).select(
        ((pl.col("intended_ns") - span.begin_ns) // width).alias("at"), "latency_ns"
    )
    latencies = good.group_by("at").agg(
        pl.len().alias("n"),
        pl.col("latency_ns").quantile(0.5, "higher").alias("p50"),
        *(pl.col("latency_ns").quantile(p / 100, "higher").alias(f"p{p:g}") for p in _UPPER),
    )
    quantiles = {
        int(row["at"]): (int(row["n"]), row["p50"], {p: row[f"p{p:g}"] for p in _UPPER})
        for row in latencies.iter_rows(named=True)
    }
    return _course(
        span,
        width,
        _tally(ended_at, count),
        _tally(ended_at[failed], count),
        quantiles,
        "ended",
        rows if rows.height <= MOST_SINGLE else None,
    )


def _course_of_intervals(intervals: Sequence[Interval], span: Span) -> Course:
    total = sum(one.total_count for one in intervals)
    width = choose_width_ns(span.end_ns - span.begin_ns, total, SECOND_NS)
    count = _count_windows(span, width)
    ended, failed = np.zeros(count), np.zeros(count)
    good: dict[int, list[Interval]] = {}
    for one in intervals:
        at = int((one.begin_ns + one.length_ns // 2 - span.begin_ns) // width)
        if not 0 <= at < count:
            continue
        ended[at] += one.total_count
        if one.outcome == "ok":
            good.setdefault(at, []).append(one)
        else:
            failed[at] += one.total_count
    quantiles = {}
    for at, members in good.items():
        merged = merge_intervals(members, phase=None)
        p50, *upper = (float(v) for v in hdr.percentiles_ns(merged, [50.0, *_UPPER]))
        quantiles[at] = merged.total_count, p50, dict(zip(_UPPER, upper, strict=True))
    return _course(span, width, ended, failed, quantiles, "due", None)


_Quantiles = dict[int, tuple[int, float, dict[float, float]]]
"""Window to number of good requests, their median and upper percentiles in ns."""


def _course(
    span: Span,
    width: int,
    ended: NDArray[np.float64],
    failed: NDArray[np.float64],
    quantiles: _Quantiles,
    counted: Literal["ended", "due"],
    single: pl.DataFrame | None,
) -> Course:
    within = {at: each for at, each in quantiles.items() if 0 <= at < ended.size}
    upper = _choose_upper([n for n, _, _ in within.values()])
    rows = []
    for at in range(ended.size):
        begin = at * width
        length_s = (min(begin + width, span.end_ns - span.begin_ns) - begin) / 1e9
        n, median, uppers = within.get(at, (0, 0.0, {}))
        rows.append(
            {
                "t_s": begin / 1e9,
                "per_s": ended[at] / length_s,
                "failed_per_s": failed[at] / length_s,
                "median_ms": median / 1e6 if n >= least_samples(50) else None,
                "upper_ms": uppers[upper] / 1e6 if upper and n >= least_samples(upper) else None,
            }
        )
    windows = pl.DataFrame(rows, schema=_WINDOW_COLUMNS)
    medians = windows["median_ms"].count()
    few = single is not None and 2 * medians < len(within)
    shown = _single(single, span) if few and single is not None else _NO_SINGLE
    return Course(windows, width / 1e9, upper, counted, shown)


_NO_SINGLE = pl.DataFrame(
    schema={"t_s": pl.Float64, "latency_ms": pl.Float64, "failed": pl.Boolean}
)


def _single(rows: pl.DataFrame, span: Span) -> pl.DataFrame:
    return rows.select(
        t_s=(pl.col("intended_ns") - span.begin_ns) / 1e9,
        latency_ms=pl.col("latency_ns") / 1e6,
        failed=pl.col("error").cast(pl.String) != "",
    )


def _count_windows(span: Span, width: int) -> int:
    """Return how many windows there are; a last one of less than half the width is left out."""
    return max(1, round((span.end_ns - span.begin_ns) / width))


def _tally(at: NDArray[np.int64], count: int) -> NDArray[np.float64]:
    inside = at[(at >= 0) & (at < count)]
    return np.bincount(inside, minlength=count).astype(np.float64)


def _choose_upper(sizes: Sequence[int]) -> float | None:
    """Return the highest percentile that nine of ten windows with any request support."""
    for percent in _UPPER:
        supporting = sum(n >= least_samples(percent) for n in sizes)
        if sizes and 10 * supporting >= 9 * len(sizes):
            return percent
    return None


def _grid(n: int) -> NDArray[np.float64] | None:
    """Return shares p, even on the scale of 1/(1-p), up to the highest that n supports."""
    highest = highest_supported(n)
    if highest is None:
        return None
    most = 1 / (1 - highest / 100)
    inverse = most ** (np.arange(DISTRIBUTION_POINTS + 1) / DISTRIBUTION_POINTS)
    return np.asarray(np.clip(1 - 1 / inverse, 0.0, highest / 100))


def _quantiles(values: NDArray[np.int64], grid: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.quantile(values, grid, method="higher").astype(np.float64)


def _distribution(
    n: int, grid: NDArray[np.float64], quantiles: Sequence[NDArray[np.float64]]
) -> Distribution:
    points = pl.DataFrame({"inverse": 1 / (1 - grid), "percent": 100 * grid}).with_columns(
        latency_ms=pl.Series(quantiles[0] / 1e6),
        service_ms=pl.Series(quantiles[1] / 1e6)
        if len(quantiles) > 1
        else pl.lit(None, dtype=pl.Float64),
    )
    return Distribution(points, n, highest_supported(n))
