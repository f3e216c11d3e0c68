"""Side by side: the order of rounds, what is kept, ratios within a round."""

import pytest
from bench.pairs import interleaved, paired_ratio, side_by_side
from bench.records import Repeated


def test_the_order_turns_round():
    """A B B A A B: a drift of the machine weighs on both alike."""
    order = interleaved(["A", "B"], 3)
    assert [name for _, name in order] == ["A", "B", "B", "A", "A", "B"]
    assert [number for number, _ in order] == [0, 0, 1, 1, 2, 2]


def test_no_round_and_no_competitor_measure_nothing():
    """Degenerate sizes give nothing."""
    assert interleaved(["A"], 0) == []
    assert side_by_side({}, 5) == {}


def test_every_competitor_is_measured_once_a_round():
    """Measurement i of each comes from round i, whatever its place in the round was."""
    clock = iter(range(100))
    found = side_by_side({name: lambda: next(clock) for name in "AB"}, 4)
    assert found == {"A": [0, 3, 4, 7], "B": [1, 2, 5, 6]}


def test_ratios_are_made_within_rounds():
    """A machine that is twice as fast in one round changes no ratio."""
    ratio = paired_ratio(Repeated(values=(10.0, 20.0, 12.0)), Repeated(values=(5.0, 10.0, 4.0)))
    assert ratio.values == (2.0, 2.0, 3.0)
    assert (ratio.median, ratio.low, ratio.high) == (2.0, 2.0, 3.0)


def test_unlike_rounds_cannot_be_paired():
    """A missing round is an error, not a shorter result."""
    with pytest.raises(ValueError, match="argument 2 is longer"):
        paired_ratio(Repeated(values=(1.0,)), Repeated(values=(1.0, 2.0)))
