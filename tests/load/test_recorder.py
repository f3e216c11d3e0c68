"""Rows: what goes in comes out, for our own users and for Locust's."""

from __future__ import annotations

import http.client
import sys
import time
from collections import Counter
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from sizebook.load import recorder as recorder_module
from sizebook.load.answer import Exchange
from sizebook.load.collect import (
    Part,
    collect,
    counters_frame,
    phase_index,
    read_part,
    requests_frame,
)
from sizebook.load.protocol import ROWS_FILE, Done
from sizebook.load.recorder import CONTEXT_KEY, MAX_NAMES, OVERFLOW_NAME, Recorder, classify
from sizebook.load.rows import ROW_TYPE
from sizebook.model import bundle
from sizebook.model.bundle import COUNTER_COLUMNS, REQUEST_COLUMNS, GeneratorFacts, PhaseMark
from sizebook.model.errors import TrialError
from sizebook.stats import hdr
from sizebook.stats.histograms import merge_intervals, read_interval_log, write_interval_log

PHASES = (
    PhaseMark(name="warm-up", begin_ns=1000, end_ns=2000),
    PhaseMark(name="measured", begin_ns=2000, end_ns=3000),
    PhaseMark(name="drain", begin_ns=3000, end_ns=3500),
)
FACTS = GeneratorFacts(
    issued=0, completed=0, failed=0, dropped=0, cpu_s=0.0, wall_s=1.0, lag_p99_ms=0.0,
    lag_max_ms=0.0,
)  # fmt: skip


def part(
    recorder: Recorder,
    worker: int = 0,
    *,
    phases: tuple[PhaseMark, ...] = PHASES,
    facts: GeneratorFacts = FACTS,
    offsets: list[int] | None = None,
    **more,
) -> Part:
    done = Done(
        facts=facts, phases=phases, rows=recorder.rows, names=recorder.names,
        errors=recorder.errors, seconds=more.pop("seconds", ()), notes=more.pop("notes", {}),
        stopped_early=more.pop("stopped_early", False),
    )  # fmt: skip
    schedule = None if offsets is None else np.array(offsets, dtype=np.int64)
    return Part(worker, done, recorder.array(), schedule)


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
    frame = requests_frame([part(recorder, worker=1)], PHASES)
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
    for workers in (1, 2):
        frame = requests_frame([part(Recorder(), worker) for worker in range(workers)], PHASES)
        assert frame.columns == list(REQUEST_COLUMNS)
        assert frame.height == 0


def test_phases_are_half_open():
    """The first ns of a phase belongs to it, the last of the phase before does not."""
    times = np.array([999, 1000, 1999, 2000, 2999, 3000, 9999])
    names = ["warm-up"] * 3 + ["measured"] * 2 + ["drain"] * 2
    assert [bundle.PHASES[index] for index in phase_index(times, PHASES)] == names


def test_building_the_table_takes_no_step_a_row():
    """It is vectorised: a hundred times the rows take about as many lines of Python."""

    def steps(count):
        rows = np.zeros(count, dtype=ROW_TYPE)
        rows["end_ns"] = np.arange(count) + 5000
        rows["start_ns"] = rows["intended_ns"] = rows["end_ns"] - np.arange(count) % 4000
        done = part(Recorder()).done.model_copy(update={"names": ("a",)})
        seen = Counter()
        trace = sys.gettrace()
        sys.settrace(lambda frame, event, argument: seen.update([event]) or count_lines)

        def count_lines(frame, event, argument):
            seen.update([event])
            return count_lines

        try:
            frame = requests_frame([Part(0, done, rows, None)], PHASES)
        finally:
            sys.settrace(trace)
        assert frame.height == count
        return seen.total()

    steps(1_000)  # what is made once is made now
    assert 0 < steps(100_000) < steps(1_000) + 1_000


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


def test_foreign_sample_is_derived(monkeypatch):
    """From wall-clock start and milliseconds, to a few microseconds."""
    now_ns, wall_ns = 5_000_000_000, 1_700_000_000_000_000_000
    monkeypatch.setattr(recorder_module.time, "monotonic_ns", lambda: now_ns)
    monkeypatch.setattr(recorder_module.time, "time_ns", lambda: wall_ns)
    recorder = Recorder()
    start_ns, start_time = now_ns, wall_ns / 1e9
    now_ns += 10_000_000
    recorder.on_request("GET", "page", 7.5, 100, start_time=start_time, context={})
    (row,) = recorder.array()
    assert abs(int(row["start_ns"]) - start_ns) < 1_000
    assert row["end_ns"] - row["start_ns"] == 7_500_000
    recorder.on_request("GET", "page", 2.0, None, start_time=start_time + 1000)
    assert int(recorder.array()[1]["end_ns"]) == now_ns


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
        (CatchResponseError("status"), 302, "status"),
        (CatchResponseError(""), 200, "body"),
        ("text", 200, "body"),
        (OSError("x"), 503, "status"),
        (http.client.RemoteDisconnected("x"), 0, "reset"),
        (http.client.IncompleteRead(b"abc", 7), 200, "reset"),
        (http.client.BadStatusLine("x"), 0, "protocol"),
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
        read_part(done, tmp_path)


def test_rows_of_two_workers_become_one_table():
    """Sorted by start over all, each with its worker; ids of both become the names they stand for.

    The workers met names and errors in another order, so that their ids differ.
    """
    one, two = Recorder(), Recorder()
    one.add(1000, 1100, 1200, 1, 1, 1, 0, 0, "list", 200, "")
    one.add(2500, 2500, 2600, 1, 1, 1, 2, 0, "detail", 0, "OddError")
    two.add(1500, 1500, 1600, 1, 1, 1, 1, 1, "detail", 200, "")
    two.add(2000, 2000, 2100, 1, 1, 1, 3, 1, "other", 0, "MyError")
    two.add(2600, 2600, 2700, 1, 1, 1, 5, 1, "list", 0, "OddError")
    frame = requests_frame([part(one, 0), part(two, 1)], PHASES)
    assert frame["start_ns"].to_list() == [1100, 1500, 2000, 2500, 2600]
    assert frame["worker"].to_list() == [0, 1, 1, 0, 1]
    assert frame["iteration"].to_list() == [0, 1, 3, 2, 5]
    assert frame["name"].to_list() == ["list", "detail", "other", "detail", "list"]
    assert frame["error"].to_list() == ["", "", "MyError", "OddError", "OddError"]
    assert frame["phase"].to_list() == ["warm-up", "warm-up", *["measured"] * 3]


def test_merged_histogram_is_the_sum_of_the_workers_histograms(tmp_path):
    """Of the merged rows, bucket for bucket, so that no percentile is ever averaged."""
    random = np.random.default_rng(1)
    parts = []
    for worker in range(2):
        recorder = Recorder()
        for took in random.lognormal(15, 1 + worker, 500).astype(int).tolist():
            recorder.add(2500, 2500, 2500 + took, 1, 1, 1, 0, worker, "page", 200, "")
        parts.append(part(recorder, worker))
    merged, *single = (
        merge_intervals(read_interval_log(log))
        for index, chosen in enumerate((parts, parts[:1], parts[1:]))
        if write_interval_log(
            log := tmp_path / f"{index}.hlog", requests_frame(chosen, PHASES), origin_ns=0
        )
    )
    assert [one.total_count for one in (merged, *single)] == [1000, 500, 500]
    summed = hdr.counts_of(single[0]) + hdr.counts_of(single[1])
    np.testing.assert_array_equal(hdr.counts_of(merged), summed)


def test_facts_of_two_workers_are_added_and_the_worst_lag_counts(tmp_path):
    """Counts and CPU add up, lag is the worse one, and the notes keep each worker's own."""
    facts = [
        GeneratorFacts(
            issued=10 * k, completed=8 * k, failed=k, dropped=k, cpu_s=0.5 * k, wall_s=1.0 + k,
            lag_p99_ms=3.0 / k, lag_max_ms=5.0, late_starts=k, iterations=7 * k, client="C",
            versions={"locust": "1"},
        )
        for k in (1, 2)
    ]  # fmt: skip
    parts = [
        part(
            Recorder(), worker, facts=facts[worker], offsets=[worker, 10 + worker],
            notes={"requests_retried": 2 + worker}, seconds=((5 - worker, {"cpu_share": 0.5}),),
        )
        for worker in range(2)
    ]  # fmt: skip
    collected = collect(parts, host="local")
    merged = collected.facts
    assert merged == GeneratorFacts(
        issued=30, completed=24, failed=3, dropped=3, cpu_s=1.5, wall_s=3.0, lag_p99_ms=3.0,
        lag_max_ms=5.0, late_starts=3, iterations=21, client="C", versions={"locust": "1"},
        worker_cpu_s=(0.5, 1.0),
    )  # fmt: skip
    assert collected.schedule.tolist() == [0, 1, 10, 11]
    assert collected.counters["metric"].to_list() == ["worker1.cpu_share", "cpu_share"]
    assert collected.notes["requests_retried"] == 5
    assert collected.notes["worker0.lag_p99_ms"] == 3.0
    assert collected.notes["worker1.issued"] == 20
    alone = collect(parts[:1], host="local")
    assert alone.notes == {"requests_retried": 2}
    assert collect([part(Recorder())], host="local").schedule is None


def test_phases_of_an_early_end():
    """A trial ends where its first worker ended, for all rows; the drain is the longest one."""
    later = (
        PHASES[0],
        PhaseMark(name="measured", begin_ns=2000, end_ns=3100),
        PhaseMark(name="drain", begin_ns=3100, end_ns=3300),
    )
    one, two = Recorder(), Recorder()
    two.add(3050, 3050, 3060, 1, 1, 1, 0, 1, "page", 200, "")
    collected = collect([part(one, 0), part(two, 1, phases=later)], host="local")
    assert collected.phases == PHASES
    assert collected.requests["phase"].to_list() == ["drain"]
    other = tuple(
        mark.model_copy(update={"begin_ns": mark.begin_ns + 1, "end_ns": mark.end_ns + 1})
        for mark in PHASES
    )
    with pytest.raises(TrialError, match="started 1 ns apart"):
        collect([part(one, 0), part(two, 1, phases=other)], host="local")


def test_foreign_arrival_keeps_its_due_time():
    """A start that seems to lie before the due time is moved there, the due time never."""
    recorder = Recorder()
    due_ns = time.monotonic_ns() + 10**9
    user = SimpleNamespace(number=1, iteration_number=2, intended_ns=due_ns, exact=None, error="")
    recorder.on_request("GET", "page", 2.0, 100, context={CONTEXT_KEY: user})
    (row,) = recorder.array()
    assert row["intended_ns"] == row["start_ns"] == row["end_ns"] == due_ns
    assert user.intended_ns == 0
