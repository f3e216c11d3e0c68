"""Blocks that both sides have are compared; too few of them are not."""

import pytest

from sizebook.stats.intervals import ratio_interval
from sizebook.stats.pairing import COMMON_LEAST, pair_blocks


def test_blocks_that_one_side_lacks_are_left_out():
    """What remains is in the blocks' order on both sides, whatever the order of the values."""
    left = {3: 30.0, 0: 1.0, 1: 10.0, 2: 20.0}
    right = {1: 11.0, 0: 2.0, 3: 33.0, 7: 99.0}
    assert pair_blocks(left, right) == ([1.0, 10.0, 30.0], [2.0, 11.0, 33.0], True)


def test_the_same_blocks_are_paired_however_few():
    """One block is paired with itself, as is every number of blocks that both sides have."""
    assert pair_blocks({4: 1.0}, {4: 2.0}) == ([1.0], [2.0], True)


@pytest.mark.parametrize("right", [{}, {5: 1.0}, {0: 1.0, 1: 2.0, 5: 3.0}])
def test_too_few_common_blocks_leave_all_values(right):
    """Then every replicate counts and none is paired."""
    left = {0: 1.0, 1: 2.0, 2: 3.0}
    assert pair_blocks(left, right) == (list(left.values()), list(right.values()), False)


def test_two_common_blocks_tell_less_than_all_values():
    """Why two are too few: one degree of freedom, where Welch's interval has more."""
    left, right = {0: 10.0, 1: 11.0, 2: 10.5}, {0: 20.0, 1: 21.0, 5: 20.4}
    common = [left[0], left[1]], [right[0], right[1]]
    by_two = ratio_interval(*common, paired=True)
    a, b, paired = pair_blocks(left, right)
    by_all = ratio_interval(a, b, paired=paired)
    assert COMMON_LEAST == 3
    assert not paired
    assert by_all.high / by_all.low < by_two.high / by_two.low
