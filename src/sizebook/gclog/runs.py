"""Which run of which JVM wrote each line of a log.

A file may hold several: a JVM that was restarted, rotated files in the order of their names, JVMs
that write to one stream. Where pieces of JVMs alternate, what the lines have besides tells the JVMs
apart: the number of the process, the name of the host or container, or the way lines are laid out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

from sizebook.gclog.clocks import absolute, ticks, timed
from sizebook.gclog.errors import GcLogError
from sizebook.gclog.ordering import in_clock_order
from sizebook.gclog.pieces import RESTS, Runs, most_of, runs_of

# Each of these comes once in a JVM's start, in an order that depends on collector and version.
_BEGIN = (
    r"^(Using (?:Serial|Parallel|G1|The Z|Shenandoah|Epsilon|Concurrent Mark)|Version: |CPUs: )"
)
_NUMBER = r"^GC\(([0-9]{1,9})\) "
# What a JVM says in the order of the numbers: full collections of Java 9 to 12 may come within a
# young one (``genCollectedHeap.cpp``, do_collection), phases that run beside it much later.
_IN_ORDER = (
    r"^GC\(([0-9]{1,9})\) (?:Pause (?:Young|Mixed)|(?:[yY]: )?(?:Minor|Garbage) "
    r"|Concurrent reset)"
)
# Steps each of which has its own collections in the order of their numbers.
_SERIAL = (
    r"^GC\([0-9]{1,9}\) (?:[A-Za-z]: )?(?:(Pause Full|Major)|Concurrent (?:Mark |Undo )?(Cycle))"
)
_ENDS = r"(?:[0-9]m?s|->.*)$"
_MOST_WORDS = 24
# Times of day, dates and months, which vary in what is put before the lines of one JVM.
_TIMES = (
    r"[0-9]{4}[-/.][0-9]{2}[-/.][0-9]{2}(?:[T ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?"
    r"(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?|[0-9]{1,2}:[0-9]{2}:[0-9]{2}(?:[.,][0-9]+)?|[0-9]{10,}"
    r"|\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) +[0-9]{1,2}\b"
)
_WORDS = r"[^\s\"|,{}]+"


@dataclass(frozen=True)
class RunSpan:
    """A run of a JVM: when it was under way, and by what its lines are known."""

    run: int
    jvm: str
    """What tells its lines from those of another JVM in the file; empty if there is no other."""
    line: int
    """Line of the file at which it begins."""
    first_s: float | None
    """Time of its first line, and of the last one that was read."""
    last_s: float | None
    first_ns: int | None
    last_ns: int | None


def in_runs(
    frame: pl.DataFrame, clocks: Sequence[Sequence[str]]
) -> tuple[pl.DataFrame, tuple[RunSpan, ...]]:
    """Return the lines with ``at_s``, ``at_ns`` and ``run``, run by run, and each run's times.

    ``clocks`` are those that the lines of each layout have. Raises GcLogError where lines of
    several JVMs are mixed and nothing tells them apart.
    """
    message = pl.col("message")
    rows = frame.with_columns(
        t=ticks(clocks).forward_fill(),
        number=message.str.extract(_NUMBER).cast(pl.Int64),
        order=message.str.extract(_IN_ORDER).cast(pl.Int64),
        begin=pl.when(pl.col("line") > 0).then(message.str.extract(_BEGIN).str.extract(r"^(\w+)")),
        step=pl.when(pl.col("line") > 0).then(_step(message)),
        ends=message.str.contains(_ENDS),
        absolute=absolute(),
    )
    parts, names = [], dict[int, str]()
    for name, own, run in _streams(rows):
        parts.append(own.with_columns(run=run + len(names)))
        names |= dict.fromkeys(range(len(names) + 1, len(names) + 1 + most_of(run)), name)
    told = timed(pl.concat(parts).sort("run", maintain_order=True), clocks)
    return told.filter(pl.col("line") > 0).select(
        "at_s", "at_ns", "run", "line", "message"
    ), _spans(told, names)


def _step(message: pl.Expr) -> pl.Expr:
    """Return of which step with collections one after another a line is; null of no such one."""
    rests = message.str.contains(r"^GC\([0-9]+\) Concurrent reset")
    serial = pl.coalesce(message.str.extract(_SERIAL, 1), message.str.extract(_SERIAL, 2))
    return (
        pl.when(rests)
        .then(pl.lit(RESTS))
        .when(message.str.contains(_IN_ORDER))
        .then(pl.lit("young"))
        .otherwise(serial)
    )


def _streams(rows: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame, pl.Series]]:
    """Give the lines of each JVM with its name, and the run of each line, in the order of runs."""
    ordered = in_clock_order(rows)
    if ordered is not None:
        yield "", ordered, pl.repeat(1, rows.height, dtype=pl.UInt32, eager=True)
        return
    found = runs_of(rows)
    if found.most == 1 and not found.breaks:
        yield "", rows, found.run
        return
    best: tuple[int, int] | None = None
    chosen: list[tuple[str, pl.DataFrame, Runs]] = []
    for key in _keys(rows) if found.most > 1 else ():
        count = key.n_unique()
        if not 2 <= count <= found.breaks + 1:
            continue
        named = rows.with_columns(jvm=key).partition_by("jvm", as_dict=True, maintain_order=True)
        apart = [(str(name), own.drop("jvm"), runs_of(own)) for (name,), own in named.items()]
        cost = sum(one.breaks for _, _, one in apart), count
        mixed = any(one.mixed_at or one.unclear for _, _, one in apart)
        if not mixed and cost[0] < found.breaks and (best is None or cost < best):
            best, chosen = cost, apart
    if chosen:
        for name, own, runs in chosen:
            yield name, own.with_columns(place=runs.place).sort("place").drop("place"), runs.sorted
        return
    if found.mixed_at:
        raise GcLogError(
            found="lines of several JVMs that nothing tells apart, mixed from line "
            f"{found.mixed_at:,} on",
            expected="the log of one JVM, or lines that name theirs",
            next_step="let each JVM write a file of its own, or its number into each line: "
            "-Xlog:gc*:file=gc.log:uptime,pid,level,tags",
        )
    if found.unclear:
        raise GcLogError(
            found=found.unclear,
            expected="runs of a JVM whose pieces fit each other in one way",
            next_step="give the files in the order in which they were written, or those of one "
            "run alone; times of day tell runs apart: -Xlog:gc*:file=gc.log:time,uptime,level,tags",
        )
    yield "", rows.with_columns(place=found.place).sort("place").drop("place"), found.sorted


def _spans(rows: pl.DataFrame, names: dict[int, str]) -> tuple[RunSpan, ...]:
    kept = pl.col("line") > 0
    told = rows.group_by("run", maintain_order=True).agg(
        line=pl.col("line").filter(kept).first().fill_null(1),
        first_s=pl.col("at_s").first(),
        read_s=pl.col("at_s").filter(kept).max(),
        first_ns=pl.col("at_ns").filter(kept).min(),
        last_ns=pl.col("at_ns").filter(kept).max(),
    )
    # the first line of a log in disorder may be the last one by its clock
    last = pl.when(pl.col("read_s").is_not_null()).then(pl.max_horizontal("first_s", "read_s"))
    told = told.with_columns(last_s=last).drop("read_s")
    return tuple(RunSpan(jvm=names[row["run"]], **row) for row in told.iter_rows(named=True))


def _keys(rows: pl.DataFrame) -> Iterator[pl.Series]:
    """Give what may tell JVMs apart: of each line a word, in each of several ways."""
    own = pl.col("own").str.split("\x1f")
    count = int(rows.select(own.list.len().max()).item() or 0)
    ways = [own.list.get(n, null_on_oob=True) for n in range(count)]
    for column in ("before", "after"):
        plain = pl.col(column).str.replace_all(_TIMES, "")
        words = plain.str.extract_all(_WORDS)
        most = int(rows.select(words.list.len().max()).item() or 0)
        if most:
            ways += [words.list.get(n, null_on_oob=True) for n in range(min(most, _MOST_WORDS))]
            ways.append(plain.str.strip_chars(" |:\t"))
    ways.append(pl.format("decorations of kind {}", pl.col("layout") + 1))
    for way in ways:
        yield rows.select(way.forward_fill().fill_null("").alias("key")).to_series()
