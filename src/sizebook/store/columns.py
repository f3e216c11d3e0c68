"""A bundle's requests by column: arrays that are read when first asked for, and parts of them.

A frame of ten million requests with all columns takes a gigabyte as soon as it is filtered. Most
questions need two or three columns of one phase, and rows lie in the order in which requests
started: a phase is nearly always one run of rows, so that its columns are views.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sizebook.model.errors import BundleError

_TWINS = {"latency_ns": "service_ns", "intended_ns": "start_ns"}
"""Columns that are the same as another one in closed loops."""


class ColumnStore:
    """Columns as they were read, each once; columns with the same values share one array."""

    def __init__(self, read: Callable[[str], pl.Series]) -> None:
        """Take what gives a column by its name."""
        self._read = read
        self._arrays: dict[str, NDArray[Any]] = {}
        self._coded: dict[str, tuple[tuple[str, ...], NDArray[Any]]] = {}

    def array(self, column: str) -> NDArray[Any]:
        """Return a column of numbers."""
        if column not in self._arrays:
            array = _without_gaps(self._read(column)).to_numpy()
            if column in _TWINS and np.array_equal(array, twin := self.array(_TWINS[column])):
                array = twin
            self._arrays[column] = array
        return self._arrays[column]

    def coded(self, column: str) -> tuple[tuple[str, ...], NDArray[Any]]:
        """Return the words of a column, sorted, and each row's place among them."""
        if column not in self._coded:
            series = _without_gaps(self._read(column)).cast(pl.Categorical)
            distinct = series.unique()
            words = distinct.cast(pl.String).to_numpy()
            order = np.argsort(words)
            numbers = distinct.to_physical().to_numpy()[order]
            place = np.zeros(numbers.max(initial=0) + 1, dtype=np.min_scalar_type(words.size))
            place[numbers] = np.arange(words.size)
            self._coded[column] = tuple(words[order]), place[series.to_physical().to_numpy()]
        return self._coded[column]


class RequestColumns:
    """Requests by column, all of a bundle or a part of them, in the order of their start.

    ``columns["start_ns"]`` is an array with one value a request, to be read and not changed: a
    view wherever the part is one run of rows. Times are CLOCK_MONOTONIC in ns. Columns of words
    (``name``, ``error``, ``phase``) come as ``words`` and ``codes``. All raise BundleError where
    the table lacks the column or values in it.

    >>> good = bundle.columns.only("phase", "measured").only("error", "")
    >>> np.median(good["latency_ns"])
    """

    def __init__(
        self, store: ColumnStore, span: slice, mask: NDArray[np.bool_] | None = None
    ) -> None:
        """Take the rows of a span, of which a mask says which ones are meant; None: all."""
        self._store, self._span, self._mask = store, span, mask
        self._parts: dict[tuple[str, str | int], RequestColumns] = {}
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
        if self._picked is None or self._picked[0] is not whole:
            self._picked = whole, whole[self._span][self._mask]
        return self._picked[1]

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
        if (column, word) not in self._parts:
            self._parts[column, word] = self.where(self.has(column, word))
        return self._parts[column, word]

    def since(self, intended_ns: int) -> RequestColumns:
        """Return the requests that were due at a time or later; asked again, the same part."""
        key = "intended_ns", intended_ns
        if key not in self._parts:
            self._parts[key] = self.where(self["intended_ns"] >= intended_ns)
        return self._parts[key]

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
