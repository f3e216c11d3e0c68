"""Runs over flights, and what is told of them."""

import polars as pl
import pytest
import synthetic_bundles as made

from sizebook.chapters.odata_rest import results, workload
from sizebook.lab import Placement
from sizebook.lab.profiles import get_profile

HERE = Placement(stack=(1,), generator=(0,), total_heap_mib=4096)


@pytest.fixture
def flights():
    return workload.Flights(HERE, get_profile("quick", 0), 1, 512, 20)


def test_a_run_asks_for_a_representation(flights):
    """A mode is a setting of the load; the first run begins with the measured phase."""
    setup = flights.formats({"representation": "odata-atom-compat", "users": 5})
    asked = {"representation": "odata-atom", "mode": "compatibility", "flights": 400}
    assert setup.load.settings == asked
    assert (setup.load.phases.warmup_s, setup.load.phases.measured_s) == (0.0, 8.0)
    assert setup.load.arrivals.users == 5


def test_the_ladder_changes_the_threads_alone(flights):
    """With the most users, and the service of the report."""
    steps = [flights.ladder({"threads": count}) for count in (2, 50)]
    assert steps[0].load == steps[1].load and steps[0].load.arrivals.users == 20
    found = [setup.deployment.find("app").settings["threads"] for setup in steps]
    assert found == [2, 50]


def test_a_remote_back_end_has_a_process_of_its_own(flights):
    """The load is the same."""
    local, remote = (
        flights.topology({"topology": where, "users": 20}) for where in ("local", "remote")
    )
    assert len(remote.deployment.roles) == len(local.deployment.roles) + 1
    assert local.load == remote.load


def test_only_services_may_fail(flights):
    """They are measured three times as long."""
    setup = flights.services({"service": "failing"})
    assert setup.allowance.failed_share == 0.05 and setup.load.phases.measured_s == 24.0
    assert setup.deployment.find("app").settings["fault_flights"] == 4
    assert flights.formats(workload.at("rest-json", 1)).allowance.failed_share != 0.05


def test_treatments_of_two_designs_in_one_frame():
    """Each names its design."""
    assert workload.rung(5) == {"design": "ladder", "threads": 5}
    assert workload.plain("rest-json", 1)["design"] == "formats"


def test_what_the_report_prints():
    """Times, two sizes of a detail with Atom first, and seconds by threads."""
    assert {one.name for one in results.PRINTED} <= set(results.printed_times().columns)
    atom, json = results.printed_details()["value"]
    assert atom > json > 0
    beside = results.printed_beside()
    assert beside.columns == ["representation", "reported 1", "reported 20"]


def test_sizes_and_cpu_of_a_representation(make_bundle):
    """Means over trials, beside what is reported."""
    trials = made.make_trials(make_bundle, "formats", {"rest-json": {}})
    measured = results.formats_frame(trials).rename({"level": "representation"})
    sizes = results.sizes_frame(measured)
    assert {one.name for one in results.SIZES} <= set(sizes.columns)
    assert sizes["reported"].to_list() == [results.printed_details()["value"][1]]
    rows = measured.with_columns(app_cpu_ms=pl.lit(2.0), database_cpu_ms=pl.lit(1.0))
    found = dict(results.cpu_parts(rows).select("role", "cpu_ms").iter_rows())
    assert found == {"app": 2.0, "database": 1.0}
