"""In which order treatments take their turns."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise

import pytest

from sizebook.lab.turn_order import balanced_rows, lay_out_turns, order_rounds
from sizebook.model.load import Turns


@pytest.mark.parametrize("treatments", range(2, 12))
def test_each_follows_each_other_equally_often(treatments):
    """Within the rows of the square; and each has each place equally often."""
    rows = balanced_rows(treatments)
    assert len(rows) == treatments * (1 if treatments % 2 == 0 else 2)
    assert all(sorted(row) == list(range(treatments)) for row in rows)
    pairs = Counter(pair for row in rows for pair in pairwise(row))
    assert len(pairs) == treatments * (treatments - 1)
    assert len(set(pairs.values())) == 1
    places = Counter((place, one) for row in rows for place, one in enumerate(row))
    assert len(set(places.values())) == 1


def test_one_treatment_is_its_own_order():
    """Nothing to balance, and no endless search."""
    assert balanced_rows(1) == [[0], [0]]
    assert order_rounds(1, 3, "s") == [[0]] * 3


@pytest.mark.parametrize("treatments", [2, 3, 4, 7])
def test_rounds_are_whole_and_all_rows_come_before_one_returns(treatments):
    """Whatever the seed; the same seed gives the same rounds, another one others."""
    rows = len(balanced_rows(treatments))
    found = order_rounds(treatments, 2 * rows + 1, "seed")
    assert len(found) == 2 * rows + 1
    assert all(sorted(each) == list(range(treatments)) for each in found)
    for part in (found[:rows], found[rows : 2 * rows]):
        pairs = Counter(pair for row in part for pair in pairwise(row))
        assert len(set(pairs.values())) == 1
    assert order_rounds(treatments, 2 * rows + 1, "seed") == found
    others = {str(order_rounds(treatments, 2 * rows + 1, f"seed {n}")) for n in range(8)}
    assert len(others) > 1


def test_turns_follow_each_other_without_a_gap():
    """Each has one a round, all of one length."""
    orders = [[0, 2, 1], [1, 0, 2]]
    begins = [one.begins_ns for one in lay_out_turns(orders, Turns(turn_s=2, settle_s=0.2))]
    s = 1_000_000_000
    assert begins == [(0, 8 * s), (4 * s, 6 * s), (2 * s, 10 * s)]
