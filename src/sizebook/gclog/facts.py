"""What a log tells of the JVM itself: collector, version, CPUs, heap."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import polars as pl

from sizebook.gclog.lines import Lines

_NAMES = {
    "Serial": "Serial",
    "Parallel": "Parallel",
    "G1": "G1",
    "The Z Garbage Collector": "ZGC",
    "Shenandoah": "Shenandoah",
    "Epsilon": "Epsilon",
    "Concurrent Mark Sweep": "CMS",
}
# What only one collector says, for logs that begin in the middle.
_MARKS = (
    (
        "CMS",
        r"^GC\([0-9]+\) (?:ParNew: |CMS: |Concurrent (?:Sweep|Reset$|Reset [0-9]|Abortable))",
    ),
    ("Serial", r"^GC\([0-9]+\) (?:DefNew|Tenured): "),
    ("Parallel", r"^GC\([0-9]+\) (?:PSYoungGen|ParOldGen|PSOldGen): "),
    (
        "G1",
        r"^GC\([0-9]+\) (?:Pause (?:Young \([A-Z][a-z A-Z]*\) \(|Cleanup|Mixed )"
        r"|Pause [A-Z][A-Za-z ]* \((?:[A-Z][A-Za-z ]*\) \()?G1 "
        r"|Concurrent (?:Mark Cycle|Undo Cycle|Cycle))",
    ),
    ("ZGC", r"^GC\([0-9]+\) (?:Garbage|Minor|Major) (?:Garbage )?Collection"),
    (
        "Shenandoah",
        r"^GC\([0-9]+\) (?:Concurrent (?:reset|marking|cleanup)|Pause (?:Init (?:Mark|Up)|Degen))",
    ),
    ("G1", r"^GC\([0-9]+\) (?:Pause Remark|Concurrent Mark [A-Z])"),
)
_GENERATIONAL = (
    r"^GC\([0-9]+\) (?:(?:Minor|Major) (?:Garbage )?Collection"
    r"|Concurrent reset \((?:Young|Old|Global)\))"
    r"|^Mode: Generational"
)
_SIZES = {
    "memory": "^Memory: ",
    "heap_min": "^(?:Heap )?Min Capacity: ",
    "heap_max": "^(?:Heap )?Max Capacity: ",
    "region": "^Heap [Rr]egion [Ss]ize: ",
}
_TOLD = {
    "collector": r"^Using ([A-Z].*)$",
    "version": r"^Version: (.{1,120})$",
    "cpus": r"^CPUs: [0-9]{1,6} total, ([0-9]{1,6}) available",
    "epsilon_heap": r"^Heap: ([0-9]{1,12})[KMG] reserved",
    "epsilon_heap_unit": r"^Heap: [0-9]{1,12}([KMG]) reserved",
    "large_pages": r"^Large Page Support: (.{1,80})$",
    **{name: begin + r"([0-9]{1,12})[KMG]" for name, begin in _SIZES.items()},
    **{f"{name}_unit": begin + r"[0-9]{1,12}([KMG])" for name, begin in _SIZES.items()},
}
"""What the lines before the first collection say; of each the first line that does."""
_NO_HEAD = r"^(?:GC\(|Safepoint )"


@dataclass(frozen=True)
class Facts:
    """The JVM of a log; empty or None where the log does not say it."""

    collector: str
    """Serial, Parallel, CMS, G1, ZGC, Shenandoah or Epsilon; told from cut logs, too."""
    is_generational: bool | None
    version: str
    cpus: int | None
    memory_bytes: int | None
    heap_min_bytes: int | None
    heap_max_bytes: int | None
    region_bytes: int | None
    large_pages: str


def read_facts(lines: Lines) -> tuple[Facts, ...]:
    """Return of each run what the lines before the first collection say, or others give away."""
    message = pl.col("message")
    frame = lines.frame.select("run", "message")
    head = frame.filter(~message.str.contains(_NO_HEAD))
    told = head.group_by("run").agg(
        message.str.extract(pattern).drop_nulls().first().alias(name)
        for name, pattern in _TOLD.items()
    )
    by_run = {row["run"]: row for row in told.iter_rows(named=True)}
    nothing = dict.fromkeys(_TOLD)
    collectors = {
        span.run: _NAMES.get(by_run.get(span.run, nothing)["collector"] or "", "")
        for span in lines.runs
    }
    for name, mark in _MARKS:
        silent = [run for run, collector in collectors.items() if not collector]
        if not silent:
            break
        collectors |= dict.fromkeys(_runs_with(frame, mark, silent), name)
    beside = [run for run, name in collectors.items() if name in ("ZGC", "Shenandoah")]
    generational = set(_runs_with(frame, _GENERATIONAL, beside)) if beside else set[int]()
    return tuple(
        _facts(by_run.get(span.run, nothing), collectors[span.run], span.run in generational)
        for span in lines.runs
    )


def _runs_with(frame: pl.DataFrame, pattern: str, runs: list[int]) -> list[int]:
    which = pl.col("run").is_in(runs) & pl.col("message").str.contains(pattern)
    return frame.filter(which)["run"].unique().to_list()


def _facts(told: Mapping[str, str | None], collector: str, is_generational: bool) -> Facts:
    def size(name: str) -> int | None:
        number, unit = told[name], told[f"{name}_unit"]
        return int(number) << {"K": 10, "M": 20, "G": 30}[unit] if number and unit else None

    generational: bool | None = None
    if collector in ("Serial", "Parallel", "G1", "CMS"):
        generational = True
    elif collector in ("ZGC", "Shenandoah"):
        generational = is_generational
    return Facts(
        collector,
        generational,
        told["version"] or "",
        int(told["cpus"]) if told["cpus"] else None,
        size("memory"),
        size("heap_min"),
        size("heap_max") or size("epsilon_heap"),
        size("region"),
        told["large_pages"] or "",
    )


def out_of_memory(lines: Lines) -> pl.LazyFrame:
    """Return each line that says that memory ran out: ZGC says it, and a JVM that ends of it."""
    said = r"^Out Of Memory \(|^(?:Terminating|Aborting) due to java\.lang\.OutOfMemoryError"
    said += r"|^Exception (?:in thread|java).*OutOfMemoryError|^java\.lang\.OutOfMemoryError"
    return (
        lines.frame.lazy()
        .filter(pl.col("message").str.contains(said))
        .select("run", "at_s", "at_ns", text=pl.col("message").str.slice(0, 200))
    )
