"""``counters.steps``: the readings of a trial in the form in which they pack best.

A published bundle has it instead of ``counters.parquet``, with the same content to the last bit:
less than half the bytes once packed. Readings lie by series, each metric of a source being one, and
times are told once for all series of a source. The first line is JSON and tells what follows it::

    {"format": "sizebook-counters", "version": 2,
     "times": [[how many, first, width] ...],
     "series": [[host, source, metric, which times, digits, first, width, [off ...]] ...]}

Times are CLOCK_MONOTONIC ns. A value is a whole number over ``10**digits``, told by its steps, and
lies so many units in the last place beside that as ``off`` says, which is left away where none
does. Where ``digits`` is null the values themselves stand after it, null where nothing was
answered.

Behind the line are the steps from each reading to the next, of the times and then of the series
that have digits. A step s is told as 2 s, or as -2 s - 1 if it goes down; ``width`` bytes hold the
largest of a series, and the highest bytes of all of its steps come first. So bytes that are alike
lie beside each other, and those that look like chance do not come between them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sizebook.store.readings import Readings, TimeSeries
from sizebook.store.tables import TableError
from sizebook.store.zigzag import WIDEST, fold

COUNTER_FILE = "counters.steps"
_FORMAT = {"format": "sizebook-counters", "version": 2}
_DIGITS = (0, 2, 3, 6, 9)
_MOST_OFF = 1 << 16
_MOST_WHOLE = 2.0**53
_MOST_READINGS = 10_000_000
"""A series that never changes takes no bytes, however long it is said to be."""
_NONE = np.array([], dtype=np.int64)
_NO_VALUES = np.array([], dtype=np.float64)
_UNREADABLE = (
    ValueError,
    KeyError,
    TypeError,
    IndexError,
    RecursionError,
    OverflowError,
)


class _Steps(NamedTuple):
    """Whole numbers: how many, the first, and how many bytes each step to the next has."""

    readings: int
    first: int
    width: int


class _Told(NamedTuple):
    """One series as the first line tells it."""

    host: str
    source: str
    metric: str
    times: int
    digits: int | None
    first: Any
    """The first of the whole numbers; without digits all values."""
    width: int = 0
    off: Sequence[int] = ()

    @property
    def name(self) -> tuple[str, str, str]:
        """Host, source and metric."""
        words = self.host, self.source, self.metric
        if not all(isinstance(word, str) for word in words):
            raise ValueError("names that are none")
        for word in words:
            word.encode()  # half a surrogate pair, which JSON can name, is in no table
        return words


def write_counters(counters: pl.DataFrame) -> bytes:
    """Return the bytes of a ``counters.steps`` with the rows of ``counters.parquet``."""
    times: dict[bytes, int] = {}
    told: list[_Steps] = []
    series: list[list[Any]] = []
    time_bytes: list[bytes] = []
    value_bytes: list[bytes] = []
    for one in Readings.of(counters):
        key = one.asked_ns.tobytes()
        if key not in times:
            times[key] = len(told)
            steps, data = _lay(one.asked_ns)
            told.append(steps)
            time_bytes.append(data)
        form, data = _tell(one)
        series.append([one.host, one.source, one.metric, times[key], *form])
        value_bytes.append(data)
    content = {**_FORMAT, "times": told, "series": series}
    line = json.dumps(content, separators=(",", ":"), allow_nan=False) + "\n"
    return b"".join([line.encode(), *time_bytes, *value_bytes])


def read_series(data: bytes) -> list[TimeSeries]:
    """Return the series behind a ``counters.steps``, by host, source and metric.

    Values, times and words are not looked at further. Raises TableError for another form.
    """
    try:
        line, _, body = data.partition(b"\n")
        content = json.loads(line)
        if {name: content[name] for name in _FORMAT} != _FORMAT:
            raise ValueError("another format or version")
        times = [_Steps(*one) for one in content["times"]]
        told = [_Told(*one) for one in content["series"]]
        stepped = [one for one in told if one.digits is not None]
        if other := [one.digits for one in stepped if one.digits not in _DIGITS]:
            raise ValueError(f"values with {str(other[0])[:20]} digits")
        values = [_Steps(times[one.times].readings, one.first, one.width) for one in stepped]
        whole, ends = _whole_numbers([*times, *values], body)
        asked = np.split(whole, ends)[: len(times)]
        if any(bool((np.diff(each) < 0).any()) for each in asked):
            raise ValueError("times that go back")
        begin = int(ends[len(times) - 1]) if times else 0
        answers = _answers(told, whole[begin:], [times[one.times].readings for one in told])
        series = [
            TimeSeries(
                *one.name, asked[one.times], found, always=one.digits is not None and not one.off
            )
            for one, found in zip(told, answers, strict=True)
        ]
        series.sort(key=lambda one: (one.host, one.source, one.metric))
        names = [(one.host, one.source, one.metric) for one in series]
        if twice := [name for name, then in pairwise(names) if name == then]:
            raise ValueError(f"{twice[0]} twice")
    except _UNREADABLE as error:
        raise TableError(f"no form that is known ({str(error)[:100]})") from error
    return series


def told_words(data: bytes) -> bytes:
    """Return what a ``counters.steps`` tells in words: all but the steps, which are like chance."""
    return data.partition(b"\n")[0]


def make_rows(series: Iterable[TimeSeries]) -> pl.DataFrame:
    """Return series as rows with the columns of ``counters.parquet``, in the order of time."""
    listed = list(series)
    lengths = [one.asked_ns.size for one in listed]
    answers = np.concatenate([_NO_VALUES, *(one.answers for one in listed)])
    columns = {
        "time_ns": np.concatenate([_NONE, *(one.asked_ns for one in listed)]),
        "host": _words([one.host for one in listed], lengths),
        "source": _words([one.source for one in listed], lengths),
        "metric": _words([one.metric for one in listed], lengths),
        "value": pl.Series(answers).fill_nan(None),
    }
    return pl.DataFrame(columns).sort("time_ns", maintain_order=True)


def _tell(one: TimeSeries) -> tuple[list[Any], bytes]:
    """Return how a series is told, in the shortest form that loses nothing, and its bytes."""
    if not np.isfinite(one.answers).all():
        return [None, [v if math.isfinite(v) else None for v in one.answers.tolist()]], b""
    best: tuple[int, NDArray[np.int64], NDArray[np.int64]] | None = None
    for digits in _DIGITS:
        rounded = np.rint(one.answers * 10.0**digits)
        if np.abs(rounded).max(initial=0.0) >= _MOST_WHOLE:
            break
        whole = rounded.astype(np.int64)
        off = one.answers.view(np.int64) - (whole / 10.0**digits).view(np.int64)
        if not off.any():
            best = digits, whole, _NONE
            break
        if off.min() > -_MOST_OFF and off.max() < _MOST_OFF:
            best = digits, whole, off
    if best is None:
        return [None, one.answers.tolist()], b""
    digits, whole, off = best
    steps, data = _lay(whole)
    return [digits, steps.first, steps.width, *([off.tolist()] if off.size else [])], data


def _lay(numbers: NDArray[np.int64]) -> tuple[_Steps, bytes]:
    """Return how whole numbers are told, and the bytes of their steps, the highest first."""
    width, data = fold(np.diff(numbers))
    return _Steps(numbers.size, int(numbers[0]), width), data


def _whole_numbers(
    told: Sequence[_Steps], body: bytes
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the numbers of all, one after the other, and where each of them ends.

    They are taken together: a trial has hundreds of short series.
    """
    counts, firsts, widths = (_whole([one[i] for one in told]) for i in range(3))
    if counts.min(initial=1) < 1 or sum(one.readings for one in told) > _MOST_READINGS:
        raise ValueError("fewer or more readings than there can be")
    if widths.min(initial=0) < 0 or widths.max(initial=0) > WIDEST:
        raise ValueError(f"steps of other than 0 to {WIDEST} bytes")
    moves, ends = counts - 1, np.cumsum(counts)
    if int((moves * widths).sum()) != len(body):
        raise ValueError(f"{len(body)} bytes of steps, not {int((moves * widths).sum())}")
    whole = np.empty(int(counts.sum()), dtype=np.int64)
    is_first = np.zeros(whole.size, dtype=bool)
    is_first[ends - counts] = True
    whole[is_first] = firsts
    whole[~is_first] = _steps(moves, widths, np.frombuffer(body, dtype=np.uint8))
    sums = np.cumsum(whole)
    return sums - np.repeat(sums[ends - counts] - firsts, counts), ends


def _steps(
    moves: NDArray[np.int64], widths: NDArray[np.int64], body: NDArray[np.uint8]
) -> NDArray[np.int64]:
    """Return the steps of all, of which each has so many, of so many bytes."""
    sizes = moves * widths
    begin = np.repeat(np.cumsum(sizes) - sizes, moves)
    at = begin + np.arange(begin.size) - np.repeat(np.cumsum(moves) - moves, moves)
    stride, width = np.repeat(moves, moves), np.repeat(widths, moves)
    folded = np.zeros(begin.size, dtype=np.uint64)
    for plane in range(int(widths.max(initial=0))):
        here = np.flatnonzero(width > plane)
        folded[here] = (folded[here] << np.uint64(8)) | body[at[here] + plane * stride[here]]
    return (folded >> np.uint64(1)).view(np.int64) ^ -(folded & np.uint64(1)).view(np.int64)


def _answers(
    told: Sequence[_Told], whole: NDArray[np.int64], heights: Sequence[int]
) -> list[NDArray[np.float64]]:
    """Return the values of all series, of which those with digits are told by whole numbers."""
    stepped = [
        (one.digits, n) for one, n in zip(told, heights, strict=True) if one.digits is not None
    ]
    lengths = np.array([height for _, height in stepped], dtype=np.int64)
    scales = np.array([10.0**digits for digits, _ in stepped])
    parts = iter(np.split(whole / np.repeat(scales, lengths), np.cumsum(lengths)[:-1]))
    answers = [_plain(one.first) if one.digits is None else next(parts) for one in told]
    for one, height, found in zip(told, heights, answers, strict=True):
        if found.shape != (height,):
            raise ValueError(f"{found.size} values at {height} times")
        if one.off:
            off = _whole(one.off)
            if off.shape != found.shape:
                raise ValueError(f"{off.size} of {found.size} values off")
            found.view(np.int64)[:] += off
    return answers


def _plain(values: list[Any]) -> NDArray[np.float64]:
    return np.array([np.nan if v is None else v for v in values], dtype=np.float64)


def _words(words: list[str], lengths: list[int]) -> pl.Series:
    distinct = pl.Series(words, dtype=pl.Categorical)
    return distinct.gather(np.repeat(np.arange(len(words)), lengths))


def _whole(numbers: Sequence[int]) -> NDArray[np.int64]:
    array = np.array(numbers)
    if array.ndim != 1 or (array.size and array.dtype.kind != "i"):
        raise ValueError("whole numbers that are none")
    return array.astype(np.int64)
