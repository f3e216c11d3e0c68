"""Numbers from a bundle: what counts as a run, and CPU time by request (synthetic rows)."""

from types import SimpleNamespace

import polars as pl
import pytest
from synthetic_bundles import closed_rows, write_synthetic

from sizebook.report import measures, rises
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
    trial = SimpleNamespace(load=load)
    record = SimpleNamespace(trial=trial, execution=never, generator=None)
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


def test_a_label_picks_one_part_of_a_metric():
    """Without a label the spaces of all heaps are added up, with one only that space of each."""
    used = {"eden": 4.0, "old": 2.0, "older": 9.0}
    readings = [
        (time, f"jvm/app-{node}", f"space_used_bytes/{space}", time * bytes_)
        for node in (1, 2)
        for space, bytes_ in used.items()
        for time in (1, 2)
    ]
    bundle = make_bundle([(0, 0.0, 0.1, "measured")], readings)
    assert rises.rise_per_request("jvm/app-", "space_used_bytes")(bundle) == 30.0
    assert rises.rise_per_request("jvm/app-", "space_used_bytes/old")(bundle) == 4.0
    phase = SimpleNamespace(begin_ns=1, end_ns=2)
    bundle.record.execution.phase = lambda _: phase
    assert measures.level("jvm/app-", "space_used_bytes/old", "max")(bundle) == 8.0
    assert measures.level("jvm/", "space_used_bytes/old", "min")(bundle) == 4.0
    assert measures.level("jvm/", "space_used_bytes/ol")(bundle) is None


def test_a_level_counts_the_readings_of_the_measured_phase():
    """Mean, least and greatest of each node add up; before, after and without readings: none."""
    node = [(5, 900.0), (10, 4.0), (15, 1.0), (20, 7.0), (25, 900.0)]
    counters = [(t, "process/app-1", "rss_bytes", value) for t, value in node]
    counters += [(15, "process/app-2", "rss_bytes", 100.0), (15, "process/app-2", "threads", 3.0)]
    bundle = make_bundle([(0, 0.0, 0.1, "measured")], counters)
    assert measures.level("process/app-", "rss_bytes")(bundle) is None
    bundle.record.execution = SimpleNamespace(
        phase=lambda _: SimpleNamespace(begin_ns=10, end_ns=20)
    )
    assert measures.level("process/app-", "rss_bytes")(bundle) == pytest.approx(104.0)
    assert measures.level("process/app-", "rss_bytes", "min")(bundle) == 101.0
    assert measures.level("process/app-", "rss_bytes", "max")(bundle) == 107.0
    assert measures.level("process/database-", "rss_bytes")(bundle) is None
    late = [*counters, (30, "process/app-3", "rss_bytes", 1.0)]
    other = make_bundle([(0, 0.0, 0.1, "measured")], late)
    other.record.execution = bundle.record.execution
    assert measures.level("process/app-", "rss_bytes")(other) is None


def test_a_rise_in_the_phase_leaves_the_warm_up_out():
    """Rates of both sides between the readings nearest to the phase; None where one is missing."""
    per_s = 10**9
    done = [(0, 0.0), (2, 100.0), (4, 110.0)]
    spent = [(0, 0.0), (2, 50.0), (3, 52.0), (4, 54.0)]
    counters = [(t * per_s, f"server/app-{n}", "done/xslt", v) for n in (1, 2) for t, v in done]
    counters += [(t * per_s, "process/app-1", "cpu_user_s", value) for t, value in spent]
    counters += [(t * per_s, "process/app-1", "cpu_system_s", value) for t, value in spent]
    bundle = make_bundle([(0, 0.0, 0.1, "measured")], counters)
    by = ("server/app-", "done")
    cpu = measures.rise_in_phase("process/app-", "cpu_user_s", "cpu_system_s", by=by)
    bundle.counters = bundle.counters.with_columns(host=pl.lit("local"))
    assert cpu(bundle) is None
    phase = SimpleNamespace(begin_ns=2 * per_s, end_ns=4 * per_s)
    bundle.record.execution = SimpleNamespace(phase=lambda _: phase)
    assert cpu(bundle) == pytest.approx(2 * 4.0 / 20.0)
    assert measures.rise_in_phase("process/app-", "rss_bytes", by=by)(bundle) is None
    assert measures.rise_in_phase("process/", "cpu_user_s", by=("server/", "no"))(bundle) is None


def test_rates_of_single_names_add_up_to_the_throughput(tmp_path):
    """A name that nobody asked for has a rate of 0, not none."""
    third = pl.int_range(pl.len()) % 3 == 0
    name = pl.when(third).then(pl.lit("call")).otherwise(pl.lit("message")).cast(pl.Categorical)
    bundle = write_synthetic(tmp_path, "names", rows=closed_rows().with_columns(name=name))
    whole = measures.throughput_per_s(bundle)
    call, message = (measures.rate_per_s(name)(bundle) for name in ("call", "message"))
    assert whole == pytest.approx(400, rel=0.01)
    assert call + message == pytest.approx(whole) and call == pytest.approx(whole / 3, rel=0.01)
    assert measures.rate_per_s("other")(bundle) == 0
