"""Order statistics of whole numbers: the k-th smallest, without sorting the others."""

from __future__ import annotations

import bisect
import math
import threading
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

_NARROW = np.iinfo(np.uint32)


class Ordered:
    """Whole numbers that are put into order as far as questions need it.

    Each question partitions the stretch in which its rank lies, between the ranks already known
    (quickselect: Hoare, Communications of the ACM 4, 1961, kept up over several ranks), so that
    five quantiles cost less than two. Values that all fit into 32 bits are kept in them: half the
    memory and half the time. Threads may ask at the same time.

    >>> latencies = Ordered([rows["latency_ns"]], rows.height)
    >>> latencies.higher(0.5), latencies.higher(0.99)
    """

    def __init__(self, parts: Iterable[NDArray[np.integer[Any]]], size: int) -> None:
        """Copy values that come in parts, together so many."""
        self._values = _joined(parts, size)
        self._lock = threading.Lock()
        self._known = [-1, size]
        """Ranks whose value is in its place, ascending; the first and the last are beyond it."""

    @property
    def size(self) -> int:
        """Number of values."""
        return int(self._values.size)

    def at(self, rank: int) -> int:
        """Return the value of a rank, 0 for the least. IndexError for one that is not there."""
        if not 0 <= rank < self.size:
            raise IndexError(f"rank {rank} of {self.size} values")
        with self._lock:
            place = bisect.bisect_left(self._known, rank)
            if self._known[place] != rank:
                begin, end = self._known[place - 1] + 1, self._known[place]
                self._values[begin:end].partition(rank - begin)
                self._known.insert(place, rank)
            return int(self._values[rank])

    def higher(self, q: float) -> int:
        """Return the quantile ``q`` (0 to 1), the greater one where it lies between two values.

        The number of ``numpy.quantile(..., method="higher")``. ValueError for no values or a ``q``
        out of range.
        """
        return self.at(math.ceil(self._rank(q)))

    def interpolated(self, q: float) -> float:
        """Return the quantile ``q`` (0 to 1) as ``numpy.quantile`` does, between two values.

        ValueError for no values or a ``q`` out of range.
        """
        rank = self._rank(q)
        below, above = self.at(math.floor(rank)), self.at(math.ceil(rank))
        return float(below + (rank - math.floor(rank)) * float(above - below))

    def _rank(self, q: float) -> float:
        if self.size == 0 or not 0 <= q <= 1:
            raise ValueError(f"quantile {q} of {self.size} values")
        return (self.size - 1) * q


def _joined(parts: Iterable[NDArray[np.integer[Any]]], size: int) -> NDArray[np.integer[Any]]:
    """Return the values of all parts, in 32 bits until one needs more."""
    values: NDArray[np.integer[Any]] = np.empty(size, dtype=np.uint32)
    first = 0
    for part in parts:
        fits = values.dtype != _NARROW.dtype or not part.size
        if not fits and (part.min() < _NARROW.min or part.max() > _NARROW.max):
            values = values.astype(np.int64)
        values[first : first + part.size] = part
        first += part.size
    if first != size:
        raise ValueError(f"{first} values instead of {size}")
    return values
