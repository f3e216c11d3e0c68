"""Numbers from a bundle: what counts as a run, and CPU time by request (synthetic rows)."""

from types import SimpleNamespace

import polars as pl
import pytest

from sizebook.report import measures
from sizebook.report.evidence import hash_text
from sizebook.store.columns import RequestColumns


def make_bundle(rows, counters=(), flights=1):
    """Return what the measures look at: rows of (iteration, start_s, service_s, phase)."""
    requests = pl.DataFrame(
        [
            {
                "iteration": iteration,
                "intended_ns": int(start * 1e9),
                "start_ns": int(start * 1e9),
                "service_ns": int(service * 1e9),
                "received_bytes": 100,
                "error": "",
                "phase": phase,
            }
            for iteration, start, service, phase in rows
        ]
    )
    load = SimpleNamespace(settings={"flights": flights})
    table = pl.DataFrame(counters, schema=["time_ns", "source", "metric", "value"], orient="row")
    never = SimpleNamespace(phase=lambda _: None)
    record = SimpleNamespace(trial=SimpleNamespace(load=load), execution=never)
    checksum = hash_text(repr((rows, counters)))
    columns = RequestColumns.of(requests)
    return SimpleNamespace(columns=columns, counters=table, record=record, sha256=checksum)


def test_a_run_counts_if_it_began_in_the_measured_phase_and_is_whole():
    """One begun before it does not count, one cut off does not, one ended in the drain does."""
    bundle = make_bundle(
        [
            (0, 0.0, 0.5, "warm-up"),
            (0, 1.0, 0.5, "measured"),
            (1, 2.0, 0.25, "measured"),
            (1, 2.25, 0.25, "measured"),
            (2, 3.0, 0.5, "measured"),
            (2, 3.5, 1.0, "drain"),
            (3, 4.6, 0.1, "measured"),
        ]
    )
    table = measures.runs(bundle)
    assert table["iteration"].to_list() == [1, 2]
    assert table["total_s"].to_list() == pytest.approx([0.5, 1.5])
    assert measures.total_time_s(bundle) == pytest.approx(1.0)
    assert measures.run_received_bytes(bundle) == 200.0


def test_without_a_whole_run_there_is_no_total_time():
    """Nothing is made up from half a run."""
    assert measures.total_time_s(make_bundle([(0, 0.0, 0.5, "measured")])) is None


def test_cpu_per_request_is_the_growth_of_all_nodes_of_the_role():
    """User and system time of every node of a role, last reading minus first, over requests."""
    counters = [
        (time, f"process/{node}", metric, value)
        for node, role_s in (("app-1", 1.0), ("app-2", 2.0), ("database-1", 8.0))
        for metric in ("cpu_user_s", "cpu_system_s", "rss_bytes")
        for time, value in ((0, 5.0), (10, 5.0 + role_s))
    ]
    bundle = make_bundle([(0, 0.0, 0.1, "measured"), (0, 0.1, 0.1, "measured")], counters)
    assert measures.cpu_ms_per_request("app")(bundle) == pytest.approx(3000.0)
    assert measures.cpu_ms_per_request("backend")(bundle) is None
