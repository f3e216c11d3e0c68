"""From a worker's row file to the tables of a bundle, vectorised."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sizebook.load.protocol import ROWS_FILE, Done
from sizebook.load.rows import ROW_TYPE
from sizebook.model.bundle import (
    COUNTER_COLUMNS,
    PHASES,
    REQUEST_COLUMNS,
    GeneratorFacts,
    PhaseMark,
)
from sizebook.model.errors import TrialError
from sizebook.model.records import Scalars


@dataclass(frozen=True)
class Collected:
    """What a trial's load generator recorded."""

    phases: tuple[PhaseMark, ...]
    facts: GeneratorFacts
    requests: pl.DataFrame
    """One row a request, columns as in ``REQUEST_COLUMNS``, sorted by start."""
    counters: pl.DataFrame
    """The generator's own counters a second, columns as in ``COUNTER_COLUMNS``."""
    notes: Scalars
    """Further facts: connections opened, requests retried, what Locust itself counted."""
    stopped_early: bool


def collect(done: Done, out: Path, *, host: str, worker: int) -> Collected:
    """Return the tables of a trial from the generator's last word and its row file.

    Raises TrialError if the file does not hold the rows that it should.
    """
    path = out / ROWS_FILE
    size = path.stat().st_size if path.exists() else -1
    if size != done.rows * ROW_TYPE.itemsize:
        raise TrialError(
            found=f"a row file of {size} bytes",
            expected=f"{done.rows} rows of {ROW_TYPE.itemsize} bytes",
            next_step="see whether the disk is full, and run the trial again",
        )
    rows = np.memmap(path, dtype=ROW_TYPE, mode="r") if size else np.empty(0, dtype=ROW_TYPE)
    return Collected(
        phases=done.phases,
        facts=done.facts,
        requests=requests_frame(rows, done.names, done.errors, done.phases, worker),
        counters=counters_frame(done.seconds, host=host, worker=worker),
        notes=done.notes,
        stopped_early=done.stopped_early,
    )


def requests_frame(
    rows: NDArray[np.void],
    names: tuple[str, ...],
    errors: tuple[str, ...],
    phases: tuple[PhaseMark, ...],
    worker: int,
) -> pl.DataFrame:
    """Return the rows as the table ``requests``: phases by intended start, sorted by start."""
    order = np.argsort(rows["start_ns"], kind="stable")

    def column(name: str) -> NDArray[Any]:
        # Column by column, so that no second copy of all rows is made.
        values: NDArray[Any] = rows[name][order]
        return values

    intended, start, end = column("intended_ns"), column("start_ns"), column("end_ns")
    columns = {
        "intended_ns": intended,
        "start_ns": start,
        "latency_ns": end - intended,
        "service_ns": end - start,
        "name": _category(column("name"), names),
        "status": column("status"),
        "error": _category(column("error"), errors),
        "received_bytes": column("received_bytes"),
        "body_bytes": column("body_bytes"),
        "sent_bytes": column("sent_bytes"),
        "iteration": column("iteration"),
        "user": column("user"),
        "worker": np.full(len(rows), worker, dtype=np.uint8),
        "phase": _category(phase_index(intended, phases), PHASES),
    }
    return pl.DataFrame({name: columns[name] for name in REQUEST_COLUMNS})


def phase_index(intended_ns: NDArray[np.int64], phases: tuple[PhaseMark, ...]) -> NDArray[np.uint8]:
    """Return for each time the index (in ``PHASES``) of the phase in which it lies.

    A phase reaches from its begin up to, not including, the begin of the next.
    """
    begins = np.array([mark.begin_ns for mark in phases], dtype=np.int64)
    indexes = np.array([PHASES.index(mark.name) for mark in phases], dtype=np.uint8)
    found = np.searchsorted(begins, intended_ns, side="right") - 1
    return indexes[np.maximum(found, 0)]


def counters_frame(
    seconds: tuple[tuple[int, dict[str, float]], ...], *, host: str, worker: int
) -> pl.DataFrame:
    """Return the per-second counters in long format; later workers carry their number."""
    prefix = f"worker{worker}." if worker else ""
    times, metrics, values = [], [], []
    for time_ns, row in seconds:
        for metric, value in row.items():
            times.append(time_ns)
            metrics.append(prefix + metric)
            values.append(value)
    columns = {
        "time_ns": pl.Series(times, dtype=pl.Int64),
        "host": pl.Series([host] * len(times), dtype=pl.Categorical),
        "source": pl.Series(["generator"] * len(times), dtype=pl.Categorical),
        "metric": pl.Series(metrics, dtype=pl.Categorical),
        "value": pl.Series(values, dtype=pl.Float64),
    }
    return pl.DataFrame({name: columns[name] for name in COUNTER_COLUMNS})


def _category(ids: NDArray[np.integer], names: tuple[str, ...]) -> pl.Series:
    """Return the names that the ids stand for, without making a text for each row."""
    if not len(ids):
        return pl.Series([], dtype=pl.Categorical)
    table = pl.Series(names, dtype=pl.Categorical)
    return table.gather(ids.astype(np.uint32))
