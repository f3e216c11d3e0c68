"""Laws of the statistics, for inputs that a search makes up."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sizebook.stats import hdr
from sizebook.stats.equivalence import equivalence
from sizebook.stats.histograms import Interval as LogLine
from sizebook.stats.histograms import merge_intervals, read_interval_log, write_phase_log
from sizebook.stats.intervals import mean_interval, ratio_interval
from sizebook.stats.order import Ordered
from sizebook.stats.quantiles import highest_supported, is_supported, quantile_interval

LATENCIES = st.lists(st.integers(0, hdr.HIGHEST_NS), max_size=60)
REPLICATES = st.lists(st.floats(0.01, 1e6), min_size=2, max_size=12)
FACTORS = st.floats(1e-3, 1e3)


def histogram_of(values):
    made = hdr.new_histogram()
    hdr.record_many(made, np.array(values, dtype=np.int64))
    return made


def state_of(histogram):
    """Return all that a histogram holds."""
    counts = hdr.counts_of(histogram).copy()
    return counts.tolist(), histogram.total_count, histogram.min_value, histogram.max_value


@given(LATENCIES, LATENCIES, LATENCIES)
def test_histograms_merge_in_any_order(one, two, three):
    """As if all values had been recorded in one; and merging leaves the parts as they were."""
    a, b, c = map(histogram_of, (one, two, three))
    before = state_of(a)
    together = state_of(hdr.merge([a, b, c]))
    assert together == state_of(histogram_of(one + two + three))
    assert together == state_of(hdr.merge([c, hdr.merge([b, a])]))
    assert before == state_of(a)


@given(st.integers(0, hdr.HIGHEST_NS))
def test_a_bucket_holds_its_value_within_the_digits(value):
    """Buckets are neighbours, and none is wider than three digits allow."""
    index = hdr.bucket_indexes(np.array([value], dtype=np.int64))
    low, high = int(hdr.bucket_lowest_ns(index)[0]), int(hdr.bucket_highest_ns(index)[0])
    assert low <= value <= high
    assert high - low <= value / 10**hdr.SIGNIFICANT_DIGITS
    assert int(hdr.bucket_lowest_ns(index + 1)[0]) == high + 1


@given(LATENCIES, st.lists(st.floats(0, 100), min_size=2, max_size=8))
def test_percentiles_rise_with_their_rank(values, percents):
    """And lie between least and greatest value, to the bucket."""
    assume(values)
    made = histogram_of(values)
    found = hdr.percentiles_ns(made, sorted(percents))
    assert (np.diff(found) >= 0).all()
    ends = hdr.bucket_indexes(np.array([min(values), max(values)], dtype=np.int64))
    assert hdr.bucket_lowest_ns(ends)[0] <= found[0]
    assert found[-1] <= hdr.bucket_highest_ns(ends)[1]


@given(LATENCIES, st.sampled_from(["ok", "failed"]), st.text(min_size=1, max_size=20))
def test_a_histogram_log_comes_back(tmp_path_factory, values, outcome, name):
    """Written, read and merged: each bucket has its count."""
    assume(values)
    made = histogram_of(values)
    counts = hdr.counts_of(made).astype(np.int64)
    indexes = np.flatnonzero(counts)
    line = LogLine(5, 10**9, "latency", "measured", outcome, name, indexes, counts[indexes])
    path = tmp_path_factory.getbasetemp() / "laws.hlog"
    assert write_phase_log(path, [line, line], 0) == 1
    read = merge_intervals(read_interval_log(path), outcome=outcome)
    assert (hdr.counts_of(read) == 2 * hdr.counts_of(made)).all()


@given(st.lists(st.integers(-(2**62), 2**62), min_size=1, max_size=50), st.data())
def test_ordered_numbers_are_those_of_a_sort(values, data):
    """Whatever was asked before, and in however many parts they came."""
    cut = data.draw(st.integers(0, len(values)))
    parts = [np.array(part, dtype=np.int64) for part in (values[:cut], values[cut:])]
    ordered = Ordered(parts, len(values))
    ranks = data.draw(st.lists(st.integers(0, len(values) - 1), min_size=1, max_size=8))
    assert [ordered.at(rank) for rank in ranks] == [sorted(values)[rank] for rank in ranks]


@given(REPLICATES, FACTORS, st.floats(-1e3, 1e3), st.sampled_from(["t", "percentile"]))
def test_an_interval_moves_with_its_unit(values, factor, shift, method):
    """Milliseconds or seconds, from here or from there: the same interval."""
    found = mean_interval(values, method=method)
    moved = mean_interval([factor * value + shift for value in values], method=method)
    assume(found.method != "constant" and moved.method != "constant")
    size = factor * max(values) + abs(shift)
    for end in ("estimate", "low", "high"):
        expected = factor * getattr(found, end) + shift
        assert getattr(moved, end) == pytest.approx(expected, abs=1e-9 * size)


@given(REPLICATES, REPLICATES, FACTORS)
def test_a_ratio_has_no_unit_and_its_inverse_is_the_other_way_round(a, b, factor):
    """One over the ratio of a and b is that of b and a, its ends exchanged."""
    assume(np.ptp(np.log(a)) > 1e-6 and np.ptp(np.log(b)) > 1e-6)
    there, back = ratio_interval(a, b), ratio_interval(b, a)
    scaled = ratio_interval([factor * value for value in a], [factor * value for value in b])
    assert math.log(there.estimate) == pytest.approx(-math.log(back.estimate), abs=1e-9)
    assume(max(abs(math.log(end)) for end in (there.low, there.high) if end > 0) < 300)
    assume(there.low > 0 and math.isfinite(there.high))
    assert math.log(there.low) == pytest.approx(-math.log(back.high), rel=1e-6, abs=1e-9)
    assert math.log(there.low) == pytest.approx(math.log(scaled.low), rel=1e-6, abs=1e-6)


@given(REPLICATES, REPLICATES, st.floats(1.01, 10.0))
def test_equivalence_is_symmetric(a, b, margin):
    """Neither treatment is the first one; and a wider margin loses nothing."""
    try:
        found = equivalence(a, b, margin)
        other = equivalence(b, a, margin)
    except OverflowError:
        pytest.fail("an interval beyond what a double holds is a traceback")
    assert found.equivalent == other.equivalent
    if found.equivalent:
        assert equivalence(a, b, margin * 2).equivalent


@given(REPLICATES, st.floats(0.05, 0.95))
def test_an_interval_of_a_quantile_is_made_of_the_sample(values, q):
    """Around its estimate, with at least the coverage asked for."""
    found = quantile_interval(values, q, 0.8)
    if found.low is not None:
        assert {found.low, found.high} <= set(values)
        assert found.low <= found.estimate <= found.high
        assert found.coverage >= 0.8


@given(st.integers(0, 10**7))
def test_the_highest_supported_percentile_is_supported(n):
    highest = highest_supported(n)
    assert highest is None or is_supported(highest - 1e-9, n)
