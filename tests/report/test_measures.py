"""Numbers from a bundle: what counts as a run, and CPU time by request (synthetic rows)."""

import numpy as np
import polars as pl
import pytest
from synthetic_bundles import BEGIN, PHASES, S, closed_rows, readings_of, rows_from

from sizebook.report import counter_increase, measures

ONE = closed_rows(users=1).head(1)
"""A single request, where only the counters matter."""


def passes(*rows):
    """Return requests by pass: (pass, start after the first request in s, service in s)."""
    iteration, after_s, service_s = zip(*rows, strict=True)
    start = BEGIN + (np.array(after_s) * S).astype(np.int64)
    service = (np.array(service_s) * S).astype(np.int64)
    return rows_from(
        start, start, service, np.zeros(start.size), iteration=iteration,
        received_bytes=[100] * start.size,
    )  # fmt: skip


def test_a_run_counts_if_it_began_in_the_measured_phase_and_is_whole(make_bundle):
    """One begun before it does not count, one cut off does not, one ended in the drain does."""
    rows = passes(
        (0, 1.5, 0.5), (0, 2.0, 0.5),
        (1, 3.0, 0.25), (1, 3.25, 0.25),
        (3, 4.6, 0.1),
        (2, 11.5, 0.5), (2, 12.0, 1.0),
    )  # fmt: skip
    bundle = make_bundle(rows=rows, settings={"flights": 1})
    table = measures.runs(bundle)
    assert table["iteration"].to_list() == [1, 2]
    assert table["total_s"].to_list() == pytest.approx([0.5, 1.5])
    assert measures.total_time_s(bundle) == pytest.approx(1.0)
    assert measures.run_received_bytes(bundle) == 200.0


def test_without_a_whole_run_there_is_no_total_time(make_bundle):
    """Nothing is made up from half a run."""
    half = make_bundle(rows=passes((0, 2.0, 0.5)), settings={"flights": 1})
    assert measures.total_time_s(half) is None


def test_cpu_per_request_is_the_growth_of_all_nodes_of_the_role(make_bundle):
    """User and system time of every node of a role, last reading minus first, over requests."""
    readings = [
        (at_s, f"process/{node}", metric, value)
        for node, role_s in (("app-1", 1.0), ("app-2", 2.0), ("database-1", 8.0))
        for metric in ("cpu_user_s", "cpu_system_s", "rss_bytes")
        for at_s, value in ((0, 5.0), (12, 5.0 + role_s))
    ]
    bundle = make_bundle(rows=passes((0, 2.0, 0.1), (0, 2.1, 0.1)), readings=readings_of(*readings))
    assert measures.cpu_ms_per_request("app")(bundle) == pytest.approx(3000.0)
    assert measures.cpu_ms_per_request("backend")(bundle) is None


def test_a_label_picks_one_part_of_a_metric(make_bundle):
    """Without a label the spaces of all heaps are added up, with one only that space of each."""
    used = {"eden": 4.0, "old": 2.0, "older": 9.0}
    readings = [
        (at_s, f"jvm/app-{node}", f"space_used_bytes/{space}", at_s * bytes_)
        for node in (1, 2)
        for space, bytes_ in used.items()
        for at_s in (3, 4)
    ]
    bundle = make_bundle(rows=ONE, readings=readings_of(*readings))
    assert counter_increase.rise_per_request("jvm/app-", "space_used_bytes")(bundle) == 30.0
    assert counter_increase.rise_per_request("jvm/app-", "space_used_bytes/old")(bundle) == 4.0
    assert measures.level("jvm/app-", "space_used_bytes/old", "max")(bundle) == 16.0
    assert measures.level("jvm/", "space_used_bytes/old", "min")(bundle) == 12.0
    assert measures.level("jvm/", "space_used_bytes/ol")(bundle) is None


def test_a_level_counts_the_readings_of_the_measured_phase(make_bundle):
    """Mean, least and greatest of each node add up; before, after and without readings: none."""
    node = [(1.9, 900.0), (2, 4.0), (7, 1.0), (12, 7.0), (12.1, 900.0)]
    readings = [(at_s, "process/app-1", "rss_bytes", value) for at_s, value in node]
    readings += [(7, "process/app-2", "rss_bytes", 100.0), (7, "process/app-2", "threads", 3.0)]
    bundle = make_bundle(rows=ONE, readings=readings_of(*readings))
    assert measures.level("process/app-", "rss_bytes")(bundle) == pytest.approx(104.0)
    assert measures.level("process/app-", "rss_bytes", "min")(bundle) == 101.0
    assert measures.level("process/app-", "rss_bytes", "max")(bundle) == 107.0
    assert measures.level("process/database-", "rss_bytes")(bundle) is None
    late = [*readings, (13, "process/app-3", "rss_bytes", 1.0)]
    for one in (
        make_bundle(rows=ONE, readings=readings_of(*late)),
        make_bundle(rows=ONE, readings=readings_of(*readings), phases=PHASES[:1]),
    ):
        assert measures.level("process/app-", "rss_bytes")(one) is None


def test_a_rise_in_the_phase_leaves_the_warm_up_out(make_bundle):
    """Rates of both sides between the readings nearest to the phase; None where one is missing."""
    done = [(0, 0.0), (2, 100.0), (12, 110.0)]
    spent = [(0, 0.0), (2, 50.0), (7, 52.0), (12, 54.0)]
    readings = [(at, f"server/app-{n}", "done/xslt", v) for n in (1, 2) for at, v in done]
    for metric in ("cpu_user_s", "cpu_system_s"):
        readings += [(at, "process/app-1", metric, value) for at, value in spent]
    by = ("server/app-", "done")
    cpu = measures.rise_in_phase("process/app-", "cpu_user_s", "cpu_system_s", by=by)
    bundle = make_bundle(rows=ONE, readings=readings_of(*readings))
    assert cpu(bundle) == pytest.approx(2 * 4.0 / 20.0)
    assert measures.rise_in_phase("process/app-", "rss_bytes", by=by)(bundle) is None
    assert measures.rise_in_phase("process/", "cpu_user_s", by=("server/", "no"))(bundle) is None
    unmeasured = make_bundle(rows=ONE, readings=readings_of(*readings), phases=PHASES[:1])
    assert cpu(unmeasured) is None


def test_rates_of_single_names_add_up_to_the_throughput(make_bundle):
    """A name that nobody asked for has a rate of 0, not none."""
    third = pl.int_range(pl.len()) % 3 == 0
    name = pl.when(third).then(pl.lit("call")).otherwise(pl.lit("message")).cast(pl.Categorical)
    bundle = make_bundle(rows=closed_rows().with_columns(name=name))
    whole = measures.throughput_per_s(bundle)
    call, message = (measures.rate_per_s(name)(bundle) for name in ("call", "message"))
    assert whole == pytest.approx(400, rel=0.01)
    assert call + message == pytest.approx(whole) and call == pytest.approx(whole / 3, rel=0.01)
    assert measures.rate_per_s("other")(bundle) == 0
