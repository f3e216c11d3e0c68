"""The file in which a HotSpot JVM keeps its performance counters: a bounds-checked reader.

The JVM maps ``hsperfdata_<user>/<pid>`` in the system's temporary folder and counts there; reading
it costs the JVM nothing. Layout (HotSpot ``perfMemory.hpp``, version 2.0), all in the byte order
that byte 4 tells:

=========  ==================================================================================
bytes      prologue
=========  ==================================================================================
0-3        magic 0xcafec0c0, always big-endian
4          byte order: 0 big, 1 little
5, 6       major and minor version
7          accessible: 1 once the JVM has set everything up
8-11       bytes used
12-15      bytes that did not fit
16-23      time of the last change of the layout, in ticks
24-27      offset of the first entry
28-31      number of entries
=========  ==================================================================================

An entry: length (4), offset of its name (4), length of a vector or 0 for a scalar (4), type (1:
``J`` long, ``B`` byte), flags (1), unit (1), variability (1), offset of its data (4); offsets count
from the entry's begin.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Literal

MAGIC = b"\xca\xfe\xc0\xc0"
_PROLOGUE = struct.Struct("=4sBBBBiiqii")
_MAX_BYTES = 16 << 20
_MAX_ENTRIES = 20_000
_UNITS = {1: "", 2: "bytes", 3: "ticks", 4: "events", 5: "text", 6: "hertz"}

FREQUENCY = "sun.os.hrt.frequency"
"""Name of the counter that holds the ticks a second."""


class PerfDataError(ValueError):
    """The bytes are no counters of a HotSpot JVM of a known version, or not ready yet."""


@dataclass(frozen=True)
class Entry:
    """Where one counter's value lies."""

    name: str
    unit: str
    offset: int
    length: int
    """Bytes of a text; 0 for a number (a signed 64-bit integer)."""


@dataclass(frozen=True)
class Layout:
    """Where every counter lies. It stays the same until the JVM adds a counter."""

    order: Literal["<", ">"]
    entries: dict[str, Entry]
    head: bytes
    """The bytes of the prologue that change whenever the layout does."""

    def fits(self, data: bytes) -> bool:
        """Return whether the layout is still that of these bytes."""
        return data[16:32] == self.head

    def number(self, data: bytes, name: str) -> int | None:
        """Return a number, or None if the JVM does not count it."""
        entry = self.entries.get(name)
        if entry is None or entry.length:
            return None
        (value,) = struct.unpack_from(f"{self.order}q", data, entry.offset)
        return int(value)

    def text(self, data: bytes, name: str) -> str | None:
        """Return a text, such as a collector's name, or None if it is not there."""
        entry = self.entries.get(name)
        if entry is None or not entry.length:
            return None
        raw = data[entry.offset : entry.offset + entry.length]
        return raw.split(b"\0", 1)[0].decode("utf-8", errors="replace")


def read_layout(data: bytes) -> Layout:
    """Return where the counters lie.

    Every offset is checked against the bytes at hand. Raises PerfDataError.
    """
    order, offset, number = _read_prologue(data)
    entry = struct.Struct(f"{order}iii4Bi")
    entries: dict[str, Entry] = {}
    for _ in range(number):
        if offset < _PROLOGUE.size or offset + entry.size > len(data):
            raise PerfDataError(f"an entry at {offset} of {len(data)} bytes")
        length, name_at, vector, kind, _, unit, _, data_at = entry.unpack_from(data, offset)
        if length < entry.size or offset + length > len(data):
            raise PerfDataError(f"an entry of {length} bytes at {offset} of {len(data)}")
        size = vector if vector else 8
        if not (
            entry.size <= name_at < length
            and entry.size <= data_at
            and size > 0
            and data_at + size <= length
        ):
            raise PerfDataError(f"an entry at {offset} whose parts lie outside of it")
        end = data.find(b"\0", offset + name_at, offset + length)
        if end < 0:
            raise PerfDataError(f"a name at {offset + name_at} without an end")
        name = data[offset + name_at : end].decode("ascii", errors="replace")
        if kind == ord("J") and vector == 0:
            entries[name] = Entry(name, _UNITS.get(unit, ""), offset + data_at, 0)
        elif kind == ord("B") and vector > 0:
            entries[name] = Entry(name, _UNITS.get(unit, ""), offset + data_at, vector)
        offset += length
    return Layout(order, entries, data[16:32])


def _read_prologue(data: bytes) -> tuple[Literal["<", ">"], int, int]:
    """Return byte order, offset of the first entry, number of entries."""
    if len(data) < _PROLOGUE.size or len(data) > _MAX_BYTES:
        raise PerfDataError(f"{len(data)} bytes")
    if data[:4] != MAGIC:
        raise PerfDataError(f"begins with {data[:4].hex()}, not {MAGIC.hex()}")
    order: Literal["<", ">"] = "<" if data[4] == 1 else ">"
    major, accessible = data[5], data[7]
    if major != 2:
        raise PerfDataError(f"version {major}, not 2")
    if not accessible:
        raise PerfDataError("the JVM is still setting up its counters")
    offset, number = struct.unpack_from(f"{order}ii", data, 24)
    if not 0 <= number <= _MAX_ENTRIES:
        raise PerfDataError(f"{number} entries")
    return order, offset, number
