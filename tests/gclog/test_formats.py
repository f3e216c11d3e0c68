"""One line at a time: decorations, spellings of versions, and what each message becomes."""

import datetime

import pytest
import witness

from sizebook.gclog import read_gc_log, summarise

PAUSE = "GC(0) Pause Young (Normal) (G1 Evacuation Pause) 25M->4M(64M) 12.500ms"
MS = 1_000_000


def one(text, head="[2.000s][info][gc] ", before="Using G1"):
    """Return the only collection of a log of two lines."""
    raw = f"{head}{before}\n{head}{text}\n".encode()
    [row] = read_gc_log(raw).collections.iter_rows(named=True)
    return row


@pytest.mark.parametrize(
    ("head", "end_s", "end_ns"),
    [
        ("[2.000s][info][gc] ", 2.0, None),
        ("[2.000s][48592436753141ns][info][gc          ] ", 2.0, 48592436753141),
        ("[info   ][gc,start] [", None, None),
        ("[gc][info][48592436753141ns][2,000s] ", 2.0, 48592436753141),
        ("[2026-11-20T19:55:00.123+0100][2.000s][4711][info][gc] ", 2.0, None),
        ("[2000ms][host-1][1][2][info][gc] ", 2.0, None),
        ("[1763667300123ms][info][gc] ", 0.0, None),
        ("[2026-11-20T19:55:00.123+0000] ", 0.0, None),
        ("[48592436753141ns] ", 0.0, 48592436753141),
        ("[2.000s][2000123456ns] ", 2.0, None),
        ("", None, None),
    ],
)
def test_decorations_in_any_order(head, end_s, end_ns):
    """Times come from whatever clock the lines have; nanoseconds since the start are not taken for
    CLOCK_MONOTONIC."""
    if head.endswith("["):
        head = head[:-1]
    row = one(PAUSE, head)
    assert (row["end_s"], row["end_ns"]) == (end_s, end_ns)
    assert row["pause_ns"] == 12.5 * MS
    assert (row["before_bytes"], row["after_bytes"], row["total_bytes"]) == (
        25 * witness.MIB, 4 * witness.MIB, 64 * witness.MIB)  # fmt: skip
    if end_s is not None:
        assert row["begin_s"] == pytest.approx(end_s - 0.0125)


@pytest.mark.parametrize(
    ("text", "kind", "cause", "failed"),
    [
        ("Pause Young (Allocation Failure) 17M->4M(61M) 1.0ms", "young", "Allocation Failure", 0),
        ("Pause Full (System.gc()) 22M->15M(61M) 42.1ms", "full", "System.gc()", 0),
        ("Pause Full (Ergonomics) 46M->46M(57M) 99.3ms", "full", "Ergonomics", 0),
        ("Pause Young (Mixed) (G1 Preventive Collection) 56M->44M(64M) 0.8ms", "mixed",
         "G1 Preventive Collection", 0),
        ("Pause Young (Prepare Mixed) (G1 Evacuation Pause) (Evacuation Failure: Allocation) "
         "61M->61M(64M) 2.8ms", "young", "G1 Evacuation Pause", 1),
        ("Pause Young (Normal) (GCLocker Initiated GC) (Evacuation Failure: Pinned) "
         "61M->61M(64M) 2.8ms", "young", "GCLocker Initiated GC", 0),
        ("Pause Young (Concurrent Start) (Metadata GC Threshold) 9M->9M(64M) 1,5ms", "young",
         "Metadata GC Threshold", 0),
        ("Pause Degenerated GC (Outside of Cycle) 51M->30M(64M) 1.0ms", "degenerated",
         "Allocation Failure", 0),
        ("Garbage Collection (Allocation Stall) 64M(100%)->10M(16%)", "concurrent cycle",
         "Allocation Stall", 0),
        ("Minor Collection (High Usage) 64M(100%)->10M(16%) 0.010s", "concurrent young",
         "High Usage", 0),
    ],
)  # fmt: skip
def test_collections_of_each_kind(text, kind, cause, failed):
    """Kind and cause are those of the log."""
    row = one(f"GC(3) {text}", before="Version: 17")
    assert (row["kind"], row["cause"], row["is_evacuation_failure"]) == (kind, cause, bool(failed))
    assert row["is_explicit"] == (cause == "System.gc()")


def test_what_a_log_leaves_out_is_unknown_and_not_zero():
    """A log of gc alone has no pauses of ZGC: neither their number nor their time is 0."""
    raw = b"""[0.1s][info][gc] Using The Z Garbage Collector
[1.0s][info][gc] GC(0) Garbage Collection (Warmup) 8M(12%)->6M(10%)
"""
    [row] = read_gc_log(raw).collections.iter_rows(named=True)
    assert row["pause_ns"] is None
    assert row["pauses"] is None
    assert row["total_bytes"] is None


def test_a_cycle_that_says_its_cause_tells_what_is_live():
    """ZGC's log of gc alone has no table of what was marked; its cycles' ends bound it."""
    found = summarise(
        read_gc_log(b"""[0.1s][info][gc] Using The Z Garbage Collector
[1.0s][info][gc] GC(0) Garbage Collection (Warmup) 8M(12%)->6M(10%)
""")
    )
    assert (found.live_from, found.live_bytes) == ("cycle", 6 * witness.MIB)


@pytest.mark.parametrize("head", ["[0.{0}s][{1}] ", "[info][{1}] ", "[0.{0}s][info][{1}] "])
def test_what_a_jvm_logs_besides_is_its_own(head):
    """A clock or a level shows that lines with other tags are not foreign."""
    said = ("gc", "Using G1"), ("class,load", "a.B source: x"), ("gc", PAUSE)
    rows = [head.format(n, tags) + text for n, (tags, text) in enumerate(said)]
    assert read_gc_log("\n".join([*rows, ""]).encode()).strange_lines == 0


def test_memory_that_ran_out_is_told():
    """By ZGC itself, and by a JVM that prints to the same file as its log."""
    raw = b"""[0.1s][info][gc] Using G1
[1.0s][info][gc] GC(0) Pause Full (G1 Compaction Pause) 63M->63M(64M) 9.9ms
Terminating due to java.lang.OutOfMemoryError: Java heap space
"""
    log = read_gc_log(raw)
    assert log.out_of_memory["text"].to_list() == [
        "Terminating due to java.lang.OutOfMemoryError: Java heap space"
    ]
    assert log.strange_lines == 1
    assert witness.recorded("zgc-25").log.out_of_memory.height == 1


def test_two_starts_in_one_file_are_told_apart():
    """Numbers of collections begin anew; each belongs to its own start."""
    start = f"[0.1s][info][gc] Using G1\n[2.0s][info][gc] {PAUSE}\n"
    log = read_gc_log((start + start).encode())
    assert log.collections.select("run", "id").rows() == [(1, 0), (2, 0)]


def test_facts_of_the_jvm():
    """Collector, version, CPUs and heap are in the first lines; the collector shows later too."""
    found = witness.recorded("g1-25")
    facts = found.log.facts
    assert (facts.collector, facts.is_generational, facts.cpus) == ("G1", True, 2)
    assert facts.version.startswith("25.")
    assert facts.heap_max_bytes == 48 * witness.MIB
    assert facts.region_bytes == witness.MIB
    for name in witness.NAMES:
        whole = witness.recorded(name)
        later = read_gc_log(whole.raw[len(whole.raw) // 2 :])
        assert later.facts.collector == whole.log.facts.collector
        assert later.facts.version == ""


def test_wall_clock_counts_from_the_first_line():
    """Without uptime, seconds count from the first line's time of day."""
    at = datetime.datetime(2026, 11, 20, 23, 59, 59, 500_000, datetime.UTC)
    rows = []
    for seconds, text in ((0.0, "Using G1"), (1.5, PAUSE)):
        time = (at + datetime.timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3]
        rows.append(f"[{time}+0000][info][gc] {text}\n")
    log = read_gc_log("".join(rows).encode())
    assert log.collections["end_s"].to_list() == [1.5]


def test_threads_of_a_collection():
    """G1 says how many threads of how many did each task."""
    head = "[2.000s][48592436753141ns][info][gc,task] "
    said = "GC(7) Using 1 workers of 2 for evacuation"
    log = read_gc_log(f"{head}Using G1\n{head}{said}\n{head}Using 3 workers\n".encode())
    assert log.workers.select("id", "used", "most", "task").rows() == [(7, 1, 2, "evacuation")]
    assert log.workers["at_ns"].to_list() == [48592436753141]
