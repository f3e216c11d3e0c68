"""JMeter's JTL: CSV with any of its columns and delimiters, and XML.

Columns and attributes are those of JMeter's ``CSVSaveService`` and ``SampleResultConverter``
(5.6). ``timeStamp`` is the start of a sample with the properties that JMeter comes with, and its
end without them (``sampleresult.timestamp.start``): which, is found by the samples of each thread,
which cannot overlap.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.parsers import expat

import numpy as np
import polars as pl

from sizebook.judge.pieces import read_head, read_pieces, read_tail
from sizebook.judge.refusals import refused
from sizebook.judge.results import MS_NS, ForeignResults, RequestTable
from sizebook.judge.tables import make_table, whole_number

PRINTS = (90.0, 95.0, 99.0)
TIME, ELAPSED = "timeStamp", "elapsed"
DEFAULT = (
    *(TIME, ELAPSED, "label", "responseCode", "responseMessage", "threadName", "dataType"),
    *("success", "failureMessage", "bytes", "sentBytes", "grpThreads", "allThreads", "URL"),
    *("Latency", "IdleTime", "Connect"),
)
"""What JMeter 5 writes where nothing is configured."""
_BARE = re.compile(rb"\d{13},\d{1,12},")
_DATES = ("%Y/%m/%d %H:%M:%S%.f", "%Y-%m-%d %H:%M:%S%.f", "%m/%d/%y %H:%M:%S")
"""What JMeter itself tries, as chrono writes it; the first two with or without milliseconds."""
_ATTRIBUTES = {"ts": TIME, "t": ELAPSED, "lb": "label", "s": "success", "tn": "threadName",
               "na": "allThreads"}  # fmt: skip
_SAMPLES = ("sample", "httpSample")
_FLUSH = 100_000


def is_csv(head: bytes) -> bool:
    """Return whether a file begins like a JTL in CSV: with its header, or with a sample."""
    first = head.partition(b"\n")[0]
    words = set(re.findall(rb"\w+", first))
    if {TIME.encode(), ELAPSED.encode()} <= words:
        return True
    return _BARE.match(head) is not None and first.count(b",") >= len(DEFAULT) - 1


def read_csv(path: Path) -> ForeignResults:
    """Return the samples of a JTL in CSV."""
    first = read_head(path).partition(b"\n")[0].decode("utf-8", errors="replace").strip()
    has_header = TIME in first
    found = re.match(rf'"?{TIME}"?(\W)"?\w', first) or re.search(rf'\w"?(\W)"?{TIME}', first)
    delimiter = found[1] if has_header and found else ","
    columns = _columns(first, delimiter) if has_header else list(DEFAULT)
    wanted = [name for name in dict.fromkeys(_ATTRIBUTES.values()) if name in columns]
    if len(columns) != len(set(columns)):
        raise refused(path, "a header that names a column twice", "name the JTL that JMeter wrote")
    if not {TIME, ELAPSED} <= {*wanted}:
        raise refused(path, "a JTL without timeStamp or elapsed", "save both columns")
    try:
        frame = (
            pl.scan_csv(
                path,
                separator=delimiter,
                has_header=has_header,
                new_columns=None if has_header else columns,
                infer_schema=False,
                truncate_ragged_lines=True,
                ignore_errors=True,
                encoding="utf8-lossy",
            )
            .select(
                pl.col(TIME),
                whole_number(ELAPSED).alias(ELAPSED),
                *(pl.col(name).cast(pl.Categorical) for name in ("label", "threadName")
                  if name in wanted),
                *(pl.col(name).str.to_lowercase() == "true" for name in ("success",)
                  if name in wanted),
                *(pl.col(name).cast(pl.Int32, strict=False) for name in ("allThreads",)
                  if name in wanted),
            )
            .collect(engine="streaming")
        )  # fmt: skip
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        words = str(error).partition("\n")[0][:120]
        raise refused(path, f"a CSV that cannot be read ({words})", "name the whole file") from None
    heads = frame.filter(pl.col(TIME) == TIME).height
    if heads:
        frame = frame.filter(pl.col(TIME).is_null() | (pl.col(TIME) != TIME))
    cut = "" if read_tail(path).endswith(b"\n") else "its last line has no end"
    if heads:
        cut = f"its header comes {heads + 1} times: several runs were written into one file"
    return _made(path, "JTL, CSV", frame, cut)


def _columns(first: str, delimiter: str) -> list[str]:
    rows = csv.reader(io.StringIO(first), delimiter=delimiter)
    return [name.strip() for name in next(rows, [])]


def read_xml(path: Path) -> ForeignResults:
    """Return the samples of a JTL in XML; those within another sample are parts of it."""
    frames: list[pl.DataFrame] = []
    rows: list[tuple[str | None, ...]] = []
    depth = 0

    def flush() -> None:
        if rows:
            schema = dict.fromkeys(_ATTRIBUTES.values(), pl.String)
            frames.append(_typed(pl.DataFrame(rows, schema=schema, orient="row")))
            rows.clear()

    def begin(tag: str, given: dict[str, str]) -> None:
        nonlocal depth
        if tag in _SAMPLES:
            if depth == 0:
                rows.append(tuple(given.get(name) for name in _ATTRIBUTES))
                if len(rows) >= _FLUSH:
                    flush()
            depth += 1

    def end(tag: str) -> None:
        nonlocal depth
        depth -= tag in _SAMPLES

    cut = _parse(path, begin, end)
    flush()
    if not frames:
        raise refused(path, "XML without a sample of JMeter", "name the JTL that JMeter wrote")
    return _made(path, "JTL, XML", pl.concat(frames), cut)


def _parse(
    path: Path, begin: Callable[[str, dict[str, str]], None], end: Callable[[str], None]
) -> str:
    """Give the elements of an XML file to two functions; return what is missing at its end."""

    def refuse(*_: Any) -> None:
        raise refused(path, "XML that declares entities", "name the JTL that JMeter wrote")

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler = begin, end
    parser.EntityDeclHandler = refuse
    parser.buffer_text = True
    try:
        for piece in read_pieces(path):
            parser.Parse(piece, False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        return f"its XML ends or breaks in line {error.lineno}"
    return ""


def _typed(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.select(
        pl.col(TIME),
        whole_number(ELAPSED),
        pl.col("label", "threadName").cast(pl.Categorical),
        pl.col("success").str.to_lowercase() == "true",
        pl.col("allThreads").cast(pl.Int32, strict=False),
    )


def _made(path: Path, form: str, frame: pl.DataFrame, cut: str) -> ForeignResults:
    times, clock_ns = _times_ns(frame[TIME])
    given = pl.DataFrame(
        {
            "time_ns": times,
            "latency_ns": frame[ELAPSED].clip(-1, 1 << 40) * MS_NS,
            "failed": ~frame["success"] if "success" in frame.columns
            else pl.Series([False]).new_from_index(0, frame.height),
            "name": frame["label"] if "label" in frame.columns
            else pl.Series([""]).new_from_index(0, frame.height),
        }
    )  # fmt: skip
    if "threadName" in frame.columns and frame["threadName"].null_count() == 0:
        given = given.with_columns(thread=frame["threadName"])
    if "allThreads" in frame.columns:
        given = given.with_columns(running=frame["allThreads"])
    table, left_out = make_table(path, given, clock_ns=clock_ns, grain_ns=MS_NS)
    notes = []
    if "success" not in frame.columns:
        notes.append("the JTL has no column success: errors are not known")
    if _is_of_ends(table):
        table = _started(table)
        notes.append("timeStamp is the end of each sample: those of a thread would else overlap")
    return ForeignResults(
        path, "JMeter", form, PRINTS, table=table, cut=cut, left_out=left_out, notes=tuple(notes)
    )


def _times_ns(times: pl.Series) -> tuple[pl.Series, int]:
    """Return times in ns, and their resolution; null where there is none."""
    ms = times.cast(pl.Int64, strict=False)
    if ms.null_count() < ms.len():
        return ms.clip(-1, 1 << 42) * MS_NS, MS_NS
    for form in _DATES:
        dates = times.str.to_datetime(form, time_unit="ns", strict=False)
        if dates.null_count() < dates.len():
            whole = dates.cast(pl.Int64)
            has_ms = bool(((whole % 1_000_000_000) != 0).any())
            return whole, MS_NS if has_ms else 1_000 * MS_NS
    return ms, MS_NS


def _is_of_ends(table: RequestTable) -> bool:
    """Return whether requests of one thread overlap less if times are taken for their ends."""
    if table.thread is None:
        return False
    overlaps = [_overlapping(table, table.start_ns - back) for back in (0, table.latency_ns)]
    return overlaps[0] > 0.2 and overlaps[1] < 0.5 * overlaps[0]


def _overlapping(table: RequestTable, start_ns: Any) -> float:
    """Return the share of requests that begin before the one before them of their thread ends."""
    assert table.thread is not None
    order = np.lexsort((start_ns, table.thread))
    start, latency, thread = start_ns[order], table.latency_ns[order], table.thread[order]
    follows = thread[1:] == thread[:-1]
    early = start[1:] + 2 * table.clock_ns < start[:-1] + latency[:-1]
    return int(np.count_nonzero(early & follows)) / max(1, int(np.count_nonzero(follows)))


def _started(table: RequestTable) -> RequestTable:
    return RequestTable(**{**vars(table), "start_ns": table.start_ns - table.latency_ns})
