"""Readings by series: what one counter of one source said over time, as arrays.

A judgement asks a bundle's readings some thirty questions, each about a few series. They are put
in order once, here, instead of being searched each time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

Statistic = Literal["mean", "min", "max"]
Span = tuple[int, int]
"""Begin and end, CLOCK_MONOTONIC in ns."""


class Series:
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

    @property
    def began_anew(self) -> bool:
        """Whether it ever said less than before: that of a process that was started again."""
        return bool((np.diff(self.values) < 0).any())

    def rise(self, span: Span | None = None) -> float:
        """Return how much a counter rose from its first answer to its last, of a span or of all.

        One that fell began anew at 0: what it says then has risen since. What was counted between
        the last answer and the end of a killed process is lost.
        """
        values = self.values if span is None else self.within(*span)
        steps = np.diff(values)
        return float(np.where(steps < 0, values[1:], steps).sum())

    def within(self, begin_ns: int, end_ns: int) -> NDArray[np.float64]:
        """Return the answers of a window, both of its ends included."""
        first, last = np.searchsorted(self.times_ns, (begin_ns, end_ns + 1))
        return self.values[first:last]

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

    def __init__(self, series: Iterable[Series]) -> None:
        """Take series in that order, no two of one counter."""
        self._series = tuple(series)

    @classmethod
    def of(cls, counters: pl.DataFrame) -> Readings:
        """Return the series of ``counters.parquet``, whose rows may come in any order."""
        return cls(_divide(counters))

    def __iter__(self) -> Iterator[Series]:
        return iter(self._series)

    def find(self, source: str, metric: str) -> list[Series]:
        """Return the series of a metric that answered at least once, of sources that begin so.

        ``metric`` is a name with its label, or without one: then all of its labels are there.
        """
        found = (self._by_metric if "/" in metric else self._without_label).get(metric, ())
        return [one for one in found if one.source.startswith(source) and one.values.size]

    def rise(self, source: str, *metrics: str, span: Span | None = None) -> float | None:
        """Return how much counters rose over the whole trial, all together: see ``Series.rise``.

        Source and metrics as ``find`` takes them. None where one of the metrics is not there, or
        has not answered at the end of the ``span``, if there is one.
        """
        found = [self.find(source, metric) for metric in metrics]
        if span is not None and any(one.around(*span) is None for some in found for one in some):
            return None
        return sum(one.rise(span) for some in found for one in some) if all(found) else None

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
    def _by_metric(self) -> dict[str, list[Series]]:
        return _group(self._series, lambda one: one.metric)

    @cached_property
    def _without_label(self) -> dict[str, list[Series]]:
        return _group(self._series, lambda one: one.metric.partition("/")[0])


def _group(series: Iterable[Series], name: Callable[[Series], str]) -> dict[str, list[Series]]:
    groups: dict[str, list[Series]] = {}
    for one in series:
        groups.setdefault(name(one), []).append(one)
    return groups


def _divide(counters: pl.DataFrame) -> Iterator[Series]:
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
        yield Series(host, source, metric, times[first:end], answers[first:end], always=always)
