"""Clones, how one of them is lost, and the account of it."""

import polars as pl
import pytest
import synthetic_bundles as made

from sizebook.chapters.failover import cases, results
from sizebook.lab import Placement
from sizebook.lab.profiles import get_profile

HERE = Placement(stack=(1,), generator=(0,), total_heap_mib=4096)


@pytest.fixture
def clones():
    return cases.Clones(HERE, get_profile("quick", 0), 1, 3000, 20.0, 200, 2.0, 1024)


def test_clones_share_the_heap(clones):
    """The same users and the same heap on one process and on two."""
    one, two = (clones.laid_out({"nodes": n}) for n in (1, 2))
    assert one.deployment.find("app").heap_mib == 1024
    assert two.deployment.find("app").heap_mib == 512
    assert one.load == two.load and one.load.arrivals.users == 3000
    assert one.conditioning.arrivals.users == 8


@pytest.mark.parametrize(
    "outage, action, for_s, ends_lost, check_within_s",
    [
        ("killed", "kill", 0.0, True, 0.5),
        ("hung", "hang", 4.0, True, 0.5),
        ("hung, patient", "hang", 4.0, False, None),
        ("drained", "drain", 4.0, False, 0.5),
    ],
)
def test_a_clone_is_lost(clones, outage, action, for_s, ends_lost, check_within_s):
    """Each in its way, under a balancer that watches closely, is patient, or gives nothing up."""
    setup = clones.lost({"outage": outage, "sessions": "database"})
    (happens,) = setup.disturbances
    assert (happens.action, happens.at_s, happens.for_s) == (action, 1.5, for_s)
    balancer = setup.deployment.find("balancer")
    assert balancer.ends_lost is ends_lost
    assert check_within_s is None or balancer.check_within_s == check_within_s
    assert set(cases.TITLES) >= {outage}


def test_writes_that_are_lost_or_doubled(make_bundle):
    """Acknowledged writes without a row are lost; the account has a column for every table."""
    account = results.account_frame(made.make_trials(make_bundle, "outages", {"x": {}}), 500.0)
    names = {one.name for table in (results.TIMES, results.FAILURES, results.WITNESSES,
             results.WRITES) for one in table}  # fmt: skip
    assert names - {"outage", "sessions"} <= set(account.columns)
    assert account["failed"].to_list() == [0]


def test_layouts_have_their_memory(make_bundle):
    """In MiB; null where nothing was read."""
    frame = results.layouts_frame(made.make_trials(make_bundle, "layouts", {1: {}}))
    assert {one.name for one in results.LAYOUTS[1:]} <= set(frame.columns)


def test_sums_by_outage():
    """Reasons for which nothing failed are left out, and so are trials that cannot be told."""
    account = pl.DataFrame(
        [("killed", "memory", 2.0, 2.0, 0.0, 1.0), ("killed", "memory", 3.0, 3.0, 0.0, 1.0),
         ("killed", "memory", None, 9.0, 0.0, 9.0)],
        schema=["outage", "sessions", "failed", "kind_silent", "kind_other", "hit"],
        orient="row",
    )  # fmt: skip
    wanted = tuple(one for one in results.FAILURES if one.name in account.columns)
    assert results.by_outage(account, wanted, "sum").rows() == [("killed", "memory", 5, 5, 2)]
    found = results.by_outage(account, wanted, "max")
    assert found.columns == ["outage", "sessions", "failed", "kind_silent", "hit"]
    assert found["failed"].to_list() == [3]
