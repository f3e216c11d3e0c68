"""What a log tells of the JVM itself: collector, version, CPUs, heap."""

from __future__ import annotations

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
}
# What only one collector says, for logs that begin in the middle.
_MARKS = (
    ("Serial", r"^GC\([0-9]+\) (?:DefNew|Tenured): "),
    ("Parallel", r"^GC\([0-9]+\) (?:PSYoungGen|ParOldGen): "),
    (
        "G1",
        r"^GC\([0-9]+\) (?:Pause (?:Young \([A-Z][a-z A-Z]*\) \(|Remark|Cleanup)|Concurrent Mark)",
    ),
    ("ZGC", r"^GC\([0-9]+\) (?:Garbage|Minor|Major) Collection"),
    ("Shenandoah", r"^GC\([0-9]+\) (?:Concurrent (?:reset|marking|cleanup)|Pause (?:Init|Degen))"),
)
_GENERATIONAL = (
    r"^GC\([0-9]+\) (?:(?:Minor|Major) Collection|Concurrent reset \((?:Young|Old|Global)\))"
    r"|^Mode: Generational"
)
_SIZE = r"([0-9]{1,12})([KMG])"


@dataclass(frozen=True)
class Facts:
    """The JVM of a log; empty or None where the log does not say it."""

    collector: str
    """Serial, Parallel, G1, ZGC, Shenandoah or Epsilon; also told from a log cut at its begin."""
    is_generational: bool | None
    version: str
    cpus: int | None
    memory_bytes: int | None
    heap_min_bytes: int | None
    heap_max_bytes: int | None
    region_bytes: int | None
    large_pages: str


def read_facts(lines: Lines) -> Facts:
    """Return what the lines before the first collection say, or what the others give away."""
    message = lines.frame["message"]
    head = message.filter(~message.str.starts_with("GC(") & ~message.str.starts_with("Safepoint "))

    def first(pattern: str) -> str:
        found = head.str.extract(pattern).drop_nulls()
        return str(found[0]) if len(found) else ""

    def size(pattern: str) -> int | None:
        number, unit = (
            first(pattern + r"([0-9]{1,12})[KMG]"),
            first(pattern + r"[0-9]{1,12}([KMG])"),
        )
        return int(number) << {"K": 10, "M": 20, "G": 30}[unit] if number and unit else None

    collector = _NAMES.get(first(r"^Using ([A-Z].*)$"), "")
    if not collector:
        collector = next((name for name, mark in _MARKS if message.str.contains(mark).any()), "")
    generational: bool | None = None
    if collector in ("Serial", "Parallel", "G1"):
        generational = True
    elif collector in ("ZGC", "Shenandoah"):
        generational = bool(message.str.contains(_GENERATIONAL).any())
    cpus = first(r"^CPUs: [0-9]{1,6} total, ([0-9]{1,6}) available")
    return Facts(
        collector,
        generational,
        first(r"^Version: (.{1,120})$"),
        int(cpus) if cpus else None,
        size(r"^Memory: "),
        size(r"^(?:Heap )?Min Capacity: "),
        size(r"^(?:Heap )?Max Capacity: "),
        size(r"^Heap Region Size: "),
        first(r"^Large Page Support: (.{1,80})$"),
    )


def out_of_memory(lines: Lines) -> pl.DataFrame:
    """Return each line that says that memory ran out: ZGC says it, and a JVM that ends of it."""
    said = r"^Out Of Memory \(|^(?:Terminating|Aborting) due to java\.lang\.OutOfMemoryError"
    said += r"|^Exception (?:in thread|java).*OutOfMemoryError|^java\.lang\.OutOfMemoryError"
    return lines.frame.filter(pl.col("message").str.contains(said)).select(
        "run", "at_s", "at_ns", text=pl.col("message").str.slice(0, 200)
    )
