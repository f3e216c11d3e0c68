"""Logs of a JVM in the form in which they pack best: their numbers by columns.

A collector writes the same lines with other numbers, thousands of times. A pack has a log as the
shapes of its lines, which shape each line has, and for each number of a shape the steps from line
to line. What is read out of a pack is the log as it was, to the last byte. The first line is JSON::

    {"format": "sizebook-log", "version": 1, "bytes": size of the log, "lines": how many,
     "clock": [width of ms, width of ns] or null,
     "shapes": [[text, [width ...]] ...]}

In a shape's text ``\\0`` stands for a number as it is usually written, and the characters 1 to 18
for one of so many digits, with zeros before it. Behind the line come two bytes a line, which tell
its shape: the high ones, then the low ones. Then come columns: of the clock, if each line begins
with ``[seconds.milliseconds][nanoseconds]``; then those of each shape. A column has the steps from
each number to the next, the first from 0: a step s as 2 s, or as -2 s - 1 if it goes down, in
``width`` bytes, the highest bytes of all steps first. Nanoseconds are told so, and the milliseconds
by how far they are from the whole milliseconds since the first line's nanoseconds.
"""

from __future__ import annotations

import json
import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sizebook.store.zigzag import fold, unfold

MOST_LOG_BYTES = 64 * 2**20
_FORMAT = {"format": "sizebook-log", "version": 1}
_CLOCK = re.compile(r"\[(0|[1-9]\d{0,8})\.(\d{3})s\]\[([1-9]\d{0,17})ns\]")
_NUMBER = re.compile(r"(?<=\.)\d+|\d+")
_MOST_DIGITS = 18
_MOST_SHAPES = 1 << 16
_SLOTS = "".join(map(chr, range(_MOST_DIGITS + 1)))
_SLOT = re.compile(f"[{re.escape(_SLOTS)}]")
_UNREADABLE = (ValueError, KeyError, TypeError, IndexError, RecursionError, OverflowError)


class LogError(ValueError):
    """What should be a log in columns is none."""


def write_columns(log: bytes) -> bytes | None:
    """Return a log in columns, from which ``read_columns`` makes the same bytes.

    None for a log that has no such form: other characters than ASCII, control characters, a last
    line without its end, too many shapes, too long numbers, more than ``MOST_LOG_BYTES``.
    """
    if len(log) > MOST_LOG_BYTES:
        return None
    try:
        text = log.decode("ascii")
    except UnicodeDecodeError:
        return None
    if not text.endswith("\n") or _SLOT.search(text.replace("\n", "")):
        return None
    lines = text[:-1].split("\n")
    clock = [_CLOCK.match(line) for line in lines]
    columns: list[NDArray[np.int64]] = []
    has_clock = None not in clock
    if has_clock:
        told = _whole([[int(one[i]) for one in clock if one] for i in (1, 2, 3)])
        seconds, parts, ns = told
        columns = [1000 * seconds + parts - (ns - ns[0]) // 1_000_000, ns]
        lines = [line[one.end() :] for line, one in zip(lines, clock, strict=True) if one]
    shapes: dict[str, int] = {}
    numbers: list[list[list[int]]] = []
    which = []
    for line in lines:
        found: list[str] = _NUMBER.findall(line)
        if any(len(each) > _MOST_DIGITS for each in found):
            return None
        shape = _NUMBER.sub(_slot, line)
        at = shapes.setdefault(shape, len(shapes))
        if at == len(numbers):
            numbers.append([])
        numbers[at].append([*map(int, found)])
        which.append(at)
    if len(shapes) > _MOST_SHAPES:
        return None
    widths: list[list[int]] = []
    laid = [_lay(column) for column in columns]
    for rows in numbers:
        shape_columns = [_lay(column) for column in _whole(rows).T] if rows[0] else []
        widths.append([width for width, _ in shape_columns])
        laid += shape_columns
    content = {
        **_FORMAT,
        "bytes": len(log),
        "lines": len(lines),
        "clock": [width for width, _ in laid[:2]] if has_clock else None,
        "shapes": [[shape, each] for shape, each in zip(shapes, widths, strict=True)],
    }
    head = json.dumps(content, separators=(",", ":")) + "\n"
    ids = np.array(which, dtype=">u2").view(np.uint8).reshape(-1, 2).T.tobytes()
    return b"".join([head.encode(), ids, *(data for _, data in laid)])


def read_columns(data: bytes, most: int) -> bytes:
    """Return the log behind its columns.

    Raises LogError for damage, and for more bytes than ``most`` or than any such log has.
    """
    try:
        return _read(data, min(most, MOST_LOG_BYTES))
    except _UNREADABLE as error:
        raise LogError(f"a log in no form that is known ({str(error)[:100]})") from error


def _read(data: bytes, most: int) -> bytes:
    head, _, body = data.partition(b"\n")
    content = json.loads(head)
    if {name: content[name] for name in _FORMAT} != _FORMAT:
        raise ValueError("another format or version")
    size, count = content["bytes"], content["lines"]
    if not 0 < count <= size <= most:
        raise ValueError(f"{count} lines in {size} bytes, {most} at most")
    ids = np.frombuffer(body[: 2 * count], np.uint8).reshape(2, count).T.copy().view(">u2").ravel()
    shapes = [(str(text), [*widths]) for text, widths in content["shapes"]]
    counts = np.bincount(ids, minlength=len(shapes))
    if counts.size != len(shapes) or counts.min() < 1:
        raise ValueError("shapes that are not those of the lines")
    if int(counts @ np.array([len(shape) for shape, _ in shapes])) > size:
        raise ValueError("more text than is told")
    at = 2 * count

    def column(width: Any, length: int) -> NDArray[np.int64]:
        nonlocal at
        begin, at = at, at + width * length
        return np.cumsum(unfold(body[begin:at], width, length))

    starts = [""] * count
    if content["clock"] is not None:
        late, ns = (column(width, count) for width in content["clock"])
        ms = late + (ns - ns[0]) // 1_000_000
        if ms.min() < 0 or ns.min() < 0:
            raise ValueError("times below zero")
        seconds, parts = np.divmod(ms, 1000)
        told = zip(seconds.tolist(), parts.tolist(), ns.tolist(), strict=True)
        starts = [f"[{whole}.{part:03d}s][{each}ns]" for whole, part, each in told]
    ends = [""] * count
    order = np.argsort(ids, kind="stable")
    for (shape, widths), lines in zip(shapes, np.split(order, np.cumsum(counts)[:-1]), strict=True):
        written = _SLOT.sub(_printed, shape.replace("%", "%%"))
        columns = [column(width, lines.size).tolist() for width in widths]
        rows = zip(*columns, strict=True) if columns else [()] * lines.size
        for line, row in zip(lines.tolist(), rows, strict=True):
            ends[line] = written % row
    if at != len(body):
        raise ValueError(f"{len(body)} bytes of columns, not {at}")
    pairs = zip(starts, ends, strict=True)
    text = "".join(f"{start}{end}\n" for start, end in pairs).encode("ascii")
    if len(text) != size:
        raise ValueError(f"{len(text)} bytes of log, not {size}")
    return text


def _slot(number: re.Match[str]) -> str:
    """Return what stands for a number: how many digits it has, where that is not plain."""
    text = number[0]
    is_part = number.start() > 0 and number.string[number.start() - 1] == "."
    return chr(len(text)) if is_part or (text[0] == "0" and text != "0") else _SLOTS[0]


def _printed(slot: re.Match[str]) -> str:
    return f"%0{ord(slot[0])}d" if slot[0] != _SLOTS[0] else "%d"


def _whole(numbers: Any) -> NDArray[np.int64]:
    return np.array(numbers, dtype=np.int64)


def _lay(numbers: NDArray[np.int64]) -> tuple[int, bytes]:
    """Return how many bytes each step of a column has, and the bytes."""
    return fold(np.diff(numbers, prepend=0))
