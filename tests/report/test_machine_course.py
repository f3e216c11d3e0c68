"""Paging, disk queue, CPU and memory of a trial, from readings that were made up."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
import synthetic_bundles as made

from sizebook.chapters.user_mix import machine_views
from sizebook.model.deployment import Deployment, JvmRole
from sizebook.report import machine_course

S, BEGIN, MEASURED = made.S, made.BEGIN, made.MEASURED
KINDS = {name: getattr(pl, kind) for name, kind in made.COUNTER_COLUMNS.items()}


def readings(metrics: dict[str, Any], seconds: int = 12) -> pl.DataFrame:
    """Return one reading a second from the trial's begin; values by the second."""
    rows = [
        (BEGIN + at * S, "local", "host", metric, float(value(at)))
        for metric, value in metrics.items()
        for at in range(seconds + 1)
    ]
    return pl.DataFrame(rows, schema=KINDS, orient="row")


BUSY = {
    "core_user_s/0": lambda t: 0.2 * t,
    "core_system_s/0": lambda t: 0.1 * t,
    "core_idle_s/0": lambda t: 0.7 * t,
    "core_user_s/1": lambda t: 1.0 * t,
    "core_idle_s/1": lambda _: 0.0,
    "major_faults": lambda t: 3 * t,
    "swap_out_bytes": lambda t: 4096 * t,
    "disk_wait_s/vda": lambda t: 0.5 * t,
    "disk_wait_s/vdb": lambda t: 0.25 * t,
    "memory_available_bytes": lambda t: 2e9 - 1e7 * t,
}
"""CPU 0 is busy for 30 %, CPU 1 all the time; 4 pages a second; memory falls by 10 MB a second."""
ON_CPU_0 = Deployment(roles=(JvmRole(role="app", cpus=(0,)),))


def test_each_interval_gives_its_rates(make_bundle: Any) -> None:
    """Ten intervals of the measured phase; only the CPUs of the stack count."""
    bundle = make_bundle(readings=readings(BUSY), deployment=ON_CPU_0)
    found = machine_course.machine_course(bundle)
    assert found["t_s"].to_list() == pytest.approx([n + 0.5 for n in range(10)])
    assert found["cpu_percent"].to_list() == pytest.approx([30.0] * 10)
    assert found["paging_pages_per_s"].to_list() == pytest.approx([4.0] * 10)
    assert found["disk_queue_length_requests"].to_list() == pytest.approx([0.75] * 10)
    assert found["available_ram_mb"].to_list() == pytest.approx(
        [2000 - 10 * n for n in range(3, 13)]
    )


def test_without_a_cpu_set_every_cpu_counts(make_bundle: Any) -> None:
    """1.3 of 2 CPUs."""
    bundle = make_bundle(readings=readings(BUSY))
    assert machine_course.machine("cpu_percent")(bundle) == pytest.approx(65.0)


def test_statistics_and_trend(make_bundle: Any) -> None:
    """Average, least and greatest; memory falls from 1970 to 1880 MB, CPU is level."""
    bundle = make_bundle(readings=readings(BUSY))
    ram = [
        machine_course.machine("available_ram_mb", how)(bundle) for how in ("mean", "min", "max")
    ]
    assert ram == pytest.approx([1925, 1880, 1970])
    assert machine_course.change_share("available_ram_mb")(bundle) == pytest.approx(-100 / 1925)
    assert machine_course.change_share("cpu_percent")(bundle) == 0


def test_what_the_machine_does_not_count_is_missing(make_bundle: Any) -> None:
    """No such counter, no two readings, no measured phase: None, never zero."""
    few = {"core_user_s/0": BUSY["core_user_s/0"], "core_idle_s/0": BUSY["core_idle_s/0"]}
    for bundle in (
        make_bundle(readings=readings(few)),
        make_bundle(readings=readings(BUSY, seconds=2)),
        make_bundle(readings=readings(BUSY), phases=()),
    ):
        for name in ("paging_pages_per_s", "disk_queue_length_requests", "available_ram_mb"):
            assert machine_course.machine(name)(bundle) is None
            assert machine_course.change_share(name)(bundle) is None


def test_two_readings_within_one_tick_tell_nothing_of_the_cpu(make_bundle: Any) -> None:
    """As when a busy machine delays one reading: unknown, and drawn without it; never NaN."""
    still = {name: lambda t, of=of: of(t if t != 6 else 5) for name, of in BUSY.items()}
    bundle = make_bundle(readings=readings(still), deployment=ON_CPU_0)
    shares = machine_course.machine_course(bundle)["cpu_percent"].to_list()
    assert shares.count(None) == 1
    assert [share for share in shares if share is not None] == pytest.approx([30.0] * 9)
    assert machine_course.machine("cpu_percent")(bundle) == pytest.approx(30.0)


def test_reported_statistics_are_those_of_the_tables() -> None:
    """Six layouts of the second and third table; the first row as printed."""
    found = machine_views.reported_statistics(
        "mii-2009", "web-users-background", ["users", "nodes"]
    )
    assert found.select("users", "nodes").rows() == [(u, n) for u in (500, 100) for n in (1, 2, 4)]
    first = found.row(0, named=True)
    assert first["cpu_percent_mean"] == 13.334
    assert (first["available_ram_mb_min"], first["available_ram_mb_max"]) == (4892, 5070)
    html = machine_views.statistics_table(found, {"users": "Users", "nodes": "Nodes"}).as_raw_html()
    assert html.count("average") == html.count("maximum") == 6
    assert "15,963" in html


def test_statistics_of_trials_are_averaged_or_their_extremes() -> None:
    """The mean of the averages, the least minimum, the greatest maximum."""
    results = pl.DataFrame(
        {
            "users": [1, 1],
            "cpu_percent_mean": [10.0, 20.0],
            "cpu_percent_min": [1.0, 3.0],
            "cpu_percent_max": [50.0, 40.0],
        }
    )
    row = machine_views.statistics_of(results, ["users"]).row(0, named=True)
    assert [row[f"cpu_percent_{how}"] for how in ("mean", "min", "max")] == [15, 1, 50]
    assert row["paging_pages_per_s_mean"] is None
    assert machine_views.statistics_of(results.clear(), ["users"]).height == 0


def test_treatments_in_words() -> None:
    """Units follow their number, singular for one."""
    assert machine_views.name_treatment({"nodes": 1, "users": 500}) == "500 users, 1 node"
    assert machine_views.name_treatment({"nodes": 4, "users": 1}) == "1 user, 4 nodes"
    assert machine_views.name_treatment({"users": 5, "state": "quiet"}) == "quiet, 5 users"
    frame = pl.DataFrame({"nodes": [1, 2], "users": [100, 100]})
    names = machine_views.with_names(frame, ["nodes", "users"])["treatment"].to_list()
    assert names == ["100 users, 1 node", "100 users, 2 nodes"]
