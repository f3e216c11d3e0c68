"""Steady state of a load test: where warm-up ends, and whether the level holds from there on.

Not steady is what ``steady_state`` answers, in percent of 1000 seeded simulations of pairs of
series. Noise has a standard deviation of 2 or 5 % of the level, independent or AR(1) with phi;
drifts and shifts are planted in latency alone:

===============================  ====  ====  ====  ====  ====  ====
windows                            20    20    40    40    80    80
noise, percent                      2     5     2     5     2     5
===============================  ====  ====  ====  ====  ====  ====
level                             0.1   0.5   0.0   1.4   0.0   1.3
level, phi 0.3                    0.2   1.5   0.1   3.0   0.0   2.8
level, phi 0.5                    1.8   5.9   0.4   2.8   0.0   3.0
level, phi 0.7                    1.0   6.0   1.1   4.4   0.5   3.1
4 or 8 periods of ±10 %           0.0   0.0   0.0   0.0   0.0   0.0
warm-up over 10 %                 0.3   0.2   0.0   0.9   0.0   1.6
warm-up over 25 %                 0.4   1.1   0.0   1.9   0.0   2.0
warm-up over 40 %                 0.5   3.3   0.1   4.6   0.3   7.1
warm-up that does not end          65    53    98    92   100    99
ramp over 70 %                     99    82   100   100   100   100
drift by 15 %                      84    40   100    96   100   100
drift by 20 %                      86    63   100   100   100   100
drift by 15 %, phi 0.3             54    25    97    67   100    99
shift by 15 % at 55 %              73    55   100   100   100   100
shift by 15 % at 65 %              73    41    98    97   100   100
shift by 15 % at 75 %              84    16   100    78   100   100
shift by 15 % at 85 %               0     1     7    11    86    86
===============================  ====  ====  ====  ====  ====  ====

Warm-up starts at half the throughput and twice the latency and is exponential, within 1 and 2 %
of the level after that share of the series; the one that does not end still has 4 % of its way
to go. With 40 windows the crop is on average 7, 13, and 17 windows at 2 % noise (planted 4, 10,
16), and 6, 11, and 14 at 5 %. So 40 windows are the least for a verdict that finds what it
should; with 20, "steady" only excludes gross changes, and noise of 5 % that depends much on its
neighbours is called unsteady a little too often. A shift in the last sixth is hardly seen. A
shift before the middle is warm-up: the rest is then what is judged.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sizebook.stats.trends import Shift, Trend, lag1_around_course, shift, trend

__all__ = ["Shift", "SteadyState", "Trend", "crop", "shift", "steady_state", "trend"]

TOLERANCE = 0.05
"""Change of the level, as a share of it, below which a trend or a shift does no harm."""
ALPHA = 0.05
SPIKE = 5.0
"""Robust standard deviations beyond which a window's spike counts no further in the crop."""
LATEST = 0.8
"""Share of the series up to which the end of a warm-up past the middle is looked for."""
MOST_DEPENDENT = 0.5
"""Bound of the autocorrelation by which a gain in fit is discounted: few windows tell it badly."""
NEGLIGIBLE = 0.001
"""Share of the level by which a crop must move the mean to be worth making."""
GENEROUS = 1.05
"""Crops whose squared standard error is within this factor of the least are as good."""
EVIDENCE = 10.0
"""Difference in BIC that counts as very strong (Kass and Raftery, JASA 90, 1995)."""
MAD_TO_SD = 1.4826


@dataclass(frozen=True)
class SteadyState:
    """Whether throughput and latency hold their level after warm-up."""

    steady: bool | None
    """None: cannot be told; ``reasons`` say why."""
    crop: int
    """Leading windows to leave out as warm-up: the larger of the two series' crops."""
    reasons: tuple[str, ...]
    """Why not steady, or why it cannot be told; empty when steady."""
    trends: tuple[Trend, Trend]
    """Of throughput and of latency, each after its own crop."""
    shifts: tuple[Shift, Shift]
    """Likewise; ``at`` counts from the first window of the series as given."""
    windows: int
    """Windows as given."""


def crop(series: ArrayLike) -> int:
    """Return the number of leading windows to leave out as warm-up, at most half of them.

    MSER (White, Simulation 69, 1997; Franklin and White, Winter Simulation Conference 2008): the
    crop d that minimises the squared standard error of the mean of what is kept,
    sum (x - mean)^2 / (n - d)^2. The published MSER-5 first averages five observations; a window
    is such an average already. Departures from it, each because simulation asked for it:

    - Spikes of one or two windows are drawn in to ``SPIKE`` robust standard deviations from the
      running median: otherwise one pause of the collector would pass for the end of warm-up.
    - Of the crops as good as the best within ``GENEROUS`` the longest is taken: the tail of a
      warm-up is worth less than the windows that it costs.
    - The crop must be earned. MSER crops a steady drift, too, so that what is left shows it no
      more. So a parabola before the crop and a level after it must explain the series better than
      one straight line does, by ``EVIDENCE`` in BIC, windows that depend on each other counting
      for fewer; else 0 is returned, and the tests for trend and shift see the whole series.
    - A crop that moves the mean by less than ``NEGLIGIBLE`` is not made.

    NaN is a window without a value. ValueError for infinite values.
    """
    data = np.asarray(series, dtype=np.float64).ravel()
    if np.isinf(data).any():
        raise ValueError("a series with infinite values has no level")
    return _settling(data, TOLERANCE)[0]


def steady_state(
    throughput: ArrayLike,
    latency: ArrayLike,
    *,
    tolerance: float = TOLERANCE,
    alpha: float = ALPHA,
) -> SteadyState:
    """Return whether throughput and latency hold their level once warm-up is left out.

    Both series have one value a window of equal width; latency is a level (``stats.windows``) and
    NaN where a window is empty. Each is cropped by itself and tested for a trend and a shift. Not
    steady: at least one of the four is significant, by Holm's correction at ``alpha`` together
    (Holm, Scandinavian Journal of Statistics 6, 1979), *and* larger than ``tolerance``; or warm-up
    ends past the middle only, by as much evidence as a crop must have, with windows between that
    are off by more than ``tolerance``. None: a series has fewer than ten windows with a value
    after its crop, or a level of zero, and nothing else is wrong. Steady says that no such change
    was seen, not that there is none. Raises ValueError for series of
    unequal length, for infinite values, and for a tolerance or alpha out of range.
    """
    series = [np.asarray(x, dtype=np.float64).ravel() for x in (throughput, latency)]
    if series[0].size != series[1].size:
        raise ValueError(f"{series[0].size} windows of throughput, {series[1].size} of latency")
    if tolerance < 0 or not 0 < alpha < 1:
        raise ValueError(f"tolerance {tolerance} (from 0), alpha {alpha} (between 0 and 1)")
    settling = [_settling(x, tolerance) for x in series]
    crops = [found[0] for found in settling]
    trends = tuple(trend(x[d:]) for x, d in zip(series, crops, strict=True))
    shifts = tuple(_moved(shift(x[d:]), d) for x, d in zip(series, crops, strict=True))
    names = ("throughput", "latency") * 2
    late = [
        f"{name} settles at window {at} of {series[0].size} only, {off:+.1%} off from the middle on"
        for name, (_, at, off) in zip(names, settling, strict=False)
        if abs(off) > tolerance
    ]
    tests: list[Trend | Shift] = [*trends, *shifts]
    adjusted = holm(np.array([1.0 if test.p is None else test.p for test in tests]))
    changes = [
        _describe(name, test, p)
        for name, test, p in zip(names, tests, adjusted, strict=True)
        if p <= alpha and test.change_share is not None and abs(test.change_share) > tolerance
    ]
    unknown = dict.fromkeys(
        f"{n}: {x.reason}" for n, x in zip(names, tests, strict=True) if x.reason
    )
    steady = False if late or changes else None if unknown else True
    return SteadyState(
        steady,
        max(crops),
        (*late, *changes, *unknown),
        (trends[0], trends[1]),
        (shifts[0], shifts[1]),
        int(series[0].size),
    )


def _settling(data: NDArray[np.float64], tolerance: float) -> tuple[int, int, float]:
    """Return the crop, and where the level settles if that is past the middle, and by how much.

    The last two are the first settled window, and how far those from the middle to it are off, as
    a share of the level; 0 and 0.0 where the series is level from the middle on, or is not known
    to settle.
    """
    times = np.flatnonzero(~np.isnan(data))
    limit = data.size // 2
    allowed = int(np.searchsorted(times, limit, side="right"))
    if allowed == 0 or times.size - np.searchsorted(times, limit) < 2:
        return 0, 0, 0.0
    values = _without_spikes(data[times])
    level = abs(float(np.median(data[times[times >= limit]])))
    values -= values[-1]
    kept = np.arange(values.size, 0, -1)
    sums, squares = (np.cumsum(x[::-1])[::-1] for x in (values, values**2))
    errors = np.maximum(squares - sums**2 / kept, 0.0) / kept**2
    searched = max(allowed, int(LATEST * values.size))
    best, later = (int(errors[:end].argmin()) for end in (allowed, searched))
    if GENEROUS * errors[later] < errors[best]:
        off = float(values[allowed - 1 : later].mean() - values[later:].mean())
        if abs(off) > tolerance * level:
            earned = level > 0 and _is_later(times, values, best, later)
            return (0, int(times[later]), off / level) if earned else (0, 0, 0.0)
    leading = int(np.flatnonzero(errors[:allowed] <= GENEROUS * errors[best])[-1])
    bias = abs(float(values.mean() - values[leading:].mean()))
    if bias < NEGLIGIBLE * level or not _is_earned(times, values, leading):
        return 0, 0, 0.0
    return int(times[leading]), 0, 0.0


def _without_spikes(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the values, spikes of one or two windows drawn in towards their neighbours."""
    around = np.lib.stride_tricks.sliding_window_view(np.pad(values, 2, mode="edge"), 5)
    near = np.median(around, axis=1)
    distance = values - near
    reach = SPIKE * MAD_TO_SD * float(np.median(np.abs(distance)))
    return near + np.clip(distance, -reach, reach) if reach > 0 else values.copy()


def _is_earned(times: NDArray[np.intp], values: NDArray[np.float64], leading: int) -> bool:
    """Return whether a curve, then a level fit far better than one line, by BIC.

    Dependent windows count for fewer: as many as give the mean of an AR(1) series its precision,
    by the autocorrelation of the level, which a poor fit of the curve does not touch.
    """
    if leading == 0:
        return False
    line = _left(times, values, 1)
    curve, level = _curve_and_level(times, values, leading)
    parameters = min(3, leading) + 1 + 1 - 2
    return _gain(line, curve, level) - parameters * math.log(values.size) >= EVIDENCE


def _is_later(times: NDArray[np.intp], values: NDArray[np.float64], best: int, later: int) -> bool:
    """Return whether the level is reached at the later window far rather than at the best."""
    if not _is_earned(times, values, later):
        return False
    earlier = np.concatenate(_curve_and_level(times, values, best))
    return _gain(earlier, *_curve_and_level(times, values, later)) >= EVIDENCE


def _gain(
    worse: NDArray[np.float64], curve: NDArray[np.float64], level: NDArray[np.float64]
) -> float:
    """Return the gain in twice the log likelihood, dependence taken into account."""
    before, after = float(worse @ worse), float(curve @ curve + level @ level)
    if after <= 1e-12 * before:
        return math.inf if before > 0 else 0.0
    r = lag1_around_course(level if level.size >= worse.size / 2 else np.append(curve, level))
    r = min(r, MOST_DEPENDENT)
    return worse.size * (1 - r) / (1 + r) * math.log(before / after)


def _curve_and_level(
    times: NDArray[np.intp], values: NDArray[np.float64], leading: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return what a parabola leaves of the leading values, and their mean of the rest."""
    rest = _left(times[leading:], values[leading:], 0)
    if leading == 0:
        return np.zeros(0), rest
    return _left(times[:leading], values[:leading], min(2, leading - 1)), rest


def _left(times: NDArray[np.intp], values: NDArray[np.float64], degree: int) -> NDArray[np.float64]:
    """Return what the least-squares polynomial leaves."""
    basis = np.vander((times - times[0]) / max(times[-1] - times[0], 1), degree + 1)
    return np.asarray(values - basis @ np.linalg.lstsq(basis, values, rcond=None)[0])


def _moved(found: Shift, by: int) -> Shift:
    at = None if found.at is None else found.at + by
    return Shift(found.p, at, found.change_share, found.n, found.n_effective, found.reason)


def holm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Holm's adjusted p-values."""
    order = np.argsort(p)
    raised = np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1))
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(raised, 1.0)
    return adjusted


def _describe(name: str, found: Trend | Shift, p: float) -> str:
    change = f"{found.change_share or 0.0:+.1%}"
    if isinstance(found, Trend):
        return f"{name} drifts by {change} over {found.n} windows (p = {p:.2g})"
    return f"{name} shifts by {change} at window {found.at} (p = {p:.2g})"
