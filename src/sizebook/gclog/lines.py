"""The lines of a log of HotSpot's unified logging that tell of collections, with their times.

A line is decorations, a space, a message: ``[0.545s][48601316419640ns][info][gc] GC(0) Pause ...``.
Which decorations there are was chosen when the JVM was started (``-Xlog:gc*:file=F:DECORATIONS``)
and is the same in every line (JDK ``logDecorators.hpp``, Java 17 to 25).
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import polars as pl

from sizebook.model.errors import UserError

MAX_BYTES = 2 << 30
_CHUNK_BYTES = 16 << 20
_SAMPLE_LINES = 400
_UNIFIED = "a log of a HotSpot JVM's unified logging, as java -Xlog:gc*:file=gc.log writes"

_KEPT = [
    "Pause ", "Concurrent r", "Concurrent m", "Concurrent c", "Concurrent e", "Concurrent u",
    "Concurrent Final", "Concurrent Mark Cycle", "Concurrent Undo Cycle", " Collection (",
    "Safepoint \"", " Stall (", "space exhausted",
    "Promotion failed", "DefNew:", "Tenured:", "PSYoungGen:",
    "ParOldGen:", "Capacity:", "Used:", "Live:", "Allocated:", "Trigger", "Failed to allocate",
    "Out Of Memory", "OutOfMemoryError", "Using Serial", "Using Parallel", "Using G1",
    "Using The Z", "Using Shenandoah", "Using Epsilon", "Version: ", "CPUs: ", "Memory: ",
    "Region Size: ", "Page Support: ", "Mode: ", "Attempting ", " workers of ",
]  # fmt: skip
"""Parts of a message one of which every line that is read has; most lines of a log have none."""

_HEAD = re.compile(r"(?:\[[^\[\]]*\])+")
_PARTS = re.compile(r"\[([^\[\]]*)\]")
_TAGGED = re.compile(r"\[(?:gc|safepoint)[\s,\]]")
_KINDS = (
    ("uptime", re.compile(r"\s*\d+[.,]\d+s\s*"), r" *(?P<uptime>[0-9]+[.,][0-9]+)s *"),
    ("ms", re.compile(r"\s*\d+ms\s*"), r" *(?P<ms>[0-9]+)ms *"),
    ("ns", re.compile(r"\s*\d+ns\s*"), r" *(?P<ns>[0-9]+)ns *"),
    (
        "wall",
        re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[.,]\d{3}[+-]\d{4}\s*"),
        r"(?P<wall>[^\]]+?) *",
    ),
)
_OLD = re.compile(r"\[(?:Full )?GC [\[(]|: \[(?:Full )?GC\b|\[PSYoungGen: |<verbosegc|<af-start")
_BEGIN_OF_RUN = r"^Using (?:Serial|Parallel|G1|The Z|Shenandoah|Epsilon)"
_LONGEST_S = 1e10
"""No JVM has run for longer: larger numbers come from a damaged log."""
_EPOCH_MS = 100_000_000_000
"""Milliseconds above it count from 1970, not from the start of a JVM."""


class GcLogError(UserError):
    """The file is no GC log that can be read."""


@dataclass(frozen=True)
class Lines:
    """The lines of a log that tell of collections, in its order."""

    frame: pl.DataFrame
    """``at_s`` (seconds since the JVM's start), ``at_ns`` (CLOCK_MONOTONIC; null where the log does
    not have it), ``run`` (how many starts of a JVM the log tells before), ``message``."""
    total: int
    """Lines of the file."""
    strange: int
    """Lines without the log's decorations."""
    first_s: float | None
    """Time of the first line."""
    ends_whole: bool
    """Whether the last line is ended."""
    untimed: bool
    """Whether the lines have no time."""


@dataclass(frozen=True)
class _Layout:
    pattern: str
    kinds: tuple[str, ...]
    is_of_gc: bool
    """Whether lines are seen that a JVM tags as those of its collector."""


def read_lines(source: Path | bytes) -> Lines:
    """Return the lines that tell of collections.

    The file is read in parts, so that memory is bounded by what is kept. Raises GcLogError for what
    is no such log: empty, binary, compressed, of a JVM older than Java 9 or of another kind.
    """
    try:
        with _opened(source) as file:
            return _read(file)
    except OSError as error:
        raise GcLogError(
            found=f"{source if isinstance(source, Path) else 'the log'}: {error.strerror or error}",
            expected="a file that can be read",
            next_step="check its name and its rights",
        ) from error


def _opened(source: Path | bytes) -> BinaryIO:
    if isinstance(source, bytes):
        return io.BytesIO(source)
    return source.open("rb")


def _read(file: BinaryIO) -> Lines:
    layout: _Layout | None = None
    frames: list[pl.DataFrame] = []
    total = strange = size = 0
    ends_whole = True
    for part in _parts(file):
        ends_whole = part.endswith(b"\n")
        size += len(part)
        if size > MAX_BYTES:
            raise GcLogError(
                found=f"more than {MAX_BYTES >> 30} GiB",
                expected="a log of at most so much",
                next_step="cut it: tail -c 500M gc.log > part.log",
            )
        text = part.decode("utf-8", errors="replace")
        if layout is None:
            layout, first = _find_layout(text)
        if "\r" in text:
            text = text.replace("\r\n", "\n")
        lines = pl.Series("line", [text]).str.split("\n").explode()
        lines = lines.filter(lines != "")
        total += len(lines)
        if layout.kinds:
            strange += len(lines) - int(lines.str.starts_with("[").sum())
        kept = lines.filter(lines.str.contains_any(_KEPT))
        if not frames:  # the first line tells where the times begin, kept or not
            kept = pl.concat([pl.Series("line", [first]), kept])
        frames.append(_take_apart(kept, layout))
    if layout is None:
        raise _refused("an empty file")
    both = pl.concat(frames)
    strange += int(both["message"].slice(1).null_count())
    both = both.filter(pl.col("message").is_not_null() | (pl.int_range(pl.len()) == 0))
    frame = both.slice(1)
    if frame.is_empty() and not layout.is_of_gc:
        raise _refused(f"{total:,} lines, none of which tells of a garbage collector")
    timed = _timed(both, layout)
    return Lines(
        timed.slice(1),
        total,
        strange,
        timed["at_s"][0],
        ends_whole,
        not {"uptime", "ms", "ns", "wall"} & set(layout.kinds),
    )


def _parts(file: BinaryIO) -> Iterator[bytes]:
    """Give the file in parts of whole lines; the last may be without its end."""
    rest = b""
    while data := file.read(_CHUNK_BYTES):
        if b"\0" in data[:4096] or data[:2] == b"\x1f\x8b":
            raise _refused("a binary or compressed file")
        data = rest + data
        cut = data.rfind(b"\n") + 1
        if not cut and len(data) >= _CHUNK_BYTES:
            raise _refused(f"a line of more than {_CHUNK_BYTES >> 20} MiB")
        rest = data[cut:]
        if cut:
            yield data[:cut]
    if rest:
        yield rest


def _refused(found: str) -> GcLogError:
    return GcLogError(
        found=found, expected=_UNIFIED, next_step="name the file that the JVM wrote, uncompressed"
    )


def _find_layout(text: str) -> tuple[_Layout, str]:
    """Return how the decorations are laid out, by majority of the first lines, and such a line."""
    sample = text[: _SAMPLE_LINES * 400].split("\n")[:_SAMPLE_LINES]
    if _OLD.search(text[: 1 << 16]):
        raise GcLogError(
            found="a GC log of Java 8 or older, or of another JVM",
            expected=_UNIFIED,
            next_step="record it with Java 9 or later",
        )
    heads = [match[0] for line in sample if (match := _HEAD.match(line))]
    plain = sum(line.startswith(("GC(", "Using ", "Safepoint ")) for line in sample)
    if not heads or plain > len(heads):
        return _Layout(r"^(?P<message>.*)$", (), False), sample[0]
    [(count, _)] = Counter(head.count("[") for head in heads).most_common(1)
    rows = [_PARTS.findall(head) for head in heads if head.count("[") == count]
    parts, kinds = [], []
    for column in zip(*rows, strict=True):
        kind, pattern = _classify(column)
        if kind in kinds and kind:  # the second of two clocks of one unit is left alone
            kind, pattern = "", r"[^\]]*"
        kinds.append(kind)
        parts.append(rf"\[{pattern}\]")
    first = next(line for line in sample if (m := _HEAD.match(line)) and m[0].count("[") == count)
    of_gc = any(_TAGGED.search(head) for head in heads)
    return _Layout(f"^{''.join(parts)} ?(?P<message>.*)$", tuple(kinds), of_gc), first


def _classify(column: Sequence[str]) -> tuple[str, str]:
    for kind, looks, pattern in _KINDS:
        if sum(bool(looks.fullmatch(value)) for value in column) * 2 > len(column):
            return kind, pattern
    return "", r"[^\]]*"


def _take_apart(lines: pl.Series, layout: _Layout) -> pl.DataFrame:
    names = [kind for kind in layout.kinds if kind] + ["message"]
    parts = (
        lines.to_frame("line")
        .lazy()
        .select("line", pl.col("line").str.extract_groups(layout.pattern).alias("parts"))
    )
    said = pl.when(pl.col("line").str.contains("OutOfMemoryError", literal=True)).then("line")
    named = parts.unnest("parts").select(*names[:-1], message=pl.coalesce("message", said))
    return named.collect()


def _timed(frame: pl.DataFrame, layout: _Layout) -> pl.DataFrame:
    """Return messages with ``at_s``, ``at_ns`` and the number of the JVM's run.

    Times count from the first row, which belongs to no run.
    """
    seconds, ns = pl.lit(None, dtype=pl.Float64), pl.lit(None, dtype=pl.Int64)
    if "ns" in layout.kinds:
        ns = pl.col("ns").cast(pl.Int64, strict=False)
        seconds = (ns - ns.first().fill_null(0)).cast(pl.Float64) / 1e9
    if "wall" in layout.kinds:
        # 2026-11-20T19:55:00.123+0000
        clock = pl.col("wall").str.replace(",", ".", literal=True)
        wall = clock.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f%z", strict=False, time_unit="ms")
        wall_ms = wall.dt.epoch("ms")
        seconds = (wall_ms - wall_ms.first().fill_null(0)).cast(pl.Float64) / 1e3
    if "ms" in layout.kinds:
        ms = pl.col("ms").cast(pl.Int64, strict=False)
        begin = pl.when(ms.first() > _EPOCH_MS).then(ms.first()).otherwise(0)
        seconds = (ms - begin).cast(pl.Float64) / 1e3
    if "uptime" in layout.kinds:
        text = pl.col("uptime").str.replace(",", ".", literal=True)
        seconds = text.cast(pl.Float64, strict=False)
        seconds = pl.when(seconds < _LONGEST_S).then(seconds)
    begins = pl.col("message").str.contains(_BEGIN_OF_RUN).fill_null(False)
    begins &= pl.int_range(pl.len()) > 0
    return frame.select(
        at_s=seconds, at_ns=ns, run=begins.cum_sum().cast(pl.UInt32), message="message"
    ).with_columns(_without_twins(frame, layout))


def _without_twins(frame: pl.DataFrame, layout: _Layout) -> pl.Expr:
    """Return ``at_ns``, null where the nanoseconds are those since the JVM's start."""
    keep = pl.col("at_ns")
    if {"ns", "uptime"} <= set(layout.kinds) and frame.height:
        off = (pl.col("at_ns").cast(pl.Float64) / 1e9 - pl.col("at_s")).abs().median()
        keep = pl.when(off > 1.0).then(keep)
    return keep.alias("at_ns")
