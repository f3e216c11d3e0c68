"""Windows of a trial: counts and levels by hand, mixes of names, degenerate sizes."""

import math

import numpy as np
import pytest

from sizebook.stats.windows import choose_width, windows

SECOND = 1_000_000_000


def table(ends, latencies, names=None):
    """Return the four arrays of requests that ended so: 3 ns after they started."""
    names = [0] * len(ends) if names is None else names
    starts, services = np.array(ends, np.int64) - 3, np.full(len(ends), 3, np.int64)
    return starts, services, np.array(latencies, np.int64), np.array(names, np.uint16)


def test_counts_and_levels_by_hand():
    """Half-open windows, the rest left out; the level is the ratio to the geometric mean."""
    ends = [-1, 0, SECOND - 1, SECOND, 2 * SECOND, 2 * SECOND + 1, 3 * SECOND]
    latencies = [999, 100, 100, 400, 7, 7, 7]
    throughput, level = windows(*table(ends, latencies), 0, 2 * SECOND + SECOND // 2, SECOND)
    middle = (100 * 100 * 400) ** (1 / 3)
    assert throughput.tolist() == [2.0, 1.0]
    assert level == pytest.approx([100 / middle, 400 / middle])


def test_the_mix_of_names_does_not_move_the_level():
    """A slow request name that comes later is no slower level."""
    ends = np.arange(0, 40) * SECOND // 10
    names = np.where(ends < 2 * SECOND, 0, 1)
    latencies = np.where(names == 0, 1_000, 900_000)
    throughput, level = windows(*table(ends, latencies, names), 0, 4 * SECOND, SECOND)
    assert throughput.tolist() == [10.0] * 4
    assert level == pytest.approx([1.0] * 4)


def test_an_empty_window_has_no_level():
    """Nothing ended: throughput 0, level NaN, the neighbours untouched."""
    throughput, level = windows(*table([5, 25], [10, 10]), 0, 30, 10)
    assert throughput.tolist() == [1e8, 0.0, 1e8]
    assert level[[0, 2]] == pytest.approx([1.0, 1.0]) and math.isnan(level[1])


def test_parts_agree_with_the_whole(monkeypatch):
    """Rows handled in many parts give the numbers of one part; zero latencies count as 1 ns."""
    random = np.random.default_rng(1)
    rows = table(
        random.integers(-100, 1100, 5000), random.integers(0, 90, 5000), random.integers(0, 4, 5000)
    )
    whole = windows(*rows, 0, 1000, 100)
    monkeypatch.setattr("sizebook.stats.windows._BLOCK", 37)
    parts = windows(*rows, 0, 1000, 100)
    assert np.allclose(whole[0], parts[0]) and np.allclose(whole[1], parts[1])
    starts, services, latencies, names = rows
    ends = starts + services
    inside = (ends >= 300) & (ends < 400)
    counted = (ends >= 0) & (ends < 1000)
    logs = np.log(np.maximum(latencies, 1))
    own = [logs[inside & (names == k)] - logs[counted & (names == k)].mean() for k in range(4)]
    assert whole[1][3] == pytest.approx(math.exp(np.concatenate(own).mean()))


@pytest.mark.parametrize("stop", [0, 9])
def test_no_whole_window(stop):
    """A span narrower than a window has no windows."""
    throughput, level = windows(*table([5], [1]), 0, stop, 10)
    assert throughput.size == level.size == 0


def test_no_requests():
    """No request at all: windows without throughput and without level."""
    throughput, level = windows(*table([], []), 0, 30, 10)
    assert throughput.tolist() == [0.0] * 3 and np.isnan(level).all()


def test_nonsense_is_refused():
    """Arrays of unequal length and windows of no width are bugs of the caller."""
    two, one = np.zeros(2, np.int64), np.zeros(1, np.int64)
    with pytest.raises(ValueError, match="2 starts, 2 service times, 1 latencies"):
        windows(two, two, one, two, 0, 9, 1)
    with pytest.raises(ValueError, match="windows of 0 ns"):
        windows(*table([1], [1]), 0, 9, 0)
    with pytest.raises(ValueError, match="negative code"):
        windows(*table([1], [1])[:3], np.array([-1]), 0, 9, 1)


@pytest.mark.parametrize(
    ("count", "length_ns", "number"),
    [
        (1_000_000, 60 * SECOND, 40),
        (250, 60 * SECOND, 25),
        (100, 60 * SECOND, 10),
        (99, 60 * SECOND, None),
        (1_000_000, SECOND // 4, 25),
        (1_000_000, SECOND // 11, None),
        (0, 0, None),
    ],
)
def test_width(count, length_ns, number):
    """About 40 windows of ten requests and 10 ms at least; none where that leaves under ten."""
    width = choose_width(count, length_ns)
    assert (None if width is None else length_ns // width) == number


def test_width_refuses_negative():
    """A negative length is a bug of the caller."""
    with pytest.raises(ValueError, match="-1 requests"):
        choose_width(-1, 5)
