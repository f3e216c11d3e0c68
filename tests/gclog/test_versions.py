"""Wordings of Java 9 to 16 and collectors that are gone, as the JDK's sources have them.

Read in the repositories openjdk/jdk9u, jdk13u-dev, jdk14u, jdk15u-dev and jdk16u: each message that
is read here (``gc/shared/gcTraceTime``, ``genCollectedHeap.cpp``, ``gc/g1``, ``gc/cms``, ``gc/z``,
``gc/shenandoah``; safepoints: ``services/runtimeService.cpp``, from Java 13 ``safepoint.cpp``).
Lines marked "recorded" stood in logs that others published: Java 9 with G1 in
chbatey/java9-gc-log-parser (``gc-ga.log``, of which all 120 pauses are read), Java 14 with G1 and
its restarts in microsoft/gctoolkit-testdata, Shenandoah in mgm3746/garbagecat, whose samples
do not say which version wrote them: their words are those of Java 12 and 13. CMS also as printed at
herongyang.com/Java-GC. Not held against a log: CMS of Java 9 and 10, ZGC and Shenandoah of Java 14
to 16.
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


def test_g1_as_java_9_recorded_it():
    """The cycle's steps with their times in the text, which are no lengths of their own."""
    log = read(
        "Using G1",
        "GC(6) Pause Initial Mark (G1 Evacuation Pause)",
        "GC(6) Pause Initial Mark (G1 Evacuation Pause) 435M->435M(644M) 38.159ms",
        "GC(7) Concurrent Cycle",
        "GC(7) Concurrent Mark (101.251s)",
        "GC(7) Concurrent Mark (101.251s, 101.480s) 229.000ms",
        "GC(7) Pause Remark 440M->440M(644M) 2.000ms",
        "GC(7) Pause Cleanup 440M->410M(644M) 1.000ms",
        "GC(7) Concurrent Cycle 600.000ms",
        "GC(12) Pause Mixed (G1 Evacuation Pause)",
        "GC(12) Pause Mixed (G1 Evacuation Pause) 236M->197M(644M) 16.999ms",
        "GC(20) To-space exhausted",
        "GC(22) Pause Full (Allocation Failure) 256M->230M(256M) 44.683ms",
    )
    rows = log.collections
    assert rows["kind"].to_list() == ["young", "concurrent cycle", "mixed", "full"]
    assert rows["id"].to_list() == [6, 7, 12, 22]
    assert rows["pauses"].to_list() == [1, 2, 1, 1]
    assert log.pauses["pause_ns"].sum() == round((38.159 + 3 + 16.999 + 44.683) * MS)
    assert rows["cause"][3] == "Allocation Failure"


GENERATIONS = {
    "Java 9 to 13": "{0}: {1}K->{2}K({3}K)",
    "Java 14 on": "{0}: {1}K({3}K)->{2}K({3}K)",
}


@pytest.mark.parametrize("wording", GENERATIONS)
@pytest.mark.parametrize(
    "names", [("DefNew", "Tenured"), ("PSYoungGen", "ParOldGen"), ("PSYoungGen", "PSOldGen")]
)
def test_sizes_of_generations(names, wording):
    """To the KiB, whichever way the sizes are printed (``HEAP_CHANGE_FORMAT`` from Java 14 on)."""
    young, old = (GENERATIONS[wording].format(name, *sizes) for name, sizes in
                  zip(names, ((9000, 700, 9216), (100, 900, 20480)), strict=True))  # fmt: skip
    log = read(
        "GC(0) Pause Young (Allocation Failure)",
        f"GC(0) {young} Eden: 8000K(8192K)->0K(8192K) From: 1000K(1024K)->700K(1024K)",
        f"GC(0) {old}",
        "GC(0) Pause Young (Allocation Failure) 8M->1M(29M) 3.000ms",
    )
    [row] = log.collections.iter_rows(named=True)
    sizes = (row["before_bytes"], row["after_bytes"], row["total_bytes"])
    assert sizes == (9100 * 1024, 1600 * 1024, 29696 * 1024)


@pytest.mark.parametrize(
    ("said", "size"),
    [
        ("683K", 683 * 1024),
        ("Shared, 683K", 683 * 1024),
        ("TLAB, 2M", 2 * witness.MIB),
        ("256K for evacuation", None),
    ],
)
def test_what_shenandoah_could_not_allocate(said, size):
    """Java 12 and 13 do not name the kind; for evacuation the collector itself wanted it."""
    log = read("Using Shenandoah", f"Failed to allocate {said}")
    assert summarise(log).largest_request_bytes == size


def test_a_cycle_of_shenandoah_with_final_evac():
    """Recorded names with what they process; Final Evac is a pause in Java 12 and 13."""
    log = read(
        "Using Shenandoah",
        "Trigger: Explicit GC request (System.gc())",
        "GC(1500) Concurrent reset",
        "GC(1500) Concurrent reset 31M->31M(40M) 0.200ms",
        "GC(1500) Pause Init Mark (update refs) (process weakrefs)",
        "GC(1500) Pause Init Mark (update refs) (process weakrefs) 0.295ms",
        "GC(1500) Concurrent marking (update refs) (process weakrefs)",
        "GC(1500) Concurrent marking (update refs) (process weakrefs) 32M->32M(40M) 9.000ms",
        "GC(1500) Concurrent precleaning 32M->32M(40M) 0.100ms",
        "GC(1500) Pause Final Mark (update refs) (process weakrefs) 0.500ms",
        "GC(1500) Concurrent cleanup",
        "GC(1500) Concurrent cleanup 33M->33M(40M) 0.050ms",
        "GC(1500) Concurrent evacuation 33M->34M(40M) 3.000ms",
        "GC(1500) Pause Final Evac 0.022ms",
        "Trigger: Metadata GC Threshold",
        "GC(1501) Concurrent reset 34M->34M(40M) 0.200ms",
    )
    [row] = log.collections.iter_rows(named=True)
    assert (row["id"], row["cause"], row["is_explicit"]) == (1500, "System.gc()", True)
    assert (row["pauses"], row["pause_ns"]) == (3, round(0.817 * MS))
    assert row["before_bytes"] == 31 * witness.MIB
    assert row["begin_s"] is not None


def test_cycles_of_shenandoah_in_java_14_to_16():
    """Steps that these versions add belong to the cycle, whatever they are called."""
    log = read(
        "Using Shenandoah",
        "Trigger: Average GC time (9.20 ms) is above the time for average allocation rate (120 "
        "MB/s) to deplete free headroom (1M) (margin of error = 1.80)",
        "GC(3) Concurrent reset 0.200ms",
        "GC(3) Pause Init Mark (unload classes) 0.100ms",
        "GC(3) Concurrent marking (unload classes) 9.000ms",
        "GC(3) Pause Final Mark (unload classes) 0.300ms",
        "GC(3) Concurrent roots processing 0.300ms",
        "GC(3) Concurrent weak references 0.300ms",
        "GC(3) Concurrent cleanup 30M->28M(40M) 0.050ms",
        "GC(3) Concurrent class unloading 0.400ms",
        "GC(3) Concurrent strong roots 0.400ms",
        "GC(3) Concurrent evacuation 3.000ms",
        "GC(3) Pause Init Update Refs 0.050ms",
        "GC(3) Concurrent update references 4.000ms",
        "GC(3) Concurrent update thread roots 0.311ms",
        "GC(3) Pause Final Update Refs 0.100ms",
        "GC(3) Concurrent cleanup 33M->10M(40M) 0.050ms",
    )
    [row] = log.collections.iter_rows(named=True)
    assert (row["kind"], row["pauses"], row["pause_ns"]) == ("concurrent cycle", 4, 0.55 * MS)
    assert row["cause"] == (
        "Average GC time is above the time for average allocation rate to deplete free headroom"
    )
    assert (row["before_bytes"], row["after_bytes"]) == (30 * witness.MIB, 10 * witness.MIB)


def test_an_undone_cycle_of_g1_in_java_16():
    """Undo and Mark are the two words of its name (``g1ConcurrentMarkThread.cpp``)."""
    log = read(
        "Using G1",
        "Heap Region Size: 2M",
        "GC(1) Concurrent Undo Cycle",
        "GC(1) Concurrent Undo Cycle 5.000ms",
    )
    assert log.collections["kind"].to_list() == ["undone cycle"]
    assert log.facts.region_bytes == 2 * witness.MIB


@pytest.mark.parametrize("reason", ["G1CollectForAllocation", "no vm operation"])
def test_safepoints_of_java_13_to_16(reason):
    """One line has all (``SafepointTracing::end``)."""
    log = read(
        "Using G1",
        f'Safepoint "{reason}", Time since last: 51000000 ns, Reaching safepoint: 160000 ns, '
        "At safepoint: 1200000 ns, Total: 1360000 ns",
    )
    [row] = log.safepoints.iter_rows(named=True)
    assert (row["reason"], row["total_ns"], row["reaching_ns"]) == (reason, 1_360_000, 160_000)


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
