"""What several rules need to know of a results file, computed once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sizebook.judge.findings import Unknowable
from sizebook.judge.results import SECOND_NS, ForeignResults, RequestTable
from sizebook.stats.groups import is_ascending
from sizebook.stats.steady import SteadyState, steady_state
from sizebook.stats.windows import WINDOWS, choose_width, windows

_Floats = NDArray[np.float64]
_Times = NDArray[np.int64]

FULL = 0.95
"""Share of the most users from which on a ramp counts as over."""
EVEN = 0.8
"""Users below that share of the most, after the ramp: the load changes on purpose."""


@dataclass(frozen=True)
class Windows:
    """A run cut into equal windows."""

    begin_ns: int
    width_ns: int
    throughput_per_s: _Floats
    level: _Floats
    """Latency of each, as a level or a mean; NaN where there is none."""
    mean_ns: _Floats
    """Mean latency of each; NaN likewise."""
    users: _Floats | None
    """Mean number of users or threads in each."""

    @property
    def count(self) -> int:
        """Number of windows."""
        return int(self.throughput_per_s.size)


@dataclass(frozen=True)
class SteadyPart:
    """The windows of the full load, and what they say."""

    first: int
    """The first window of the full load."""
    state: SteadyState
    varies: bool
    """The number of users changes after the ramp."""

    @property
    def crop(self) -> int:
        """Windows to leave out as ramp and warm-up, from the begin of the run."""
        return self.first + (self.state.crop if self.state.steady else 0)


class ForeignCase:
    """A results file with what is computed from it; each answer is computed when first asked."""

    def __init__(self, results: ForeignResults) -> None:
        self.results = results

    @cached_property
    def table(self) -> RequestTable | None:
        """The single requests in the order of their start; None if the file has none."""
        table = self.results.table
        if table is None or is_ascending(table.start_ns):
            return table
        order = np.argsort(table.start_ns, kind="stable")
        columns = ("start_ns", "latency_ns", "failed", "name", "thread", "running")
        kept = {name: getattr(table, name) for name in columns}
        moved = {name: None if each is None else each[order] for name, each in kept.items()}
        return RequestTable(**{**vars(table), **moved})

    @cached_property
    def end_ns(self) -> _Times:
        """When each request of the table ended, in the order of their ends."""
        table = self.need_table("when requests ended")
        return np.sort(table.start_ns + table.latency_ns)

    @cached_property
    def ordered_ns(self) -> _Times:
        """The latencies of the table, ascending."""
        return np.sort(self.need_table("latencies of single requests").latency_ns)

    def need_table(self, what: str) -> RequestTable:
        """Return the table; Unknowable for a file of sums."""
        if self.table is None:
            raise Unknowable(what, "the file has sums and no single requests")
        return self.table

    @property
    def requests(self) -> int:
        """Number of requests."""
        if self.table is not None:
            return self.table.size
        return self.results.totals.whole.requests if self.results.totals else 0

    @cached_property
    def span_ns(self) -> tuple[int, int]:
        """First start and last start of the table: from then on a run runs out."""
        table = self.need_table("begin and end of the run")
        return int(table.start_ns[0]), int(table.start_ns[-1])

    @cached_property
    def length_s(self) -> float | None:
        """Seconds from the first start to the last end; None where the file does not tell."""
        if self.table is not None:
            return float(self.end_ns[-1] - self.table.start_ns[0]) / SECOND_NS
        return self.results.totals.length_s if self.results.totals else None

    @property
    def rate_per_s(self) -> float | None:
        """Requests a second over the whole run."""
        return self.requests / self.length_s if self.length_s else None

    def quantile_ns(self, percentile: float) -> float | None:
        """Return a latency by its percentile (0 to 100); None where the file does not tell."""
        if self.table is not None:
            return float(np.quantile(self.ordered_ns, percentile / 100, method="higher"))
        if self.results.spectrum is not None:
            return self.results.spectrum.quantile_ns(percentile)
        totals = self.results.totals
        return totals.whole.percentiles_ns.get(percentile) if totals else None

    @property
    def most_ns(self) -> float | None:
        """The greatest latency."""
        if self.table is not None:
            return float(self.ordered_ns[-1])
        return self.results.totals.whole.most_ns if self.results.totals else None

    @property
    def mean_ns(self) -> float | None:
        """The mean latency."""
        if self.table is not None:
            return float(self.table.latency_ns.mean())
        return self.results.totals.whole.mean_ns if self.results.totals else None

    @property
    def failed(self) -> int | None:
        """Requests that failed; None where the file does not tell."""
        if self.table is not None:
            return int(np.count_nonzero(self.table.failed))
        return self.results.totals.whole.failed if self.results.totals else None

    @cached_property
    def windows(self) -> Windows:
        """The run in about 40 windows; Unknowable for a file without a course, or too short."""
        if self.table is not None:
            return _table_windows(self.table, *self.span_ns)
        course = self.results.course
        if course is None:
            raise Unknowable("the course of the run", "the file has sums over all of it")
        group = max(1, round(course.requests.size / WINDOWS))
        count = course.requests.size // group
        if count < 2:
            raise Unknowable("the course of the run", "the file has too few steps of time")
        shape = (count, group)
        used = count * group
        width_s = course.width_ns[:used].reshape(shape).sum(axis=1) / SECOND_NS
        number = course.requests[:used].reshape(shape).sum(axis=1)
        spent = np.nan_to_num(course.mean_ns[:used]) * course.requests[:used]
        mean = np.divide(
            spent.reshape(shape).sum(axis=1), number, out=np.full(count, np.nan), where=number > 0
        )
        users = course.users
        if users is not None:
            users = users[:used].reshape(shape).mean(axis=1)
        begin_ns = int(course.end_ns[0] - course.width_ns[0])
        return Windows(begin_ns, int(np.median(width_s) * SECOND_NS), number / width_s, mean, mean,
                       users)  # fmt: skip

    @cached_property
    def steady(self) -> SteadyPart:
        """Ramp, warm-up and steady state; Unknowable likewise."""
        found = self.windows
        first, stop, varies = 0, found.count, False
        if found.users is not None and found.users.max() > 0:
            full = np.flatnonzero(found.users >= FULL * found.users.max())
            first, stop = int(full[0]), int(full[-1]) + 1
            varies = bool(found.users[first:stop].min() < EVEN * found.users.max())
            varies = varies or stop - first < found.count / 4
        state = steady_state(found.throughput_per_s[first:stop], found.level[first:stop])
        return SteadyPart(first, state, varies)

    def in_flight(self, at_ns: _Times) -> _Times:
        """Return how many requests of the table were under way at each time."""
        table = self.need_table("how many requests were under way")
        begun = np.searchsorted(table.start_ns, at_ns, side="right")
        return np.asarray(begun - np.searchsorted(self.end_ns, at_ns, side="right"))

    @cached_property
    def threads(self) -> int | None:
        """How many threads or users sent the requests of the table; None if it does not tell."""
        if self.table is None or self.table.thread is None:
            return None
        return int(np.count_nonzero(np.bincount(self.table.thread)))

    @cached_property
    def users(self) -> float | None:
        """The most threads or users at once, as the tool says; None where it does not."""
        if self.table is not None:
            return None if self.table.running is None else float(self.table.running.max())
        course = self.results.course
        if course is not None and course.users is not None:
            return float(course.users.max())
        return self.results.totals.users if self.results.totals else None


def _table_windows(table: RequestTable, begin_ns: int, stop_ns: int) -> Windows:
    width_ns = choose_width(table.size, stop_ns - begin_ns)
    if width_ns is None:
        words = f"{table.size} requests in {(stop_ns - begin_ns) / SECOND_NS:.3g} s are too few"
        raise Unknowable("the course of the run", words)
    # Windows are whole multiples of the clock's step: else they hold unequal numbers of steps.
    width_ns = -(-width_ns // table.clock_ns) * table.clock_ns
    begin_ns = -(-begin_ns // table.clock_ns) * table.clock_ns
    throughput, level = windows(
        table.start_ns, table.latency_ns, table.latency_ns, table.name, begin_ns, stop_ns, width_ns
    )
    if throughput.size < 2:
        raise Unknowable("the course of the run", "its time stamps are too coarse for its length")
    at = (table.start_ns + table.latency_ns - begin_ns) // width_ns
    inside = (at >= 0) & (at < throughput.size)
    counts = np.bincount(at[inside], minlength=throughput.size)
    spent = np.bincount(at[inside], weights=table.latency_ns[inside], minlength=counts.size)
    mean = np.divide(spent, counts, out=np.full(counts.size, np.nan), where=counts > 0)
    users = None
    if table.running is not None:
        sums = np.bincount(at[inside], weights=table.running[inside], minlength=counts.size)
        users = np.divide(sums, counts, out=np.zeros(counts.size), where=counts > 0)
        # A window without an end has the users of the one before it.
        known = np.maximum.accumulate(np.where(counts > 0, np.arange(counts.size), 0))
        users = users[known]
    return Windows(begin_ns, width_ns, throughput, level, mean, users)
