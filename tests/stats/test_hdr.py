"""Bulk histograms against the package's own, one value at a time, and against numpy."""

import sys

import numpy as np
import pytest

from sizebook.stats import hdr

EDGES = np.concatenate([np.arange(5000), 2 ** np.arange(42), 2 ** np.arange(1, 42) - 1])
EDGES = np.append(EDGES[EDGES <= hdr.HIGHEST_NS], hdr.HIGHEST_NS).astype(np.int64)
SAMPLE = np.random.default_rng(1).lognormal(14, 1, 20_000).astype(np.int64)
PERCENTS = (0, 1, 25, 50, 75, 90, 95, 99, 99.9, 100)


def one_by_one(values):
    histogram = hdr.new_histogram()
    for value in values:
        assert histogram.record_value(int(value))
    return histogram


@pytest.mark.parametrize("values", [EDGES, SAMPLE, SAMPLE[:1], SAMPLE[:0]])
def test_bulk_equals_one_by_one(values):
    """Recording many at once leaves exactly the counts that single calls leave."""
    bulk, single = hdr.new_histogram(), one_by_one(values)
    hdr.record_many(bulk, values)
    assert (hdr.counts_of(bulk) == hdr.counts_of(single)).all()
    assert (bulk.total_count, bulk.min_value, bulk.max_value) == (
        single.total_count,
        single.min_value,
        single.max_value,
    )


@pytest.mark.parametrize("values", [EDGES, SAMPLE, SAMPLE[:1]])
def test_percentiles_and_mean_equal_the_packages(values):
    """Percentiles and mean are those of the package."""
    histogram = one_by_one(values)
    expected = [histogram.get_value_at_percentile(p) for p in PERCENTS]
    assert list(hdr.percentiles_ns(histogram, PERCENTS)) == expected
    assert hdr.mean_ns(histogram) == pytest.approx(histogram.get_mean_value(), rel=1e-12)


def test_percentiles_are_exact_to_three_digits():
    """A percentile is within 0.1 % of the sorted value of its rank, and near numpy's."""
    histogram = hdr.new_histogram()
    hdr.record_many(histogram, SAMPLE)
    ranks = np.floor(np.array(PERCENTS[1:]) * SAMPLE.size / 100 + 0.5).astype(int)
    found = hdr.percentiles_ns(histogram, PERCENTS[1:])
    assert found == pytest.approx(np.sort(SAMPLE)[ranks - 1], rel=1e-3)
    assert found[:-2] == pytest.approx(np.percentile(SAMPLE, PERCENTS[1:-2]), rel=5e-3)


def test_buckets_hold_their_values():
    """Each value lies between the ends of its bucket."""
    indexes = hdr.bucket_indexes(EDGES)
    assert (hdr.bucket_lowest_ns(indexes) <= EDGES).all()
    assert (hdr.bucket_highest_ns(indexes) >= EDGES).all()


def test_empty_histogram_has_no_numbers():
    """Nothing recorded: percentiles and mean are NaN, not zero."""
    empty = hdr.new_histogram()
    assert np.isnan(hdr.percentiles_ns(empty, [50, 99])).all()
    assert np.isnan(hdr.mean_ns(empty))


@pytest.mark.parametrize("bad", [-1, hdr.HIGHEST_NS + 1])
def test_impossible_latency_is_refused(bad):
    """A negative latency or one above an hour is an error, not a count in some bucket."""
    with pytest.raises(ValueError, match="latencies from"):
        hdr.record_many(hdr.new_histogram(), np.array([5, bad]))


@pytest.mark.parametrize("bad", [-1, 100.5])
def test_impossible_percentile_is_refused(bad):
    """Percentiles go from 0 to 100."""
    with pytest.raises(ValueError, match="expected 0 to 100"):
        hdr.percentiles_ns(hdr.new_histogram(), [bad])


def test_merge_is_the_histogram_of_all():
    """Merging parts equals recording everything in one; the parts stay as they are."""
    parts = [hdr.new_histogram() for _ in range(4)]
    for part, values in zip(parts, np.array_split(SAMPLE, 3), strict=False):
        hdr.record_many(part, values)
    whole = hdr.new_histogram()
    hdr.record_many(whole, SAMPLE)
    merged = hdr.merge(parts)
    assert merged.equals(whole)
    assert merged.min_value == whole.min_value
    assert parts[0].total_count == len(np.array_split(SAMPLE, 3)[0])


def test_clear_leaves_a_new_histogram():
    """A cleared histogram is as good as a new one."""
    histogram = hdr.new_histogram()
    hdr.record_many(histogram, SAMPLE)
    hdr.clear(histogram)
    hdr.record_many(histogram, EDGES)
    assert histogram.equals(one_by_one(EDGES))


def test_recording_takes_no_step_a_value():
    """It is vectorised: a thousand times the values take as many calls of Python."""

    def calls(count):
        values = np.random.default_rng(2).integers(10_000, 10_000_000, count)
        seen = []
        sys.setprofile(lambda frame, event, argument: seen.append(event))
        try:
            hdr.record_many(hdr.new_histogram(), values)
        finally:
            sys.setprofile(None)
        return len(seen)

    # Each bucket in use is one step; nearly all are after a thousand values.
    assert 0 < calls(1_000_000) < 1_000_000 / 10
