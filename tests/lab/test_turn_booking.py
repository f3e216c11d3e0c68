"""Booking of counters, requests and schedules to a trial's turns."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from sizebook.lab.turn_booking import book
from sizebook.model.bundle import COUNTER_COLUMNS, TurnMark
from sizebook.store.readings import Readings
from sizebook.store.trial_clock import TrialClock

TURNS = tuple(
    TurnMark(begin_ns=at, from_ns=at + 100, end_ns=at + 1_000) for at in (10_000, 12_000, 15_000)
)
CLOCK = TrialClock(TURNS)
EDGES = [at for turn in TURNS for at in (turn.from_ns, turn.end_ns)]
BEFORE, AFTER = 9_000, 20_000
CPU = ("process/app-1", "cpu_user_s")


def counters(*series):
    """Return readings: (source, metric) with values by time."""
    rows = [
        (at, "local", source, metric, value)
        for (source, metric), values in series
        for at, value in values.items()
    ]
    kinds = {name: getattr(pl, kind) for name, kind in COUNTER_COLUMNS.items()}
    return pl.DataFrame(rows, schema=kinds, orient="row")


def at_edges(values, before=0.0, after=None):
    """Return a series' values: before, at each edge, after."""
    found = {BEFORE: before, **dict(zip(EDGES, values, strict=True))}
    return found | ({AFTER: after} if after is not None else {})


def booked(*series):
    return Readings.of(book(counters(*series), CLOCK))


def test_a_counter_rises_in_its_turns_alone():
    """It rose 5, 7 and 9 in its turns, 1 before, 10 and 20 while it was others' turn, 3 after."""
    values = [1, 6, 16, 23, 43, 52]
    (one,) = booked((CPU, at_edges(values, after=55)))
    phase = (CLOCK.measured_ns, TURNS[-1].end_ns)
    assert one.times_ns.tolist() == [BEFORE, CLOCK.measured_ns, *CLOCK.ends_ns.tolist(), AFTER]
    assert np.diff(one.within(*phase)).tolist() == [5, 7, 9]
    assert one.rise() == 55, "over the whole trial it is what it was"
    assert one.within(*phase)[0] == 31, "what it rose in others' turns comes before"


def test_a_gauge_is_what_it_was_when_each_turn_ended():
    """And where the first one began."""
    gauge = ("process/app-1", "rss_bytes")
    (one,) = booked((gauge, at_edges([10, 11, 20, 21, 30, 31], before=5, after=40)))
    assert one.values.tolist() == [5, 10, 11, 21, 31, 40]


@pytest.mark.parametrize("lost", range(6))
def test_what_was_not_read_at_an_edge_is_nobodys(lost):
    """Whether it did not answer, or was not asked; what it rose in all is known."""
    values = [1.0, 6.0, 16.0, 23.0, 43.0, 52.0]
    silent = at_edges([None if n == lost else v for n, v in enumerate(values)], after=55.0)
    unasked = {at: v for at, v in at_edges(values, after=55.0).items() if at != EDGES[lost]}
    for series in (silent, unasked):
        (one,) = booked((CPU, series))
        assert one.values.tolist() == [0.0, 55.0], "before and after the turns"
        assert one.around(CLOCK.measured_ns, TURNS[-1].end_ns) is None
        assert one.around(BEFORE, AFTER) is not None
    other = ("process/app-2", "cpu_user_s")
    both = booked((CPU, silent), (other, at_edges(values, after=55.0)))
    assert [one.values.size for one in both] == [2, 6], "others are not touched"


@pytest.mark.parametrize("at", range(6))
def test_a_label_that_came_up_in_the_turns_rises_from_there(at):
    """An error's first reading may be at any edge; that it was not there before is no silence."""
    values = [2, 6, 16, 23, 43, 52]
    answers = ("server/app-1", "answers_total/503")
    (one,) = booked((answers, dict(zip(EDGES[at:], values[at:], strict=True)) | {AFTER: 55}))
    inside = one.within(CLOCK.measured_ns, TURNS[-1].end_ns)
    whole = [n for n in range(3) if 2 * n >= at]  # turns with a reading at both of their edges
    rises = [values[2 * n + 1] - values[2 * n] for n in range(3)]
    assert np.diff(inside).tolist() == [rises[n] if n in whole else 0 for n in range(3)]
    assert one.values[-1] == 55 and one.around(CLOCK.measured_ns, TURNS[-1].end_ns)


def test_a_counter_that_began_anew_rose_since():
    """A process that was started again counts from 0; the rise is what it has counted since."""
    (one,) = booked((CPU, at_edges([1, 6, 16, 2, 4, 9], after=9)))
    assert np.diff(one.within(CLOCK.measured_ns, TURNS[-1].end_ns)).tolist() == [5, 2, 5]


def test_without_turns_readings_stay():
    """And without readings there are none."""
    frame = counters((CPU, at_edges(range(6))))
    assert book(frame, TrialClock(())).equals(frame)
    assert book(frame.clear(), CLOCK).is_empty()


def test_what_is_read_before_and_after_alone_stays():
    """Such as the rows of a table, which are too many to be counted at each turn."""
    rows = ("rows", "rows_stored/message")
    (one,) = booked((rows, {BEFORE: 5.0, AFTER: 9.0}))
    assert (one.times_ns.tolist(), one.values.tolist()) == ([BEFORE, AFTER], [5, 9])


def test_readings_come_in_the_order_of_time():
    """All series together, columns as they are stored."""
    free = ("host", "memory_available_bytes")
    series = (CPU, at_edges(range(6), after=9)), (free, at_edges(range(6)))
    frame = book(counters(*series), CLOCK)
    assert frame.columns == list(COUNTER_COLUMNS)
    assert frame["time_ns"].is_sorted()
    assert frame.height == 6 + 5
