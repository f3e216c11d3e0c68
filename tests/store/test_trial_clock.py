"""The own time of a trial that took turns."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sizebook.model.bundle import PhaseMark, TurnMark
from sizebook.store.trial_clock import TrialClock

TURNS = tuple(
    TurnMark(begin_ns=at, from_ns=at + 10, end_ns=at + 100) for at in (1_000, 1_300, 1_400)
)
MARKS = (
    PhaseMark(name="warm-up", begin_ns=500, end_ns=1_000),
    PhaseMark(name="measured", begin_ns=1_000, end_ns=1_500),
    PhaseMark(name="drain", begin_ns=1_500, end_ns=1_700),
)


@st.composite
def some_turns(draw):
    """Turns that follow each other, at once or later, with a first part of some length or none."""
    turns, at = [], draw(st.integers(0, 10**12))
    for _ in range(draw(st.integers(1, 8))):
        at += draw(st.integers(0, 10**6))
        settle, counted = draw(st.integers(0, 10**6)), draw(st.integers(1, 10**6))
        end = at + settle + counted
        turns.append(TurnMark(begin_ns=at, from_ns=at + settle, end_ns=end))
        at = end
    return tuple(turns)


def test_what_counted_is_in_one_piece():
    """By hand: 90 ns of each turn, one after the other; what lies between comes before."""
    clock = TrialClock(TURNS)
    assert clock.measured_ns == 1_500 - 3 * 90
    times = np.array([999, 1_000, 1_010, 1_099, 1_100, 1_310, 1_399, 1_400, 1_410, 1_499, 1_500])
    assert clock.own(times).tolist() == [
        999, 1_000, 1_230, 1_319, 1_010, 1_320, 1_409, 1_220, 1_410, 1_499, 1_500,
    ]  # fmt: skip
    phases = [(mark.name, mark.begin_ns, mark.end_ns) for mark in clock.phases(MARKS)]
    assert phases == [
        ("warm-up", 500, 1_000), ("between", 1_000, 1_230), ("measured", 1_230, 1_500),
        ("drain", 1_500, 1_700),
    ]  # fmt: skip


@given(turns=some_turns())
def test_there_and_back(turns):
    """The wall's time is found again, at each edge and between them."""
    clock = TrialClock(turns)
    edges = [edge for turn in turns for edge in (turn.begin_ns, turn.from_ns, turn.end_ns)]
    times = np.array(sorted({at + by for at in edges for by in (-1, 0, 1)}), dtype=np.int64)
    assert clock.wall(clock.own(times)).tolist() == times.tolist()
    assert clock.own(clock.wall(times)).tolist() == times.tolist()


def test_without_turns_nothing_moves():
    """A trial whose load was its own throughout has the wall's clock."""
    clock = TrialClock(())
    assert not clock
    assert clock.own(np.arange(5)).tolist() == [0, 1, 2, 3, 4]
    assert clock.wall(np.arange(5)).tolist() == [0, 1, 2, 3, 4]
    assert clock.phases(MARKS) == MARKS


@given(some_turns())
def test_no_time_is_lost_and_none_comes_twice(turns):
    """Own time is the same ns in another order: one to one, within the turns' whole span."""
    clock = TrialClock(turns)
    first, last = turns[0].begin_ns, turns[-1].end_ns
    edges = sorted({first, last, *(at for t in turns for at in (t.from_ns, t.end_ns))})
    pieces = [clock.own(np.array([a, b - 1])).tolist() for a, b in itertools.pairwise(edges)]
    pieces.sort()
    assert pieces[0][0] == first
    assert pieces[-1][1] == last - 1
    assert all(one[1] + 1 == other[0] for one, other in itertools.pairwise(pieces))
    outside = np.array([0, first - 1, last, last + 7])
    assert clock.own(outside).tolist() == outside.tolist()


@given(some_turns())
def test_lengths_within_a_piece_stay(turns):
    """A latency that begins and ends in one turn is as long in own time."""
    clock = TrialClock(turns)
    for at, turn in enumerate(turns):
        own = clock.own(np.array([turn.from_ns, turn.end_ns - 1]))
        assert own[1] - own[0] == turn.end_ns - 1 - turn.from_ns
        assert own[1] + 1 == clock.ends_ns[at]


def test_a_turn_without_a_first_part_counts_from_its_begin():
    """Two turns at once after each other, of which all counts."""
    turns = [TurnMark(begin_ns=at, from_ns=at, end_ns=at + 50) for at in (0, 50)]
    clock = TrialClock(turns)
    assert clock.own(np.arange(100)).tolist() == list(range(100))
    assert clock.measured_ns == 0


@pytest.mark.parametrize("name", ["from_ns", "end_ns"])
def test_edges_are_those_of_the_wall(name):
    """By which the counters are read."""
    clock = TrialClock(TURNS)
    assert getattr(clock, name).tolist() == [getattr(turn, name) for turn in TURNS]
