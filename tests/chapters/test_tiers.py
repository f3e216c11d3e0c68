"""Where the tiers run, how users are searched for, and what the trials tell of them."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
import synthetic_bundles as made

from sizebook.chapters.tiers import placements, results
from sizebook.lab import Placement, Trials
from sizebook.lab.profiles import get_profile
from sizebook.lab.search import Search
from sizebook.model.criterion import Criterion
from sizebook.model.design import Factor

HERE = Placement(stack=(1,), generator=(0,), total_heap_mib=4096)
MEAN = Criterion(statistic="mean", limit_ms=100)
TAIL = Criterion(statistic="p95", limit_ms=100)


def make(profile: str = "quick", **given: Any) -> placements.Tiers:
    """Return the tiers of a run."""
    return placements.Tiers(
        here=HERE,
        profile=get_profile(profile, 0),
        seed=1,
        think_s=13.7,
        heap_mib=1024,
        share=0.25,
        criteria=(MEAN, TAIL),
        **given,
    )


def test_a_user_of_a_search_stands_for_several():
    """Think times shrink with the number of users for whom one stands; levels ascend by a step."""
    tiers = make()
    assert tiers.pace_s == pytest.approx(13.7 / 20)
    assert tiers.grid[tiers.first] == round(500 * tiers.pace_s)
    assert tiers.same == tiers.grid[7] and len(tiers.grid) == 19
    assert make("smoke").grid == (7, 9)


def test_a_search_stays_within_the_files_of_a_process():
    """A balancer needs two files a user; without a limit every level may be tried."""
    factor = Factor("servers", (1, 2))
    assert make().search("servers", factor, 3).levels == make().grid
    assert max(make(open_files=4000).search("servers", factor, 3).levels) < 1500
    assert placements.files_of_process() != 0


def test_blocks_are_those_of_the_profile_up_to_a_bound():
    """What the notebook asks for counts as it is."""
    assert make().blocks(2) == 2
    assert make(replicates=7).blocks(2) == 7


def test_one_host_or_two():
    """Two hosts are linked, and all have the same CPUs."""
    one = make().placed({"tiers": "one host", "users": 100}).deployment
    two = make().placed({"tiers": "two hosts", "users": 100}).deployment
    assert [host.name for host in one.hosts] == ["host"]
    assert [host.name for host in two.hosts] == ["app", "data"]
    assert one.hosts[0].memory_mib == sum(host.memory_mib or 0 for host in two.hosts)
    assert two.network is not None and len(two.network.links) == 1
    assert {host.cpus for host in (*one.hosts, *two.hosts)} == {(1,)}


def test_more_hosts_have_a_balancer_and_a_limit_each():
    """Every application host is limited as the measured phase begins."""
    one, two = (make().limited({"servers": n, "users": 100}) for n in (1, 2))
    assert [host.name for host in one.deployment.hosts] == ["app-1", "data"]
    assert [host.name for host in two.deployment.hosts] == ["app-1", "app-2", "data", "front"]
    assert [each.node for each in two.disturbances] == ["app-1", "app-2"]
    assert two.allowance.throttled_share == 2


def test_a_crowd_thinks_as_long_as_people_do():
    """Except where nothing but the plumbing is proved; many users need a second process."""
    assert make().crowd(20_000, 20_000, 2048).load.arrivals.think_s == 13.7
    assert make().crowd(20_000, 20_000, 2048).load.workers == 2
    assert make("smoke").crowd(10, 10, 512).load.arrivals.think_s == pytest.approx(0.137)


def test_own_runs_stand_below_the_report_s():
    """One row of each, in the same columns."""
    printed = pl.DataFrame({one.name: ["2003" if one.name == "run" else 1.0] for one in results.RUN}
                           | {"run": ["2003"]}, strict=False)  # fmt: skip
    own = pl.DataFrame(
        {"users": [100], "web_cpu": [20.0], "database_cpu": [10.0], "response_s": [0.5],
         "requests_per_s": [7.0]}
    )  # fmt: skip
    found = results.beside_report(printed, own, 2)
    assert found["run"].to_list() == ["2003", "here, 100 users"]
    assert found["users_per_cpu"].to_list() == [1.0, 50.0]


def test_what_hosts_have_together(make_bundle: Any):
    """Put together over application hosts; unknown where it is of one of them."""
    tiers = make()
    bundle = make_bundle(deployment=tiers.limited({"servers": 2, "users": 9}).deployment)
    known = {"app-1": 0.2, "app-2": 0.25}
    assert results.of_app_hosts(lambda name: lambda _: known[name], sum)(bundle) == 0.45
    assert results.of_app_hosts(lambda name: lambda _: None, sum)(bundle) is None
    assert results.of_app_hosts(lambda name: lambda _: 1.0, max)(make_bundle()) is None


@pytest.fixture
def searched() -> results.Searched:
    """Two blocks of one host, of which each kept both criteria with 10 users and not with 20."""
    search = Search("s", "users", (10, 20), (MEAN, TAIL), 2, 1, (Factor("servers", (1,)),))
    frame = pl.DataFrame(
        [
            (1, r, u, "valid", 5.0 * u, 6.0 * u, float(u), u / 2, 2.0 * u, 30.0, 10.0, 45.0 + r)
            for r in (0, 1)
            for u in (10, 20)
        ],
        schema=["servers", "replicate", "users", "verdict", "response_ms", "p95_ms", "at_pace",
                "per_cpu", "throughput_per_s", "web_cpu", "database_cpu", "busy"],
        orient="row",
    )  # fmt: skip
    frame = frame.with_columns(response_ms=pl.col("response_ms") + 30)
    ends = pl.DataFrame(
        [(1, r, c.name, 10.0, 20.0) for r in (0, 1) for c in (MEAN, TAIL)],
        schema=["servers", "replicate", "criterion", "last_pass", "first_fail"],
        orient="row",
    )
    return results.Searched(search, Trials(search.design((10,), 1), []), frame, ends)


def test_users_at_each_criterion(searched: results.Searched):
    """Interpolated by the statistic that is limited, means over the blocks."""
    found = searched.reached()
    assert found["criterion"].to_list() == sorted([MEAN.name, TAIL.name])
    assert found["blocks"].to_list() == [2, 2]
    by = dict(found.select("criterion", "at_pace_at_limit").iter_rows())
    assert by[MEAN.name] == pytest.approx(14)
    assert by[TAIL.name] == pytest.approx(10 + 10 * 40 / 60)


def test_cpu_by_tier(searched: results.Searched):
    """What is neither the application's nor the database's is the rest."""
    found = searched.cpu_by_tier(MEAN)
    assert dict(found.select("tier", "percent").iter_rows()) == {
        "application": 30.0, "database": 10.0, "rest": 5.5,
    }  # fmt: skip
    assert found["servers"].unique().to_list() == ["1 hosts"]
    assert [row["busy"] for row in searched.means_at(MEAN, "busy")] == [45.5]


def test_a_search_that_was_not_run(make_bundle: Any):
    """Has no results, and no frame."""
    search = make().search("servers", Factor("servers", (1, 2)), 3)
    assert results.Searched.of(search, {}, 13.7, 1) is None
    trials = made.make_trials(make_bundle, "headline", {4: {}})
    shown = results.headline_runs(trials).rename({"level": "users"})
    assert results.headline_means(shown)["users"].to_list() == [4]
