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
_SIZES = {
    "memory": "^Memory: ",
    "heap_min": "^(?:Heap )?Min Capacity: ",
    "heap_max": "^(?:Heap )?Max Capacity: ",
    "region": "^Heap Region Size: ",
}
_TOLD = {
    "collector": r"^Using ([A-Z].*)$",
    "version": r"^Version: (.{1,120})$",
    "cpus": r"^CPUs: [0-9]{1,6} total, ([0-9]{1,6}) available",
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
    head = message.filter(~message.str.contains(_NO_HEAD))
    told = (
        head.to_frame()
        .select(
            pl.col("message").str.extract(pattern).drop_nulls().first().alias(name)
            for name, pattern in _TOLD.items()
        )
        .row(0, named=True)
        if len(head)  # a part of a log has none
        else dict.fromkeys(_TOLD)
    )

    def size(name: str) -> int | None:
        number, unit = told[name], told[f"{name}_unit"]
        return int(number) << {"K": 10, "M": 20, "G": 30}[unit] if number and unit else None

    collector = _NAMES.get(told["collector"] or "", "")
    if not collector:
        collector = next((name for name, mark in _MARKS if message.str.contains(mark).any()), "")
    generational: bool | None = None
    if collector in ("Serial", "Parallel", "G1"):
        generational = True
    elif collector in ("ZGC", "Shenandoah"):
        generational = bool(message.str.contains(_GENERATIONAL).any())
    return Facts(
        collector,
        generational,
        told["version"] or "",
        int(told["cpus"]) if told["cpus"] else None,
        size("memory"),
        size("heap_min"),
        size("heap_max"),
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
