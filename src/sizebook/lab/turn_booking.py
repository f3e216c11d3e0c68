"""Booking: what was read at the edges of a trial's turns becomes counters of its own time.

Each source is read when a turn begins to count and when it ends. What a counter rose in between is
the turn's; what it rose meanwhile, while the load was another trial's, comes before all of them,
in the phase ``between``. So the rise over the measured phase is that of the turns alone, and the
rise over the whole trial is what it was. A gauge counts as it stood at the end of a turn. What is
read before and after the trial alone stays as it is.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sizebook.load.collect import Collected, phase_index
from sizebook.model.bundle import COUNTER_COLUMNS, PHASES
from sizebook.probes.registry import find_counter
from sizebook.store.readings import Readings, TimeSeries, steps
from sizebook.store.trial_clock import TrialClock

_TOLD_WITHIN_NS = 1_000_000_000
"""How long after the last turn the generator may tell of it."""


def in_own_time(collected: Collected, clock: TrialClock) -> Collected:
    """Return what the generator recorded, in the trial's own time."""
    if not clock:
        return collected
    phases = clock.phases(collected.phases)
    rows = collected.requests
    intended = rows["intended_ns"].to_numpy()
    moved = clock.own(intended)
    names = pl.Series(PHASES, dtype=pl.Categorical).gather(phase_index(moved, phases))
    requests = rows.with_columns(
        pl.Series("intended_ns", moved),
        pl.Series("start_ns", rows["start_ns"].to_numpy() - intended + moved),
        names.alias("phase"),
    ).sort("start_ns", maintain_order=True)
    return replace(
        collected,
        phases=phases,
        requests=requests,
        counters=_own_counters(collected.counters, clock),
        schedule=_own_schedule(collected, clock),
    )


def book(counters: pl.DataFrame, clock: TrialClock) -> pl.DataFrame:
    """Return readings of a trial in its own time; those of the edges bear the edges' times.

    Columns as in ``COUNTER_COLUMNS``, sorted by time. A counter that could not be read at one of
    the edges has no answers within the turns: nobody knows whose its rise was. One that was asked
    for the first time within them, since its label came up there, rises from that reading on.
    """
    if not clock or counters.is_empty():
        return counters
    booked = [_booked(series, clock) for series in Readings.of(counters)]
    columns = {
        "time_ns": pl.Series(np.concatenate([one.asked_ns for one in booked]), dtype=pl.Int64),
        **{name: _repeated(booked, name) for name in ("host", "source", "metric")},
        "value": pl.Series(
            np.concatenate([one.answers for one in booked]), dtype=pl.Float64
        ).fill_nan(None),
    }
    frame = pl.DataFrame({name: columns[name] for name in COUNTER_COLUMNS})
    return frame.sort("time_ns", maintain_order=True)


def _repeated(booked: list[TimeSeries], name: str) -> pl.Series:
    words = [getattr(one, name) for one in booked]
    table = list(dict.fromkeys(words))
    places = {word: place for place, word in enumerate(table)}
    codes = np.repeat([places[word] for word in words], [one.asked_ns.size for one in booked])
    return pl.Series(table, dtype=pl.Categorical).gather(codes.astype(np.uint32))


def _booked(series: TimeSeries, clock: TrialClock) -> TimeSeries:
    times, answers = series.asked_ns, series.answers
    first, last = clock.from_ns[0], clock.end_ns[-1]
    before, after = times < first, times > last
    if not (~before & ~after).any():
        return series
    begin, end = _at(series, clock.from_ns), _at(series, clock.end_ns)
    own_ns = np.concatenate(([clock.measured_ns], clock.ends_ns))
    if _is_counter(series.metric):
        if times[0] > first:  # it came up in a turn, and rose from there
            begin[clock.from_ns < times[0]] = end[clock.end_ns < times[0]] = answers[0]
        rises = steps(begin, end)
        meanwhile = steps(end[:-1], begin[1:])
        levels = begin[0] + meanwhile.sum() + np.concatenate(([0.0], np.cumsum(rises)))
        later = answers[after]
        if np.isnan(levels).any():  # nobody knows what was whose; what it was in all is known
            levels = np.full_like(levels, np.nan)
        else:
            later = later - end[-1] + levels[-1]
    else:
        levels, later = np.concatenate((begin[:1], end)), answers[after]
    return TimeSeries(
        series.host,
        series.source,
        series.metric,
        np.concatenate((times[before], own_ns, times[after])),
        np.concatenate((answers[before], levels, later)),
    )


def _at(series: TimeSeries, edges: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return what was answered at each edge; not a number where nothing was."""
    place = np.searchsorted(series.asked_ns, edges)
    there = place < series.asked_ns.size
    place = np.where(there, place, 0)
    there &= series.asked_ns[place] == edges
    return np.where(there, series.answers[place], np.nan)


def _is_counter(metric: str) -> bool:
    try:
        return find_counter(metric).kind == "counter"
    except KeyError:
        return False


def _own_counters(counters: pl.DataFrame, clock: TrialClock) -> pl.DataFrame:
    """Return the generator's own rows in own time: each is told a little after its end."""
    edges = np.sort(np.concatenate((clock.from_ns, clock.end_ns)))
    times = counters["time_ns"].to_numpy()
    at = np.searchsorted(edges, times, side="right") - 1
    within = (at >= 0) & (times < edges[-1] + _TOLD_WITHIN_NS)
    ends = edges[np.where(within, at, 0)]
    own = np.where(within, clock.own(ends - 1) + 1, times)
    moved = counters.with_columns(pl.Series("time_ns", own))
    return moved.sort("time_ns", maintain_order=True)


def _own_schedule(collected: Collected, clock: TrialClock) -> NDArray[np.int64] | None:
    """Return when passes were due, in ns from the first phase's begin, in own time."""
    if collected.schedule is None:
        return None
    begin_ns = collected.phases[0].begin_ns
    own: NDArray[np.int64] = np.sort(clock.own(collected.schedule + begin_ns) - begin_ns)
    return own
