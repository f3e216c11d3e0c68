"""Numbers as the report says them."""

from __future__ import annotations

import math

from sizebook.judge.results import MS_NS, SECOND_NS


def say_time(ns: float) -> str:
    """Return a time with its unit and three digits: ``820 µs``, ``12.4 ms``, ``3.05 s``."""
    if ns >= SECOND_NS:
        return f"{_digits(ns / SECOND_NS)} s"
    if ns >= MS_NS or ns == 0:
        return f"{_digits(ns / MS_NS)} ms"
    return f"{_digits(ns / 1e3)} µs" if ns >= 1e3 else f"{_digits(ns)} ns"


def say_times(count: int, longest_ns: float) -> str:
    """Return how often and how long: ``once, for 3 s,`` or ``4 times, for 3 s at most,``."""
    longest = say_time(longest_ns)
    return f"once, for {longest}," if count == 1 else f"{count} times, for {longest} at most,"


def say_rate(per_s: float) -> str:
    """Return a rate with three digits."""
    return f"{_digits(per_s)}/s"


def say_percentile(percentile: float) -> str:
    """Return the usual name of a percentile: ``p99.9``."""
    return f"p{percentile:g}"


def say_factor(factor: float) -> str:
    """Return how many times as much: ``3.2×``."""
    return f"{_digits(factor)}×"


def _digits(value: float) -> str:
    if not math.isfinite(value):
        return "unknown"
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"
