"""The lines of a log that tell of collections: their times, and which run of which JVM wrote each.

A line is decorations, a space, a message: ``[0.545s][48601316419640ns][info][gc] GC(0) Pause ...``,
behind whatever a container runtime, a journal or a program without ends of lines put before it.
"""

from __future__ import annotations

import io
import itertools
import re
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import polars as pl

from sizebook.gclog.decoding import line_parts
from sizebook.gclog.errors import GcLogError, refused
from sizebook.gclog.layouts import MOST, LineLayout, evident, find_layouts
from sizebook.gclog.runs import RunSpan, in_runs
from sizebook.gclog.strange import Foreign, count_strange, find_foreign

_KEPT = [
    "Pause ", "Concurrent r", "Concurrent m", "Concurrent c", "Concurrent e", "Concurrent u",
    "Concurrent Final", "Concurrent Mark Cycle", "Concurrent Undo Cycle", "Concurrent Cycle",
    "Concurrent Sweep", "Concurrent Reset",
    " Collection (", "Safepoint \"", "Safepoint \\\"", "Total time for which application",
    "Entering safepoint", " Stall (", "space exhausted",
    "Promotion failed", "DefNew:", "Tenured:", "PSYoungGen:", "ParNew:", "CMS:",
    "ParOldGen:", "PSOldGen:", "Capacity:", "Used:", "Live:", "Allocated:", "Trigger",
    "Failed to allocate", "raversal",
    "Out Of Memory", "OutOfMemoryError", "Using Serial", "Using Parallel", "Using G1",
    "Using The Z", "Using Shenandoah", "Using Epsilon", "Using Concurrent Mark", "Version: ",
    "CPUs: ", "Memory: ", "egion size: ", "Region Size: ", "Page Support: ", "Mode: ",
    "Attempting ", " workers of ", "Heap: ", "Coalescing and",
]  # fmt: skip
"""Parts of a message one of which every line that is read has; most lines of a log have none."""

UNKNOWN = r"GC\([0-9]{1,9}\) .*(?:[0-9]ms|[0-9][KMGT]?->[0-9].*)$"
"""The end of a step of a collection, in whatever words."""
_QUOTED = r'[:=]\s*"(?:[^"\\]|\\.)*$'
"""Words before the decorations that leave a string of JSON open."""
_IN_QUOTES = r'^((?:[^"\\]|\\[^nr])*)'
_ESCAPES = {r"\\": "\\", r"\"": '"', r"\/": "/", r"\t": "\t",
            r"\u003c": "<", r"\u003C": "<", r"\u003e": ">", r"\u003E": ">", r"\u0026": "&",
            r"\u0027": "'", r"\u0022": '"'}  # fmt: skip
_LONGEST_S = 1e10
"""No JVM has run for longer: larger numbers come from a damaged log."""
_SHAPE = pl.DataFrame(
    schema={"line": pl.UInt32, "message": pl.String, "before": pl.String, "after": pl.String,
            "own": pl.String, "layout": pl.UInt8, "up": pl.Float64, "ms": pl.Int64,
            "wall": pl.Int64, "ns": pl.Int64}
)  # fmt: skip


@dataclass(frozen=True)
class Lines:
    """The lines of a log that tell of collections, run by run of a JVM."""

    frame: pl.DataFrame
    """``at_s`` (seconds since the JVM's start), ``at_ns`` (CLOCK_MONOTONIC; null where the log does
    not have it), ``run``, ``line`` (of the file), ``message``."""
    runs: tuple[RunSpan, ...]
    """What is known of each run; one at least."""
    total: int
    """Lines of the file that are not empty."""
    strange: int
    """Lines that are none of the JVM's."""
    foreign: Foreign | None
    """Those of them that another kind of GC log has."""
    ends_whole: bool
    """Whether the last line is ended."""


def read_lines(source: Path | bytes) -> Lines:
    """Return the lines that tell of collections.

    The file is read in parts, so that memory is bounded by what is kept. Raises GcLogError for what
    is no such log: empty, binary, compressed, of a JVM older than Java 9 or of another kind, and
    for lines of several JVMs that nothing tells apart.
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
    layouts: list[LineLayout] = []
    frames: list[pl.DataFrame] = []
    total = strange = 0
    is_empty, ends_whole = True, True
    foreign: Foreign | None = None
    for text, lines in line_parts(file):
        is_empty, ends_whole = False, text.endswith("\n")
        kept = lines.to_frame("line").with_row_index("n").with_columns(
            is_told=pl.col("line").str.contains_any(_KEPT)
        )  # fmt: skip
        headed, layouts = _headed(lines, layouts)
        kept = kept.with_columns(headed=headed)
        rest = kept.filter(pl.col("headed") == 0)
        strange += count_strange(rest["line"], layouts)
        found = find_foreign(rest, total)
        foreign = found if foreign is None else foreign + found
        if not frames and (headed > 0).any():
            # the first line tells where the times begin, whatever it says: line 0
            heads = kept.slice(int((headed > 0).arg_max() or 0), 1)
            first = _take_apart(heads, layouts, total).head(1)
            frames.append(first.with_columns(line=pl.lit(0, dtype=pl.UInt32)))
        if layouts:
            told = kept.filter("is_told")
            if not told["line"].str.contains("GC(", literal=True).any():
                # words that no version known has: what to name in the error
                told = kept.filter(pl.col("is_told") | (pl.col("headed") > 0)
                                   & pl.col("line").str.contains(UNKNOWN))  # fmt: skip
            frames.append(_take_apart(told, layouts, total))
        total += len(lines)
    if is_empty:
        raise refused("an empty file")
    if not frames:
        raise _nothing(total, foreign)
    frame = pl.concat(frames)
    if frame.height < 2 and not any("tags" in one.kinds for one in layouts):
        raise _nothing(total, foreign)
    told, runs = in_runs(frame, [one.clocks for one in layouts])
    return Lines(told, runs, total, strange, foreign, ends_whole)


def _nothing(total: int, foreign: Foreign | None) -> GcLogError:
    if foreign is not None:
        return refused(str(foreign), "record it with Java 9 or later: java -Xlog:gc*:file=gc.log")
    return refused(
        f"{total:,} lines, none of which tells of a garbage collector",
        "name the file to which the JVM wrote its log; record one with java -Xlog:gc*:file=gc.log",
    )


def _headed(lines: pl.Series, known: list[LineLayout]) -> tuple[pl.Series, list[LineLayout]]:
    """Return the layouts with those that these lines add, and of each line whether it has one.

    0: none, 1: it begins with a JVM's decorations, 2: it has them behind other words.
    """
    layouts = known or find_layouts(evident(lines))
    while True:
        headed = _marked(lines, layouts)
        new = find_layouts(evident(lines.filter(headed == 0)), layouts)
        if not new or len(layouts) >= MOST:
            return headed, layouts
        layouts = [*layouts, *new]


def _marked(lines: pl.Series, layouts: list[LineLayout]) -> pl.Series:
    if not layouts:
        return pl.repeat(0, len(lines), dtype=pl.UInt8, eager=True)
    any_head = _any_of(layouts)
    at_begin = lines.str.contains(f"^(?:{any_head})")
    frame = pl.DataFrame({"line": lines, "headed": at_begin.cast(pl.UInt8)})
    if at_begin.all():
        return frame["headed"]
    rest = frame.with_row_index("n").filter(pl.col("headed") == 0)
    behind = rest.select("n", headed=pl.col("line").str.contains(any_head).cast(pl.UInt8) * 2)
    return frame.with_row_index("n").update(behind, on="n")["headed"]


def _any_of(layouts: list[LineLayout]) -> str:
    return "|".join(f"(?:{one.head})" for one in layouts)


def _take_apart(kept: pl.DataFrame, layouts: list[LineLayout], before: int) -> pl.DataFrame:
    """Return line, message, clocks, and what may tell JVMs apart, in the order of the lines.

    Lines without a layout are left out, except those that say that memory ran out.
    """
    rows = _unglued(kept.select("n", "headed", "line", part=pl.lit(0, dtype=pl.UInt32)), layouts)
    parts = [_unheaded(rows.filter(pl.col("headed") == 0))]
    for headed in (1, 2):
        left = rows.filter(pl.col("headed") == headed)
        for number, layout in enumerate(layouts):
            if left.is_empty():
                break
            pattern = ("^" if headed == 1 else "^(?P<before>.*?)") + layout.groups
            taken = left.with_columns(pl.col("line").str.extract_groups(pattern).alias("parts"))
            taken = taken.unnest("parts")
            left = taken.filter(pl.col("message").is_null()).select(left.columns)
            parts.append(_of_layout(taken.filter(pl.col("message").is_not_null()), layout, number))
    found = pl.concat(parts).sort("n", "part", maintain_order=True)
    return found.select((pl.col("n") + (before + 1)).alias("line"), *_SHAPE.columns[1:])


def _unglued(rows: pl.DataFrame, layouts: list[LineLayout]) -> pl.DataFrame:
    """Return the rows with each record of a line as one of its own: some writers lose line ends."""
    number = r"GC\([0-9]{1,9}\) "
    begins = "|".join(
        f"(?:{one.head} ?(?:{number})?)" if one.kinds else f"(?:{number})" for one in layouts
    )
    is_glued = (pl.col("headed") > 0) & (pl.col("line").str.count_matches(begins) > 1)
    glued = rows.filter(is_glued)
    if glued.is_empty():
        return rows
    begin, pieces = re.compile(begins), []
    for n, headed, line in glued.select("n", "headed", "line").iter_rows():
        starts = [found.start() for found in begin.finditer(line)]
        for part, (low, high) in enumerate(itertools.pairwise([*starts, len(line)])):
            pieces.append((n, headed, line[: starts[0]] + line[low:high], part))
    apart = pl.DataFrame(pieces, schema=rows.schema, orient="row")
    return pl.concat([rows.filter(~is_glued), apart])


def _unheaded(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the lines by which a JVM says without decorations that memory ran out."""
    line = pl.col("line")
    said = line.str.extract(
        r"((?:(?:Terminating|Aborting) due to|Exception (?:in thread|java)).*)$"
    )
    return _shaped(
        rows.filter(line.str.contains("OutOfMemoryError", literal=True)).with_columns(
            message=pl.coalesce(said, "line")
        )
    )


def _of_layout(rows: pl.DataFrame, layout: LineLayout, number: int) -> pl.DataFrame:
    clocks = {
        "layout": pl.lit(number, dtype=pl.UInt8),
        "message": pl.col("message").str.strip_prefix(" "),
    }
    if "uptime" in layout.kinds:
        up = pl.col("uptime").str.replace(",", ".", literal=True).cast(pl.Float64, strict=False)
        clocks["up"] = pl.when(up < _LONGEST_S).then(up)
    if "wall" in layout.kinds:
        # 2026-11-20T19:55:00.123+0000
        text = pl.col("wall").str.replace(",", ".", literal=True).str.replace(r"Z$", "+0000")
        wall = text.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f%z", strict=False, time_unit="ms")
        clocks["wall"] = wall.dt.epoch("ms")
    for name in ("ms", "ns"):
        if name in layout.kinds:
            clocks[name] = pl.col(name).cast(pl.Int64, strict=False)
    if layout.own:
        own = [pl.col(name).str.strip_chars() for name in layout.own]
        clocks["own"] = pl.concat_str(own, separator="\x1f")
    found = rows.with_columns(**clocks)
    return _shaped(_unquoted(found) if "before" in found.columns else found)


def _unquoted(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the messages that are in a string of JSON as they were before."""
    if not rows["before"].str.contains('"', literal=True).any():
        return rows
    message = pl.col("message")
    inner = message.str.extract(_IN_QUOTES)
    quoted = pl.col("before").str.contains(_QUOTED)
    plain = inner.str.replace_many(list(_ESCAPES), list(_ESCAPES.values()))
    return rows.with_columns(
        message=pl.when(quoted).then(plain).otherwise(message),
        after=pl.when(quoted).then(message.str.slice(inner.str.len_chars())),
    )


def _shaped(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the columns of each table of lines, null where a layout lacks them."""
    missing = [
        pl.lit(None, dtype=dtype).alias(name)
        for name, dtype in _SHAPE.schema.items()
        if name not in rows.columns and name != "line"
    ]
    return rows.with_columns(*missing).select("n", "part", *_SHAPE.columns[1:])
