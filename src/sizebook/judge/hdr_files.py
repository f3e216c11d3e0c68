"""HdrHistogram's files: percentile tables (``.hgrm``, wrk2's output) and interval logs (``.hlog``).

A table has lines of value, percentile, count up to there, and 1/(1 - percentile); values are in the
unit that its writer chose, milliseconds for wrk2 and for ``outputPercentileDistribution`` with the
usual ratio. A log has a histogram a line, packed, in ns by convention.
"""

from __future__ import annotations

import base64
import re
import struct
import zlib
from pathlib import Path

import numpy as np
from hdrh.histogram import HdrHistogram
from numpy.typing import NDArray

from sizebook.judge.pieces import read_document, read_pieces
from sizebook.judge.refusals import refused
from sizebook.judge.results import (
    MS_NS,
    SECOND_NS,
    ForeignResults,
    Loop,
    Spectrum,
    StepCourse,
    Totals,
    TotalsRow,
)
from sizebook.stats import hdr

PRINTS = (50.0, 75.0, 90.0, 99.0, 99.9, 99.99, 99.999)
_HEAD = re.compile(rb"^[ \t]*Value(?:\([\w]+\))?[ \t]+Percentile[ \t]+TotalCount", re.MULTILINE)
_ROW = re.compile(
    r"^[ \t]*([\d.]{1,30})[ \t]+([01]\.\d{1,18})[ \t]+(\d{1,18})"
    r"(?:[ \t]+[\d.]{1,30}|[ \t]+inf)?[ \t\r]*$",
    re.MULTILINE,
)
_COUNT = re.compile(r"Total ?[cC]ount\s*=\s*(\d{1,18})")
_MEAN = re.compile(r"#\[Mean\s*=\s*([\d.]{1,30}),")
_MOST = re.compile(r"#\[Max\s*=\s*([\d.]{1,30}),")
_WRK2 = re.compile(r"^Running (\d{1,9})(s|m|h) test @", re.MULTILINE)
_CONNECTIONS = re.compile(r"^\s+\d{1,9} threads? and (\d{1,9}) connections?", re.MULTILINE)
_REQUESTS = re.compile(r"^\s+(\d{1,18}) requests in ([\d.]{1,12})(us|ms|s|m|h),", re.MULTILINE)
_ERRORS = re.compile(r"Non-2xx or 3xx responses: (\d{1,18})")
_SOCKET = re.compile(r"Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)")
_UNITS_S = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_LOG = b"#[Histogram log format version"
_LEGEND = b'"StartTimestamp","Interval_Length"'
_LINE = re.compile(
    r"(?:Tag=([^,]{0,200}),)?(\d{1,10}\.?\d{0,9}),(\d{1,9}\.?\d{0,9}),([\d.]{1,20}),(HIST[\w+/=]+)"
)
_MOST_LINES = 200_000
_MOST_UNPACKED = 1 << 22
_MOST_BUCKETS = 1 << 21


def is_table(head: bytes) -> bool:
    """Return whether a file has a table of percentiles among its first lines."""
    return _HEAD.search(head) is not None


def is_log(head: bytes) -> bool:
    """Return whether a file begins like an interval log."""
    return _LOG in head[:2048] or _LEGEND in head[:4096]


def read_table(path: Path) -> ForeignResults:
    """Return the histogram of a table, and what wrk2 prints around it."""
    text = read_document(path).decode("utf-8", errors="replace")
    tables = text.split("Detailed Percentile spectrum:")
    # wrk2 prints the corrected spectrum first, and with -U the uncorrected one after it.
    table = tables[1] if len(tables) > 1 else text
    rows = [(float(value), int(count), float(p)) for value, p, count in _rows_of(table)]
    if not rows:
        raise refused(path, "a head of percentiles without a line below", "name a whole table")
    data = np.array(rows, dtype=np.float64)
    values, counts = data[:, 0] * MS_NS, np.diff(data[:, 1], prepend=0).astype(np.int64)
    falls = any(bool(np.any(np.diff(each) < 0)) for each in data.T)
    if falls:
        raise refused(path, "percentiles that fall as they rise", "name one table a file")
    kept = counts > 0
    spectrum = Spectrum(values[kept], counts[kept], levels=100 * data[kept, 2])
    if spectrum.size == 0:
        raise refused(path, "a histogram of nothing", "name the table of a run")
    told, mean, most = (found.search(table) for found in (_COUNT, _MEAN, _MOST))
    cut = ""
    if told is None and data[-1, 2] < 1:
        cut = "its last percentiles and the sums below are missing"
    elif told is not None and int(told[1]) != spectrum.size:
        cut = f"its table ends at {spectrum.size:,} of {int(told[1]):,} values"
    size = int(told[1]) if told else spectrum.size
    wrk2 = _WRK2.search(text)
    length_s, failed, users = _wrk2_facts(text)
    row = TotalsRow(
        "", size, failed, _ms(mean), float(spectrum.values_ns[0]),
        _ms(most) or float(spectrum.values_ns[-1]),
        {p: spectrum.quantile_ns(p) for p in PRINTS},
    )  # fmt: skip
    uncorrected = "Uncorrected Latency" in tables[0] and "Recorded Latency" not in tables[0]
    loop: Loop = "open" if wrk2 else "unknown"
    return ForeignResults(
        path, "wrk2" if wrk2 else "HdrHistogram", "output" if wrk2 else ".hgrm", PRINTS,
        totals=Totals(row, length_s=length_s, users=users, rates_agree=False), spectrum=spectrum,
        loop=loop, loop_reason="wrk2 sends at a constant rate" if wrk2 else "",
        corrected=wrk2 is not None and not uncorrected, uncorrected=uncorrected, cut=cut,
        notes=() if wrk2 else ("values are taken for milliseconds, the usual unit of a .hgrm",),
    )  # fmt: skip


def _rows_of(table: str) -> list[tuple[str, str, str]]:
    return [row for row in _ROW.findall(table) if row[0].count(".") <= 1]


def _ms(found: re.Match[str] | None) -> float | None:
    try:
        return float(found[1]) * MS_NS if found else None
    except ValueError:
        return None


def _wrk2_facts(text: str) -> tuple[float | None, int | None, float | None]:
    """Return length in seconds, failed requests and connections, where wrk2 prints them."""
    requests, users = _REQUESTS.search(text), _CONNECTIONS.search(text)
    if requests is None:
        return None, None, float(users[1]) if users else None
    bad, socket = _ERRORS.search(text), _SOCKET.search(text)
    failed = (int(bad[1]) if bad else 0) + (sum(map(int, socket.groups())) if socket else 0)
    try:
        length_s = float(requests[2]) * _UNITS_S[requests[3]]
    except ValueError:
        return None, failed, None
    return length_s or None, failed, float(users[1]) if users else None


def read_log(path: Path) -> ForeignResults:
    """Return the histograms of an interval log as a course and their sum."""
    steps, left_out, lines, tags = [], 0, 0, set[str]()
    ended = b"\n"
    for piece in read_pieces(path):
        ended = piece[-1:]
        for raw in piece.splitlines():
            line = raw.decode("utf-8", errors="replace").strip()
            if not line or line.startswith(("#", '"')):
                continue
            lines += 1
            if lines > _MOST_LINES:
                raise refused(path, f"more than {_MOST_LINES:,} intervals", "cut the log in parts")
            found = _LINE.fullmatch(line)
            step = _step(found) if found else None
            if found is None or step is None:
                left_out += 1
                continue
            tags.add(found[1] or "")
            steps.append(step)
    if not steps:
        raise refused(path, "an interval log without a histogram", "name the log of a whole run")
    steps.sort(key=lambda step: step[0])
    values, counts = _summed([(step[2], step[3]) for step in steps])
    spectrum = Spectrum(values, counts, tuple((step[2], step[3]) for step in steps))
    sizes = np.array([step[3].sum() for step in steps], dtype=np.float64)
    sums = np.array([float((step[2] * step[3]).sum()) for step in steps])
    course = StepCourse(
        end_ns=np.array([step[0] + step[1] for step in steps], dtype=np.int64),
        width_ns=np.array([step[1] for step in steps], dtype=np.int64),
        requests=sizes,
        mean_ns=np.divide(sums, sizes, out=np.full(sizes.size, np.nan), where=sizes > 0),
        failed=np.zeros(sizes.size),
        most_ns=np.array([step[2][-1] if step[2].size else 0.0 for step in steps]),
    )
    if spectrum.size == 0:
        raise refused(path, "an interval log of empty histograms", "name the log of a run")
    first, last = steps[0][0], max(step[0] + step[1] for step in steps)
    row = TotalsRow(
        "", spectrum.size, None, float((values * counts).sum() / spectrum.size), float(values[0]),
        float(values[-1]), {p: spectrum.quantile_ns(p) for p in PRINTS},
    )  # fmt: skip
    notes = ["values are taken for nanoseconds, as HdrHistogram's logs have them by convention"]
    if len(tags) > 1:
        notes.append(f"{len(tags)} tags are put together: {', '.join(sorted(tags))[:200]}")
    return ForeignResults(
        path, "HdrHistogram", ".hlog", PRINTS,
        totals=Totals(row, length_s=(last - first) / SECOND_NS or None, rates_agree=False),
        course=course if len(tags) == 1 else None, spectrum=spectrum,
        cut="" if ended == b"\n" else "its last line has no end",
        left_out=left_out, notes=tuple(notes),
    )  # fmt: skip


_Step = tuple[int, int, NDArray[np.float64], NDArray[np.int64]]


def _step(found: re.Match[str]) -> _Step | None:
    """Return begin and length in ns, values and counts of a line; None if it does not unpack."""
    try:
        begin_ns, length_ns = (round(float(found[at]) * SECOND_NS) for at in (2, 3))
        if not _is_small(found[5]) or length_ns <= 0:
            return None
        histogram = HdrHistogram.decode(found[5])
        counts = hdr.counts_of(histogram)
        places = np.flatnonzero(counts)
        values = np.array([histogram.get_value_from_index(int(at)) for at in places])
    except Exception:
        return None
    kept = counts[places].astype(np.int64)
    if kept.size and (kept.min() < 0 or float(kept.astype(np.float64).sum()) > 2**53):
        return None
    return begin_ns, length_ns, values.astype(np.float64), kept


def _is_small(payload: str) -> bool:
    """Return whether a packed histogram unpacks to a bounded size, and to bounded counts.

    Its head, 4 bytes each but for the 8 of lowest and highest: cookie, length, offset, digits.
    """
    packed = base64.b64decode(payload, validate=True)[8:]
    unpacker = zlib.decompressobj()
    data = unpacker.decompress(packed, _MOST_UNPACKED)
    if unpacker.unconsumed_tail or not unpacker.eof:
        return False
    digits, lowest, highest = struct.unpack_from(">IQQ", data, 12)
    if not (1 <= digits <= 5 and 1 <= lowest < highest < 1 << 62):
        return False
    half: int = 1 << ((2 * 10**digits - 1).bit_length() - 1)
    return bool((highest.bit_length() + 1) * half <= _MOST_BUCKETS)


def _summed(
    parts: list[tuple[NDArray[np.float64], NDArray[np.int64]]],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    every = np.concatenate([values for values, _ in parts])
    values, at = np.unique(every, return_inverse=True)
    counts = np.zeros(values.size, dtype=np.int64)
    np.add.at(counts, at, np.concatenate([counts for _, counts in parts]))
    return values, counts
