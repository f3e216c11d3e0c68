"""Sums, extremes and ends of groups of rows, in one pass over arrays of any length.

Users and passes of a scenario are numbered from 0 without large gaps, so that a group's number is
its place in a table: ten million rows take a few hundredths of a second, sorting them seconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

BLOCK = 1 << 15
"""Rows handled at a time, so that temporary arrays stay in the cache of the CPU."""
_SPARSE = 4
"""Numbers a row beyond which a table by number would be larger than sorting is slow."""


def blocks(size: int, length: int | None = None) -> Iterator[slice]:
    """Yield slices of ``length`` rows (``BLOCK``) that together cover so many, in their order."""
    length = BLOCK if length is None else length
    for first in range(0, size, length):
        yield slice(first, min(first + length, size))


def is_ascending(values: NDArray[Any]) -> bool:
    """Return whether no value is less than the one before it."""
    return all(
        bool((values[part][1:] >= values[part][:-1]).all())
        and (part.start == 0 or bool(values[part.start] >= values[part.start - 1]))
        for part in blocks(values.size)
    )


def tally(codes: NDArray[np.integer[Any]], least_length: int = 0) -> NDArray[np.int64]:
    """Return how often each number from 0 to the largest occurs; numbers are not negative."""
    length = max(int(codes.max()) + 1 if codes.size else 0, least_length)
    counts = np.zeros(length, dtype=np.int64)
    if length == 1:
        counts[0] = codes.size
        return counts
    for part in blocks(codes.size):
        found = np.bincount(codes[part])
        counts[: found.size] += found
    return counts


class Groups:
    """Rows that share a key, or several keys; results are in ascending order of the keys.

    Values given to the methods have one element a row, keys are whole numbers from 0.
    """

    def __init__(self, *keys: NDArray[np.unsignedinteger[Any]]) -> None:
        """Take one array of keys or more, all of one length. ValueError for other lengths."""
        if len({key.size for key in keys}) != 1:
            raise ValueError(f"keys for {[key.size for key in keys]} rows")
        codes, self._names = _coded(keys)
        counts = tally(codes)
        self._codes, self._there = codes, counts > 0
        self.counts: NDArray[np.int64] = counts[self._there]
        """Rows of each group, at least one."""

    def keys(self) -> NDArray[Any]:
        """Return the groups' keys; of several keys, running numbers."""
        numbers = np.flatnonzero(self._there)
        return numbers if self._names is None else self._names[numbers]

    def sum(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return each group's sum of whole numbers, or of bools: how many are true."""
        chosen = values if values.dtype == np.bool_ else None
        return self._table(np.add, values, 0, chosen)

    def min(
        self, values: NDArray[Any], where: NDArray[np.bool_] | None = None
    ) -> NDArray[np.int64]:
        """Return each group's least value, of the chosen rows; without one the largest int64."""
        return self._table(np.minimum, values, np.iinfo(np.int64).max, where)

    def max(self, values: NDArray[Any], plus: NDArray[Any] | None = None) -> NDArray[np.int64]:
        """Return each group's greatest value, or its greatest sum with another one of the row."""
        return self._table(np.maximum, values, np.iinfo(np.int64).min, plus=plus)

    def last(self) -> NDArray[np.int64]:
        """Return the place of each group's last row."""
        return self._ends(reversed(list(blocks(self._codes.size))), 1)

    def first(self) -> NDArray[np.int64]:
        """Return the place of each group's first row."""
        return self._ends(blocks(self._codes.size), -1)

    def _ends(self, parts: Iterable[slice], step: int) -> NDArray[np.int64]:
        """Return the place of the row by which each group is met, going from part to part.

        Of a group's rows within a part the last one counts, in steps of ``step``. Few groups, as
        of users, are soon all met, and the parts that are left are not looked at.
        """
        places = np.full(self._there.size, -1, dtype=np.int64)
        for part in parts:
            codes, rows = self._codes[part][::step], np.arange(part.start, part.stop)[::step]
            new = places[codes] < 0
            places[codes[new]] = rows[new]
            if places.size <= BLOCK and bool((places[self._there] >= 0).all()):
                break
        return places[self._there]

    def _table(
        self,
        combine: np.ufunc,
        values: NDArray[Any],
        start: int,
        where: NDArray[np.bool_] | None = None,
        plus: NDArray[Any] | None = None,
    ) -> NDArray[np.int64]:
        table = np.full(self._there.size, start, dtype=np.int64)
        for part in blocks(self._codes.size):
            codes = self._codes[part].astype(np.intp)
            given = values[part] if plus is None else values[part] + plus[part]
            if where is not None and not where[part].all():
                codes, given = codes[where[part]], given[where[part]]
            combine.at(table, codes, given.astype(np.int64, copy=False))
        return table[self._there]


def _coded(
    keys: tuple[NDArray[np.unsignedinteger[Any]], ...],
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return one number a row, and what the numbers stand for where they are not the key."""
    rows = keys[0].size
    if rows == 0:
        return np.zeros(0, dtype=np.int64), None
    limits = [int(key.max()) + 1 for key in keys]
    room = int(np.prod([float(limit) for limit in limits]))
    if len(keys) == 1 and room <= _SPARSE * rows + BLOCK:
        return keys[0], None
    if room > np.iinfo(np.int64).max:
        raise ValueError(f"keys up to {limits} have no common number")
    codes = keys[0].astype(np.int64)
    for key, limit in zip(keys[1:], limits[1:], strict=True):
        codes *= limit
        codes += key
    if room <= _SPARSE * rows + BLOCK:
        return codes, None
    names, codes = np.unique(codes, return_inverse=True)
    return codes, names
