"""Where two results begin to differ: last bits of numbers do not, everything else does."""

from __future__ import annotations

import math
from typing import Any

import pytest

from sizebook.book.audit.differences import find_difference, is_same
from sizebook.book.audit.outputs import Output

SUM = 0.1 + 0.2


def claim(**fields: Any) -> Output:
    """Return a result with these fields in its record."""
    return Output("chapters/x", 1, "x-1", (), "display_data", {}, {}, fields, 0)


def test_the_last_bits_of_a_sum_are_no_difference() -> None:
    """Terms that lie in another order give another last bit, and the same result."""
    assert SUM != 0.3
    shown, made = (claim(comparisons=[{"effect": each}]) for each in (SUM, 0.3))
    assert find_difference(shown, made) is None
    assert is_same({"value": SUM}, {"value": 0.3})


@pytest.mark.parametrize(
    ("one", "other"),
    [(0.3, 0.3 * (1 + 1e-9)), (0.0, 1e-300), (0.3, -0.3), (1.0, 1), (True, 1), (1.0, None),
     (math.nan, 1.0), (2**53, 2**53 + 1), ("0.3", "0.30000000000000004"), ([0.3], [0.3, 0.3])],
)  # fmt: skip
def test_whatever_is_more_is_a_difference(one: Any, other: Any) -> None:
    """Numbers that differ by more than last bits, whole numbers, other types, texts, lengths."""
    assert not is_same({"value": one}, {"value": other})
    found = find_difference(claim(value=one), claim(value=other))
    assert found is not None
    assert "value" in found.where
