"""The tables of a bundle, refused unless columns, number of rows and values are possible ones.

A Parquet file of a few kilobytes can claim a thousand million rows. Before any of them is read the
footer must name exactly the columns of the format, and no more rows than a file of this size holds
in any honest bundle; after that every value must lie where the harness can have put it, so that
sums fit into 64 bits and windows into memory.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sizebook.model.bundle import (
    COUNTER_COLUMNS,
    LONGEST_ANSWER_NS,
    PHASES,
    REQUEST_COLUMNS,
    SCHEDULE_COLUMNS,
)
from sizebook.store.readings import TimeSeries
from sizebook.store.words import distinct_words

REQUESTS = "requests.parquet"
COUNTERS = "counters.parquet"
SCHEDULE = "schedule.parquet"

MOST_ROWS = 200_000_000
MOST_WORDS = 2000
"""Different words in one column."""
LONGEST_WORD = 500
"""Characters."""
DAY_NS = 24 * 3600 * 10**9

UNREADABLE = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
"""What reading a damaged file may raise; a panic of polars is not an Exception."""


class TableError(ValueError):
    """A table is not one that the harness writes; the message continues 'a table with'."""


@dataclass(frozen=True)
class TimeRange:
    """Times that a table may hold, CLOCK_MONOTONIC ns."""

    least_ns: int = 0
    most_ns: int = 2**62


@dataclass(frozen=True)
class _Form:
    columns: Mapping[str, str]
    rows_a_byte: float
    rows_free: int
    """Rows that a file of any size may have. Measured in bundles: up to 0.15 rows a byte for
    requests, 0.45 for schedules, 2 for readings that never change."""


_FORMS = {
    REQUESTS: _Form(REQUEST_COLUMNS, 2.0, 200_000),
    SCHEDULE: _Form(SCHEDULE_COLUMNS, 4.0, 1_000_000),
    COUNTERS: _Form(COUNTER_COLUMNS, 20.0, 1_000_000),
}
_WITHIN_TRIAL = ("intended_ns", "start_ns", "time_ns")
_RANGES = {
    "latency_ns": (0, LONGEST_ANSWER_NS),
    "service_ns": (0, LONGEST_ANSWER_NS),
    "offset_ns": (0, 2**62),
}


def count_rows(file: Path, size: int) -> int:
    """Return the number of rows that a table's footer states, which takes less than 1 ms.

    ``size`` is the file's in bytes. Raises TableError for other columns than those of the format,
    in another order or of another type, and for more rows than a file of this size can hold.
    """
    form = _FORMS[file.name]
    # A folder may be named like a pattern or like key=value: both are plain names here.
    lazy = pl.scan_parquet(file, glob=False, hive_partitioning=False, use_statistics=False)
    found = {name: str(kind) for name, kind in lazy.collect_schema().items()}
    if list(found.items()) != list(form.columns.items()):
        other = [f"{n} {k}" for n, k in found.items() if form.columns.get(n) != k]
        lacking = [name for name in form.columns if name not in found]
        what = [f"unexpected {', '.join(other)[:200]}"] if other else []
        what += [f"no {', '.join(lacking)}"] if lacking else []
        raise TableError("; ".join(what) or "its columns in another order")
    rows = int(lazy.select(pl.len()).collect().item())
    most = min(MOST_ROWS, form.rows_free + int(form.rows_a_byte * size))
    if rows > most:
        raise TableError(f"{rows} rows in {size} bytes, where {most} are the most that is read")
    return rows


def read_table(file: Path, times: TimeRange, columns: Sequence[str] | None = None) -> pl.DataFrame:
    """Return a table of a bundle, or some of its columns, every value checked.

    A reading that is not a finite number is null. Raises TableError for missing and impossible
    values, whatever polars raises for a file that it cannot read.
    """
    frame = pl.read_parquet(
        file,
        columns=None if columns is None else list(columns),
        glob=False,
        hive_partitioning=False,
        use_statistics=False,
    )
    return frame.with_columns(_checked(series, times) for series in frame.iter_columns())


def check_series(series: Sequence[TimeSeries], times: TimeRange) -> list[TimeSeries]:
    """Return the readings of a table by series, checked as ``read_table`` does.

    One that is not a finite number is not a number. Raises TableError.
    """
    for name in ("host", "source", "metric"):
        _check_words(name, {getattr(one, name) for one in series})
    parts = {id(one.asked_ns): one.asked_ns for one in series if one.asked_ns.size}
    _check_range("time_ns", list(parts.values()), times)
    return [_finite(one) for one in series]


def _finite(one: TimeSeries) -> TimeSeries:
    if one.always or not np.isinf(one.answers).any():
        return one
    answers = np.where(np.isinf(one.answers), np.nan, one.answers)
    return TimeSeries(one.host, one.source, one.metric, one.asked_ns, answers)


def _checked(series: pl.Series, times: TimeRange) -> pl.Series:
    name = series.name
    if name == "value":
        return series.set(~series.is_finite(), None) if _has_no_numbers(series) else series
    if series.null_count():
        raise TableError(f"{series.null_count()} rows without {name}")
    if series.dtype == pl.Categorical:
        _check_words(name, distinct_words(series).values())
    else:
        # Not the series' own ends: polars believes a file that says it is sorted.
        parts = [part.to_numpy() for part in series.get_chunks() if len(part)]
        _check_range(name, parts, times)
    return series


def _has_no_numbers(series: pl.Series) -> bool:
    return not bool(np.isfinite(series.drop_nulls().to_numpy()).all())


def _check_range(name: str, parts: Sequence[NDArray[Any]], times: TimeRange) -> None:
    least, most = _RANGES.get(name, (None, None))
    if name in _WITHIN_TRIAL:
        least, most = times.least_ns, times.most_ns
    if least is None or most is None or not parts:
        return
    low, high = min(int(p.min()) for p in parts), max(int(p.max()) for p in parts)
    if low < least or high > most:
        raise TableError(f"{name} from {low} to {high}, expected {least} to {most}")


def _check_words(name: str, words: Collection[str]) -> None:
    if len(words) > MOST_WORDS:
        raise TableError(f"{len(words)} different words as {name}, at most {MOST_WORDS}")
    longest = max(map(len, words), default=0)
    if longest > LONGEST_WORD:
        raise TableError(f"a word of {longest} characters as {name}, at most {LONGEST_WORD}")
    if name == "phase" and (other := set(words) - set(PHASES)):
        raise TableError(f"the phase {min(other)[:80]!r}")
