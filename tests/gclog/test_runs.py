"""Several runs of a JVM, rotated files, and several JVMs in one file: each is told apart."""

import json
import random
import re
import subprocess
import sys

import pytest
import witness

from sizebook.gclog import GcLogError, advise, read_gc_log, summarise

MS = 1_000_000


def life(count, first=0, at=1.0, pause_ms=10.0, head="[{t:.3f}s][info][gc] ", start=True):
    """Return the lines of a run with a young collection a second."""
    rows = [head.format(t=0.02) + "Using G1"] if start else []
    return rows + [
        head.format(t=at + n)
        + f"GC({n}) Pause Young (Normal) (G1 Evacuation Pause) 53M->9M(1024M) {pause_ms:.3f}ms"
        for n in range(first, first + count)
    ]


def read(rows):
    """Return the log of lines."""
    return read_gc_log("\n".join([*rows, ""]).encode())


def stamp(t):
    """Return a time of day as a decoration."""
    return f"2024-10-27T{int(t // 3600):02}:{int(t // 60) % 60:02}:{t % 60:06.3f}+0200"


def walls(rows, begin):
    """Return the lines with times of day, from ``begin`` seconds on, instead of uptimes."""
    parts = [row[1:].split("s]", 1) for row in rows]
    return [f"[{stamp(begin + float(t))}]{rest}" for t, rest in parts]


@pytest.mark.parametrize("wall", [False, True])
def test_a_restart_begins_anew(wall):
    """Windows are those in which a JVM ran; the hour between them is none's."""
    runs = [life(20), life(30, pause_ms=20.0)]
    rows = walls(runs[0], 0) + walls(runs[1], 3700) if wall else runs[0] + runs[1]
    log = read(rows)
    found = [summarise(one) for one in log.split()]
    assert [one.collections for one in found] == [20, 30]
    assert [one.window_s for one in found] == pytest.approx([19.98, 29.98])
    assert [one.overhead_share for one in found] == pytest.approx([0.2 / 19.98, 0.6 / 29.98])
    assert [run.line for run in log.runs] == [1, 22]
    whole = summarise(log)
    assert whole.window_s == pytest.approx(49.96)
    assert whole.pause_ns == 800 * MS
    assert whole.overhead_share == pytest.approx(0.8 / 49.96)
    assert whole.live_bytes is None
    for one, alone in zip(log.split(), runs, strict=True):
        assert advise(one) == advise(read(alone))


def test_a_crash_loop_has_a_run_a_start():
    """However short they are, with and without collections."""
    rows = [row for n in range(20) for row in life(n % 3, at=0.1)]
    log = read(rows)
    assert [one.collections.height for one in log.split()] == [n % 3 for n in range(20)]


@pytest.mark.parametrize("order", [(3, 0, 1, 2), (2, 3, 0, 1), (1, 0, 3, 2), (3, 2, 1, 0)])
def test_files_of_seconds_in_any_order_are_one_run(order):
    """Window, overhead and counts are those of the ordered log."""
    rows = life(80)
    log = read([row for n in order for row in rows[n * 20 : n * 20 + 20 + (n == 3)]])
    assert len(log.runs) == 1
    assert summarise(log) == summarise(read(rows))
    assert log.is_cut == read(rows).is_cut


def in_pieces(rows, chance):
    """Return the lines with pieces of them in another order."""
    cuts = sorted(chance.sample(range(20, len(rows) - 20), chance.choice([1, 2, 3, 5, 7])))
    ends = [*cuts, len(rows)]
    pieces = [rows[low:high] for low, high in zip([0, *cuts], ends, strict=True)]
    while True:
        order = chance.sample(range(len(pieces)), len(pieces))
        if order != sorted(order):
            return [row for n in order for row in pieces[n]]


@pytest.mark.parametrize("name", witness.NAMES)
def test_short_pieces_of_a_recorded_log_in_any_order_are_one_run(name):
    """Logs of one to two seconds in pieces of less than one: the log as it was written."""
    whole = witness.recorded(name)
    rows = whole.raw.splitlines(keepends=True)
    for seed in range(3):
        log = read_gc_log(b"".join(in_pieces(rows, random.Random(f"{name} {seed}"))))
        assert len(log.runs) == 1
        assert log.collections.equals(whole.log.collections)
        assert log.pauses.equals(whole.log.pauses)
        assert summarise(log).pause_ns == summarise(whole.log).pause_ns
        assert log.runs[0].lost == 0


@pytest.mark.parametrize("clock", ["uptime,timenanos", "uptime"])
@pytest.mark.parametrize("name", witness.NAMES)
def test_a_short_run_and_its_restart_are_two(name, clock):
    """A JVM that runs for a second, once more: the clock goes back as between two pieces."""
    whole = witness.recorded(name)
    raw = whole.raw
    if clock == "uptime":
        raw = re.sub(rb"(?m)^(\[[^\]]*\])\[[0-9]+ns\]", rb"\1", raw)
    rows = raw.splitlines(keepends=True)
    early = b"".join(rows[: len(rows) // 2])
    log = read_gc_log(early + raw)
    assert len(log.runs) == 2
    alone = [read_gc_log(early), read_gc_log(raw)]
    for found, one in zip(log.split(), alone, strict=True):
        assert found.collections["id"].equals(one.collections["id"])
        assert found.collections["pause_ns"].equals(one.collections["pause_ns"])


def test_pieces_between_which_collections_are_missing_stay_apart():
    """Nobody knows what lies between: no window spans it."""
    log = read(life(20, first=60, start=False) + life(20))
    assert [(run.first_s, run.last_s) for run in log.runs] == [(61.0, 80.0), (0.02, 20.0)]
    assert [run.is_cut.begin for run in log.runs] == [True, False]


HEADS = {
    "number of the process": "[{{t:.3f}}s][47{0}][info][gc] ",
    "name of the host": "[{{t:.3f}}s][node-{0}][info][gc] ",
    "compose": "app-{0}  | [{{t:.3f}}s][info][gc] ",
    "journal": "May 01 10:00:00 host java[47{0}]: [{{t:.3f}}s][info][gc] ",
    "threads, too": "[{{t:.3f}}s][47{0}][9{0}7][info][gc] ",
}


@pytest.mark.parametrize("way", HEADS)
def test_jvms_that_alternate_are_told_apart(way):
    """By whatever names them in their lines."""
    one = life(40, at=100.0, pause_ms=5.0, head=HEADS[way].format(1))
    two = life(40, at=3.5, pause_ms=50.0, head=HEADS[way].format(2))
    log = read([row for pair in zip(one, two, strict=True) for row in pair])
    assert [run.facts.collector for run in log.runs] == ["G1", "G1"]
    assert len({run.jvm for run in log.runs}) == 2
    for found, alone in zip(log.split(), (one, two), strict=True):
        assert summarise(found) == summarise(read(alone))
        assert advise(found) == advise(read(alone))


def test_jvms_of_other_decorations_are_told_apart():
    """The way in which lines are laid out is a name, too."""
    one = life(40, at=100.0, head="[{t:.3f}s][info][gc] ")
    two = walls(life(40, pause_ms=50.0), 60)
    log = read([row for pair in zip(one, two, strict=True) for row in pair])
    assert [summarise(each).pause_ns for each in log.split()] == [400 * MS, 2000 * MS]
    assert [run.jvm for run in log.runs] == ["decorations of kind 1", "decorations of kind 2"]


def test_jvms_that_nothing_tells_apart_are_refused_by_the_line():
    """Their times and numbers alternate."""
    one, two = life(40, at=100.0), life(40, at=3.5)
    with pytest.raises(GcLogError, match=r"nothing tells apart, mixed from line \d.*pid"):
        read([row for pair in zip(one, two, strict=True) for row in pair])


def test_numbers_of_threads_are_no_jvms():
    """A JVM that was restarted has other threads, but it is one JVM."""
    rows = []
    for start in (100, 200):
        for n, row in enumerate(life(30)):
            rows.append(row.replace("s][info]", f"s][{start + n % 4}][info]"))
    log = read(rows)
    assert [one.collections.height for one in log.split()] == [30, 30]


def test_the_command_prints_each_run(tmp_path):
    """A row a run and their sum; --run shows one; JSON has all; each has its plot."""
    path, svg = tmp_path / "gc.log", tmp_path / "gc.svg"
    path.write_text("\n".join([*life(20), *life(30, pause_ms=20.0), ""]))

    def run(*words):
        command = [sys.executable, "-m", "sizebook.cli", "gc", str(path), *map(str, words)]
        return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)

    done = run("--svg", svg)
    assert done.returncode == 0, done.stderr
    assert "2 runs of a JVM" in done.stdout
    assert "49.960 s" in done.stdout
    assert (tmp_path / "gc-run1.svg").exists()
    assert (tmp_path / "gc-run2.svg").exists()
    told = json.loads(run("--json").stdout)
    assert [each["summary"]["collections"] for each in told["runs"]] == [20, 30]
    assert told["summary"]["collections"] == 50
    second = run("--run", 2)
    assert "29.980 s" in second.stdout
    refused = run("--run", 3)
    assert refused.returncode == 1
    assert "1 to 2" in refused.stderr
