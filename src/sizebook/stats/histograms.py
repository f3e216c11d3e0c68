"""``latency.hlog``: one HdrHistogram a second, request name, phase and outcome, in a text file.

The file is a HistogramLog of version 1.2 (HdrHistogram's ``HistogramLogWriter``): any reader of
that format opens it. The tag of a line holds four percent-encoded words::

    Tag=latency/measured/ok/flight%20detail,12.000,1.000,8.126,HISTFAAA...

quantity (``latency`` from the intended start, ``service`` from the actual one), phase, outcome
(``ok`` or ``failed``) and request name. A request belongs to the second of its intended start.
Service times are left out of a file in which they equal the latencies, as in closed loops.

A file over whole phases holds the same requests in one line for each quantity, phase and outcome:
percentiles are the same, the course over time and the names are not in it. Published trials have it
of their measured phase. Its histograms are stored, not deflated, in zlib's own form, which any
reader takes: the archive around them compresses, and finds more in what is not compressed yet.
"""

from __future__ import annotations

import base64
import binascii
import itertools
import re
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, unquote

import numpy as np
import polars as pl
from hdrh.codec import HdrCookieException, HdrLengthException
from hdrh.histogram import HdrHistogram
from numpy.typing import NDArray

from sizebook.model.bundle import PHASES
from sizebook.stats import hdr

SECOND_NS = 1_000_000_000
QUANTITIES = ("latency", "service")
OUTCOMES = ("ok", "failed")
EVERY_NAME = "all"
"""What a line over requests of all names is called."""

_LINE = re.compile(
    r"Tag=(?P<tag>[A-Za-z0-9_.~%/-]{1,2000}),"
    r"(?P<begin>-?\d{1,10}\.\d{1,9}),(?P<length>\d{1,6}\.\d{1,9}),\d{1,10}\.\d{1,9},"
    r"(?P<payload>[A-Za-z0-9+/=]{1,400000})"
)
_ORIGIN = re.compile(r"#origin_monotonic_ns=(\d{1,19})")
_MAX_LINE = 500_000
"""Letters of a line, of which a tag takes at most 2 000 and a payload 400 000."""
_MAX_COUNT = 1 << 53
_MAX_DECODED_BYTES = 1 << 20
"""A histogram of this layout takes at most 34 kB of counts in 9-byte numbers: 300 kB."""


class IntervalLogError(ValueError):
    """The file is not an interval log as this module writes it; the message names the line."""


_UNREADABLE = (
    ValueError,
    IndexError,
    OverflowError,
    binascii.Error,
    zlib.error,
    struct.error,
    HdrCookieException,
    HdrLengthException,
)
"""What unpacking a damaged histogram may raise."""


@dataclass(frozen=True)
class Interval:
    """One line: the values of one second, sparse, so that thousands fit into memory."""

    begin_ns: int
    """CLOCK_MONOTONIC ns of the second's begin."""
    length_ns: int
    quantity: str
    phase: str
    outcome: str
    name: str
    indexes: NDArray[np.int64]
    """Buckets that hold anything, ascending; see ``hdr.bucket_indexes``."""
    counts: NDArray[np.int64]

    @property
    def total_count(self) -> int:
        """Number of requests in the interval."""
        return int(self.counts.sum())


def write_interval_log(path: Path, requests: pl.DataFrame, origin_ns: int) -> int:
    """Write the histograms of a bundle's requests; return how many lines that were.

    ``requests`` has the columns ``intended_ns``, ``latency_ns``, ``service_ns``, ``name``,
    ``error`` and ``phase`` of ``model.bundle.REQUEST_COLUMNS``; ``origin_ns`` is the
    CLOCK_MONOTONIC time from which seconds are counted. Raises ValueError for a latency that is
    missing, negative or above one hour. 10 million rows take about two seconds of CPU.
    """
    same = (requests["latency_ns"] == requests["service_ns"]).all()
    quantities = QUANTITIES[:1] if same else QUANTITIES
    lines = (
        _Line(quantity, phase, OUTCOMES[failed], name, second, 1.0, indexes, counts)
        for quantity in quantities
        for second, phase, failed, name, indexes, counts in _grouped(
            requests, f"{quantity}_ns", origin_ns
        )
    )
    return _write(path, origin_ns, lines)


def write_phase_log(path: Path, intervals: Iterable[Interval], origin_ns: int) -> int:
    """Write intervals summed over their phases and names; return how many lines that were.

    A line is called ``EVERY_NAME``, begins with the first second of its phase that has a request of
    its quantity and outcome, and ends with the last one. ``origin_ns`` as in
    ``write_interval_log``.
    """
    together: dict[tuple[str, str, str, str], list[Interval]] = {}
    for one in intervals:
        words = one.quantity, one.phase, one.outcome, EVERY_NAME
        together.setdefault(words, []).append(one)
    lines = []
    for words, members in together.items():
        begin_ns = min(one.begin_ns for one in members)
        end_ns = max(one.begin_ns + one.length_ns for one in members)
        every = np.concatenate([one.indexes for one in members])
        indexes, at = np.unique(every, return_inverse=True)
        counts = np.zeros(indexes.size, dtype=np.int64)
        np.add.at(counts, at, np.concatenate([one.counts for one in members]))
        begin_s, length_s = (begin_ns - origin_ns) / SECOND_NS, (end_ns - begin_ns) / SECOND_NS
        lines.append(_Line(*words, begin_s, length_s, indexes, counts))
    return _write(path, origin_ns, lines, stored=True)


def read_interval_log(path: Path) -> list[Interval]:
    """Return every line of an interval log in the file's order.

    Raises IntervalLogError for a line of another form, an unknown tag, or a payload that does
    not unpack to a histogram of the project's layout; sizes are bounded before unpacking.
    """
    origin_ns: int | None = None
    found: list[Interval] = []
    with path.open(encoding="ascii", errors="replace") as log:
        for number, line in enumerate(iter(lambda: log.readline(_MAX_LINE), ""), start=1):
            text = line.rstrip("\n")
            if origin := _ORIGIN.fullmatch(text):
                origin_ns = int(origin[1])
            if not text or text.startswith(("#", '"StartTimestamp"')):
                continue
            match = _LINE.fullmatch(text)
            if match is None or origin_ns is None:
                raise IntervalLogError(f"line {number} of {path.name}: not an interval")
            try:
                found.append(_interval(match, origin_ns))
            except _UNREADABLE as error:
                raise IntervalLogError(f"line {number} of {path.name}: {error}") from error
    return found


def merge_intervals(
    intervals: Iterable[Interval],
    *,
    quantity: str = "latency",
    phase: str | None = "measured",
    outcome: str | None = "ok",
) -> HdrHistogram:
    """Return one histogram over all intervals that match; None matches everything.

    ``service`` falls back on ``latency`` where the log holds no service times, because they were
    the same.
    """
    every = list(intervals)
    if quantity == "service" and not any(one.quantity == "service" for one in every):
        quantity = "latency"
    merged = hdr.new_histogram()
    for one in every:
        if (
            one.quantity == quantity
            and phase in (None, one.phase)
            and outcome in (None, one.outcome)
        ):
            hdr.record_counts(merged, one.indexes, one.counts)
    return merged


@dataclass(frozen=True)
class _Line:
    quantity: str
    phase: str
    outcome: str
    name: str
    begin_s: float
    length_s: float
    indexes: NDArray[np.int64]
    counts: NDArray[np.int64]


def _stored(payload: bytes) -> bytes:
    """Return a payload without compression: cookie, length, and zlib's stored form."""
    packed = base64.b64decode(payload)
    data = zlib.compress(zlib.decompress(packed[8:]), level=0)
    return base64.b64encode(packed[:4] + struct.pack(">i", len(data)) + data)


def _write(path: Path, origin_ns: int, lines: Iterable[_Line], *, stored: bool = False) -> int:
    scratch = hdr.new_histogram()
    written = 0
    with path.open("w", encoding="ascii", newline="\n") as log:
        log.write("#[Histogram log format version 1.2]\n")
        log.write(f"#origin_monotonic_ns={origin_ns}\n")
        log.write("#[BaseTime: 0.000 (seconds since epoch)]\n")
        log.write("#[StartTime: 0.000 (seconds since epoch), of the origin]\n")
        log.write(
            '"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"\n'
        )
        for line in lines:
            hdr.clear(scratch)
            hdr.record_counts(scratch, line.indexes, line.counts)
            words = (line.quantity, line.phase, line.outcome, line.name)
            tag = "/".join(quote(word, safe="") for word in words)
            payload = scratch.encode()
            text = (_stored(payload) if stored else payload).decode("ascii")
            log.write(
                f"Tag={tag},{line.begin_s:.3f},{line.length_s:.3f},"
                f"{scratch.max_value / 1e6:.3f},{text}\n"
            )
            written += 1
    return written


_Group = tuple[float, str, int, str, NDArray[np.int64], NDArray[np.int64]]


def _grouped(requests: pl.DataFrame, column: str, origin_ns: int) -> Iterator[_Group]:
    """Yield (second, phase, failed, name, buckets, counts), ordered by time then words."""
    if requests.is_empty():
        return
    if requests[column].null_count():
        raise ValueError(f"{requests[column].null_count()} rows without {column}")
    phases = requests["phase"].cast(pl.Categorical)
    names = requests["name"].cast(pl.Categorical)
    second = (requests["intended_ns"].to_numpy() - origin_ns) // SECOND_NS
    failed = (requests["error"] != "").to_numpy()
    phase_words, phase_code = _coded(phases)
    name_words, name_code = _coded(names)
    group = ((second * len(phase_words) + phase_code) * 2 + failed) * len(name_words) + name_code
    least = int(group.min())
    group -= least
    if group.max() < 1 << 16:
        group = group.astype(np.uint16)  # numpy sorts 16 bits by radix, ten times as fast
    order = np.argsort(group, kind="stable")
    group, bucket = group[order], hdr.bucket_indexes(requests[column].to_numpy())[order]
    bounds = np.flatnonzero(np.diff(group.astype(np.int64), prepend=-1, append=-1))
    for first, end in itertools.pairwise(bounds):
        counts = np.bincount(bucket[first:end])
        indexes = np.flatnonzero(counts)
        rest, name_at = divmod(int(group[first]) + least, len(name_words))
        rest, failed_at = divmod(rest, 2)
        at, phase_at = divmod(rest, len(phase_words))
        yield (
            float(at), phase_words[phase_at], failed_at, name_words[name_at],
            indexes, counts[indexes],
        )  # fmt: skip


def _coded(words: pl.Series) -> tuple[list[str], NDArray[np.int64]]:
    """Return the distinct words in sorted order and each row's place among them."""
    distinct = words.unique().cast(pl.String).sort()
    coded = words.cast(pl.Enum(distinct)).to_physical()
    return distinct.to_list(), coded.to_numpy().astype(np.int64)


def _interval(match: re.Match[str], origin_ns: int) -> Interval:
    words = [unquote(word) for word in match["tag"].split("/")]
    if len(words) != 4:
        raise ValueError(f"tag {match['tag'][:80]!r} does not have four words")
    quantity, phase, outcome, name = words
    if quantity not in QUANTITIES or phase not in PHASES or outcome not in OUTCOMES:
        raise ValueError(f"unknown words in tag {match['tag'][:80]!r}")
    _check_payload(match["payload"])
    histogram = HdrHistogram.decode(match["payload"])
    counts = hdr.counts_of(histogram)
    indexes = np.flatnonzero(counts)
    if float(counts[indexes].astype(np.float64).sum()) > _MAX_COUNT:
        raise ValueError(f"more than {_MAX_COUNT} values")
    return Interval(
        begin_ns=origin_ns + round(float(match["begin"]) * SECOND_NS),
        length_ns=round(float(match["length"]) * SECOND_NS),
        quantity=quantity,
        phase=phase,
        outcome=outcome,
        name=name,
        indexes=indexes,
        counts=counts[indexes].astype(np.int64),
    )


def _check_payload(payload: str) -> None:
    """Raise ValueError unless the payload is small and of our layout.

    The package unpacks without a limit and sizes its arrays by what the header claims, so both
    are looked at first. Header: cookie, length, offset, digits (4 bytes each), lowest, highest
    (8 bytes each), ratio (double), big-endian.
    """
    packed = base64.b64decode(payload, validate=True)[8:]
    unpacker = zlib.decompressobj()
    data = unpacker.decompress(packed, _MAX_DECODED_BYTES)
    if unpacker.unconsumed_tail or not unpacker.eof:
        raise ValueError("a histogram that unpacks to more than a megabyte, or is cut off")
    digits, lowest, highest = struct.unpack_from(">IQQ", data, 12)
    layout = (hdr.LOWEST_NS, hdr.HIGHEST_NS, hdr.SIGNIFICANT_DIGITS)
    if (lowest, highest, digits) != layout:
        raise ValueError(f"layout {lowest} to {highest} with {digits} digits, not ours")
