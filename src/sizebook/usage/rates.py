"""Requests a second over time, and the load of the busiest hours."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

HOUR_S = 3600


@dataclass(frozen=True)
class ObservedRates:
    """What was asked of a system: rates by time, and how often by endpoint."""

    source: str
    """What was read, in words."""
    per_s: Mapping[float, float]
    """Requests a second by seconds since 1970; where nothing was read there is no time."""
    resolution_s: float
    """What each rate is a mean over."""
    mix: Mapping[str, float]
    """Share of the requests by endpoint; empty where the source tells none."""
    left_out: int = 0
    """Lines that could not be read."""


@dataclass(frozen=True)
class BusyHour:
    """One hour, and the greatest rate in it."""

    begin: datetime
    """In UTC."""
    peak_per_s: float


@dataclass(frozen=True)
class BusyHours:
    """The load to size for: a percentile of the hours' peaks, and the hours that reach it."""

    rate_per_s: float
    percentile: float
    hours: int
    """That something was read of."""
    busiest: tuple[BusyHour, ...]
    """Those that reach the rate, busiest first."""


def busiest_hours(observed: ObservedRates, percentile: float) -> BusyHours:
    """Return a percentile of the hours' peaks by nearest rank: a rate that an hour really had.

    Raises ValueError without any rate above 0, or for a percentile that is none.
    """
    if not 0 < percentile <= 100:
        raise ValueError("a percentile above 0, up to 100")
    hours = hourly_peaks(observed.per_s)
    if not hours or hours[0].peak_per_s <= 0:
        raise ValueError("no requests")
    rank = math.ceil(len(hours) * percentile / 100)
    rate = hours[len(hours) - rank].peak_per_s
    if rate <= 0:
        raise ValueError(f"no requests in {percentile:g} % of the hours")
    reached = tuple(one for one in hours if one.peak_per_s >= rate)
    return BusyHours(rate, percentile, len(hours), reached)


def hourly_peaks(per_s: Mapping[float, float]) -> Sequence[BusyHour]:
    """Return the greatest rate of each hour, busiest first; of equal ones the earlier first."""
    peaks: dict[int, float] = {}
    for at, rate in per_s.items():
        hour = int(at // HOUR_S)
        peaks[hour] = max(rate, peaks.get(hour, 0.0))
    made = [
        BusyHour(datetime.fromtimestamp(hour * HOUR_S, UTC), peak) for hour, peak in peaks.items()
    ]
    return sorted(made, key=lambda one: (-one.peak_per_s, one.begin))
