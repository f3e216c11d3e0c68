"""Rows: what goes in comes out, for our own users and for Locust's."""

from __future__ import annotations

import time
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from sizebook.load.answer import Exchange
from sizebook.load.collect import collect, counters_frame, phase_index, requests_frame
from sizebook.load.protocol import ROWS_FILE, Done
from sizebook.load.recorder import CONTEXT_KEY, MAX_NAMES, OVERFLOW_NAME, Recorder, classify
from sizebook.load.rows import ROW_TYPE
from sizebook.model.bundle import COUNTER_COLUMNS, REQUEST_COLUMNS, GeneratorFacts, PhaseMark
from sizebook.model.errors import TrialError

PHASES = (
    PhaseMark(name="warm-up", begin_ns=1000, end_ns=2000),
    PhaseMark(name="measured", begin_ns=2000, end_ns=3000),
    PhaseMark(name="drain", begin_ns=3000, end_ns=3500),
)
FACTS = GeneratorFacts(
    issued=0, completed=0, failed=0, dropped=0, cpu_s=0.0, wall_s=1.0, lag_p99_ms=0.0,
    lag_max_ms=0.0,
)  # fmt: skip


def filled(rows: int, chunk_rows: int) -> Recorder:
    recorder = Recorder(chunk_rows)
    for row in range(rows):
        error = "body" if row % 3 == 0 else ""
        recorder.add(
            row, row + 1, row + 10, 300, 200, 100, row // 2, row % 5, f"n{row % 2}", 200, error
        )
    return recorder


@pytest.mark.parametrize("rows", [0, 1, 3, 4, 5, 8, 13])
def test_rows_survive_chunk_borders(rows, tmp_path):
    """No row is lost, doubled or moved where one chunk ends and the next begins."""
    recorder = filled(rows, chunk_rows=4)
    recorder.write(tmp_path / "rows")
    read = np.fromfile(tmp_path / "rows", dtype=ROW_TYPE)
    np.testing.assert_array_equal(read, recorder.array())
    assert read["intended_ns"].tolist() == list(range(rows))
    assert read["user"].tolist() == [row % 5 for row in range(rows)]
    assert (recorder.rows, recorder.failed) == (rows, len(range(0, rows, 3)))


def test_table_of_requests():
    """Columns and types are those of the bundle, rows are sorted by start, ids become names."""
    recorder = Recorder()
    recorder.add(2500, 2600, 2700, 9, 8, 7, 3, 4, "late", 200, "")
    recorder.add(1500, 1500, 1900, 6, 5, 4, 1, 2, "early", 500, "status")
    frame = requests_frame(recorder.array(), recorder.names, recorder.errors, PHASES, worker=1)
    assert dict(frame.schema) == {name: getattr(pl, kind)() for name, kind in
                                  REQUEST_COLUMNS.items()}  # fmt: skip
    assert frame.row(0) == (
        1500,
        1500,
        400,
        400,
        "early",
        500,
        "status",
        6,
        5,
        4,
        1,
        2,
        1,
        "warm-up",
    )
    assert frame.row(1) == (2500, 2600, 200, 100, "late", 200, "", 9, 8, 7, 3, 4, 1, "measured")


def test_empty_table_has_its_columns():
    """A trial without requests still has a table."""
    frame = requests_frame(Recorder().array(), (), ("",), PHASES, worker=0)
    assert frame.columns == list(REQUEST_COLUMNS)
    assert frame.height == 0


def test_phases_are_half_open():
    """The first ns of a phase belongs to it, the last of the phase before does not."""
    times = np.array([999, 1000, 1999, 2000, 2999, 3000, 9999])
    assert phase_index(times, PHASES).tolist() == [1, 1, 1, 2, 2, 3, 3]


def test_ten_million_rows_are_a_matter_of_seconds():
    """Building the table is vectorised: a tenth of that in well under a second."""
    rows = np.zeros(1_000_000, dtype=ROW_TYPE)
    rows["end_ns"] = np.arange(1_000_000) + 5000
    rows["start_ns"] = rows["intended_ns"] = rows["end_ns"] - np.arange(1_000_000) % 4000
    begin = time.perf_counter()
    requests_frame(rows, ("a",), ("",), PHASES, worker=0)
    assert time.perf_counter() - begin < 3


def test_exact_sample_is_taken_once():
    """Our users' nanoseconds are recorded as they are; the intended start holds for one request."""
    recorder = Recorder()
    exchange = Exchange()
    exchange.start_ns, exchange.end_ns, exchange.status = 2000, 5000, 200
    exchange.received_bytes, exchange.body, exchange.sent_bytes = 120, b"x" * 100, 60
    user = SimpleNamespace(number=7, iteration_number=3, intended_ns=500, exact=exchange, error="")
    for _ in range(2):
        user.exact = exchange
        recorder.on_request("GET", "page", 1.0, 100, context={CONTEXT_KEY: user})
    rows = recorder.array()
    assert rows[0].tolist() == (500, 2000, 5000, 120, 100, 60, 3, 7, 0, 200, 0)
    assert rows["intended_ns"].tolist() == [500, 2000]
    assert recorder.exact_rows == 2


def test_foreign_sample_is_derived():
    """From wall-clock start and milliseconds, to a few microseconds."""
    recorder = Recorder()
    start_ns = time.monotonic_ns()
    start_time = time.time()
    time.sleep(0.01)
    recorder.on_request("GET", "page", 7.5, 100, start_time=start_time, context={})
    (row,) = recorder.array()
    assert abs(int(row["start_ns"]) - start_ns) < 1_000_000
    assert row["end_ns"] - row["start_ns"] == 7_500_000
    recorder.on_request("GET", "page", 2.0, None, start_time=start_time + 1000)
    assert 0 <= time.monotonic_ns() - int(recorder.array()[1]["end_ns"]) < 50_000_000


def test_names_without_end():
    """A locustfile that names every URL does not overflow the ids."""
    recorder = Recorder()
    for index in range(MAX_NAMES + 10):
        recorder.add(0, 0, 0, 0, 0, 0, 0, 0, f"/{index}", 200, "")
    assert len(recorder.names) == MAX_NAMES + 1
    assert recorder.names[recorder.array()["name"][-1]] == OVERFLOW_NAME


class CatchResponseError(Exception):
    """As Locust has it."""


@pytest.mark.parametrize(
    ("exception", "status", "error"),
    [
        (TimeoutError("x"), 0, "timeout"),
        (ConnectionRefusedError("x"), 0, "connect"),
        (ConnectionResetError("x"), 0, "reset"),
        (CatchResponseError("x"), 200, "body"),
        ("text", 200, "body"),
        (OSError("x"), 503, "status"),
        (KeyError("x"), 0, "KeyError"),
    ],
)
def test_foreign_errors_are_classified(exception, status, error):
    """As our own where they mean the same, by class name otherwise."""
    assert classify(exception, status) == error


def test_counters_table():
    """One row a metric and second; later workers are told apart."""
    frame = counters_frame(((5, {"cpu_share": 0.5}),), host="local", worker=2)
    assert frame.columns == list(COUNTER_COLUMNS)
    assert frame.row(0) == (5, "local", "generator", "worker2.cpu_share", 0.5)


def test_truncated_row_file(tmp_path):
    """A row file that is too short is an error, not a shorter trial."""
    (tmp_path / ROWS_FILE).write_bytes(b"x" * 60)
    done = Done(
        facts=FACTS, phases=PHASES, rows=2, names=("a",), errors=("",), seconds=(),
        stopped_early=False, notes={},
    )  # fmt: skip
    with pytest.raises(TrialError, match="row file of 60 bytes"):
        collect(done, tmp_path, host="local", worker=0)
