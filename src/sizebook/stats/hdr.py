"""HdrHistograms of nanoseconds, filled and read in bulk.

One layout everywhere: 1 ns to one hour at three significant digits, so that all histograms merge
and a value read back is at most 0.1 % (1/1024) above the value that went in. The package
``hdrhistogram`` (a port of Gil Tene's HdrHistogram, http://hdrhistogram.org) records one value at
a time, some 1.6 million a second; here the bucket of every value is computed with numpy and
the counts are added at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from hdrh.histogram import HdrHistogram
from numpy.typing import NDArray

LOWEST_NS = 1
HIGHEST_NS = 3_600_000_000_000
SIGNIFICANT_DIGITS = 3

_HALF_MAGNITUDE = 10
"""log2 of half the sub-buckets: 2 * 10^3 values need 2048 sub-buckets."""
_SUB_BUCKETS = 2 << _HALF_MAGNITUDE
_CHUNK = 1 << 20
"""Values handled at a time, so that temporary arrays stay in the cache of the CPU."""


def new_histogram() -> HdrHistogram:
    """Return an empty histogram in the project's layout."""
    return HdrHistogram(LOWEST_NS, HIGHEST_NS, SIGNIFICANT_DIGITS)


def bucket_indexes(values_ns: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the index into the histogram's counts for each value.

    Raises ValueError for a value below 0 or above one hour: neither is a latency. The index is
    the one of ``HdrHistogram._counts_index_for``, whose power of two comes here from the exponent
    of the value as a double (exact below 2^53).
    """
    out = np.empty(values_ns.size, dtype=np.int32)
    for first in range(0, values_ns.size, _CHUNK):
        part = values_ns[first : first + _CHUNK]
        if part.min() < 0 or part.max() > HIGHEST_NS:
            raise ValueError(
                f"latencies from {part.min()} to {part.max()} ns; expected 0 to {HIGHEST_NS} ns"
            )
        bits = np.frexp((part | (_SUB_BUCKETS - 1)).astype(np.float64))[1]
        bucket = bits.astype(np.int64) - (_HALF_MAGNITUDE + 1)
        offset = (part >> bucket) - (_SUB_BUCKETS >> 1)
        out[first : first + _CHUNK] = ((bucket + 1) << _HALF_MAGNITUDE) + offset
    return out


def bucket_lowest_ns(indexes: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the lowest value that falls into each bucket, in ns."""
    return _lowest_and_width(indexes)[0]


def bucket_highest_ns(indexes: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the highest value that falls into each bucket, in ns."""
    lowest, width = _lowest_and_width(indexes)
    return lowest + width - 1


def counts_of(histogram: HdrHistogram) -> NDArray[np.uint64]:
    """Return the histogram's counts by bucket as an array that shares its memory."""
    return np.frombuffer(histogram.counts, dtype=np.uint64)


def record_many(histogram: HdrHistogram, values_ns: NDArray[np.int64]) -> None:
    """Add every value to the histogram, as so many calls of ``record_value`` would."""
    if values_ns.size == 0:
        return
    counts = np.bincount(bucket_indexes(values_ns), minlength=histogram.counts_len)
    counts_of(histogram)[:] += counts.astype(np.uint64)
    histogram.total_count += int(values_ns.size)
    histogram.min_value = min(histogram.min_value, int(values_ns.min()))
    histogram.max_value = max(histogram.max_value, int(values_ns.max()))


def record_counts(
    histogram: HdrHistogram, indexes: NDArray[np.integer], counts: NDArray[np.integer]
) -> None:
    """Add counts by bucket, each bucket named at most once.

    Least and greatest value are then known to the bucket only: its lowest and highest value.
    """
    if indexes.size == 0:
        return
    counts_of(histogram)[indexes] += counts.astype(np.uint64)
    histogram.total_count += int(counts.sum())
    ends = np.array([indexes.min(), indexes.max()])
    histogram.min_value = min(histogram.min_value, int(bucket_lowest_ns(ends)[0]))
    histogram.max_value = max(histogram.max_value, int(bucket_highest_ns(ends)[1]))


def clear(histogram: HdrHistogram) -> None:
    """Empty the histogram (its own ``reset`` takes a millisecond and more)."""
    counts_of(histogram)[:] = 0
    fresh = _EMPTY
    histogram.total_count = 0
    histogram.min_value, histogram.max_value = fresh.min_value, fresh.max_value


def merge(histograms: Iterable[HdrHistogram]) -> HdrHistogram:
    """Return a new histogram that holds the values of all, which stay as they are.

    This is how workers, seconds and replicates are joined: counts add, percentiles never do.
    """
    merged = new_histogram()
    into = counts_of(merged)
    for part in histograms:
        if part.total_count == 0:
            continue
        into[:] += counts_of(part)
        merged.total_count += part.total_count
        merged.min_value = min(merged.min_value, part.min_value)
        merged.max_value = max(merged.max_value, part.max_value)
    return merged


def percentiles_ns(histogram: HdrHistogram, percents: Sequence[float]) -> NDArray[np.float64]:
    """Return the value at each percentile (0 to 100) in ns; NaN for an empty histogram.

    The same numbers as ``get_value_at_percentile``: the highest value of the bucket in which the
    rank ``round(p/100 * n)``, at least 1, falls. Whether ``n`` supports the percentile is for
    ``stats.quantiles`` to say.
    """
    wanted = np.asarray(percents, dtype=np.float64)
    if wanted.size and (wanted.min() < 0 or wanted.max() > 100):
        raise ValueError(f"percentiles {list(percents)}; expected 0 to 100")
    if histogram.total_count == 0:
        return np.full(wanted.size, np.nan)
    ranks = np.maximum((wanted * histogram.total_count / 100 + 0.5).astype(np.int64), 1)
    cumulative = np.cumsum(counts_of(histogram).astype(np.int64))
    indexes = np.searchsorted(cumulative, ranks, side="left")
    ends = np.where(wanted > 0, bucket_highest_ns(indexes), bucket_lowest_ns(indexes))
    return ends.astype(np.float64)


def mean_ns(histogram: HdrHistogram) -> float:
    """Return the mean of the recorded values in ns (mid-points of buckets), NaN when empty."""
    counts = counts_of(histogram)
    indexes = np.flatnonzero(counts)
    if indexes.size == 0:
        return float("nan")
    lowest, width = _lowest_and_width(indexes)
    return float(np.average(lowest + (width >> 1), weights=counts[indexes].astype(np.float64)))


def _lowest_and_width(
    indexes: NDArray[np.integer],
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    index = indexes.astype(np.int64)
    bucket = (index >> _HALF_MAGNITUDE) - 1
    half = _SUB_BUCKETS >> 1
    sub_bucket = (index & (half - 1)) + np.where(bucket < 0, 0, half)
    bucket = np.maximum(bucket, 0)
    return sub_bucket << bucket, np.int64(1) << bucket


_EMPTY = new_histogram()
