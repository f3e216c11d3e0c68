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
from dataclasses import dataclass, field
from typing import Any

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
_UNREADABLE = (
    ValueError,
    KeyError,
    TypeError,
    IndexError,
    RecursionError,
    OverflowError,
    pl.exceptions.PolarsError,
)


@dataclass(frozen=True)
class _Told:
    """One series as the file tells it."""

    host: str
    source: str
    metric: str
    times: int
    digits: int | None
    values: list[Any]
    off: list[int] = field(default_factory=list)


def write_counters(counters: pl.DataFrame) -> bytes:
    """Return the bytes of a ``counters.json`` with the rows of ``counters.parquet``."""
    times: dict[bytes, int] = {}
    told: list[list[int]] = []
    series: list[list[Any]] = []
    for one in Readings(counters):
        key = one.asked_ns.tobytes()
        if key not in times:
            times[key] = len(told)
            told.append(_steps(one.asked_ns))
        series.append([one.host, one.source, one.metric, times[key], *_tell(one)])
    content = {**_FORMAT, "times": told, "series": series}
    return (json.dumps(content, separators=(",", ":"), allow_nan=False) + "\n").encode()


def read_counters(data: bytes) -> pl.DataFrame:
    """Return the rows behind a ``counters.json``, in the order of time.

    Values and words are not looked at further. Raises TableError for another form.
    """
    try:
        content = json.loads(data)
        if {name: content[name] for name in _FORMAT} != _FORMAT:
            raise ValueError("another format or version")
        times = [_sums(steps) for steps in content["times"]]
        series = [_Told(*one) for one in content["series"]]
        values = [_values(one, times[one.times].size) for one in series]
        lengths = [each.size for each in values]
        columns = {
            "time_ns": np.concatenate([_NONE, *(times[one.times] for one in series)]),
            "host": _words([one.host for one in series], lengths),
            "source": _words([one.source for one in series], lengths),
            "metric": _words([one.metric for one in series], lengths),
            "value": pl.Series(np.concatenate([_NONE, *values]), dtype=pl.Float64).fill_nan(None),
        }
    except _UNREADABLE as error:
        raise TableError(f"no form that is known ({str(error)[:100]})") from error
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


def _values(one: _Told, height: int) -> NDArray[np.float64]:
    if one.digits is None:
        values = np.array([np.nan if v is None else v for v in one.values], dtype=np.float64)
    else:
        if one.digits not in _DIGITS:
            raise ValueError(f"values with {str(one.digits)[:20]} digits")
        values = _sums(one.values).astype(np.float64) / 10.0**one.digits
    if values.shape != (height,):
        raise ValueError(f"{values.size} values at {height} times")
    if not one.off:
        return values
    off = _whole(one.off)
    if off.shape != values.shape:
        raise ValueError(f"{off.size} of {values.size} values off")
    return (values.view(np.int64) + off).view(np.float64)


def _words(words: list[str], lengths: list[int]) -> pl.Series:
    distinct = pl.Series(words, dtype=pl.Categorical)
    return distinct.gather(np.repeat(np.arange(len(words)), lengths))


def _steps(values: NDArray[np.int64]) -> list[int]:
    return [*values[:1].tolist(), *np.diff(values).tolist()]


def _sums(steps: list[int]) -> NDArray[np.int64]:
    return np.cumsum(_whole(steps))


def _whole(numbers: list[int]) -> NDArray[np.int64]:
    array = np.array(numbers)
    if array.ndim != 1 or (array.size and array.dtype.kind != "i"):
        raise ValueError("whole numbers that are none")
    return array.astype(np.int64)
