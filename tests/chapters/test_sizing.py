"""The loads that models are fitted to, and what the models say of them."""

import polars as pl
import pytest

from sizebook.chapters.sizing import answers, workload
from sizebook.lab import Placement
from sizebook.lab.profiles import get_profile
from sizebook.stats.curves import Estimate
from sizebook.stats.queues import Demand
from sizebook.stats.sizing import Predicted

HERE = Placement(stack=(1, 2), generator=(0,), total_heap_mib=4096)


@pytest.fixture
def work():
    return workload.Workload(HERE, get_profile("quick", 0), 1, 1.0, 6600, 256, 50, 10)


def test_a_limit_is_set_as_the_load_begins(work):
    """It is a share of the stack's CPUs, and holds through ramp and warm-up."""
    setup = work.setup(2, "think", 0.25, 300)
    (limited,) = setup.disturbances
    assert limited.limits.cpu_limit == 0.5
    assert limited.at_s == -4.0
    assert setup.deployment.find("app").nodes == 2


def test_users_are_for_each_cpu_of_the_share(work):
    """Those who think, and the rate of such users; those who do not think are all of them."""
    assert work.setup(1, "think", 0.25, 300).load.arrivals.users == 150
    assert work.setup(1, "rate", 1.0, 300).load.arrivals.rate_per_s == 600
    crowd = work.setup(1, "none", 1.0, 8).load.arrivals
    assert (crowd.users, crowd.think_s) == (8, 0)


def test_the_design_has_each_kind_where_it_belongs():
    """All users at all limits; the two lightest as a rate, and users who do not think, on all."""
    design = workload.load_design([0.5, 1.0], [10, 20, 30], [1, 2], 2, 1)
    found = {(one["kind"], one["cpus"], one["users"]) for one in design.treatments()}
    think = {("think", share, n) for share in (0.5, 1.0) for n in (10, 20, 30)}
    rest = {("rate", 1.0, 10), ("rate", 1.0, 20), ("none", 1.0, 1), ("none", 1.0, 2)}
    assert found == think | rest


def test_the_report_s_systems():
    """Four systems with what it prints of them; a user of the last one asked every 13.7 s."""
    found = answers.reported_systems()
    assert found["concurrent_users"].to_list() == [8969, 6020, 11065, 14148]
    assert answers.printed("concurrent_users", "config=nobody") is None
    each = answers.asks_once_in_s()
    assert each is None or each > 1


def test_a_line_of_the_utilization_law():
    """From no throughput to the greatest one; without trials up to one request a second."""
    exact = Estimate(0.002, None, None, None)
    taken = {"app": Demand(exact, Estimate(0.1, None, None, None), 0.0, 3, (0.0, 9.0))}
    judged = pl.DataFrame({"rate_per_s": [50.0, 100.0]})
    assert answers.busy_lines(taken, judged)["busy"].to_list() == pytest.approx([0.1, 0.3])
    empty = judged.clear()
    assert answers.busy_lines(taken, empty)["rate_per_s"].to_list() == [0.0, 1.0]
    assert answers.taken_ms(taken) == 2.0 and answers.taken_ms({}) is None


def test_points_of_each_role():
    """One row a trial and role, those without a reading left out."""
    frame = pl.DataFrame({"rate_per_s": [10.0, 20.0], "busy_app": [0.2, None],
                          "busy_database": [0.1, 0.2]})  # fmt: skip
    found = answers.busy_points(frame)
    assert sorted(found["role"].to_list()) == ["app", "database", "database"]


def crowd(rates):
    rows = [("none", users, rate) for users, rate in rates.items()] + [("think", 99, 5.0)]
    return pl.DataFrame(rows, schema=["kind", "users", "rate_per_s"], orient="row")


def test_laws_of_users_who_do_not_think():
    """A law is told with its error; throughput that bends down has a peak and a limit."""
    rates = {n: 100 * n / (1 + 0.1 * (n - 1) + 0.01 * n * (n - 1)) for n in (1, 2, 4, 8, 16)}
    laws = answers.Laws.of(crowd(rates))
    assert laws.judged and laws.best is not None
    assert laws.peak_users == pytest.approx(9.5, abs=0.2)
    assert laws.limit_per_s == pytest.approx(1000, rel=0.02)
    found = laws.frame()
    assert found.columns == [one.name for one in answers.LAWS]
    assert found.filter(pl.col("best") == "best")["law"].to_list() == [laws.best]
    assert laws.curves().height == 16 * found.height


def test_too_few_trials_have_no_laws():
    """Three say nothing of four laws."""
    laws = answers.Laws.of(crowd({1: 100.0, 2: 180.0, 4: 300.0}))
    assert not laws.judged and laws.best is None
    assert laws.frame().is_empty() and laws.curves().is_empty()


def test_a_prediction_holds_if_all_trials_lie_in_its_band():
    """The band is a factor; without a usable trial nothing is known."""
    measured = pl.DataFrame(
        [
            ("valid", 110.0, 190.0, 50.0),
            ("failed", 999.0, 999.0, 9.0),
            ("valid", 90.0, 401.0, 51.0),
        ],
        schema=["verdict", "mean_ms", "p95_ms", "rate_per_s"],
        orient="row",
    )
    bands = {"mean": 1.2, "p95": 2.0, "rate": 1.1}
    mean, p95, rate = answers.check_rows(measured, Predicted(50.0, 0.1, 0.2), bands)
    assert (mean["holds"], p95["holds"], rate["holds"]) == (True, False, True)
    assert (mean["least"], mean["most"], mean["inside"]) == (90.0, 110.0, "2 of 2")
    none = answers.check_rows(measured.clear(), Predicted(50.0, 0.1, 0.2), bands)
    assert [one["holds"] for one in none] == [None, None, None]


def test_users_for_a_cpu_without_a_model():
    """Are not known, and their columns are there."""
    found = answers.users_per_cpu(None, (1.0, 10.0), (0.1, 2.0), 1.0)
    assert found.columns == [one.name for one in answers.per_cpu_columns((0.1, 2.0))]
    assert found["limit_0.1"].null_count() == 2
