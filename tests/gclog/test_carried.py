"""Logs as they come out of containers, journals, wrappers and editors: the same as a JVM's."""

import re

import pytest
import witness

from fuzz import CARRIERS, OTHER, docker, docker_parts
from sizebook.gclog import GcLogError, decoding, read_gc_log, summarise

WHOLE = witness.recorded("g1-17")
TEXT = WHOLE.raw.decode()
ROWS = TEXT.splitlines()


@pytest.mark.parametrize("carrier", CARRIERS)
def test_what_carries_the_lines_changes_nothing(carrier):
    """Each collection, pause and safepoint is that of the log itself."""
    raw = "".join(CARRIERS[carrier](n, line) + "\n" for n, line in enumerate(ROWS)).encode()
    log = read_gc_log(raw)
    assert log.collections.equals(WHOLE.log.collections)
    assert log.pauses.equals(WHOLE.log.pauses)
    assert log.safepoints.equals(WHOLE.log.safepoints)
    assert log.facts == WHOLE.log.facts
    assert log.strange_lines == (carrier == "docker, cut")
    assert summarise(log) == summarise(WHOLE.log)


def test_a_line_that_cri_cut_is_one():
    """P are its first parts, F is the last; what another stream says between is not its."""
    rows = [f"2024-05-01T10:00:00.0Z stdout F {line}" for line in ROWS]
    line = ROWS[30]
    rows[30] = (
        f"2024-05-01T10:00:00.0Z stdout P {line[:20]}\n2024-05-01T10:00:00.0Z stderr F else\n"
        f"2024-05-01T10:00:00.0Z stdout P {line[20:50]}\n"
        f"2024-05-01T10:00:00.0Z stdout F {line[50:]}"
    )
    log = read_gc_log("\n".join([*rows, ""]).encode())
    assert log.collections.equals(WHOLE.log.collections)
    assert (log.lines, log.strange_lines) == (len(ROWS) + 1, 1)


def cri_parts(line):
    """Return a line in two pieces, between which comes one of another stream."""
    half, at = len(line) // 2, "2024-05-01T10:00:00.0Z"
    rows = [f"{at} stdout P {line[:half]}", f"{at} stderr F else", f"{at} stdout F {line[half:]}"]
    return "\n".join(rows)


@pytest.mark.parametrize("parts", [docker_parts, cri_parts])
@pytest.mark.parametrize("behind", [1, 2])
def test_a_line_whose_pieces_lie_in_two_parts_of_the_file_is_one(parts, behind, monkeypatch):
    """The part that is read at once ends behind the first piece, or behind the line after it."""
    whole = {
        docker_parts: docker,
        cri_parts: lambda line: f"2024-05-01T10:00:00.0Z stdout F {line}",
    }
    rows = [whole[parts](line) for line in ROWS]
    begin = sum(len(row) + 1 for row in rows[:40])
    rows[40] = parts(ROWS[40])
    first = "\n".join(rows[40].split("\n")[:behind])
    monkeypatch.setattr(decoding, "_CHUNK_BYTES", begin + len(first) + 9)
    log = read_gc_log("\n".join([*rows, ""]).encode())
    assert log.collections.equals(WHOLE.log.collections)
    assert log.pauses.equals(WHOLE.log.pauses)
    assert (log.lines, log.strange_lines) == (len(ROWS) + 1, 1)


def test_a_piece_whose_rest_is_missing_ends_the_log():
    """The collection that it ends is not told; the log is cut there."""
    rows = [docker(line) for line in ROWS[:60]]
    rows.append(docker(ROWS[60][:30]).replace(r"\n", ""))
    log = read_gc_log("\n".join([*rows, ""]).encode())
    assert log.lines == 61
    assert log.is_cut.end


@pytest.mark.parametrize(
    "encoding", ["utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "crlf", "hole"]
)
def test_encodings_and_line_ends(encoding):
    """PowerShell's UTF-16, byte-order marks, Windows' line ends, and the hole of a copied and
    truncated file: nothing is lost."""
    if encoding == "crlf":
        raw = TEXT.replace("\n", "\r\n").encode()
    elif encoding == "hole":
        raw = b"\0" * 70_000 + WHOLE.raw
    else:
        raw = TEXT.encode(encoding)
    log = read_gc_log(raw)
    assert log.collections.equals(WHOLE.log.collections)
    assert (log.lines, log.strange_lines) == (WHOLE.log.lines, 0)
    assert (log.first_s, log.is_cut) == (WHOLE.log.first_s, WHOLE.log.is_cut)


@pytest.mark.parametrize("before", [0, 6000])
def test_a_log_among_other_output(before):
    """However much comes first, and more foreign lines than own ones: each is counted once."""
    rows = OTHER[:2] * (before // 2)
    for n, line in enumerate(ROWS):
        rows += [line, OTHER[n % len(OTHER)], OTHER[(n + 1) % len(OTHER)]]
    log = read_gc_log("\n".join([*rows, ""]).encode())
    assert log.collections.equals(WHOLE.log.collections)
    strange = before + sum(
        bool(OTHER[(n + k) % len(OTHER)]) for n in range(len(ROWS)) for k in (0, 1)
    )
    assert (log.lines, log.strange_lines) == (len(ROWS) + strange, strange)


@pytest.mark.parametrize("name", witness.NAMES)
def test_foreign_lines_of_a_log_without_decorations_are_counted(name):
    """No line of the JVM's counts, whichever collector and version it has."""
    rows = [re.sub(r"^(?:\[[^\]]*\])+ ?", "", row)
            for row in witness.recorded(name).raw.decode().splitlines()]  # fmt: skip
    assert read_gc_log("\n".join([*rows, ""]).encode()).strange_lines == 0
    # behind other words "Memory: " alone cannot be told from the JVM's
    other = [line for line in OTHER if line and "Memory: " not in line]
    other.append("\tat org.example.App.main(App.java:7)")
    mixed = [*rows[:40], *other, *rows[40:], *other]
    assert read_gc_log("\n".join([*mixed, ""]).encode()).strange_lines == 2 * len(other)


JAVA_8 = [
    "OpenJDK 64-Bit Server VM (25.362-b09) for linux-amd64 JRE (1.8.0_362-b09)",
    "0.811: [GC (Allocation Failure) [PSYoungGen: 33280K->5104K(38400K)] 33280K->8K(125952K)]",
    "1.204: [Full GC (Ergonomics) [PSYoungGen: 5104K->0K(38400K)] [ParOldGen: 9K->8K(87552K)]",
]


@pytest.mark.parametrize("at", [0, 100, len(ROWS)])
@pytest.mark.parametrize("chunk", [10_000, 1 << 24])
def test_lines_of_java_8_within_a_log_are_named_by_the_line(at, chunk, monkeypatch):
    """A JVM that was replaced wrote into the same file: what is left out is told, not only
    counted."""
    monkeypatch.setattr(decoding, "_CHUNK_BYTES", chunk)
    log = read_gc_log("\n".join([*ROWS[:at], *JAVA_8, *ROWS[at:], ""]).encode())
    assert log.collections.equals(WHOLE.log.collections)
    assert (log.foreign.line, log.foreign.lines) == (at + 2, 2)
    assert f"Java 8 or older (as -XX:+PrintGCDetails writes), from line {at + 2}" in str(
        log.foreign
    )
    assert log.strange_lines == len(JAVA_8)
    assert WHOLE.log.foreign is None


def test_java_8_alone_is_refused_by_the_line():
    """However much other output comes first."""
    rows = OTHER[:1] * 3000 + JAVA_8
    with pytest.raises(GcLogError, match="from line 3,002 on"):
        read_gc_log("\n".join(rows).encode())


def test_records_that_share_a_line_are_all_read():
    """Glued lines, and lines behind what a program printed without an end of line."""
    rows = [line + ("" if n % 3 == 0 else "\n") for n, line in enumerate(ROWS)]
    log = read_gc_log("".join([*rows, "\n"]).encode())
    assert log.collections.equals(WHOLE.log.collections)
    assert log.strange_lines == 0
    rows = [f"progress {n} %...\r" * (n % 4 == 0) + line for n, line in enumerate(ROWS)]
    log = read_gc_log("\n".join([*rows, ""]).encode())
    assert log.collections.equals(WHOLE.log.collections)
    assert (log.lines, log.strange_lines) == (len(ROWS), 0)


def test_collections_whose_lines_are_damaged_are_counted():
    """Their numbers are missing between those of the others."""
    head = "[{0}.000s][info][gc] "
    said = "GC({0}) Pause Young (Normal) (G1 Evacuation Pause) 53M->9M(1024M) 12.513ms"
    rows = [head.format(0) + "Using G1"] + [(head + said).format(n) for n in range(12)]
    rows[4], rows[8] = rows[4][:40], rows[8][60:]
    log = read_gc_log("\n".join([*rows, ""]).encode())
    assert log.collections.height == 10
    assert [run.lost for run in log.runs] == [2]
    assert log.strange_lines == 1


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"[1.0s][info][gc] GC(0) Turbo Sweep 8M->6M(10M) 3.000ms\n", "none of which is underst"),
        (b"[1.0s][info][gc] GC(0) Pause Init Traversal 1.000ms\n", "traversal mode"),
        (b"app-1 | 2.1: [GC pause (G1 Evacuation Pause) (young), 0.01 secs]\n", "Java 8"),
        (b"app-1 | hello, a Pause is due\n" * 9, "none of which tells"),
        (b"\xfd7zXZ\0 and so on", "unxz"),
    ],
)
def test_nothing_understood_is_an_error(raw, says):
    """Never a table of zeros."""
    with pytest.raises(GcLogError, match=says):
        read_gc_log(raw)


def test_a_log_without_a_collection_yet_is_one():
    """A JVM that just started, or that never collects."""
    for name in ("G1", "Epsilon"):
        log = read_gc_log(f"app | [0.004s][info][gc] Using {name}\n".encode())
        assert log.collections.is_empty()
        assert log.facts.collector == name
