"""Files of rotated logs in any order: the runs that were, or a refusal that names the line."""

import pytest
import rotation
from hypothesis import given, settings
from hypothesis import strategies as st

from sizebook.gclog import GcLogError, read_gc_log

FEW = settings(max_examples=60, derandomize=True)
"""A scrambled log takes some 20 ms to read. Where the end of one run and the rest of another meet
by chance as if one had written both, nobody can know it: the cases are always the same ones."""


def read(rows):
    """Return the log of lines."""
    return read_gc_log("\n".join([*rows, ""]).encode())


def young(first, count, at, head="[{t:.3f}s][info][gc] ", start=False):
    """Return a young collection a second, from the one with the number ``first`` on."""
    rows = [head.format(t=0.02) + "Using G1"] if start else []
    return rows + [
        head.format(t=at + n) + f"GC({first + n}) Pause Young (Normal) (G1 Evacuation Pause) "
        f"53M->9M(1024M) {at:.3f}ms"
        for n in range(count)
    ]


def ids(rows):
    """Return the numbers of the collections of each run."""
    return [one.collections["id"].to_list() for one in read(rows).split()]


@FEW
@given(st.integers(0, 1 << 32))
def test_several_runs_in_any_order_are_those_runs_or_refused(seed):
    """No collection is lost, and none is another run's."""
    case = rotation.scramble(seed)
    try:
        found = rotation.collections(case.lines)
    except GcLogError as error:
        assert len(case.runs) > 1
        assert "line" in error.found
        return
    assert found == sorted(each for run in case.runs for each in rotation.collections(run))


@FEW
@given(st.integers(0, 1 << 32))
def test_one_run_in_any_order_is_always_understood(seed):
    """Its clock says how the files follow each other."""
    case = rotation.scramble(seed, most_runs=1)
    assert rotation.collections(case.lines) == rotation.collections(case.runs[0])


def test_refusing_all_is_no_answer():
    """Most logs with times of day are understood, and a part of those that have uptimes only: where
    runs are alike, the rest of one fits the other.
    """
    understood = {clock: [] for clock in rotation.CLOCKS}
    for seed in range(120):
        case = rotation.scramble(seed)
        if len(case.runs) > 1:
            try:
                rotation.collections(case.lines)
                understood[case.clock].append(True)
            except GcLogError:
                understood[case.clock].append(False)
    share = {clock: sum(each) / len(each) for clock, each in understood.items()}
    assert min(share["time"], share["time,uptime"]) > 0.8
    assert share["uptime"] > 0.2


def test_a_piece_that_fits_two_runs_is_refused_by_the_line():
    """Collection 10 follows on 9, which both runs have at the same time."""
    tail = young(10, 10, at=30.0)
    one, two = young(0, 10, at=1.0, start=True), young(0, 10, at=1.2, start=True)
    with pytest.raises(GcLogError, match=r"from line 1 on.* from line 11 or .* from line 22"):
        read([*tail, *one, *two])


def test_two_pieces_that_fit_one_run_are_refused_by_their_lines():
    """One of them is another run's, whose begin is missing."""
    begin = young(0, 10, at=1.0, start=True)
    with pytest.raises(GcLogError, match=r"from line 1 on and .* from line 6 on that both may"):
        read([*young(10, 5, at=30.0), *young(10, 5, at=20.0), *begin])


def test_a_piece_that_fits_one_run_is_taken():
    """The other run's collections have come further; what is left then fits the other one."""
    one, two = young(0, 10, at=1.0, start=True), young(0, 14, at=100.0, start=True)
    assert ids([*young(10, 5, at=50.0), *one, *two]) == [list(range(15)), list(range(14))]
    three = young(0, 10, at=45.0, start=True)
    rows = [*young(10, 3, at=60.0), *young(10, 5, at=20.0), *one, *three]
    assert sorted(ids(rows), key=len) == [list(range(13)), list(range(15))]


def test_a_piece_for_which_another_run_has_room_is_refused():
    """The lines that follow on each other without a break may be those of two files, too."""
    tail = young(10, 5, at=11.5)
    one, two = young(0, 20, at=1.0, start=True), young(0, 10, at=1.4, start=True)
    with pytest.raises(GcLogError, match=r"from line 1 on .* belong in front of line 17"):
        read([*tail, *one, *two])


def test_times_of_day_tell_runs_of_equal_numbers_apart():
    """Whatever a JVM writes after the next one started is that one's."""
    head = "[2026-05-01T{hour:02}:00:{{t:06.3f}}+0000][info][gc] "
    runs = [young(0, 20, at=1.0, start=True, head=head.format(hour=hour)) for hour in (8, 9, 10)]
    files = [rows[low:high] for rows in runs for low, high in ((0, 11), (11, 21))]
    for order in ((1, 0, 3, 2, 5, 4), (5, 3, 1, 0, 2, 4), (0, 3, 2, 1, 4, 5)):
        found = ids([row for n in order for row in files[n]])
        assert found == [list(range(20))] * 3


def test_a_collection_with_the_same_number_is_another_run_s():
    """Its clock goes on, but a collection ends once; a line that was written twice is one."""
    begin, other = young(0, 10, at=1.0, start=True), young(9, 5, at=20.0)
    with pytest.raises(GcLogError, match=r"from line 12 on .* by the number"):
        read([*begin, *other])
    doubled = [begin[0], *(row for row in begin[1:] for _ in range(2))]
    assert ids(doubled) == [list(range(10))]


def test_a_start_that_was_cut_is_one_run_s():
    """The words of a JVM's start lie in two files."""
    start = ["[0.020s][info][gc] Using G1", "[0.021s][info][gc,init] Version: 17.0.9+9 (release)"]
    rest = ["[0.022s][info][gc,init] CPUs: 4 total, 4 available", *young(0, 5, at=9.0)]
    other = [*start, rest[0].replace("0.022s", "0.030s"), *young(0, 8, at=2.0)]
    assert ids([*rest, *other, *start]) == [list(range(5)), list(range(8))]


def test_another_collector_after_a_restart_begins_a_run():
    """The JVM before it had no collection yet."""
    rows = ["[0.005s][info][gc] Using Serial", *young(0, 5, at=1.0, start=True)]
    assert [run.facts.collector for run in read(rows).runs] == ["Serial", "G1"]
