"""Logs that begin within a collection: what rests on a line cut off is null, not wrong."""

import random

import pytest
import witness

from sizebook.gclog import read_gc_log, read_gc_logs, summarise

MS = 1_000_000
MIB = witness.MIB
ROUNDING = {"begin_s": 2e-3, "begin_ns": MS, "concurrent_ns": MS}
"""A pause's begin is its end less its length where its first line is missing; the log has that in
microseconds, and the time of a line in milliseconds."""
CUTS = 60


def read(*said, head="[{t:.3f}s][info][gc] "):
    """Return the log of messages, one each tenth of a second from 10 s on."""
    rows = [head.format(t=10 + n / 10) + f"{text}\n" for n, text in enumerate(said)]
    return read_gc_log("".join(rows).encode())


def is_true(column, told, whole):
    """Return whether a value of a cut log is that of the whole one, to what the log rounds."""
    if told is None or told == whole:
        return True
    if column.endswith("_bytes") and not told % MIB:
        return whole is not None and abs(told - whole) < MIB
    return whole is not None and column in ROUNDING and abs(told - whole) <= ROUNDING[column]


@pytest.mark.parametrize("name", witness.NAMES)
def test_a_log_cut_at_its_begin_says_nothing_else(name):
    """Each column of each collection is null or that of the whole log, wherever the cut is."""
    found = witness.recorded(name)
    rows = found.raw.splitlines(keepends=True)
    known = {row["id"]: row for row in found.log.collections.iter_rows(named=True)}
    cuts = random.Random(name).sample(range(len(rows) - 20), CUTS)
    # from the cut to the log's end: what a collection goes on with is not cut
    for cut, log in zip(cuts, read_gc_logs([b"".join(rows[n:]) for n in cuts]), strict=True):
        assert not log.is_cut.end or found.log.is_cut.end, cut
        for row in log.collections.iter_rows(named=True):
            for column, told in row.items():
                whole = known[row["id"]][column]
                assert is_true(column, told, whole), (cut, row["id"], column, told, whole)


SHENANDOAH = (
    "Trigger: Free (5M) is below minimum threshold (6M)",
    "GC(7) Concurrent reset (unload classes)",
    "GC(7) Concurrent reset (unload classes) 1.000ms",
    "GC(7) Pause Init Mark (unload classes) 3.000ms",
    "GC(7) Concurrent marking (unload classes)",
    "GC(7) Concurrent marking (unload classes) 90.000ms",
    "GC(7) Pause Final Mark (unload classes) 2.000ms",
    "GC(7) Concurrent cleanup (unload classes) 30M->28M(64M) 0.100ms",
    "GC(7) Concurrent update references 5.000ms",
    "GC(7) Pause Final Update Refs 1.000ms",
    "GC(7) Concurrent cleanup (unload classes) 36M->10M(64M) 0.100ms",
    "GC(7) Concurrent reset after collect (unload classes)",
    "GC(7) Concurrent reset after collect (unload classes) 0.100ms",
    "GC(8) Concurrent reset (unload classes) 1.000ms",
)
UNTOLD = ("begin_s", "cause", "before_bytes", "allocated_bytes", "pauses", "pause_ns",
          "longest_pause_ns", "is_explicit")  # fmt: skip


def test_a_whole_cycle_of_shenandoah():
    """What the cut ones are held against."""
    row = read(*SHENANDOAH).collections.row(0, named=True)
    assert row["kind"] == "concurrent cycle"
    assert row["cause"] == "Free is below minimum threshold"
    assert (row["before_bytes"], row["after_bytes"]) == (30 * MIB, 10 * MIB)
    assert row["allocated_bytes"] == 8 * MIB
    assert (row["pauses"], row["pause_ns"]) == (3, 6 * MS)
    assert row["is_explicit"] is False


@pytest.mark.parametrize("cut", range(3, 13))
def test_a_cycle_of_shenandoah_without_its_begin(cut):
    """Neither marking nor the reset after it is a begin; one whose sweep is here was not cancelled,
    and of one without a sweep nobody knows."""
    log = read(*SHENANDOAH[cut:])
    row = log.collections.row(0, named=True)
    assert row["kind"] == "concurrent cycle"
    assert [row[column] for column in UNTOLD] == [None] * len(UNTOLD)
    assert row["after_bytes"] == (10 * MIB if cut <= 10 else None)


def test_a_tail_that_fits_swept_and_cancelled_cycles_is_left_out():
    """Classes are unloaded behind the first sweep, which may be all: no cycle is made up."""
    full = "GC(8) Pause Full 9M->8M(64M) 5.000ms"
    unknown = read("GC(7) Concurrent class unloading 1.500ms", full)
    assert unknown.collections["kind"].to_list() == ["full"]
    cancelled = read("GC(7) Concurrent marking (unload classes) 1.500ms", full)
    assert cancelled.collections["kind"].to_list() == ["cancelled cycle", "full"]
    assert cancelled.collections["pauses"].to_list() == [None, 1]


def test_a_tail_of_a_collection_is_no_open_end():
    """A log that begins within a cycle ends whole all the same; one that ends within does not."""
    tail = "GC(7) Concurrent class unloading 1.500ms"
    end = "GC(8) Pause Full (System.gc()) 9M->8M(64M) 5.000ms"
    assert not read(tail, end).is_cut.end
    assert read(tail, end, "GC(9) Pause Full (System.gc())").is_cut.end
    cycle = ("Using G1", "GC(3) Concurrent Mark Cycle", "GC(3) Pause Remark 8M->8M(64M) 1.000ms")
    young = "GC(4) Pause Young (Normal) (G1 Evacuation Pause) 9M->8M(64M) 1.000ms"
    assert read(*cycle, young).is_cut.end
    assert not read(*cycle, young, "GC(3) Concurrent Mark Cycle 90.000ms").is_cut.end


def test_a_cycle_of_g1_without_its_begin():
    """Its first size may be that of the second pause; who asked for it stood before it."""
    said = (
        "GC(2) Pause Young (Concurrent Start) (System.gc()) 9M->8M(64M) 1.000ms",
        "GC(3) Concurrent Mark Cycle",
        "GC(3) Pause Remark 30M->28M(64M) 1.000ms",
        "GC(3) Pause Cleanup 33M->33M(64M) 1.000ms",
        "GC(3) Concurrent Mark Cycle 300.000ms",
    )
    whole = read("Using G1", *said).collections.row(1, named=True)
    assert (whole["before_bytes"], whole["is_explicit"]) == (30 * MIB, True)
    for cut in (2, 3):
        log = read(*said[cut:])
        assert summarise(log).concurrent_share == pytest.approx(1.0)
        row = log.collections.row(0, named=True)
        assert (row["before_bytes"], row["is_explicit"]) == (None, None)
        assert (row["after_bytes"], row["kind"]) == (33 * MIB, "concurrent cycle")
        assert row["is_allocation_failure"] is False


def test_zgc_says_at_the_end_what_was_in_use_at_the_begin():
    """So that size is known without the begin; what was allocated meanwhile is not."""
    table = "GC(1) O: Allocated:         -                 1M                2M                 -"
    log = read(table, "GC(1) Major Collection (Warmup) 64M(50%)->10M(8%) 0.100s")
    row = log.collections.row(0, named=True)
    assert (row["before_bytes"], row["after_bytes"]) == (64 * MIB, 10 * MIB)
    assert row["allocated_bytes"] is None


def test_the_first_cycle_of_a_cut_log_does_not_hide_what_was_allocated():
    """The time that is told of begins with its end."""
    name = "zgc-25"
    rows = witness.recorded(name).raw.splitlines(keepends=True)
    # the first line of an end of a collection: all of it but the end is cut off
    ends = [n for n, row in enumerate(rows) if b" Collection (" in row and b"->" in row]
    log = read_gc_log(b"".join(rows[ends[1] :]))
    assert log.collections["allocated_bytes"][0] is None
    assert summarise(log).allocated_bytes > 100 * MIB


def test_a_size_to_the_kib_needs_both_generations():
    """One of the two lines alone is less than what is in use."""
    end = "GC(5) Pause Young (Allocation Failure) 4M->3M(61M) 9.000ms"
    young, old = "GC(5) DefNew: 3000K(19648K)->400K(19648K)", "GC(5) Tenured: 1400K(9K)->2800K(9K)"
    both = read("Using Serial", young, old, end).collections.row(0, named=True)
    assert (both["before_bytes"], both["after_bytes"]) == (4400 * 1024, 3200 * 1024)
    for line in (young, old):
        row = read(line, end).collections.row(0, named=True)
        assert (row["before_bytes"], row["after_bytes"]) == (4 * MIB, 3 * MIB)


def test_a_pause_whose_first_line_is_cut_may_have_failed():
    """Before Java 22 a line between the two says that there was no room to move objects to."""
    start = "GC(4) Pause Young (Normal) (G1 Evacuation Pause)"
    said = (start, "GC(4) To-space exhausted", f"{start} 60M->60M(64M) 9.000ms")
    fine = (start, f"{start} 60M->20M(64M) 9.000ms")

    def failed(*lines):
        return read(*lines).collections["is_evacuation_failure"].to_list()

    assert failed(*said) == failed(*said[1:]) == [True]
    assert failed(*said[2:]) == failed(*fine[1:]) == [None]
    assert failed(*fine) == failed("Using G1", fine[1]) == [False]
    later = f"{start} 60M->20M(64M) 9.000ms".replace("(4)", "(5)")
    assert failed(*fine[1:], later) == [None, False]
    assert summarise(read(*fine[1:])).evacuation_failures == 0


def test_a_pause_that_began_before_the_log_counts_from_its_first_line():
    """No log stood still for longer than it lasted."""
    full = "GC({0}) Pause Full (System.gc()) 60M->20M(64M) {1}.000ms"
    log = read(full.format(0, 5000), *["GC(1) Using 1 workers of 2 for x"] * 9, full.format(1, 250))
    found = summarise(log)
    assert found.window_s == pytest.approx(1.0)
    assert (found.pause_ns, found.explicit_pause_ns) == (250 * MS, 250 * MS)
    assert found.overhead_share == pytest.approx(0.25)
    assert log.collections["pause_ns"].to_list() == [5000 * MS, 250 * MS]


def test_explicit_pauses_are_a_part_of_those_in_the_window():
    """Of a pause that reaches into the window counts the same part in both."""
    raw = b"".join(
        b"[%d.000s][%dns][info][gc] GC(%d) Pause Full (System.gc()) 60M->20M(64M) 800.000ms\n"
        % (n, (100 + n) * 1_000_000_000, n)
        for n in range(1, 9)
    )
    found = summarise(read_gc_log(raw), begin_ns=102_900_000_000, end_ns=105_500_000_000)
    assert found.pause_ns == found.explicit_pause_ns == (100 + 800 + 800 + 300) * MS


def test_what_shenandoah_does_between_collections_is_none_that_is_lost():
    """It takes a number of its own to fill what its old generation freed."""
    log = read(
        "Using Shenandoah",
        "GC(0) Pause Full 9M->8M(64M) 5.000ms",
        "GC(1) Coalescing and filling (Old)",
        "GC(1) Coalescing and filling (Old) 9.000ms",
        "GC(3) Pause Full 9M->8M(64M) 5.000ms",
        "GC(4) Coalescing and filling (Old) 9.000ms",
    )
    assert log.collections["id"].to_list() == [0, 3]
    assert [run.lost for run in log.runs] == [1]
    assert not log.is_cut.end
