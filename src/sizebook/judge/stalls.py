"""Times at which a generator sent nearly nothing, and what the requests missing then would show.

A sender that waits for answers sends nothing while the server stands still: the requests that would
have waited longest are missing (coordinated omission; Tene, "How NOT to Measure Latency", 2013).
Those that the usual rate would have sent are put back: one due at time t within the stall waits for
the rest of it, so their latencies are evenly spread between 0 and its length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sizebook.judge.facts import ForeignCase
from sizebook.judge.findings import Unknowable
from sizebook.judge.results import SECOND_NS, RequestTable

OF_GAPS = 30.0
"""Times the median between two starts: by chance, of a million, fourteen times the mean occur."""
OF_TAIL = 3.0
"""Times the latency that one in a hundred requests exceeds."""
OF_CLOCK = 3
LEAST_NS = 50_000_000
STARVED = 0.1
"""Share of the usual number below which an interval counts as stalled."""
_MOST_ADDED = 2_000_000


@dataclass(frozen=True)
class Stalls:
    """All times at which nearly nothing was sent."""

    lengths_ns: NDArray[np.float64]
    rate_per_s: float
    """The usual rate: the median of the windows."""
    longest_ns: float
    """Of all gaps, also of those too short to count."""

    @property
    def count(self) -> int:
        """How many there are."""
        return int(self.lengths_ns.size)

    @property
    def missing(self) -> float:
        """Requests that the usual rate would have sent meanwhile."""
        return float(self.lengths_ns.sum()) / SECOND_NS * self.rate_per_s


def find_stalls(case: ForeignCase, *, waiting: bool = True) -> Stalls | None:
    """Return the stalls; None where the file has no course fine enough to see any.

    ``waiting``: those in which requests waited for answers; else those with nothing under way.
    """
    if case.table is not None:
        return _of_table(case, case.table, waiting)
    if not waiting or case.results.course is None or case.results.spectrum is None:
        return None
    return _of_course(case)


def _of_table(case: ForeignCase, table: RequestTable, waiting: bool) -> Stalls | None:
    gaps = np.diff(table.start_ns)
    if gaps.size < 100:
        return None
    try:
        rate = float(np.median(case.windows.throughput_per_s))
    except Unknowable:
        return None
    usual = max(float(np.median(gaps)), SECOND_NS / max(rate, 1e-9))
    tail = float(case.quantile_ns(99) or 0.0)
    long = max(OF_GAPS * usual, OF_TAIL * tail, OF_CLOCK * table.clock_ns, LEAST_NS)
    places = np.flatnonzero(gaps > long)
    middle = table.start_ns[places] + gaps[places] // 2
    busy = case.in_flight(middle) > 0
    kept = places[busy if waiting else ~busy]
    return Stalls(gaps[kept].astype(np.float64), rate, float(gaps.max()))


def _of_course(case: ForeignCase) -> Stalls | None:
    """Return runs of intervals that hold nearly nothing, next to a value as long as they are."""
    course = case.results.course
    assert course is not None
    rates = course.requests / (course.width_ns / SECOND_NS)
    rate = float(np.median(rates))
    if course.requests.size < 20 or rate <= 0 or course.most_ns is None:
        return None
    starved = rates < STARVED * rate
    edges = np.flatnonzero(np.diff(np.concatenate(([0], starved.astype(np.int8), [0]))))
    lengths = []
    for first, stop in zip(edges[::2], edges[1::2], strict=True):
        length = float(course.width_ns[first:stop].sum())
        # What was under way ends within the stall or in the interval after it.
        longest = float(course.most_ns[first : stop + 1].max())
        if longest > 0.5 * length and stop < course.requests.size and first > 0:
            lengths.append(max(length, longest))
    return Stalls(np.array(lengths), rate, float(course.most_ns.max()))


def corrected_quantiles(
    case: ForeignCase, stalls: Stalls, percentiles: Sequence[float]
) -> list[float]:
    """Return percentiles (0 to 100) in ns with the requests put back that were not sent."""
    scale = min(1.0, _MOST_ADDED / max(stalls.missing, 1.0))
    added = [
        np.linspace(0, length, max(1, round(scale * length / SECOND_NS * stalls.rate_per_s)))
        for length in stalls.lengths_ns
    ]
    if case.table is not None:
        values = np.concatenate([case.ordered_ns.astype(np.float64), *added])
        return [float(x) for x in np.quantile(values, np.asarray(percentiles) / 100)]
    spectrum = case.results.spectrum
    assert spectrum is not None
    values = np.concatenate([spectrum.values_ns, *added])
    weights = np.concatenate([spectrum.counts, np.ones(values.size - spectrum.counts.size)])
    order = np.argsort(values)
    summed = np.cumsum(weights[order])
    wanted = np.asarray(percentiles) / 100 * summed[-1]
    at = np.minimum(np.searchsorted(summed, wanted), values.size - 1)
    return [float(x) for x in values[order][at]]
