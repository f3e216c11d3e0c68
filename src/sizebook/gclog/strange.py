"""Lines of a log that are not the JVM's decorated ones: how many, and whether others tell of GC.

Where a JVM was told to decorate nothing, its lines are known by how their messages begin.
"""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from sizebook.gclog.layouts import LineLayout

JAVA_8 = "a GC log of Java 8 or older (as -XX:+PrintGCDetails writes)"
OPENJ9 = "a verbose GC log of another JVM (OpenJ9) or Java 8"
_OLD = (
    r"\[(?:Full )?GC(?: \(| \[| pause| [0-9]+K->|--)|: \[(?:Full )?GC\b|\[PSYoungGen: |\[ParNew: "
    r"|\[DefNew: "
)
_OTHER = r"<verbosegc|<af-start|<exclusive-start"
_RARE = ["[GC", "[Full GC", "[PSYoungGen", "[ParNew", "[DefNew"]
_RARE_OTHER = ["<verbosegc", "<af-start", "<exclusive-start"]
# How Java 17 and 25 begin the messages of gc* and safepoint that are not of one collection: the
# start, triggers, the heap at the end (indented), Shenandoah's statistics.
_PLAIN = (
    r"^(?: |$|- age |===|GC[( ]|Using |Version: |CPUs: |Memory: |Safepoint |Leaving safepoint"
    r"|Entering safepoint|Application time|Total time for which|Heap(?:$| )|Shenandoah Heap"
    r"|(?:Address|Reserved|Available) [Ss]pace |Reserved region|Alignments: |CDS |CardTable "
    r"|Compressed |Narrow |UseCompressed|Encoding Range|Protection zone|Klass |Large Page |NUMA "
    r"|Pre-touch|Periodic GC|(?:Min|Max|Initial|Soft Max) (?:Capacity|Heap)|Medium Page"
    r"|Parallel Workers|Concurrent |Runtime Workers|Workers: |TLAB |Humongous |Uncommit"
    r"|Initializing |Stopping |Mode: |(?:Old |Young )?Heuristics|Trigger|Status: |Metaspace"
    r"|Young regions|Collection set|Free(?: headroom)?: |Pac(?:er|ing) |Allocation (?:pacing|Stall)"
    r"|Relocation Stall|Cancelling GC|Attempting |Clearing All|Failed to allocate|Out Of Memory"
    r"|Promotion failed|Wanted |Min heap equals|Mutators: |Pause |All times are|all workers\."
    r"|Under allocation pressure|enough regions|to avoid Degen|tune GC|under stop-the-world)"
)


@dataclass(frozen=True)
class Foreign:
    """Lines that another kind of GC log has: no collection of theirs is read."""

    what: str
    line: int
    """The first of them in the file."""
    lines: int

    def __str__(self) -> str:
        return f"{self.what}, from line {self.line:,} on"

    def __add__(self, later: Foreign | None) -> Foreign:
        if later is None:
            return self
        return Foreign(self.what, self.line, self.lines + later.lines)


def count_strange(rest: pl.Series, layouts: list[LineLayout]) -> int:
    """Return how many lines without a layout's head are no lines of the JVM."""
    if any(not one.kinds for one in layouts):
        return int((~rest.str.contains(_PLAIN)).sum())
    return len(rest) if layouts else 0


def find_foreign(rows: pl.DataFrame, before: int) -> Foreign | None:
    """Return the lines of another kind of GC log among ``rows`` (``n`` from 0, ``line``)."""
    for what, words, pattern in ((JAVA_8, _RARE, _OLD), (OPENJ9, _RARE_OTHER, _OTHER)):
        told = rows.filter(pl.col("line").str.contains_any(words))
        told = told.filter(pl.col("line").str.contains(pattern))
        if told.height:
            return Foreign(what, before + 1 + int(told["n"][0]), told.height)
    return None
