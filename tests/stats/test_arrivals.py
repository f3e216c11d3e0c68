"""Arrivals without a request: found one by one, whatever else was sent."""

from __future__ import annotations

import numpy as np
import pytest

from sizebook.stats.arrivals import unstarted

OFFSETS = np.array([0, 10, 10, 10, 25, 40])


@pytest.mark.parametrize(
    ("intended", "end", "left"),
    [
        ([100, 110, 110, 110, 125, 140], 200, []),
        ([140, 110, 100, 125], 200, [110, 110]),
        ([140, 110, 100, 125, 103, 117], 200, [110, 110]),
        ([], 126, [100, 110, 110, 110, 125]),
        ([110] * 9, 125, [100]),
        ([], 0, []),
    ],
)
def test_each_request_starts_one_arrival(intended, end, left):
    """Equal due times count by number; requests at other times and late arrivals do not matter."""
    found = unstarted(OFFSETS, np.array(intended, dtype=np.int64), 100, end)
    assert found.tolist() == left


def test_an_empty_schedule():
    """Nothing planned, nothing missing."""
    none = np.array([], dtype=np.int64)
    assert unstarted(none, np.array([5]), 0, 10).size == 0


@pytest.mark.parametrize("block", [1, 2, 3])
def test_blocks_do_not_change_the_answer(monkeypatch, block):
    """Arrivals due in the same nanosecond are counted together across the blocks' edges."""
    monkeypatch.setattr("sizebook.stats.groups.BLOCK", block)
    found = unstarted(OFFSETS, np.array([140, 110, 100, 125], dtype=np.int64), 100, 200)
    assert found.tolist() == [110, 110]
