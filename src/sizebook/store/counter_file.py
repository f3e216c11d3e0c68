"""``counters.json``: the readings of a trial in the form in which they pack best.

A published bundle has it instead of ``counters.parquet``, with the same content to the last bit:
about half the bytes once packed. Readings lie by series, each metric of a source being one, and
times are told once for all series of a source::

    {"format": "sizebook-counters", "version": 1,
     "times": [[first, step, step ...] ...],
     "series": [[host, source, metric, which times, digits, [first, step ...], [off ...]] ...]}

Times are CLOCK_MONOTONIC ns. A value is a whole number over ``10**digits``, told by its steps, and
lies so many units in the last place beside that as ``off`` says, which is left away where none
does. Where ``digits`` is null the values themselves stand there, null where nothing was answered.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sizebook.store.readings import Readings, Series
from sizebook.store.tables import TableError

COUNTER_FILE = "counters.json"
_FORMAT = {"format": "sizebook-counters", "version": 1}
_DIGITS = (0, 2, 3, 6, 9)
_MOST_OFF = 1 << 16
_MOST_WHOLE = 2.0**53
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


class _Told(NamedTuple):
    """One series as the file tells it."""

    host: str
    source: str
    metric: str
    times: int
    digits: int | None
    values: list[Any]
    off: Sequence[int] = ()

    @property
    def name(self) -> tuple[str, str, str]:
        """Host, source and metric."""
        words = self.host, self.source, self.metric
        if not all(isinstance(word, str) for word in words):
            raise ValueError("names that are none")
        return words


def write_counters(counters: pl.DataFrame) -> bytes:
    """Return the bytes of a ``counters.json`` with the rows of ``counters.parquet``."""
    times: dict[bytes, int] = {}
    told: list[list[int]] = []
    series: list[list[Any]] = []
    for one in Readings.of(counters):
        key = one.asked_ns.tobytes()
        if key not in times:
            times[key] = len(told)
            told.append(_steps(one.asked_ns))
        series.append([one.host, one.source, one.metric, times[key], *_tell(one)])
    content = {**_FORMAT, "times": told, "series": series}
    return (json.dumps(content, separators=(",", ":"), allow_nan=False) + "\n").encode()


def read_series(data: bytes) -> list[Series]:
    """Return the series behind a ``counters.json``, by host, source and metric.

    Values, times and words are not looked at further. Raises TableError for another form.
    """
    try:
        content = json.loads(data)
        if {name: content[name] for name in _FORMAT} != _FORMAT:
            raise ValueError("another format or version")
        times = [_sums(steps) for steps in content["times"]]
        if any(bool((np.diff(each) < 0).any()) for each in times):
            raise ValueError("times that go back")
        told = [_Told(*one) for one in content["series"]]
        asked = [times[one.times] for one in told]
        answers = _answers(told, [each.size for each in asked])
        series = [
            Series(*one.name, asked_ns, values, always=one.digits is not None and not one.off)
            for one, asked_ns, values in zip(told, asked, answers, strict=True)
        ]
        series.sort(key=lambda one: (one.host, one.source, one.metric))
        names = [(one.host, one.source, one.metric) for one in series]
        if twice := [name for name, then in pairwise(names) if name == then]:
            raise ValueError(f"{twice[0]} twice")
    except _UNREADABLE as error:
        raise TableError(f"no form that is known ({str(error)[:100]})") from error
    return series


def make_rows(series: Iterable[Series]) -> pl.DataFrame:
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


def _tell(one: Series) -> list[Any]:
    """Return digits, values and what these are off by, of the shortest form that loses nothing."""
    if not np.isfinite(one.answers).all():
        return [None, [v if math.isfinite(v) else None for v in one.answers.tolist()]]
    best: tuple[int, NDArray[np.int64], NDArray[np.int64]] | None = None
    for digits in _DIGITS:
        rounded = np.rint(one.answers * 10.0**digits)
        if np.abs(rounded).max(initial=0.0) >= _MOST_WHOLE:
            break
        whole = rounded.astype(np.int64)
        off = one.answers.view(np.int64) - (whole / 10.0**digits).view(np.int64)
        if not off.any():
            return [digits, _steps(whole)]
        if off.min() > -_MOST_OFF and off.max() < _MOST_OFF:
            best = digits, whole, off
    if best is None:
        return [None, one.answers.tolist()]
    return [best[0], _steps(best[1]), best[2].tolist()]


def _answers(told: Sequence[_Told], heights: Sequence[int]) -> list[NDArray[np.float64]]:
    """Return the values of all series, added up together: a trial has hundreds of short ones."""
    stepped = [one for one in told if one.digits is not None]
    if other := [one.digits for one in stepped if one.digits not in _DIGITS]:
        raise ValueError(f"values with {str(other[0])[:20]} digits")
    lengths = np.array([len(one.values) for one in stepped], dtype=np.int64)
    sums = _sums([0, *chain.from_iterable(one.values for one in stepped)])
    ends = np.cumsum(lengths)
    whole = sums[1:] - np.repeat(sums[ends - lengths], lengths)
    scales = np.array([10.0**one.digits for one in stepped if one.digits is not None])
    parts = iter(np.split(whole.astype(np.float64) / np.repeat(scales, lengths), ends[:-1]))
    answers = [_plain(one.values) if one.digits is None else next(parts) for one in told]
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


def _steps(values: NDArray[np.int64]) -> list[int]:
    return [*values[:1].tolist(), *np.diff(values).tolist()]


def _sums(steps: list[int]) -> NDArray[np.int64]:
    return np.cumsum(_whole(steps))


def _whole(numbers: Sequence[int]) -> NDArray[np.int64]:
    array = np.array(numbers)
    if array.ndim != 1 or (array.size and array.dtype.kind != "i"):
        raise ValueError("whole numbers that are none")
    return array.astype(np.int64)
