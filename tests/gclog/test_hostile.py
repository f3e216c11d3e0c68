"""Logs that are cut, damaged, foreign or made to harm: read as far as they go, or refused."""

import random
import re
import subprocess
import sys

import pytest
import witness

import fuzz
from sizebook.gclog import GcLogError, advise, decoding, read_gc_log, read_gc_logs, summarise

SAMPLES = {name: witness.recorded(name) for name in ("g1-17", "zgc-25", "genshen-25", "serial-25")}
WHOLE = {name: found.raw for name, found in SAMPLES.items()}


def everything(raw):
    """Read a log and ask for all that can be asked."""
    log = read_gc_log(raw)
    advise(summarise(log))
    return log


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("side", ["begin", "end"])
def test_cut_anywhere_what_is_told_is_true(name, side):
    """A collection of a cut log is a collection of the whole one, with the same sizes and ends."""
    raw = WHOLE[name][: 60_000 if side == "end" else None][-60_000:]
    known = {(row["id"]): row for row in SAMPLES[name].log.collections.iter_rows(named=True)}
    cuts = random.Random(name + side).sample(range(200, len(raw) - 2000), 40)
    parts = [raw[:cut] if side == "end" else raw[cut:] for cut in cuts]
    for cut, log in zip(cuts, read_gc_logs(parts), strict=True):
        assert log.is_cut.begin if side == "begin" else log.is_cut.end
        for row in log.collections.iter_rows(named=True):
            whole = known[row["id"]]
            assert row["end_ns"] <= whole["end_ns"]
            if row["kind"] == whole["kind"] and row["pause_ns"] is not None:
                assert row["pause_ns"] == whole["pause_ns"], (cut, row["id"])


def test_cut_at_every_byte():
    """Around one collection's lines no cut makes an error, and no number appears from nowhere."""
    raw = b"".join(WHOLE["g1-17"].splitlines(keepends=True)[:52])
    ends = {row["pause_ns"] for row in read_gc_log(raw).collections.iter_rows(named=True)}
    assert len(ends) == 2
    for log in read_gc_logs([raw[:cut] for cut in range(len(raw) - 250, len(raw))]):
        assert set(log.collections["pause_ns"]) <= ends


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "empty"),
        (b"\n\n\n", "none of which"),
        (b"\x7fELF\0\0\0" * 100, "binary"),
        (b"\x1f\x8b\x08\x00" + bytes(range(1, 200)), "compressed"),
        (b"2026-11-20 INFO Started Application in 3 s\n" * 50, "none of which"),
        (b"[0.1s][info][class,load] java.lang.Object source: jrt:/java.base\n" * 9, "none of"),
        (b"1.2: [GC (Allocation Failure) [PSYoungGen: 5K->1K(9K)] 0.1 secs]\n", "Java 8"),
        (b"<?xml?><verbosegc version='x'>\n<af-start id='1'/>\n", "Java 8"),
        (b"[0.1s][info][class] " + b"x" * 200_000, "none of which"),
    ],
)  # fmt: skip
def test_what_is_no_log_is_refused(raw, says, tmp_path):
    """The error says what was found, and the file is not touched."""
    path = tmp_path / "gc.log"
    path.write_bytes(raw)
    with pytest.raises(GcLogError, match=re.escape(says)):
        read_gc_log(path)
    assert path.read_bytes() == raw


def test_a_missing_file_and_a_folder_are_told(tmp_path):
    """Whatever the system says about the file is passed on."""
    with pytest.raises(GcLogError, match="No such file"):
        read_gc_log(tmp_path / "none.log")
    with pytest.raises(GcLogError, match="Is a directory"):
        read_gc_log(tmp_path)


def test_endless_lines_and_endless_files_are_refused(monkeypatch):
    """Memory is bounded by the part that is read at once."""
    monkeypatch.setattr(decoding, "_CHUNK_BYTES", 1 << 12)
    monkeypatch.setattr(decoding, "MAX_BYTES", 1 << 16)
    with pytest.raises(GcLogError, match="a line of more than"):
        read_gc_log(b"[0.1s][info][gc] Using G1" + b" " * (1 << 14))
    with pytest.raises(GcLogError, match="more than"):
        read_gc_log(WHOLE["zgc-25"])


def test_a_log_read_in_parts_is_the_same(monkeypatch):
    """Where the parts meet nothing is lost or doubled."""
    whole = SAMPLES["zgc-25"].log
    monkeypatch.setattr(decoding, "_CHUNK_BYTES", 10_007)
    parts = read_gc_log(WHOLE["zgc-25"])
    assert parts.lines == whole.lines
    assert parts.collections.equals(whole.collections)
    assert parts.pauses.equals(whole.pauses)


@pytest.mark.parametrize("kind", fuzz.KINDS)
@pytest.mark.parametrize("batch", range(4))
def test_damaged_logs_are_read_or_refused(kind, batch):
    """Never a traceback nor a hang, numbers that fit each other; most in order are read."""
    seeds = range(batch * 15, batch * 15 + 15)
    command = [sys.executable, fuzz.__file__, kind, str(seeds.start), str(seeds.stop)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    read, refused = map(int, done.stdout.split())
    assert read + refused == len(seeds)
    assert kind == "shuffled" or read > len(seeds) // 2


def test_numbers_that_no_heap_has_are_left_out():
    """A size of 10^15 T would overflow; it is unknown instead."""
    line = "[1.0s][info][gc] GC(0) Pause Young (Normal) (G1 Evacuation Pause) {}->3M(64M) 2.0ms\n"
    log = everything(("[0.1s][info][gc] Using G1\n" + line.format("9" * 15 + "T")).encode())
    assert log.collections["before_bytes"].to_list() == [None]
    assert log.collections["after_bytes"].to_list() == [3 << 20]
