"""One trial over time, in windows, and its latency distribution.

Both come from the bundle's requests or, where a bundle came without them, from its histogram log:
that knows the second in which a request was due, not the one in which it ended. Of a published
trial its digest tells them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sizebook.model.errors import BundleError
from sizebook.report.trial_frame import Span, find_span
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
from sizebook.store.derived import derived

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


@dataclass(frozen=True)
class Shown:
    """What is shown of a trial's requests."""

    course: Course | None
    """None where there is not one request."""
    distribution: Distribution | None
    """None where fewer than 20 requests count."""
    trouble: str
    """Why there is neither; empty where there was just no request."""


def show_requests(bundle: Bundle, span: Span, from_ns: int) -> Shown:
    """Return a trial in windows, and the distribution of what was due at ``from_ns`` or later."""
    told = _numbers(bundle, from_ns)
    few = told.counted is not None and sum(told.counted.requests) <= MOST_SINGLE
    rows = bundle.requests if few and REQUESTS in bundle.record.files else None
    return Shown(
        None if told.counted is None else _course(span, told.counted, rows),
        None if told.read is None else _distribution(told.read),
        told.trouble,
    )


@dataclass(frozen=True)
class _Counted:
    """The whole numbers of a course, window by window."""

    width_ns: int
    counted: Literal["ended", "due"]
    requests: list[int]
    failed: list[int]
    seen: int
    """Windows in which a good request was due."""
    upper: float | None
    median_ns: list[int | None]
    upper_ns: list[int | None]

    def __post_init__(self) -> None:
        every = (self.requests, self.failed, self.median_ns, self.upper_ns)
        if len({len(each) for each in every}) != 1 or self.width_ns <= 0:
            raise ValueError("windows that do not fit together")


@dataclass(frozen=True)
class _Read:
    """A distribution at the percentiles of its grid."""

    n: int
    latency_ns: list[int]
    service_ns: list[int] | None
    """None where they are the latencies."""

    def __post_init__(self) -> None:
        sizes = {len(each) for each in (self.latency_ns, self.service_ns) if each is not None}
        if _grid(self.n) is None or sizes != {DISTRIBUTION_POINTS + 1}:
            raise ValueError("points that do not fit together")


@dataclass(frozen=True)
class _Numbers:
    """The whole numbers behind what is shown of requests, as a digest keeps them."""

    counted: _Counted | None
    read: _Read | None
    trouble: str


@derived("trial_windows.numbers", kind=_Numbers)
def _numbers(bundle: Bundle, from_ns: int) -> _Numbers:
    span, requests = find_span(bundle), read_requests(bundle)
    if span is None or requests.trouble:
        return _Numbers(None, None, requests.trouble)
    return _Numbers(_count(requests, span), _read(requests, from_ns), "")


def follow_course(requests: Requests, span: Span) -> Course | None:
    """Return the trial in windows; None where there is not one request."""
    counted = _count(requests, span)
    return None if counted is None else _course(span, counted, requests.rows)


def distribute(requests: Requests, from_ns: int) -> Distribution | None:
    """Return the distribution over good requests of the measured phase, due at ``from_ns`` or
    later (for a histogram log: in a second that begins then); None below 20 of them."""
    read = _read(requests, from_ns)
    return None if read is None else _distribution(read)


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
    return Requests(trouble="the bundle holds neither requests nor histograms by second")


def choose_width_ns(length_ns: int, requests: int, least_ns: int = _WIDTHS_NS[0]) -> int:
    """Return a round window width: at most MOST_WINDOWS of them, with what is WANTED in each."""
    fitting = [w for w in _WIDTHS_NS if w >= least_ns and length_ns <= w * MOST_WINDOWS]
    chosen = fitting[0] if fitting else _WIDTHS_NS[-1]
    for wider in fitting[1:]:
        for per_window, windows in WANTED:
            if requests * chosen < per_window * length_ns and windows * wider <= length_ns:
                chosen = wider
    return chosen


def _count(requests: Requests, span: Span) -> _Counted | None:
    if requests.rows is not None:
        return _count_rows(requests.rows, span) if requests.rows.height else None
    latencies = [one for one in requests.intervals if one.quantity == "latency"]
    return _count_intervals(latencies, span) if latencies else None


def _count_rows(rows: pl.DataFrame, span: Span) -> _Counted:
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
    return _counted(
        width, "ended", _tally(ended_at, count), _tally(ended_at[failed], count), quantiles
    )


def _count_intervals(intervals: Sequence[Interval], span: Span) -> _Counted:
    total = sum(one.total_count for one in intervals)
    width = choose_width_ns(span.end_ns - span.begin_ns, total, SECOND_NS)
    count = _count_windows(span, width)
    due, failed = [0] * count, [0] * count
    good: dict[int, list[Interval]] = {}
    for one in intervals:
        at = int((one.begin_ns + one.length_ns // 2 - span.begin_ns) // width)
        if not 0 <= at < count:
            continue
        due[at] += one.total_count
        if one.outcome == "ok":
            good.setdefault(at, []).append(one)
        else:
            failed[at] += one.total_count
    quantiles = {}
    for at, members in good.items():
        merged = merge_intervals(members, phase=None)
        p50, *upper = (float(v) for v in hdr.percentiles_ns(merged, [50.0, *_UPPER]))
        quantiles[at] = merged.total_count, p50, dict(zip(_UPPER, upper, strict=True))
    return _counted(width, "due", due, failed, quantiles)


_Quantiles = dict[int, tuple[int, float, dict[float, float]]]
"""Window to number of good requests, their median and upper percentiles in ns."""


def _counted(
    width: int,
    counted: Literal["ended", "due"],
    requests: list[int],
    failed: list[int],
    quantiles: _Quantiles,
) -> _Counted:
    """Keep the percentiles that windows support."""
    within = {at: each for at, each in quantiles.items() if 0 <= at < len(requests)}
    upper = _choose_upper([n for n, _, _ in within.values()])
    medians: list[int | None] = []
    uppers: list[int | None] = []
    for at in range(len(requests)):
        n, median, above = within.get(at, (0, 0.0, {}))
        medians.append(round(median) if n >= least_samples(50) else None)
        uppers.append(round(above[upper]) if upper and n >= least_samples(upper) else None)
    return _Counted(width, counted, requests, failed, len(within), upper, medians, uppers)


def _course(span: Span, found: _Counted, rows: pl.DataFrame | None) -> Course:
    """Return a course; requests one by one where windows hold too few, and there are ``rows``."""
    at_ns = np.arange(len(found.requests)) * found.width_ns
    length_s = np.minimum(found.width_ns, span.end_ns - span.begin_ns - at_ns) / 1e9
    windows = pl.DataFrame(
        {
            "t_s": at_ns / 1e9,
            "per_s": np.array(found.requests) / length_s,
            "failed_per_s": np.array(found.failed) / length_s,
            "median_ms": [None if v is None else v / 1e6 for v in found.median_ns],
            "upper_ms": [None if v is None else v / 1e6 for v in found.upper_ns],
        },
        schema=_WINDOW_COLUMNS,
    )
    few = rows is not None and rows.height <= MOST_SINGLE
    few = few and 2 * windows["median_ms"].count() < found.seen
    shown = _single(rows, span) if few and rows is not None else _NO_SINGLE
    return Course(windows, found.width_ns / 1e9, found.upper, found.counted, shown)


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


def _tally(at: NDArray[np.int64], count: int) -> list[int]:
    inside = at[(at >= 0) & (at < count)]
    return [int(n) for n in np.bincount(inside, minlength=count)]


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


def _read(requests: Requests, from_ns: int) -> _Read | None:
    if requests.rows is not None:
        return _read_rows(requests.rows, from_ns)
    chosen = [one for one in requests.intervals if one.begin_ns >= from_ns - SECOND_NS // 2]
    merged = merge_intervals(chosen)
    grid = _grid(merged.total_count)
    if grid is None:
        return None

    def at_grid(quantity: str) -> list[int]:
        whole = merged if quantity == "latency" else merge_intervals(chosen, quantity=quantity)
        return [round(float(value)) for value in hdr.percentiles_ns(whole, list(100 * grid))]

    apart = any(one.quantity == "service" for one in chosen)
    return _Read(merged.total_count, at_grid("latency"), at_grid("service") if apart else None)


def _read_rows(rows: pl.DataFrame, from_ns: int) -> _Read | None:
    good = rows.filter(
        (pl.col("phase") == "measured")
        & (pl.col("error").cast(pl.String) == "")
        & (pl.col("intended_ns") >= from_ns)
    )
    grid = _grid(good.height)
    if grid is None:
        return None
    latency, service = good["latency_ns"].to_numpy(), good["service_ns"].to_numpy()
    read = [
        [int(value) for value in np.quantile(values, grid, method="higher")]
        for values in (latency, service)
    ]
    return _Read(good.height, read[0], None if np.array_equal(latency, service) else read[1])


def _distribution(read: _Read) -> Distribution:
    grid = _grid(read.n)
    assert grid is not None
    points = pl.DataFrame({"inverse": 1 / (1 - grid), "percent": 100 * grid}).with_columns(
        latency_ms=pl.Series(read.latency_ns) / 1e6,
        service_ms=pl.lit(None, dtype=pl.Float64)
        if read.service_ns is None
        else pl.Series(read.service_ns) / 1e6,
    )
    return Distribution(points, read.n, highest_supported(read.n))
