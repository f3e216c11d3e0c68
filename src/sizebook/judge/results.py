"""What a results file of another load tool holds, in one form for all tools.

A file has single requests (``RequestTable``), or what the tool made of them: counts and percentiles
(``Totals``), a course over time (``StepCourse``), a histogram (``Spectrum``). Times are in ns.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Loop = Literal["closed", "open", "unknown"]

MS_NS = 1_000_000
SECOND_NS = 1_000_000_000


@dataclass(frozen=True)
class RequestTable:
    """Single requests, in the order of the file. All arrays have the same length."""

    start_ns: NDArray[np.int64]
    """When each began, ns since 1970."""
    latency_ns: NDArray[np.int64]
    failed: NDArray[np.bool_]
    name: NDArray[np.int32]
    """Index into ``names``."""
    names: tuple[str, ...]
    clock_ns: int
    """Resolution of the start times."""
    grain_ns: int
    """Resolution of the latencies."""
    thread: NDArray[np.int32] | None = None
    """Which thread or user sent each, by number; None where the tool does not say."""
    running: NDArray[np.int32] | None = None
    """How many threads or users were running when each ended; None likewise."""

    @property
    def size(self) -> int:
        """Number of requests."""
        return int(self.start_ns.size)


@dataclass(frozen=True)
class TotalsRow:
    """What a tool says of all requests, or of those of one name."""

    name: str
    requests: int
    failed: int | None
    mean_ns: float | None = None
    least_ns: float | None = None
    most_ns: float | None = None
    percentiles_ns: Mapping[float, float] = field(default_factory=dict)
    """By percentile (0 to 100), ascending."""
    rate_per_s: float | None = None


@dataclass(frozen=True)
class Totals:
    """A tool's own sums."""

    whole: TotalsRow
    parts: tuple[TotalsRow, ...] = ()
    """One a name of request, if there are several."""
    length_s: float | None = None
    users: float | None = None
    """The most users, connections or threads at once."""
    rates_agree: bool = True
    """Whether the tool divides its count by its length: then the three must agree."""


@dataclass(frozen=True)
class StepCourse:
    """Sums of equal steps of time. All arrays have the same length."""

    end_ns: NDArray[np.int64]
    width_ns: NDArray[np.int64]
    requests: NDArray[np.float64]
    mean_ns: NDArray[np.float64]
    """Mean latency of each step; NaN where it has no request."""
    failed: NDArray[np.float64]
    users: NDArray[np.float64] | None = None
    most_ns: NDArray[np.float64] | None = None
    """Greatest latency of each step."""


@dataclass(frozen=True)
class Spectrum:
    """A histogram of latencies: values and how often each came."""

    values_ns: NDArray[np.float64]
    """Ascending."""
    counts: NDArray[np.int64]
    steps: tuple[tuple[NDArray[np.float64], NDArray[np.int64]], ...] = ()
    """The same for each step of the course, if the file has one."""
    levels: NDArray[np.float64] | None = None
    """Percentile (0 to 100) of each value, where the file says it: between them it is a line."""

    @property
    def size(self) -> int:
        """Number of values."""
        return int(self.counts.sum())

    def quantile_ns(self, percentile: float) -> float:
        """Return the value at a percentile (0 to 100); NaN for an empty histogram."""
        if self.size == 0:
            return float("nan")
        if self.levels is not None:
            return float(np.interp(percentile, self.levels, self.values_ns))
        rank = max(1, int(percentile / 100 * self.size + 0.5))
        at = int(np.searchsorted(np.cumsum(self.counts), rank))
        return float(self.values_ns[min(at, self.values_ns.size - 1)])


@dataclass(frozen=True)
class ForeignResults:
    """A results file of another load tool, read."""

    path: Path
    tool: str
    form: str
    """What kind of file of the tool, such as ``JTL, CSV``."""
    prints: tuple[float, ...]
    """Percentiles that the tool's own report prints of such results."""
    table: RequestTable | None = None
    totals: Totals | None = None
    course: StepCourse | None = None
    spectrum: Spectrum | None = None
    loop: Loop = "unknown"
    loop_reason: str = ""
    """How the file, or the kind of tool, says so."""
    corrected: bool = False
    """Latencies count from when each request was due, by the tool's own word."""
    uncorrected: bool = False
    """They do not, by the tool's own word."""
    cut: str = ""
    """What is missing at the end or within; empty: the file is whole as far as can be seen."""
    left_out: int = 0
    """Rows that cannot be read."""
    dropped: int | None = None
    """Iterations that were due and did not begin, where the tool counts them."""
    begun: int | None = None
    """Iterations that did; None: each request is one."""
    notes: tuple[str, ...] = ()
    """What was assumed while reading, for the reader of the report."""
    grain_ns: int | None = None
    """Resolution of latencies in totals and courses; None: as fine as they are printed."""
    windowed: bool = False
    """The file has percentiles of single time windows, which cannot be put together."""
