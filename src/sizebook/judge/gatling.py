"""Gatling's ``simulation.log``, the text that versions 3.0 to 3.11 and 2 wrote.

Lines have fields between tabs, by ``LogFileDataWriter`` of each version::

    REQUEST  groups  name  start  end  OK  message              from 3.4 on
    REQUEST  user  groups  name  start  end  OK  message        3.0 to 3.3
    REQUEST  scenario  user  groups  name  start  end  OK  …    2
    USER  scenario  START  time                                 from 3.4 on
    USER  scenario  user  START  start  end                     before

From 3.12 on the log is binary, and is refused by name.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from sizebook.judge.pieces import read_tail
from sizebook.judge.refusals import refused
from sizebook.judge.results import MS_NS, ForeignResults, Loop, RequestTable
from sizebook.judge.tables import make_table

PRINTS = (50.0, 75.0, 95.0, 99.0)
_TEXT = re.compile(rb"(RUN|ASSERTION|USER|REQUEST|GROUP|ERROR)\t")
_BINARY = re.compile(rb"\x00\x00\x00\x00.(\d+\.\d+[\w.-]*)", re.DOTALL)
_FIELDS = 10
_STATES = ("OK", "KO")
_AT = (5, 6, 7)
"""Where the state stands: from 3.4 on, in 3.0 to 3.3, in 2."""
_LATE_SHARE = 0.2
"""Of the run: users who begin after that share of it are an arrival process, not a ramp."""


def is_text(head: bytes) -> bool:
    """Return whether a file begins like the log in text."""
    return _TEXT.match(head) is not None


def refuse_binary(path: Path, head: bytes) -> None:
    """Raise UsageError for a log in the binary form of Gatling 3.12 and later."""
    if found := _BINARY.match(head):
        version = found[1].decode("ascii", errors="replace")
        raise refused(
            path,
            f"the binary simulation.log of Gatling {version}",
            "use Gatling 3.11 or older, or its own report: this log has no published format",
        )


def read(path: Path) -> ForeignResults:
    """Return the requests of a simulation.log."""
    # A line is one column first: how many fields follow differs from record to record.
    fields = pl.col("line").str.split_exact("\t", _FIELDS - 1)
    try:
        frame = (
            pl.scan_csv(
                path,
                separator="\x01",
                quote_char=None,
                has_header=False,
                schema={"line": pl.String},
                truncate_ragged_lines=True,
                ignore_errors=True,
                encoding="utf8-lossy",
            )
            .filter(pl.col("line").str.contains(r"^(REQUEST|USER|RUN)\t"))
            .select(fields.struct.rename_fields([f"f{at}" for at in range(_FIELDS)]).alias("f"))
            .unnest("f")
            .collect(engine="streaming")
        )
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        words = str(error).partition("\n")[0][:120]
        raise refused(path, f"a log that cannot be read ({words})", "name the whole file") from None
    requests = frame.filter(pl.col("f0") == "REQUEST")
    if requests.is_empty():
        raise refused(path, "a simulation.log without a request", "name the log of a whole run")
    state = _state_column(path, requests)
    begin, end = f"f{state - 2}", f"f{state - 1}"
    start_ms, end_ms = (requests[name].cast(pl.Int64, strict=False) for name in (begin, end))
    given = pl.DataFrame(
        {
            "time_ns": start_ms.clip(-1, 1 << 42) * MS_NS,
            "latency_ns": (end_ms - start_ms).clip(-1, 1 << 40) * MS_NS,
            "failed": requests[f"f{state}"] != "OK",
            "name": requests[f"f{state - 3}"],
        }
    )
    if state > _AT[0]:
        given = given.with_columns(thread=requests[f"f{state - 5}"])
    table, left_out = make_table(path, given, clock_ns=MS_NS, grain_ns=MS_NS)
    runs = frame.filter(pl.col("f0") == "RUN")
    tail = read_tail(path)
    cut = "" if tail.endswith(b"\n") else "its last line has no end"
    begins_ns, ends = _users(frame, state)
    if begins_ns.size > ends and not cut:
        cut = f"{begins_ns.size - ends} of {begins_ns.size} users began and never ended"
    loop, reason = _loop(table, begins_ns)
    version = str(runs["f5"][0] or "").strip() if runs.height else ""
    return ForeignResults(
        path, "Gatling", f"simulation.log{f' of {version}' if version else ''}", PRINTS,
        table=table, cut=cut, left_out=left_out, loop=loop, loop_reason=reason,
    )  # fmt: skip


def _state_column(path: Path, requests: pl.DataFrame) -> int:
    """Return where OK or KO stands in the lines of requests."""
    for at in _AT:
        if requests[f"f{at}"].is_in(_STATES).sum() > requests.height / 2:
            return at
    raise refused(
        path, "lines of requests without OK or KO", "name the simulation.log of Gatling 2 or 3"
    )


def _users(frame: pl.DataFrame, state: int) -> tuple[NDArray[np.int64], int]:
    """Return when users began, and how many ended."""
    users = frame.filter(pl.col("f0") == "USER")
    word = "f2" if state == _AT[0] else "f3"
    time = "f3" if state == _AT[0] else "f4"
    begun = users.filter(pl.col(word) == "START")[time].cast(pl.Int64, strict=False)
    ends = users.filter(pl.col(word) == "END").height
    return begun.drop_nulls().clip(0, 1 << 42).to_numpy() * MS_NS, ends


def _loop(table: RequestTable, begins_ns: NDArray[np.int64]) -> tuple[Loop, str]:
    """Return whether users came as time went by, which makes the load open."""
    if begins_ns.size == 0:
        return "unknown", ""
    first, last = int(table.start_ns.min()), int(table.start_ns.max())
    late = float(np.mean(begins_ns > first + _LATE_SHARE * (last - first)))
    each = table.size / begins_ns.size
    if late > 0.5 and each <= 20 and begins_ns.size >= 20:
        words = f"{begins_ns.size:,} users began one after the other, {each:.1f} requests each"
        return "open", f"{words}; within a user each request waits for the one before"
    if late < 0.01 and each > 20:
        words = f"{begins_ns.size:,} users began in the first fifth, {each:.0f} requests each"
        return "closed", words
    return "unknown", ""
