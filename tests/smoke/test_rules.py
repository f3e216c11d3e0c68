"""Chapter 18 in its shortest form: each trial had the limits of its treatment, and they held."""

import polars as pl
import pytest

from sizebook.report.counter_increase import risen
from sizebook.store import find_bundles, open_bundle

APP = "server/app-"
USERS = 40


@pytest.fixture(scope="module")
def trials(project):
    """Return the measured bundles of the design of limits by case."""
    opened = [open_bundle(path) for path in find_bundles(project.runs("rules-of-thumb"))]
    found = {
        one.record.trial.treatment["case"]: one
        for one in opened
        if one.record.trial.experiment == "limits" and one.record.trial.purpose == "measured"
    }
    assert {"ample", "threads/50", "connections/5", "sessions/0", "kept/0"} <= set(found)
    return found


def readings(counters, metric):
    """Return what the nodes' gauge said, in the order of time."""
    its = pl.col("source").cast(pl.String).str.starts_with(APP)
    return counters.filter(its & (pl.col("metric").cast(pl.String) == metric))["value"]


def last(bundle, metric):
    """Return the last reading of a node's gauge: the first comes before the limits are set."""
    return readings(bundle.counters, metric)[-1]


@pytest.mark.parametrize(
    ("case", "metric", "limit"),
    [
        ("threads/50", "threads_limit", USERS // 2),
        ("connections/5", "pool_limit", USERS // 20),
        ("workers/7.5", "business_workers/limit", round(USERS / 7.5)),
    ],
)
def test_a_node_has_the_limit_of_its_treatment_and_no_other(trials, case, metric, limit):
    """By the node's own gauges when the load is over; all other trials had ample ones."""
    told = {name: last(bundle, metric) for name, bundle in trials.items()}
    others = {value for name, value in told.items() if not name.startswith(case.partition("/")[0])}
    assert told[case] == limit
    assert others == {0 if metric.startswith("business") else USERS}


def test_no_more_connections_are_in_use_than_there_are(trials):
    """By the pool's own gauge, from when requests count: its limit is set before them."""
    bundle = trials["connections/5"]
    begin_ns = bundle.record.execution.phase("measured").begin_ns
    counts = bundle.counters.filter(pl.col("time_ns") >= begin_ns)
    assert readings(counts, "pool_active").max() <= USERS // 20


def test_sessions_are_read_where_none_is_in_memory(trials):
    """Once for each transaction but signing on; never where all are in memory."""

    def rises(case):
        names = ("business_session_events_total/restored", "business_outcomes_total/done",
                 "business_done_total/sign-on")  # fmt: skip
        return [risen(APP, name)(trials[case]) for name in names]

    restored, done, signed_on = rises("sessions/0")
    assert restored == done - signed_on > 0
    assert rises("ample")[0] == 0


def test_the_load_is_that_of_the_business(trials):
    """Transactions were done, and none was refused or failed."""
    for bundle in trials.values():
        assert risen(APP, "business_outcomes_total/done")(bundle) > 0
        assert risen(APP, "business_outcomes_total/failed")(bundle) == 0
