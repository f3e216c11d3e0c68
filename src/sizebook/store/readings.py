"""Readings by series: what one counter of one source said over time, as arrays.

A judgement asks a bundle's readings some thirty questions, each about a few series. They are put
in order once, here, instead of being searched each time.

There is one rule for a counter that fell: it began anew at 0, in a process that was started again,
and what it says then has risen since. What was counted between the last answer and the end of a
killed process is lost, so that such a rise is the least that it can be (``Rise.is_whole``). How
much rose over a trial takes it as that; a rate, and a count that has to agree with another, do not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

Statistic = Literal["mean", "min", "max"]
Span = tuple[int, int]
"""Begin and end, CLOCK_MONOTONIC in ns."""


@dataclass(frozen=True)
class Rise:
    """How much a counter rose from one answer to another, or several did together."""

    total: float
    length_s: float
    """Time between the two answers."""
    readings: int
    """Answers from the first to the last of them; of several counters the fewest."""
    is_whole: bool
    """False: it began anew meanwhile, and may have risen by more."""

    @property
    def per_s(self) -> float:
        """The counter's rate."""
        return self.total / self.length_s


def steps(before: NDArray[np.float64], after: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how much a counter rose each time; one that fell began anew at 0."""
    return np.where(after < before, after, after - before)


class TimeSeries:
    """One counter of one source, in the order of time; a trial has hundreds."""

    __slots__ = ("always", "answers", "asked_ns", "host", "metric", "source", "times_ns", "values")

    def __init__(
        self,
        host: str,
        source: str,
        metric: str,
        asked_ns: NDArray[np.int64],
        answers: NDArray[np.float64],
        *,
        always: bool = False,
    ) -> None:
        """Take what it was asked, and when."""
        self.host = host
        self.source = source
        self.metric = metric
        """With its label, where it has one: ``answers_total/200``."""
        self.asked_ns = asked_ns
        """When it was asked, CLOCK_MONOTONIC."""
        self.answers = answers
        """What it said; not a number where it did not answer."""
        self.always = always
        """Whether it is known to have answered each time; False: it was looked for."""
        answered = None if always else ~np.isnan(answers)
        every = answered is None or bool(answered.all())
        self.times_ns = asked_ns if every else asked_ns[answered]
        """When it answered."""
        self.values = answers if every else answers[answered]
        """What it answered."""

    @property
    def label(self) -> str:
        """What stands behind the metric's name; empty where it has none."""
        return self.metric.partition("/")[2]

    def rise(self, span: Span | None = None) -> float:
        """Return how much it rose from its first answer to its last, of a span or of all."""
        values = self.values if span is None else self.within(*span)
        return float(steps(values[:-1], values[1:]).sum())

    def rise_around(self, begin_ns: int, end_ns: int) -> Rise | None:
        """Return the rise from the last answer before a window to the first after it, or None."""
        places = self.around(begin_ns, end_ns)
        return None if places is None else self._rise(*places)

    def rise_near(self, begin_ns: int, end_ns: int) -> Rise | None:
        """Return the rise between the answers nearest to two times; None where it is one answer."""
        if not self.times_ns.size:
            return None
        first, last = (int(np.abs(self.times_ns - at).argmin()) for at in (begin_ns, end_ns))
        return self._rise(first, last) if first < last else None

    def _rise(self, first: int, last: int) -> Rise:
        values = self.values[first : last + 1]
        is_whole = not bool((values[1:] < values[:-1]).any())
        # As published: sums of steps, as in ``rise``, differ in the last bits, which charts show.
        total = values[-1] - values[0] if is_whole else steps(values[:-1], values[1:]).sum()
        length_s = float(self.times_ns[last] - self.times_ns[first]) / 1e9
        return Rise(float(total), length_s, values.size, is_whole)

    def within(self, begin_ns: int, end_ns: int) -> NDArray[np.float64]:
        """Return the answers of a window, both of its ends included."""
        first, end = np.searchsorted(self.times_ns, (begin_ns, end_ns + 1))
        return self.values[first:end]

    def around(self, begin_ns: int, end_ns: int) -> tuple[int, int] | None:
        """Return the places of the last answer before and the first after a window, or None.

        None, too, where it was asked at one of its ends and did not answer: a trial that takes
        turns is asked at their edges, and what an earlier or later answer counts is others'.
        """
        if self.times_ns.size < self.asked_ns.size and self._is_silent_at(begin_ns, end_ns):
            return None
        before = int(np.searchsorted(self.times_ns, begin_ns, side="right")) - 1
        after = int(np.searchsorted(self.times_ns, end_ns, side="left"))
        return (before, after) if before >= 0 and after < self.times_ns.size else None

    def _is_silent_at(self, *times_ns: int) -> bool:
        asked, answered = (np.isin(times_ns, each) for each in (self.asked_ns, self.times_ns))
        return bool((asked & ~answered).any())


class Readings:
    """All series of a bundle, by host, source and metric."""

    def __init__(self, series: Iterable[TimeSeries]) -> None:
        """Take series in that order, no two of one counter."""
        self._series = tuple(series)

    @classmethod
    def of(cls, counters: pl.DataFrame) -> Readings:
        """Return the series of ``counters.parquet``, whose rows may come in any order."""
        return cls(_divide(counters))

    def __iter__(self) -> Iterator[TimeSeries]:
        return iter(self._series)

    def find(self, source: str, metric: str) -> list[TimeSeries]:
        """Return the series of a metric that answered at least once, of sources that begin so.

        ``metric`` is a name with its label, or without one: then all of its labels are there.
        """
        found = (self._by_metric if "/" in metric else self._without_label).get(metric, ())
        return [one for one in found if one.source.startswith(source) and one.values.size]

    def get(self, host: str, source: str, metric: str) -> TimeSeries | None:
        """Return one series, if it answered at least once."""
        return self._by_key.get((host, source, metric))

    def rise(self, source: str, *metrics: str, span: Span | None = None) -> float | None:
        """Return how much counters rose over the whole trial, all together.

        Source and metrics as ``find`` takes them. None where one of the metrics is not there, or
        has not answered at the end of the ``span``, if there is one.
        """
        found = [self.find(source, metric) for metric in metrics]
        if span is not None and any(one.around(*span) is None for some in found for one in some):
            return None
        return sum(one.rise(span) for some in found for one in some) if all(found) else None

    def around(
        self, source: str, metric: str, begin_ns: int, end_ns: int
    ) -> tuple[float, float] | None:
        """Return the levels of gauges before and after a window, each added up.

        None where there is no such gauge, or the answers of one do not span the window.
        """
        found = self.find(source, metric)
        ends = [(one.values, places) for one in found if (places := one.around(begin_ns, end_ns))]
        if not ends or len(ends) < len(found):
            return None
        before, after = (sum(float(values[at[end]]) for values, at in ends) for end in (0, 1))
        return before, after

    def last(self, source: str, metric: str) -> float | None:
        """Return the last answers of all series that ``find`` gives, added up; None without any."""
        found = [float(one.values[-1]) for one in self.find(source, metric)]
        return sum(found) if found else None

    def level(
        self, source: str, metric: str, begin_ns: int, end_ns: int, how: Statistic
    ) -> float | None:
        """Return the levels of gauges within a window, added up.

        None where there is no such gauge, or one has no answer in the window.
        """
        inside = [one.within(begin_ns, end_ns) for one in self.find(source, metric)]
        if not inside or not all(each.size for each in inside):
            return None
        return sum(float(getattr(each, how)()) for each in inside)

    @cached_property
    def _by_key(self) -> dict[tuple[str, str, str], TimeSeries]:
        answering = (one for one in self._series if one.values.size)
        return {(one.host, one.source, one.metric): one for one in answering}

    @cached_property
    def _by_metric(self) -> dict[str, list[TimeSeries]]:
        return _group(self._series, lambda one: one.metric)

    @cached_property
    def _without_label(self) -> dict[str, list[TimeSeries]]:
        return _group(self._series, lambda one: one.metric.partition("/")[0])


def _group(
    series: Iterable[TimeSeries], name: Callable[[TimeSeries], str]
) -> dict[str, list[TimeSeries]]:
    groups: dict[str, list[TimeSeries]] = {}
    for one in series:
        groups.setdefault(name(one), []).append(one)
    return groups


def _divide(counters: pl.DataFrame) -> Iterator[TimeSeries]:
    if counters.is_empty():
        return
    names = [counters[name].cast(pl.Categorical) for name in ("host", "source", "metric")]
    codes = [column.to_physical().to_numpy() for column in names]
    times = counters["time_ns"].to_numpy()
    order = np.lexsort((times, *reversed(codes)))
    ranked = [column[order] for column in codes]
    changes = np.logical_or.reduce([column[1:] != column[:-1] for column in ranked])
    firsts = np.concatenate(([0], np.flatnonzero(changes) + 1))
    ends = [*firsts[1:].tolist(), times.size]
    words = [column.gather(order[firsts]).cast(pl.String).to_list() for column in names]
    always = counters["value"].null_count() == 0
    times, answers = times[order], counters["value"].to_numpy()[order]
    parts = sorted(zip(*words, firsts.tolist(), ends, strict=True))
    for host, source, metric, first, end in parts:
        yield TimeSeries(host, source, metric, times[first:end], answers[first:end], always=always)
