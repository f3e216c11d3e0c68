"""From the workers' row files to the tables of a bundle, vectorised."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sizebook.hosts.base import ClockReading
from sizebook.load.protocol import ROWS_FILE, SCHEDULE_FILE, Done
from sizebook.load.rows import ROW_TYPE
from sizebook.load.schedule import Offsets
from sizebook.model.bundle import (
    COUNTER_COLUMNS,
    PHASES,
    REQUEST_COLUMNS,
    GeneratorFacts,
    PhaseMark,
    TurnMark,
)
from sizebook.model.errors import TrialError
from sizebook.model.records import Scalar, Scalars

WORKER_FACTS = (
    "issued",
    "completed",
    "failed",
    "dropped",
    "late_starts",
    "cpu_s",
    "lag_p99_ms",
    "lag_max_ms",
)
"""Facts that the notes repeat for each of several workers."""


@dataclass(frozen=True)
class Collected:
    """What a trial's load generator recorded, all its workers together."""

    phases: tuple[PhaseMark, ...]
    facts: GeneratorFacts
    requests: pl.DataFrame
    """One row a request, columns as in ``REQUEST_COLUMNS``, sorted by start."""
    counters: pl.DataFrame
    """The generator's own counters a second, columns as in ``COUNTER_COLUMNS``."""
    notes: Scalars
    """Further facts: connections opened, requests retried, what Locust itself counted."""
    stopped_early: bool
    turns: tuple[TurnMark, ...]
    """The turns that counted, of a trial that took turns."""
    schedule: Offsets | None
    """Every arrival that was planned, in ns from the begin of the first phase, ascending; those at
    or after an early end never fell due. None for a closed loop, which has no schedule."""
    clocks: Mapping[str, tuple[ClockReading, ClockReading]] = field(default_factory=dict)
    """By host of workers that is another machine: how far its clock was ahead, before and after."""


@dataclass(frozen=True)
class Part:
    """What one worker of a trial left."""

    worker: int
    done: Done
    rows: NDArray[np.void]
    """Its requests as ``ROW_TYPE``, in the order in which they ended."""
    offsets: Offsets | None
    """Its share of the schedule; None for a closed loop."""
    host: str = ""
    """Name of the host that it ran on; empty: that of the whole group."""
    clocks: tuple[ClockReading, ClockReading] | None = None
    """Of a worker on another machine: how far its clock was ahead, before and after. Its times are
    those of this machine's clock all the same."""


def read_part(done: Done, out: Path, *, worker: int = 0, scheduled: bool = False) -> Part:
    """Return what a worker left: its last word, and its files in ``out``.

    ``scheduled`` says whether it had a share of a schedule. The rows stay on disk and are read as
    they are used. Raises TrialError if the row file does not hold the rows that it should.
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
    offsets = np.load(out / SCHEDULE_FILE, allow_pickle=False) if scheduled else None
    return Part(worker, done, rows, offsets)


def collect(parts: Sequence[Part], *, host: str) -> Collected:
    """Return the tables of a trial from what its workers left, at least one.

    Raises TrialError if the workers did not start together.
    """
    phases = merged_phases([part.done.phases for part in parts])
    shares = [part.offsets for part in parts if part.offsets is not None]
    counters = [
        counters_frame(part.done.seconds, host=part.host or host, worker=part.worker)
        for part in parts
    ]
    return Collected(
        phases=phases,
        facts=merged_facts([part.done.facts for part in parts]),
        requests=requests_frame(parts, phases),
        counters=pl.concat(counters).sort("time_ns", maintain_order=True),
        notes=merged_notes(parts),
        stopped_early=any(part.done.stopped_early for part in parts),
        turns=min((part.done.turns for part in parts), key=len),
        schedule=np.sort(np.concatenate(shares), kind="stable") if shares else None,
        clocks={part.host: part.clocks for part in parts if part.clocks is not None},
    )


def on_this_clock(part: Part, ahead_ns: int) -> Part:
    """Return a part whose times are moved from a clock that is so far ahead of this machine's.

    All by the same amount: the length of what was measured stays the far clock's own.
    """
    rows = np.array(part.rows)
    for name in ("intended_ns", "start_ns", "end_ns"):
        rows[name] -= ahead_ns
    phases = tuple(
        mark.model_copy(
            update={"begin_ns": mark.begin_ns - ahead_ns, "end_ns": mark.end_ns - ahead_ns}
        )
        for mark in part.done.phases
    )
    seconds = tuple((at_ns - ahead_ns, row) for at_ns, row in part.done.seconds)
    done = part.done.model_copy(update={"phases": phases, "seconds": seconds})
    return dataclasses.replace(part, rows=rows, done=done)


def merged_phases(marks: Sequence[tuple[PhaseMark, ...]]) -> tuple[PhaseMark, ...]:
    """Return the phases of a trial from those of its workers.

    They differ only where a trial was ended early: it ends where the first worker ended. The drain
    lasts until the last worker is through.
    """
    starts = [phases[0].begin_ns for phases in marks]
    if len(set(starts)) > 1:
        raise TrialError(
            found=f"workers that started {max(starts) - min(starts)} ns apart",
            expected="one start for all workers",
            next_step="run the trial again; this is a bug worth reporting",
        )
    *phases, drain = min(marks, key=lambda phases: phases[-1].begin_ns)
    over_ns = max(phases[-1].end_ns for phases in marks)
    return (*phases, drain.model_copy(update={"end_ns": over_ns}))


def merged_facts(facts: Sequence[GeneratorFacts]) -> GeneratorFacts:
    """Return the facts of all workers together: counts and CPU time added, the worst of the lags.

    The lag of a worker holds for its own share of the requests, so the worst one bounds them all.
    """
    return GeneratorFacts(
        issued=sum(one.issued for one in facts),
        completed=sum(one.completed for one in facts),
        failed=sum(one.failed for one in facts),
        dropped=sum(one.dropped for one in facts),
        cpu_s=sum(one.cpu_s for one in facts),
        wall_s=max(one.wall_s for one in facts),
        lag_p99_ms=max(one.lag_p99_ms for one in facts),
        lag_max_ms=max(one.lag_max_ms for one in facts),
        late_starts=sum(one.late_starts for one in facts),
        iterations=sum(one.iterations for one in facts),
        versions=facts[0].versions,
        client=facts[0].client,
        worker_cpu_s=tuple(one.cpu_s for one in facts),
        results=facts[0].results,
        strays=sum(one.strays for one in facts),
        pauses=facts[0].pauses,
    )


def merged_notes(parts: Sequence[Part]) -> dict[str, Scalar]:
    """Return the notes of all workers, counts added up, and of several workers the facts of each.

    What they tell in words, such as the address in use, stands there once if all say the same.
    """
    notes: dict[str, Scalar] = {}
    for part in parts:
        for name, note in part.done.notes.items():
            if isinstance(note, int):
                notes[name] = int(notes.get(name, 0)) + note
            else:
                said = dict.fromkeys((*str(notes.get(name, note)).split("; "), str(note)))
                notes[name] = "; ".join(said)
    if len(parts) > 1:
        for part in parts:
            for name in WORKER_FACTS:
                notes[f"worker{part.worker}.{name}"] = getattr(part.done.facts, name)
    return notes


def requests_frame(parts: Sequence[Part], phases: tuple[PhaseMark, ...]) -> pl.DataFrame:
    """Return all rows as the table ``requests``: phases by intended start, sorted by start."""
    rows = [part.rows for part in parts]
    order = np.argsort(_joined([part["start_ns"] for part in rows]), kind="stable")

    def column(name: str) -> NDArray[Any]:
        # Column by column, so that no second copy of all rows is made.
        values: NDArray[Any] = _joined([part[name] for part in rows])[order]
        return values

    def words(name: str, tables: Sequence[tuple[str, ...]]) -> pl.Series:
        table = {word: None for table in tables for word in table}
        places = {word: place for place, word in enumerate(table)}
        coded = [
            np.array([places[word] for word in own], dtype=np.uint32)[part[name]]
            for own, part in zip(tables, rows, strict=True)
        ]
        return _category(_joined(coded)[order], tuple(table))

    workers = [np.full(len(part.rows), part.worker, dtype=np.uint8) for part in parts]
    intended, start, end = column("intended_ns"), column("start_ns"), column("end_ns")
    columns = {
        "intended_ns": intended,
        "start_ns": start,
        "latency_ns": end - intended,
        "service_ns": end - start,
        "name": words("name", [part.done.names for part in parts]),
        "status": column("status"),
        "error": words("error", [part.done.errors for part in parts]),
        "received_bytes": column("received_bytes"),
        "body_bytes": column("body_bytes"),
        "sent_bytes": column("sent_bytes"),
        "iteration": column("iteration"),
        "user": column("user"),
        "worker": _joined(workers)[order],
        "phase": _category(phase_index(intended, phases), PHASES),
    }
    return pl.DataFrame({name: columns[name] for name in REQUEST_COLUMNS})


def _joined(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


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
    return table.gather(ids.astype(np.uint32, copy=False))
