"""A trial cut into windows of equal width: throughput and latency level of each.

The level of a window is the exponential of the mean log latency of its requests, each divided by
the geometric mean of all requests of its name: about 1, without a unit, and a change of the mix
of names does not move it. The median of every window would need its requests sorted; the mean of
logs is one pass of counting. It is nearly as hard to move by a tail: one request in a hundred a
hundred times as slow raises it by 5 %, the arithmetic mean by 99 %. For log-normal latencies it
estimates the median, with two thirds of the sample median's variance.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from sizebook.stats.groups import blocks

WINDOWS = 40
"""Windows aimed at: enough for the tests of ``stats.trends``, few enough for a chart."""
LEAST_REQUESTS = 10
"""Requests that a window should hold on average."""
LEAST_WIDTH_NS = 10_000_000
_BLOCK = 1 << 17
"""Rows whose logs are added up at a time: another number would round the sums otherwise."""


def choose_width(
    count: int, length_ns: int, *, windows: int = WINDOWS, least_windows: int = 10
) -> int | None:
    """Return the width of windows in ns for ``count`` requests over ``length_ns``.

    About ``windows`` of them, fewer and wider where a window would hold less than
    ``LEAST_REQUESTS`` on average or be narrower than ``LEAST_WIDTH_NS``; None where that leaves
    fewer than ``least_windows``, with which no test says anything. ValueError for a negative
    count or length.
    """
    if count < 0 or length_ns < 0:
        raise ValueError(f"{count} requests in {length_ns} ns")
    number = min(windows, count // LEAST_REQUESTS, length_ns // LEAST_WIDTH_NS)
    if number < least_windows:
        return None
    return length_ns // number


def windows(
    start_ns: NDArray[np.int64],
    service_ns: NDArray[np.int64],
    latency_ns: NDArray[np.int64],
    name: NDArray[np.integer],
    begin_ns: int,
    stop_ns: int,
    width_ns: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return throughput (requests a second) and latency level of each whole window.

    Arrays have one value a request: when it started and how long till it ended, the latency whose
    level is wanted (the service time or another), a code of its name from 0.
    Windows start at ``begin_ns``; what is left before ``stop_ns`` and is narrower than a window
    belongs to none, like requests that end outside. A request is counted where it ends: its
    latency is known there. An empty window has throughput 0 and level NaN. A latency below 1 ns
    counts as 1 ns. ValueError for arrays of unequal length or negative codes, or a width below 1.

    In open load pass the latency from the intended start; the windows then show stalls.
    """
    if len({values.size for values in (start_ns, service_ns, latency_ns, name)}) != 1:
        ends = f"{start_ns.size} starts, {service_ns.size} service times"
        raise ValueError(f"{ends}, {latency_ns.size} latencies, {name.size} names")
    if width_ns < 1:
        raise ValueError(f"windows of {width_ns} ns")
    number = max((stop_ns - begin_ns) // width_ns, 0)
    if number == 0:
        return np.zeros(0), np.zeros(0)
    if name.size and int(name.min()) < 0:
        raise ValueError("a negative code of a name")
    names = int(name.max()) + 1 if name.size else 1
    counts, sums = np.zeros((number, names)), np.zeros((number, names))
    for part in blocks(start_ns.size, _BLOCK):
        since_ns = start_ns[part] + service_ns[part]
        since_ns -= begin_ns
        _add(counts, sums, since_ns, latency_ns[part], name[part], width_ns)
    total = counts.sum(axis=0)
    mean_log = np.divide(sums.sum(axis=0), total, out=np.zeros(names), where=total > 0)
    inside = counts.sum(axis=1)
    above = (sums - counts * mean_log).sum(axis=1)
    level = np.full(number, math.nan)
    np.divide(above, inside, out=level, where=inside > 0)
    return inside / (width_ns / 1e9), np.exp(level)


def _add(
    counts: NDArray[np.float64],
    sums: NDArray[np.float64],
    since_ns: NDArray[np.int64],
    latency_ns: NDArray[np.int64],
    name: NDArray[np.integer],
    width_ns: int,
) -> None:
    """Add one part of the rows to the tables of windows by names."""
    number, names = counts.shape
    window = since_ns // width_ns
    inside = (window >= 0) & (window < number)
    if not inside.all():
        window, latency_ns, name = window[inside], latency_ns[inside], name[inside]
    cell = window * names + name
    logs = np.log(np.maximum(latency_ns, 1).astype(np.float64))
    cells = number * names
    counts += np.bincount(cell, minlength=cells).reshape(number, names)
    sums += np.bincount(cell, weights=logs, minlength=cells).reshape(number, names)
