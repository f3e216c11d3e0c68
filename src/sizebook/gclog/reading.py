"""A GC log as data: :func:`read_gc_log`; several at a time: :func:`read_gc_logs`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import polars as pl

from sizebook.gclog import cycles, messages
from sizebook.gclog.facts import Facts, out_of_memory, read_facts
from sizebook.gclog.lines import GcLogError, Lines, read_lines


@dataclass(frozen=True)
class Cut:
    """Where a log is not whole."""

    begin: bool
    """Whether it begins after the JVM's start, as a rotated file or a part of a log does."""
    end: bool
    """Whether it ends within a line or a collection."""


@dataclass(frozen=True)
class GcLog:
    """The collections of one log.

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
    ``is_evacuation_failure``."""
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
    first_s: float | None
    """Time of the first line."""
    last_s: float | None
    """Time of the last line that was read."""
    first_ns: int | None
    last_ns: int | None

    def shifted(self, by_ns: int) -> GcLog:
        """Return the same log with all times of CLOCK_MONOTONIC moved: those of another kernel."""
        if not by_ns:
            return self
        frames: dict[str, Any] = {name: _shifted(getattr(self, name), by_ns) for name in _FRAMES}
        ends = (None if end is None else end + by_ns for end in (self.first_ns, self.last_ns))
        first_ns, last_ns = ends
        return replace(self, **frames, first_ns=first_ns, last_ns=last_ns)


_FRAMES = ("collections", "pauses", "stalls", "safepoints", "requests", "workers", "out_of_memory")
_TIMES = ("begin_ns", "end_ns", "at_ns")
"""Columns of a frame that hold moments; others that end in ``_ns`` hold lengths."""


def _shifted(frame: pl.DataFrame, by_ns: int) -> pl.DataFrame:
    return frame.with_columns(pl.col(name) + by_ns for name in _TIMES if name in frame.columns)


def read_gc_log(source: Path | bytes) -> GcLog:
    """Return a log of HotSpot's unified logging (``-Xlog:gc`` or ``-Xlog:gc*,safepoint``) as data.

    Any decorations, Java 17 to 25; Serial, Parallel, G1, ZGC, Shenandoah. A log may begin and end
    anywhere: what is not whole is left out or null. Raises GcLogError for other files.
    """
    [log] = read_gc_logs([source])
    if isinstance(log, GcLogError):
        raise log
    return log


def read_gc_logs(sources: Sequence[Path | bytes]) -> list[GcLog | GcLogError]:
    """Return several logs, each as ``read_gc_log`` does, or why it cannot be read.

    They are asked together: for short logs that takes hardly longer than for one of them.
    """
    found: list[Lines | GcLogError] = []
    for source in sources:
        try:
            found.append(read_lines(source))
        except GcLogError as error:
            found.append(error)
    whole = [each for each in found if isinstance(each, Lines)]
    logs = iter(_read_together(whole) if whole else ())
    return [each if isinstance(each, GcLogError) else next(logs) for each in found]


def _read_together(every: Sequence[Lines]) -> Iterator[GcLog]:
    """Give the logs of these lines: as one log whose runs of a JVM are those of one after another.

    In each table the rows of a log are neighbours, since all are in the order of lines or runs.
    """
    facts = [read_facts(lines) for lines in every]
    counts = [(_whole(lines.frame["run"].max()) or 0) + 1 for lines in every]
    begins = [sum(counts[:n]) for n in range(len(counts) + 1)]
    shifted = (
        lines.frame.with_columns(pl.col("run") + pl.lit(begin, dtype=pl.UInt32))
        for lines, begin in zip(every, begins, strict=False)
    )
    lines = replace(every[0], frame=pl.concat(shifted))
    own = [run for n, each in enumerate(facts) if each.collector == "Shenandoah"
           for run in range(begins[n], begins[n + 1])]  # fmt: skip
    # One after the other: as one query with parts in common they take five times as long.
    steps = messages.steps(lines).collect()
    collections = cycles.collections(lines, steps.lazy()).collect()
    rest = pl.collect_all(
        [
            cycles.pauses(steps.lazy()),
            _stalls(lines, collections.lazy(), own),
            messages.safepoints(lines),
            messages.requests(lines),
            messages.workers(lines),
            out_of_memory(lines),
        ]
    )
    parts = (_apart(frame, begins) for frame in (steps, collections, *rest))
    for told, of_log, (own_steps, *frames) in zip(
        facts, every, zip(*parts, strict=True), strict=True
    ):
        yield _make_log(told, of_log, own_steps, dict(zip(_FRAMES, frames, strict=True)))


def _apart(frame: pl.DataFrame, begins: Sequence[int]) -> Iterator[pl.DataFrame]:
    """Give each log's rows of a table, with the numbers that its runs have in it."""
    cuts = frame["run"].search_sorted(pl.Series(begins, dtype=pl.UInt32), side="left")
    for begin, low, high in zip(begins, cuts, cuts[1:], strict=False):
        rows = frame.slice(low, high - low)
        yield rows.with_columns(pl.col("run") - pl.lit(begin, dtype=pl.UInt32)) if begin else rows


def _make_log(
    facts: Facts, lines: Lines, steps: pl.DataFrame, frames: Mapping[str, pl.DataFrame]
) -> GcLog:
    frame = lines.frame
    return GcLog(
        facts=facts,
        **frames,
        is_cut=Cut(_begins_late(lines), _ends_early(lines, steps, frames["collections"])),
        lines=lines.total,
        strange_lines=lines.strange,
        first_s=lines.first_s,
        last_s=_number(frame["at_s"].max()),
        first_ns=_whole(frame["at_ns"].min()),
        last_ns=_whole(frame["at_ns"].max()),
    )


def _stalls(lines: Lines, collections: pl.LazyFrame, shenandoah: Sequence[int]) -> pl.LazyFrame:
    """Return the stalls; ``shenandoah``: the runs of that collector.

    To the others a full collection is nothing unusual.
    """
    own = pl.col("run").is_in(list(shenandoah))
    told = messages.stalls(lines).select(
        "run", "kind", "thread", end_s="at_s", end_ns="at_ns", stalled_ns="stalled_ns"
    )
    whole = collections.with_columns(thread=pl.lit(None, dtype=pl.String))
    parts = [told.with_columns(pl.col("kind").str.to_lowercase())]
    for kind, which in (
        ("degenerated", pl.col("kind") == "degenerated"),
        ("full", own & (pl.col("kind") == "full") & ~pl.col("is_explicit")),
        ("evacuation failure", pl.col("is_evacuation_failure")),
    ):
        parts.append(
            whole.filter(which).select(
                "run",
                pl.lit(kind).alias("kind"),
                "thread",
                "end_s",
                "end_ns",
                stalled_ns="pause_ns",
            )
        )
    return pl.concat(parts).sort("run", "end_s", maintain_order=True)


def _begins_late(lines: Lines) -> bool:
    """Return whether no line of a JVM's start comes before the first collection."""
    if lines.frame.is_empty():
        return True
    numbered = lines.frame["message"].str.starts_with("GC(")
    first = numbered.arg_max() if numbered.any() else len(numbered)
    head = lines.frame["message"].head(first or 0)
    return not head.str.contains(r"^(?:Using [A-Z]|Version: )").any()


def _ends_early(lines: Lines, steps: pl.DataFrame, collections: pl.DataFrame) -> bool:
    if not lines.ends_whole:
        return True
    if steps.is_empty():
        return False
    last = steps.filter(pl.col("run") == pl.col("run").max())
    known = collections.filter(pl.col("run") == last["run"][0])["id"]
    return not last["id"].is_in(known.implode()).all()


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def _whole(value: object) -> int | None:
    return int(value) if isinstance(value, int) else None
