"""Wordings of Java 9 to 15 and collectors that are gone, as the JDK's sources have them.

``src/hotspot/share/gc`` of JDK 11: ``g1/g1CollectedHeap.cpp``, ``cms/concurrentMarkSweepGeneration
.cpp``, ``shared/genCollectedHeap.cpp``; safepoints: ``services/runtimeService.cpp``. CMS also as
printed at herongyang.com/Java-GC. Young kinds of G1 in Java 9 and 10: logs of JDK 10 in issues 119
("Pause Young (G1 Evacuation Pause) 25M->4M(254M)") and 123 ("Pause Initial Mark (G1 Humongous
Allocation) 1162M->5M(1250M)") of github.com/mgm3746/garbagecat; Mixed is the third kind beside them
where JDK 10's ``g1CollectedHeap.cpp`` makes the name (``do_collection_pause_at_safepoint``).
"Concurrent Cycle": ``g1/g1ConcurrentMarkThread.cpp``, run_service, of openjdk/jdk13u-dev.
"""

import pytest
import witness

from sizebook.gclog import advise, read_gc_log, summarise

MS = 1_000_000


def read(*said):
    """Return the log of messages, one each tenth of a second."""
    rows = [f"[{n / 10:.3f}s][info][gc] {text}\n" for n, text in enumerate(said)]
    return read_gc_log("".join(rows).encode())


def test_g1_of_java_9():
    """Kinds are names of their own; an initial mark starts a cycle."""
    log = read(
        "Heap region size: 1M",
        "Using G1",
        "GC(0) Pause Young (G1 Evacuation Pause) 150M->60M(254M) 10.000ms",
        "GC(1) Pause Initial Mark (G1 Humongous Allocation) 150M->70M(254M) 9.000ms",
        "GC(2) Concurrent Cycle",
        "GC(2) Pause Remark 80M->80M(254M) 2.000ms",
        "GC(2) Pause Cleanup 81M->71M(254M) 1.000ms",
        "GC(2) Concurrent Cycle 60.000ms",
        "GC(3) Pause Mixed (G1 Evacuation Pause) 150M->40M(254M) 8.000ms",
    )
    rows = log.collections
    assert rows["kind"].to_list() == ["young", "young", "concurrent cycle", "mixed"]
    assert rows["cause"][2] == "G1 Humongous Allocation"
    assert rows["is_allocation_failure"].to_list() == [True, False, False, True]
    assert (log.facts.collector, log.facts.region_bytes) == ("G1", witness.MIB)
    assert summarise(log).live_from == "mixed"
    assert not log.is_cut.end


def test_cycles_of_g1_before_java_16():
    """Concurrent Cycle is what Java 16 calls Concurrent Mark Cycle."""
    said = ["GC(1) {0}", "GC(1) Pause Remark 8M->8M(64M) 2.000ms", "GC(1) {0} 100.000ms"]
    old, new = (
        read("Using G1", *(one.format(name) for one in said))
        for name in ("Concurrent Cycle", "Concurrent Mark Cycle")
    )
    assert old.collections.equals(new.collections)
    assert old.collections["concurrent_ns"].to_list() == [198 * MS]


def test_cms():
    """Young pauses, cycles with two pauses, one that a full collection ended; no advice."""
    log = read(
        "Using Concurrent Mark Sweep",
        "GC(0) ParNew: 17472K->2111K(19648K)",
        "GC(0) CMS: 0K->100K(43712K)",
        "GC(0) Pause Young (Allocation Failure) 17M->2M(61M) 12.300ms",
        "GC(1) Pause Initial Mark 20M->20M(61M) 0.200ms",
        "GC(1) Concurrent Mark",
        "GC(1) Concurrent Mark 5.000ms",
        "GC(1) Concurrent Preclean",
        "GC(1) Concurrent Preclean 0.100ms",
        "GC(1) Pause Remark 30M->30M(61M) 2.000ms",
        "GC(1) Concurrent Sweep",
        "GC(1) Concurrent Sweep 3.000ms",
        "GC(1) Concurrent Reset",
        "GC(1) Concurrent Reset 0.300ms",
        "GC(2) Pause Initial Mark 40M->40M(61M) 0.200ms",
        "GC(2) Concurrent Preclean",
        "GC(3) Pause Full (Allocation Failure) 60M->50M(61M) 100.000ms",
    )
    assert log.facts.collector == "CMS"
    kinds = ["young", "concurrent cycle", "cancelled cycle", "full"]
    assert log.collections["kind"].to_list() == kinds
    assert log.collections["pause_ns"].to_list() == [12.3 * MS, 2.2 * MS, 0.2 * MS, 100 * MS]
    assert log.collections["after_bytes"][0] == (2111 + 100) * 1024
    assert "CMS" in advise(log).words
    later = read("GC(9) ParNew: 17472K->2111K(19648K)", "GC(9) Pause Young (X) 9M->2M(61M) 1.0ms")
    assert later.facts.collector == "CMS"


def test_a_full_collection_within_a_young_one_counts_once():
    """Serial of Java 9 to 12: the young pause of 30 ms has a full one of 20 ms in it."""
    log = read(
        "Using Serial",
        "GC(4) Pause Young (Allocation Failure)",
        "GC(5) Pause Full (Allocation Failure)",
        "GC(5) Pause Full (Allocation Failure) 60M->20M(61M) 20.000ms",
        "GC(4) Pause Young (Allocation Failure) 60M->20M(61M) 30.000ms",
    )
    assert summarise(log).pause_ns == 30 * MS
    assert sorted(log.collections["pause_ns"].to_list()) == [10 * MS, 20 * MS]


def test_safepoints_of_java_9_to_12():
    """Each has its reason from the line before it; all threads stood 1.5 ms."""
    log = read(
        "Using G1",
        "Application time: 0.5000000 seconds",
        "Entering safepoint region: RevokeBias",
        "Leaving safepoint region",
        "Total time for which application threads were stopped: 0.0015000 seconds, "
        "Stopping threads took: 0.0000250 seconds",
    )
    [row] = log.safepoints.iter_rows(named=True)
    assert (row["reason"], row["total_ns"], row["reaching_ns"]) == ("RevokeBias", 1_500_000, 25_000)
    assert summarise(log).stopped_share == pytest.approx(0.0015 / 0.4)


def test_generational_zgc_of_early_access_builds():
    """Minor Garbage Collection became Minor Collection."""
    log = read(
        "Using The Z Garbage Collector",
        "GC(0) Minor Garbage Collection (Allocation Rate)",
        "GC(0) Minor Garbage Collection (Allocation Rate) 64M(50%)->10M(8%)",
        "GC(1) Major Garbage Collection (Warmup)",
        "GC(1) Major Garbage Collection (Warmup) 64M(50%)->10M(8%) 0.100s",
    )
    assert log.collections["kind"].to_list() == ["concurrent young", "concurrent cycle"]
    assert log.facts.is_generational


def test_epsilon_never_collects():
    """It is a log all the same; its heap is known."""
    log = read("Using Epsilon", "Heap: 1024M reserved, 64M (6.25%) committed, 51M (5.00%) used")
    assert log.facts.heap_max_bytes == 1024 * witness.MIB
    assert "never collects" in advise(log).findings[0].words
    assert "never collects" in advise(log).words
