"""A bundle's requests by column: arrays that are read when first asked for, and parts of them.

A frame of ten million requests with all columns takes a gigabyte as soon as it is filtered. Most
questions need two or three columns of one phase, and rows lie in the order in which requests
started: a phase is nearly always one run of rows, so that its columns are views.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Iterator
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sizebook.model.errors import BundleError
from sizebook.store.thread_cache import Once
from sizebook.store.words import coded

_Made = TypeVar("_Made")

_BLOCK = 1 << 15
"""Rows handled at a time, so that temporary arrays stay in the cache of the CPU."""
_TWINS = {"latency_ns": "service_ns", "intended_ns": "start_ns"}
"""Columns that are the same as another one in closed loops."""


class ColumnStore:
    """Columns as they were read, each once; columns with the same values share one array.

    Threads may ask at the same time.
    """

    def __init__(self, read: Callable[[str], pl.Series]) -> None:
        """Take what gives a column by its name."""
        self._give = read
        self._reading = threading.Lock()
        self._arrays = Once[str, NDArray[Any]]()
        self._coded = Once[str, tuple[tuple[str, ...], NDArray[Any]]]()

    def array(self, column: str) -> NDArray[Any]:
        """Return a column of numbers."""
        return self._arrays.get(column, lambda: self._read_array(column))

    def coded(self, column: str) -> tuple[tuple[str, ...], NDArray[Any]]:
        """Return the words of a column, sorted, and each row's place among them."""
        return self._coded.get(column, lambda: coded(self._read(column)))

    def _read(self, column: str) -> pl.Series:
        """Read a column, one at a time: polars keeps all CPUs busy with it, and memory is spared.

        A column takes twice its size while it is read; the next one takes the same memory again.
        """
        with self._reading:
            return _without_gaps(self._give(column))

    def _read_array(self, column: str) -> NDArray[Any]:
        series = self._read(column)
        parts = [part.to_numpy() for part in series.get_chunks()]
        if column in _TWINS and _are(parts, twin := self.array(_TWINS[column])):
            return twin
        return _joined(parts)


class RequestColumns:
    """Requests by column, all of a bundle or a part of them, in the order of their start.

    ``columns["start_ns"]`` is an array with one value a request, to be read and not changed: a
    view wherever the part is one run of rows. Times are CLOCK_MONOTONIC in ns, as int64; counts
    and numbers come in the smallest unsigned type that holds the column, so add them up with
    ``dtype=np.int64``. Columns of words (``name``, ``error``, ``phase``) come as ``words`` and
    ``codes``. All raise BundleError where the table lacks the column or values in it. Threads may
    ask at the same time.

    >>> good = bundle.columns.only("phase", "measured").only("error", "")
    >>> np.median(good["latency_ns"])
    """

    def __init__(
        self, store: ColumnStore, span: slice, mask: NDArray[np.bool_] | None = None
    ) -> None:
        """Take the rows of a span, of which a mask says which ones are meant; None: all."""
        self._store, self._span, self._mask = store, span, mask
        self._parts = Once[tuple[str, str | int], RequestColumns]()
        self._made = Once[Hashable, object]()
        self._picked: tuple[NDArray[Any], NDArray[Any]] | None = None

    @classmethod
    def of(cls, frame: pl.DataFrame) -> RequestColumns:
        """Return the columns of a frame of requests."""
        return cls(ColumnStore(frame.get_column), slice(0, frame.height))

    @cached_property
    def height(self) -> int:
        """Number of requests."""
        if self._mask is not None:
            return int(np.count_nonzero(self._mask))
        return int(self._span.stop - self._span.start)

    def __getitem__(self, column: str) -> NDArray[Any]:
        whole = self._store.array(column)
        if self._mask is None:
            return whole[self._span]
        # A copy, so that only the last one is kept: questions about a column follow one another.
        picked = self._picked
        if picked is None or picked[0] is not whole:
            self._picked = picked = whole, whole[self._span][self._mask]
        return picked[1]

    def in_blocks(self, column: str) -> Iterator[NDArray[Any]]:
        """Yield a column in parts that stay in the cache of the CPU, without a copy of it all."""
        whole = self._store.array(column)
        for first in range(self._span.start, self._span.stop, _BLOCK):
            part = whole[first : min(first + _BLOCK, self._span.stop)]
            if self._mask is not None:
                begin = first - self._span.start
                part = part[self._mask[begin : begin + _BLOCK]]
            yield part

    def once(self, what: Hashable, columns: tuple[str, ...], make: Callable[[], _Made]) -> _Made:
        """Return what is made of these requests' columns; asked again, or by another thread, it.

        ``what`` names it among all that is made of them. Columns that share an array share it.
        """
        key = what, *(id(self._store.array(column)) for column in columns)
        return cast("_Made", self._made.get(key, make))

    def same(self, column: str, other: str) -> bool:
        """Return whether two columns share an array, as those do that are the same in every row."""
        return self._store.array(column) is self._store.array(other)

    def words(self, column: str) -> tuple[str, ...]:
        """Return the words that occur in a column of the whole table, in sorted order."""
        return self._store.coded(column)[0]

    def codes(self, column: str) -> NDArray[Any]:
        """Return for each request the place of its word among ``words(column)``."""
        codes = self._store.coded(column)[1][self._span]
        return codes if self._mask is None else codes[self._mask]

    def has(self, column: str, word: str) -> NDArray[np.bool_]:
        """Return for each request whether its word in the column is this one."""
        words = self.words(column)
        if word not in words:
            return np.zeros(self.height, dtype=np.bool_)
        if len(words) == 1:
            return np.ones(self.height, dtype=np.bool_)
        same: NDArray[np.bool_] = self.codes(column) == words.index(word)
        return same

    def only(self, column: str, word: str) -> RequestColumns:
        """Return the requests whose word in the column is this one; asked again, the same part."""
        return self._parts.get((column, word), lambda: self.where(self.has(column, word)))

    def since(self, intended_ns: int) -> RequestColumns:
        """Return the requests that were due at a time or later; asked again, the same part."""
        key = "intended_ns", intended_ns
        return self._parts.get(key, lambda: self.where(self["intended_ns"] >= intended_ns))

    def where(self, chosen: NDArray[np.bool_]) -> RequestColumns:
        """Return the requests that are chosen: one value for each request of this part."""
        number = int(np.count_nonzero(chosen))
        if number == self.height:
            return self
        if self._mask is not None:
            mask = self._mask.copy()
            mask[self._mask] = chosen
            return RequestColumns(self._store, self._span, mask)
        first = int(chosen.argmax())
        begin = self._span.start + first
        last = self._span.start + chosen.size - int(chosen[::-1].argmax()) if number else begin
        span, inside = slice(begin, last), chosen[first : first + last - begin]
        whole = number == last - begin
        return RequestColumns(self._store, span, None if whole else inside)


def _without_gaps(series: pl.Series) -> pl.Series:
    if series.null_count():
        raise BundleError(
            found=f"{series.null_count()} requests without {series.name}",
            expected="a value in every row",
            next_step="remove the bundle and measure again",
        )
    return series


def _joined(parts: list[NDArray[Any]]) -> NDArray[Any]:
    """Return parts as one array; numbers without a sign in the smallest type that holds them.

    Users, passes and bytes then take half to a quarter of the memory: pages that a process touches
    first cost more than the values on them. Numpy asks for large pages, polars does not.
    """
    kind = parts[0].dtype
    if kind.kind == "u":
        kind = np.min_scalar_type(max((int(part.max()) for part in parts if part.size), default=0))
    return np.concatenate(parts, dtype=kind, casting="unsafe")


def _are(parts: list[NDArray[Any]], values: NDArray[Any]) -> bool:
    """Return whether parts together have these values, without making one array of them."""
    first = 0
    for part in parts:
        if not np.array_equal(part, values[first : first + part.size]):
            return False
        first += part.size
    return first == values.size
