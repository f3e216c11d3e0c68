"""A GC log as data: :func:`read_gc_log`; several at a time: :func:`read_gc_logs`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from sizebook.gclog import cycles, messages
from sizebook.gclog.errors import GcLogError, refused
from sizebook.gclog.facts import Facts, out_of_memory, read_facts
from sizebook.gclog.lines import UNKNOWN, Lines, read_lines
from sizebook.gclog.log import FRAMES, Cut, GcLog, Run

_FARTHEST = 1000
_FILLING = r"^GC\(([0-9]{1,9})\) Coalescing and filling"
_KNOWN = r"^GC\([0-9]+\) (?:(?:[yYoO]: )?(?:Pause|Concurrent|Using) |[^>]*: )"


def read_gc_log(source: Path | bytes) -> GcLog:
    """Return a log of HotSpot's unified logging (``-Xlog:gc`` or ``-Xlog:gc*,safepoint``) as data.

    Any decorations behind any other words, Java 9 to 25; Serial, Parallel, CMS, G1, ZGC,
    Shenandoah, Epsilon. A log may begin and end anywhere: what is not whole is left out or null.
    Raises GcLogError for other files.
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
    logs: Iterator[GcLog | GcLogError] = iter(_read_together(whole) if whole else ())
    return [each if isinstance(each, GcLogError) else next(logs) for each in found]


def _read_together(every: Sequence[Lines]) -> Iterator[GcLog | GcLogError]:
    """Give the logs of these lines: as one log whose runs of a JVM are those of one after another.

    In each table the rows of a log are neighbours, since all are in the order of lines or runs.
    """
    facts = [read_facts(lines) for lines in every]
    counts = [len(lines.runs) for lines in every]
    begins = [sum(counts[:n]) for n in range(len(counts) + 1)]
    shifted = (
        lines.frame.with_columns(pl.col("run") + pl.lit(begin, dtype=pl.UInt32))
        for lines, begin in zip(every, begins, strict=False)
    )
    lines = replace(every[0], frame=pl.concat(shifted))
    own = [begins[n] + span.run for n, each in enumerate(every)
           for span, told in zip(each.runs, facts[n], strict=True)
           if told.collector == "Shenandoah"]  # fmt: skip
    # One after the other: as one query with parts in common they take five times as long.
    steps = cycles.without_inner(messages.steps(lines).collect())
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
        log = _make_log(told, of_log, own_steps, dict(zip(FRAMES, frames, strict=True)))
        yield _not_understood(of_log, log) or log


def _not_understood(lines: Lines, log: GcLog) -> GcLogError | None:
    """Return the error of a log that tells of collections in words that are not known."""
    message = lines.frame["message"]
    if message.str.contains(
        r"^GC\([0-9]+\) (?:Pause|Concurrent) (?:Init |Final )?[Tt]raversal"
    ).any():
        return GcLogError(
            found="Shenandoah in its traversal mode (Java 12 to 14)",
            expected="a mode that is supported: normal, iu, passive or generational",
            next_step="record the log with -XX:ShenandoahGCMode=normal",
        )
    if not (log.collections.is_empty() and log.pauses.is_empty()):
        return None
    ended = message.filter(message.str.contains(UNKNOWN) & ~message.str.contains(_KNOWN))
    if ended.is_empty():
        return None
    return refused(
        f"{len(ended):,} lines of collections, none of which is understood, such as "
        f"{ended[0][:80]!r}",
        "record the log with Java 9 to 25: java -Xlog:gc*:file=gc.log",
    )


def _apart(frame: pl.DataFrame, begins: Sequence[int]) -> Iterator[pl.DataFrame]:
    """Give each log's rows of a table, with the numbers that its runs have in it."""
    firsts = pl.Series([begin + 1 for begin in begins], dtype=pl.UInt32)
    cuts = frame["run"].search_sorted(firsts, side="left")
    for begin, low, high in zip(begins, cuts, cuts[1:], strict=False):
        rows = frame.slice(low, high - low)
        yield rows.with_columns(pl.col("run") - pl.lit(begin, dtype=pl.UInt32)) if begin else rows


def _make_log(
    facts: Sequence[Facts], lines: Lines, steps: pl.DataFrame, frames: Mapping[str, pl.DataFrame]
) -> GcLog:
    begun = _begun(lines.frame)
    open_ends, lost = _open_and_lost(lines.frame, steps, frames["collections"])
    runs = tuple(
        Run(
            number=span.run,
            jvm=span.jvm,
            line=span.line,
            facts=told,
            is_cut=Cut(
                span.run not in begun,
                span.run in open_ends or (span.run == len(lines.runs) and not lines.ends_whole),
            ),
            lost=lost.get(span.run, 0),
            first_s=span.first_s,
            last_s=span.last_s,
            first_ns=span.first_ns,
            last_ns=span.last_ns,
        )
        for span, told in zip(lines.runs, facts, strict=True)
    )
    first_ns = [run.first_ns for run in runs if run.first_ns is not None]
    last_ns = [run.last_ns for run in runs if run.last_ns is not None]
    same = len({(told.collector, told.is_generational) for told in facts}) == 1
    return GcLog(
        facts=facts[0] if same else replace(facts[0], collector="", is_generational=None),
        **frames,
        is_cut=Cut(runs[0].is_cut.begin, runs[-1].is_cut.end),
        lines=lines.total,
        strange_lines=lines.strange,
        foreign=lines.foreign,
        first_s=runs[0].first_s,
        last_s=runs[-1].last_s,
        first_ns=min(first_ns, default=None),
        last_ns=max(last_ns, default=None),
        runs=runs,
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
        ("full", own & (pl.col("kind") == "full") & ~pl.col("is_explicit").fill_null(False)),
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


def _begun(frame: pl.DataFrame) -> set[int]:
    """Return the runs of which a line of the JVM's start comes before the first collection."""
    message, place = pl.col("message"), pl.int_range(pl.len())
    told = frame.group_by("run").agg(
        start=place.filter(message.str.contains(r"^(?:Using [A-Z]|Version: )")).first(),
        first=place.filter(message.str.starts_with("GC(")).first(),
    )
    return set(told.filter((pl.col("start") < pl.col("first")).fill_null(
        pl.col("start").is_not_null()))["run"])  # fmt: skip


def _open_and_lost(
    frame: pl.DataFrame, steps: pl.DataFrame, collections: pl.DataFrame
) -> tuple[set[int], dict[int, int]]:
    """Return the runs in which a collection has no end, and how many are lost in each run.

    A JVM numbers its collections without a gap, whichever collector it has; so it does what
    Shenandoah does between those of its old generation (Coalescing and filling).
    """
    ended = collections.select("run", "id", is_ended=pl.lit(True))
    is_end = pl.col("took_ns").is_not_null() | pl.col("after_bytes").is_not_null()
    parts = steps.group_by("run", "id", "verb", "name").agg(
        is_pause=pl.col("name").first().str.contains(r"^(?:Young|Full|Mixed)"),
        is_begun=(~is_end).sum() > is_end.sum(),
    )
    ids = parts.group_by("run", "id").agg(pl.col("is_pause", "is_begun").any())
    number = pl.col("message").str.extract(_FILLING).cast(pl.Int64)
    filling = frame.select("run", id=number).drop_nulls().unique()
    others = filling.join(ids, on=["run", "id"], how="anti").with_columns(
        is_pause=pl.lit(False), is_begun=pl.lit(False)
    )
    ended = pl.concat([ended, others.select("run", "id", is_ended=pl.lit(True))])
    ids = pl.concat([ids, others])
    ids = ids.join(ended, on=["run", "id"], how="left").sort("run", "id")
    is_open = pl.col("is_ended").is_null()
    is_last = pl.col("id") == pl.col("id").max()
    inner = pl.col("id") < pl.col("id").filter(~is_open).max()
    gaps = pl.col("id").diff().fill_null(1) - 1
    told = ids.group_by("run").agg(
        # one that has its end alone is cut at the log's begin
        is_open=(is_open & (is_last | pl.col("is_begun"))).any(),
        # a larger gap comes from a number that was damaged
        lost=gaps.filter(gaps <= pl.len() + _FARTHEST).sum()
        + (is_open & inner & pl.col("is_pause")).sum(),
    )
    lost = {run: int(count) for run, count in told.select("run", "lost").iter_rows() if count}
    return set(told.filter("is_open")["run"]), lost
