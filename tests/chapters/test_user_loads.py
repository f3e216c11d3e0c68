"""What users took of the machine, what they waited for, and the report's runs beside them."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
import synthetic_bundles as made

from sizebook.chapters.tiers import user_loads
from sizebook.lab.search import Search
from sizebook.lab.trials import Trial
from sizebook.model.criterion import Criterion
from sizebook.model.deployment import DatabaseRole, Deployment, HostSpec, JvmRole
from sizebook.model.design import Factor
from sizebook.model.load import ClosedLoop

S, BEGIN, MEASURED, END = made.S, made.BEGIN, made.MEASURED, made.END
STACK = Deployment(roles=(DatabaseRole(cpus=(0,)), JvmRole(role="app", cpus=(0,))))
MEAN = Criterion(statistic="mean", limit_ms=100)


def readings() -> pl.DataFrame:
    """Return counters: the app takes 0.3 of a CPU, core 0 is busy half of its time."""
    rates = {
        ("process/app-1", "cpu_user_s"): 0.2,
        ("process/app-1", "cpu_system_s"): 0.1,
        ("host", "core_user_s/0"): 0.3,
        ("host", "core_system_s/0"): 0.1,
        ("host", "core_irq_s/0"): 0.1,
        ("host", "core_steal_s/0"): 0.0,
        **{("host", f"core_{kind}_s/1"): 0.3 for kind in ("user", "system", "irq", "steal")},
    }
    rows = [
        (at, "local", source, metric, rate * (at - BEGIN) / S)
        for (source, metric), rate in rates.items()
        for at in range(BEGIN, END + S, S)
    ]
    kinds = {name: getattr(pl, kind) for name, kind in made.COUNTER_COLUMNS.items()}
    return pl.DataFrame(rows, schema=kinds, orient="row")


@pytest.fixture
def bundle(make_bundle: Any) -> Any:
    """A trial of four users with requests of 10 ms, 4000 of them measured in ten seconds."""
    return make_bundle(deployment=STACK, readings=readings())


def test_cpu_of_a_role_and_of_all_there_is(bundle: Any) -> None:
    """Of the stack's CPU alone; what no process is charged for counts where everything does."""
    assert user_loads.stack_cpus(bundle) == 1
    assert user_loads.cpu_percent("app")(bundle) == pytest.approx(30)
    assert user_loads.cpu_percent("database")(bundle) is None
    assert user_loads.busy_percent(bundle) == pytest.approx(50)
    assert user_loads.busy_ms_per_request(bundle) == pytest.approx(5000 / 4000)


def test_cpus_of_hosts_count_as_the_stack_s(make_bundle: Any) -> None:
    """Roles on hosts are bound where their host is."""
    host = HostSpec(name="box", mode="namespace", cpus=(1,))
    deployment = Deployment(roles=(JvmRole(role="app", host="box"),), hosts=(host,))
    assert user_loads.stack_cpus(make_bundle(deployment=deployment)) == 1
    assert user_loads.stack_cpus(make_bundle(deployment=Deployment(roles=()))) == 0


def test_users_of_a_pace_by_the_response_time_law(bundle: Any) -> None:
    """400 requests a second of 10 ms are those of 400 x 1.01 users who think for a second."""
    assert user_loads.users(bundle) == 4
    assert user_loads.mean_ms(bundle) == pytest.approx(10)
    assert user_loads.users_of_pace(1.0)(bundle) == pytest.approx(404)
    assert user_loads.users_of_pace(0.0)(bundle) == pytest.approx(4)


def test_transactions_of_several_trials_are_one_table(make_bundle: Any) -> None:
    """Numbers and shares of measured requests by name; failures have no part in the times."""
    rows = made.closed_rows().with_row_index("at")
    name = pl.when(pl.col("at") % 4 == 0).then(pl.lit("write")).otherwise(pl.lit("read"))
    bad = pl.when(pl.col("at") % 8 == 0).then(pl.lit("body")).otherwise(pl.lit(""))
    rows = rows.with_columns(name=name.cast(pl.Categorical), error=bad.cast(pl.Categorical))
    bundle = make_bundle(rows=rows.drop("at"))
    found = user_loads.transactions([Trial(bundle), Trial(bundle)])
    assert found["name"].to_list() == ["read", "write"]
    assert found["number"].to_list() == [6000, 2000]
    assert found["share"].to_list() == pytest.approx([75, 25])
    assert found["failed"].to_list() == [0, 1000]
    assert found["mean_ms"].to_list() == pytest.approx([10, 10])


def test_no_trial_has_no_transactions() -> None:
    """An empty table, with its columns."""
    assert user_loads.transactions([]).columns[:3] == ["name", "number", "share"]
    assert user_loads.transactions([]).is_empty()


def test_rows_at_the_boundary() -> None:
    """Of each block the trials at the last level that kept the criterion, and no others."""
    search = Search("s", "users", (10, 20, 40), (MEAN,), 2, 1, (Factor("tiers", ("a", "b")),))
    keys = [(t, r, u) for t in "ab" for r in (0, 1) for u in (10, 20, 40)]
    frame = pl.DataFrame(keys, schema=["tiers", "replicate", "users"], orient="row")
    ends = pl.DataFrame(
        [("a", 0, 20.0), ("a", 1, 10.0), ("b", 0, 40.0), ("b", 1, None)],
        schema=["tiers", "replicate", "last_pass"],
        orient="row",
    ).with_columns(criterion=pl.lit(MEAN.name))
    found = user_loads.at_boundary(frame, ends, search, MEAN)
    assert found.rows() == [("a", 0, 20), ("a", 1, 10), ("b", 0, 40)]


def test_the_report_s_runs() -> None:
    """Four runs as printed, each with the CPU of its tiers; hits are known of one."""
    found = user_loads.reported_runs()
    assert found["users"].to_list() == [8969, 6020, 11065, 14148]
    assert found["response_s"].to_list() == [1.46, 1.16, 0.34, 0.55]
    assert found["web_cpu"].to_list() == [67, 65, 62, 55]
    assert found["database_cpu"].to_list() == [80, 65, 74, 51]
    assert found["requests_per_s"].drop_nulls().to_list() == pytest.approx([2_900_000 / 3600])
    assert 1 / user_loads.hits_per_user_s() == pytest.approx(13.7, abs=0.05)


def test_without_counters_nothing_is_told(make_bundle: Any) -> None:
    """A missing counter is no zero."""
    bundle = make_bundle(deployment=STACK, counters={}, arrivals=ClosedLoop(users=4))
    assert user_loads.busy_percent(bundle) is None
    assert user_loads.busy_ms_per_request(bundle) is None
    assert np.isnan(user_loads.cpu_percent("app")(bundle) or np.nan)


def test_metrics_at_the_limit_lie_between_two_levels() -> None:
    """Interpolated by the statistic that is limited; the last level's where none failed."""
    search = Search("s", "users", (10, 20, 40), (MEAN,), 2, 1, (Factor("tiers", ("a", "b")),))
    frame = pl.DataFrame(
        [
            ("a", 0, 10, 50.0, 9.0),
            ("a", 0, 20, 90.0, 18.0),
            ("a", 0, 40, 130.0, 30.0),
            ("a", 1, 10, 60.0, 9.5),
            ("b", 0, 40, 70.0, 39.0),
            ("b", 1, 10, 500.0, 1.0),
            ("c", 0, 10, 30.0, None),
            ("c", 0, 20, 60.0, 19.0),
            ("d", 0, 10, 90.0, 8.0),
            ("d", 0, 20, 110.0, None),
        ],
        schema=["tiers", "replicate", "users", "mean_ms", "rate"],
        orient="row",
    )
    ends = pl.DataFrame(
        [
            ("a", 0, 20.0, 40.0),
            ("a", 1, 10.0, None),
            ("b", 0, 40.0, None),
            ("b", 1, None, 10.0),
            ("c", 0, 10.0, 20.0),
            ("d", 0, 10.0, 20.0),
        ],
        schema=["tiers", "replicate", "last_pass", "first_fail"],
        orient="row",
    ).with_columns(criterion=pl.lit(MEAN.name))
    found = user_loads.at_limit(frame, ends, search, MEAN, "mean_ms", "rate")
    expected = [("a", 0, 20, 21.0), ("a", 0, 40, 21.0), ("a", 1, 10, 9.5), ("b", 0, 40, 39.0)]
    expected += [("c", 0, 10, None), ("c", 0, 20, None), ("d", 0, 10, None), ("d", 0, 20, None)]
    assert found.select("tiers", "replicate", "users", "rate_at_limit").rows() == expected
    none = user_loads.at_limit(frame, ends.clear(), search, MEAN, "mean_ms", "rate")
    assert none.is_empty() and "rate_at_limit" in none.columns
