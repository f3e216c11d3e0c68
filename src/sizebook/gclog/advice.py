"""What a GC log says about the size of the heap: :func:`advise`.

**The model, for collectors that stop the application (Serial, Parallel, G1).** What a collection
costs follows from what is live, not from the garbage; how often it is needed follows from the
allocation rate over the free room (A. W. Appel, "Garbage Collection Can Be Faster Than Stack
Allocation", Information Processing Letters 25, 1987; R. Jones, A. Hosking, E. Moss, "The Garbage
Collection Handbook", 2nd ed. 2023, on the mark/cons ratio). With live set *L*, heap *H* and
overhead *O* as measured, a heap *H'* under the same load has the overhead *O (H - L) / (H' - L)*,
so that *H' = L + (H - L) O / x* keeps it at *x*. That holds for generations that grow with the
heap, as they do by default; G1 may keep its young generation smaller for the sake of its pause
goal.

**For collectors that run beside the application (ZGC, Shenandoah).** Pauses say little; the heap
must hold what is live and what is allocated while a collection runs ("HotSpot Virtual Machine
Garbage Collection Tuning Guide", The Z Garbage Collector, Setting the Heap Size): *H' = L + A T*,
with the allocation rate *A* and the longest collection *T*, and a quarter more for rates that vary.

No advice is given outside of the data: too few collections, a live set that is unknown or grows, a
heap that ran out, or a free room of less than a quarter or more than four times that of the log.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from sizebook.gclog.log import GcLog
from sizebook.gclog.summary import GcSummary, summarise

FEWEST = 10
"""Collections that a log must have for advice; explicit ones do not count."""
FARTHEST = 4.0
"""How many times more or less free room than measured the model is trusted for."""
SPARE = 1.25
"""Room for allocation rates above the mean while a collection runs beside the application."""
EXCESSIVE = 0.10
"""Overhead from which collection is called excessive."""
GROWING = 0.05
"""Rise of the live set, as a share of the heap, from which it is said to grow."""
MOST_FAILED = 0.1
"""Share of collections without room to move objects to, above which no advice is given."""
_CONCURRENT = ("ZGC", "Shenandoah")
# The heap must hold the live set in the part that long-lived objects may take.
_LEAST_RATIO = {
    "Serial": 1.5,  # NewRatio=2: two thirds are the old generation
    "Parallel": 1.5,
    "G1": 1.2,  # G1ReservePercent=10 and a young generation of at least 5 %
    "ZGC": 1.1,
    "Shenandoah": 1.1,
}
_MIB = 1 << 20

Weight = Literal["bad", "doubtful", "note"]


@dataclass(frozen=True)
class GcFinding:
    """Something about the collections that whoever sizes the heap should know."""

    key: str
    weight: Weight
    words: str


@dataclass(frozen=True)
class Advice:
    """The smallest heap that keeps a criterion, where the log can tell, and what else it shows."""

    heap_bytes: int | None
    """None where the log cannot tell: ``words`` say why."""
    words: str
    overhead: float
    """The criterion: greatest share of time that the application may stand still."""
    least_bytes: int | None
    """Smallest and largest heap that this log can tell anything about."""
    most_bytes: int | None
    findings: tuple[GcFinding, ...]


def advise(source: GcLog | GcSummary, overhead: float = 0.05) -> Advice:
    """Return the smallest heap that keeps the share of time in pauses at ``overhead`` or below.

    For the same load on the same machine. Raises ValueError for a share that is not between 0
    and 1.
    """
    if not 0 < overhead < 1:
        raise ValueError(f"an overhead of {overhead} is no share between 0 and 1")
    summary = source if isinstance(source, GcSummary) else summarise(source)
    findings = find(summary)
    reason = _reason_not_to(summary)
    if reason:
        return Advice(None, f"No heap size is advised: {reason}.", overhead, None, None, findings)
    live, heap = summary.live_bytes or 0, summary.heap_bytes or 0
    room = heap - live
    ratio = least_ratio(summary.facts.collector)
    least = max(round(live + room / FARTHEST), round(live * ratio))
    most = round(live + room * FARTHEST)
    if summary.facts.collector in _CONCURRENT:
        wanted, words = _beside(summary, overhead)
    else:
        wanted, words = _stopping(summary, overhead)
    if wanted is None:
        return Advice(None, f"No heap size is advised: {words}.", overhead, least, most, findings)
    if wanted > most:
        words += (
            f" That is more than the {_mib(most)} up to which this log can tell: at least so much"
        )
        words += " is needed; measure there."
        return Advice(None, words, overhead, least, most, findings)
    if wanted < least:
        wanted = least
        words += f" Below {_mib(least)} this log cannot tell, so that is what is advised."
    return Advice(-(-wanted // _MIB) * _MIB, words, overhead, least, most, findings)


def least_ratio(collector: str) -> float:
    """Return the smallest heap over the live set that a collector can work with."""
    return _LEAST_RATIO.get(collector, 1.5)


def _stopping(summary: GcSummary, overhead: float) -> tuple[int | None, str]:
    live, heap = summary.live_bytes or 0, summary.heap_bytes or 0
    paused = (summary.pause_ns or 0) - summary.explicit_pause_ns
    measured = paused / 1e9 / summary.window_s if summary.window_s else 0.0
    if summary.live_from in ("young", "mixed") and measured > overhead:
        return None, (
            "no collection tells what is live (after young and mixed ones garbage is left), and "
            f"with {measured:.1%} of the time in pauses the heap is too small for {overhead:.0%}"
        )
    wanted = round(live + (heap - live) * measured / overhead)
    bound = "at most " if summary.live_from in ("young", "mixed") else ""
    return wanted, (
        f"{measured:.1%} of the time was spent in pauses (explicit collections left out) with "
        f"{_mib(heap)} of heap, of which {bound}{_mib(live)} were live; the pauses go with one "
        f"over the free room, so that {_mib(wanted)} would keep them at {overhead:.0%}."
    )


def _beside(summary: GcSummary, overhead: float) -> tuple[int | None, str]:
    live = summary.live_bytes or 0
    if summary.stalls:
        return None, (
            f"the collector could not keep up {summary.stalls} times, so that neither the rate of "
            "allocation nor the length of a collection is what it would be with room enough; "
            "measure with a larger heap"
        )
    if summary.overhead_share is not None and summary.overhead_share > overhead:
        return None, (
            f"pauses take {summary.overhead_share:.1%} of the time, which with this collector does "
            "not come from the size of the heap"
        )
    rate, longest = summary.allocated_per_s, summary.longest_cycle_ns
    if rate is None or longest is None:
        return None, "the log does not tell the rate of allocation (record gc*, not gc alone)"
    wanted = round(live + SPARE * rate * longest / 1e9)
    return wanted, (
        f"{_mib(live)} were live, {_mib(round(rate))} a second were allocated, and the longest "
        f"collection took {longest / 1e9:.2f} s: with a quarter more, {_mib(wanted)} hold what is "
        "allocated while a collection runs."
    )


def _reason_not_to(summary: GcSummary) -> str:
    """Return why the log is no ground for advice; empty if it is one."""
    own = summary.collections - summary.explicit_collections
    live, heap = summary.live_bytes, summary.heap_bytes
    collector = summary.facts.collector
    reasons = (
        (collector == "Epsilon", "Epsilon never collects"),
        (collector == "CMS", "the model does not know CMS, which Java 14 removed"),
        (
            summary.heap_exhaustions > 0,
            "memory ran out, and how much more was needed the log does not tell",
        ),
        (not summary.window_s or summary.window_s <= 0, "the log has no times"),
        (own < FEWEST, f"{own} collections are too few (at least {FEWEST})"),
        (heap is None or live is None, "the log does not tell how much of the heap is live"),
        ((heap or 0) <= (live or 0), "all of the heap is live"),
        (_grows(summary), "the live set grows, so that any heap may become too small"),
        (
            summary.evacuation_failures > MOST_FAILED * summary.collections,
            f"in {summary.evacuation_failures} collections there was no room to move objects to, "
            "which distorts what they cost",
        ),
    )
    return next((words for is_so, words in reasons if is_so), "")


def find(summary: GcSummary) -> tuple[GcFinding, ...]:
    """Return what is remarkable, the worst first."""
    found: list[GcFinding] = []

    def add(key: str, weight: Weight, words: str) -> None:
        found.append(GcFinding(key, weight, words))

    own = (summary.pause_ns or 0) - summary.explicit_pause_ns
    share = own / 1e9 / summary.window_s if summary.window_s else 0.0
    if summary.heap_exhaustions:
        add("exhaustion", "bad", f"The heap was exhausted {_times(summary.heap_exhaustions)}.")
    if share > EXCESSIVE:
        add("excessive", "bad", f"Collection is excessive: {share:.0%} of the time in pauses.")
    if summary.evacuation_failures:
        words = f"{_times(summary.evacuation_failures)} there was no room to move objects to."
        add("evacuation", "bad", words[0].upper() + words[1:])
    if summary.stalls:
        add(
            "stalls",
            "bad",
            f"The collector could not keep up {_times(summary.stalls)}; the application waited "
            f"{summary.stalled_ns / 1e9:.2f} s for it, threads added up.",
        )
    if _grows(summary):
        add(
            "growing",
            "doubtful",
            f"The live set grows: by {_mib(summary.rise_bytes or 0)} from the first third of the "
            "log to the last. It may be a cache that fills, or a leak.",
        )
    if summary.explicit_collections:
        add(
            "explicit",
            "doubtful",
            f"{summary.explicit_collections} of {summary.collections} collections were asked for "
            f"explicitly and took {summary.explicit_pause_ns / 1e9:.2f} s of pauses.",
        )
    if summary.humongous_collections * 5 > summary.collections:
        region = summary.facts.region_bytes
        size = f" ({_mib(region // 2)} or more)" if region and region >= 2 * _MIB else ""
        add(
            "humongous",
            "doubtful",
            f"{summary.humongous_collections} of {summary.collections} collections were for "
            f"objects of half a region{size}; larger regions (-XX:G1HeapRegionSize) spare them.",
        )
    if summary.longest_pause_ns and summary.longest_pause_ns > 1e9:
        add("long-pause", "doubtful", f"A pause took {summary.longest_pause_ns / 1e9:.1f} s.")
    if not summary.collections:
        add("none", "note", _no_collection(summary))
    return tuple(found)


def _no_collection(summary: GcSummary) -> str:
    if summary.facts.collector == "Epsilon":
        return "Epsilon never collects: the heap only fills."
    return "There is no collection in this part of the log."


def _grows(summary: GcSummary) -> bool:
    rise, heap = summary.rise_bytes, summary.heap_bytes
    if rise is None or heap is None or summary.live_from in ("young", ""):
        return False
    return rise > GROWING * heap


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _mib(size: int) -> str:
    return f"{size / _MIB:,.0f} MiB"
