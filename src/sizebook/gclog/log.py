"""The data of a GC log: runs of a JVM, and tables of what happened in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sizebook.gclog.facts import Facts
from sizebook.gclog.strange import Foreign

FRAMES = ("collections", "pauses", "stalls", "safepoints", "requests", "workers", "out_of_memory")
"""Tables of a log, each with a column ``run``."""
_TIMES = ("begin_ns", "end_ns", "at_ns")
"""Columns of a frame that hold moments; others that end in ``_ns`` hold lengths."""


@dataclass(frozen=True)
class Cut:
    """Where a log is not whole."""

    begin: bool
    """Whether it begins after the JVM's start, as a rotated file or a part of a log does."""
    end: bool
    """Whether it ends within a line or a collection."""


@dataclass(frozen=True)
class Run:
    """One run of a JVM, from its start to its end, as far as the log has it."""

    number: int
    """From 1, as in the column ``run`` of the log's tables."""
    jvm: str
    """What names the JVM in its lines; empty where the log has no other one."""
    line: int
    """Line of the file at which the run begins."""
    facts: Facts
    is_cut: Cut
    lost: int
    """Collections that the numbers of the others show, and of which no line could be read."""
    first_s: float | None
    last_s: float | None
    first_ns: int | None
    last_ns: int | None


@dataclass(frozen=True)
class GcLog:
    """The collections of one log, which may hold several runs of one or several JVMs.

    Times ending in ``_s`` are the log's own (seconds since the JVM's start, or since the first line
    where it only has another clock; null without any), those ending in ``_ns`` CLOCK_MONOTONIC
    (``timenanos``), null where the log does not have them. ``run`` counts starts of a JVM in it.
    Sizes are as exact as the log: MiB, KiB with Serial and Parallel, 2 MiB with ZGC.
    """

    facts: Facts
    collections: pl.DataFrame
    """A row a collection that ended, in the order of their ends: ``run``, ``id``, ``begin_s``,
    ``end_s``, ``begin_ns``, ``end_ns``, ``kind`` (one of ``cycles.KINDS``), ``name`` (the log's),
    ``cause``, ``before_bytes``, ``after_bytes``, ``total_bytes`` (committed), ``peak_bytes`` and
    ``live_bytes`` (ZGC), ``allocated_bytes`` (meanwhile; ZGC, Shenandoah), ``pauses``,
    ``pause_ns``,
    ``longest_pause_ns`` (null where the log leaves pauses out or begins within),
    ``concurrent_ns`` (beside the application), ``is_explicit``, ``is_allocation_failure``,
    ``is_evacuation_failure``. Where the log lacks the begin, what rests on it is null: begin,
    pauses, size before (ZGC repeats it at the end), what was allocated, and a cause that the
    missing lines told, with whether the collection was asked for."""
    pauses: pl.DataFrame
    """A row a stop-the-world pause: ``run``, ``id`` of its collection, ``name``, begin and end,
    ``pause_ns``, and heap sizes where the pause has them."""
    stalls: pl.DataFrame
    """A row each time that no room was left: ``kind`` (allocation stall, relocation stall;
    degenerated, full: Shenandoah's; evacuation failure: G1's, Serial's), ``thread``,
    ``end_s``, ``end_ns``, ``stalled_ns``."""
    safepoints: pl.DataFrame
    """A row each stop of the application for whatever reason: ``reaching_ns``, ``total_ns``."""
    requests: pl.DataFrame
    """A row each allocation that failed at first, where the log tells its size."""
    workers: pl.DataFrame
    """A row each time that a task of a collection was given to threads (G1): ``used`` of ``most``,
    ``task``."""
    out_of_memory: pl.DataFrame
    """A row each time that the log says that memory ran out."""
    is_cut: Cut
    lines: int
    strange_lines: int
    """Lines that are none of unified logging's; they are left out."""
    foreign: Foreign | None
    """Those of them that another kind of GC log has, such as that of Java 8."""
    first_s: float | None
    """Time of the first line of the first run."""
    last_s: float | None
    """Time of the last line of the last run that was read."""
    first_ns: int | None
    last_ns: int | None
    runs: tuple[Run, ...]
    """The runs that the log holds; one at least."""

    def split(self) -> tuple[GcLog, ...]:
        """Return a log for each run."""
        if len(self.runs) == 1:
            return (self,)
        return tuple(self._of(run) for run in self.runs)

    def _of(self, run: Run) -> GcLog:
        frames: dict[str, Any] = {}
        for name in FRAMES:
            frame = getattr(self, name)
            low, high = frame["run"].search_sorted(
                pl.Series([run.number, run.number + 1], dtype=pl.UInt32)
            )
            frames[name] = frame.slice(low, high - low)
        return replace(
            self, **frames, facts=run.facts, is_cut=run.is_cut, runs=(run,),
            first_s=run.first_s, last_s=run.last_s, first_ns=run.first_ns, last_ns=run.last_ns,
        )  # fmt: skip

    def shifted(self, by_ns: int) -> GcLog:
        """Return the same log with all times of CLOCK_MONOTONIC moved: those of another kernel."""
        return self.moved(lambda times: times + by_ns) if by_ns else self

    def moved(self, place: Callable[[NDArray[np.int64]], NDArray[np.int64]]) -> GcLog:
        """Return the same log with each time of CLOCK_MONOTONIC at another place."""
        frames: dict[str, Any] = {name: _moved(getattr(self, name), place) for name in FRAMES}
        runs = tuple(
            replace(run, first_ns=_at(run.first_ns, place), last_ns=_at(run.last_ns, place))
            for run in self.runs
        )
        first_ns, last_ns = _at(self.first_ns, place), _at(self.last_ns, place)
        return replace(self, **frames, first_ns=first_ns, last_ns=last_ns, runs=runs)


_Place = Callable[[NDArray[np.int64]], NDArray[np.int64]]


def _moved(frame: pl.DataFrame, place: _Place) -> pl.DataFrame:
    there = [name for name in _TIMES if name in frame.columns]
    return frame.with_columns(_column(frame[name], place) for name in there)


def _column(times: pl.Series, place: _Place) -> pl.Series:
    known = times.fill_null(0).to_numpy().astype(np.int64)
    moved = pl.Series(times.name, place(known), dtype=pl.Int64)
    return moved.set(times.is_null(), None)


def _at(end: int | None, place: _Place) -> int | None:
    return None if end is None else int(place(np.array([end], dtype=np.int64))[0])
