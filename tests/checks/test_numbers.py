"""What the rules say beside passed or not: the numbers and the words that a reader goes by."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import synthetic_bundles as made

from sizebook.checks import INTERFERENCE, interfered, load, machine, steady
from sizebook.checks.criteria import meet
from sizebook.model.bundle import JOINED_LATE
from sizebook.model.criterion import Criterion
from sizebook.model.load import OpenArrivals

CORES = [("host", "core_steal_s/0"), ("host", "core_steal_s/1")]


def test_the_stolen_share_is_of_all_cpus_and_the_measured_phase(make_bundle: Any) -> None:
    """Whatever the counters' readings lie apart, one bundle's share is stolen by CPUs and time."""
    found = machine.steal(make_bundle(counters=dict(zip(CORES, (0.3, 0.5), strict=True))))
    assert found.numbers["cpus"] == 2
    length_s = found.numbers["stolen_s"] / found.numbers["share"] / 2
    assert 9.9 < length_s < 13.2
    assert f"{found.numbers['share']:.2%} of 2 CPUs" in found.message


@pytest.mark.parametrize("stolen_s", [0.0, 5.0])
def test_interference_is_one_rule_that_does_not_pass(make_bundle: Any, stolen_s: float) -> None:
    """Passed, and not applicable, are none."""
    bundle = make_bundle(counters={CORES[0]: stolen_s})
    assert [one(bundle).passed for one in INTERFERENCE].count(False) == bool(stolen_s)
    assert interfered(bundle) is bool(stolen_s)
    assert not interfered(make_bundle(counters={}))


@pytest.mark.parametrize("rate", [20, 100])
def test_an_open_load_that_is_kept_tells_both_rates(make_bundle: Any, rate: int) -> None:
    """What arrived in a second, and what was planned."""
    due = np.arange(made.BEGIN, made.END, made.S // rate, dtype=np.int64)
    rows = made.open_rows(due, np.full(due.size, 1_000_000))
    arrivals = OpenArrivals(kind="constant", rate_per_s=float(rate))
    found = load.offered(make_bundle(rows=rows, arrivals=arrivals))
    assert found.passed
    assert f"{rate}/s arrived of {rate}/s" in found.message


def test_advice_on_joining_is_given_where_users_were_late(make_bundle: Any) -> None:
    """With their number; where none was, there is nothing to be done."""
    late, none = (
        load.joined(make_bundle(execution_facts={JOINED_LATE: number})) for number in (3, 0)
    )
    assert (late.passed, none.passed) == (False, True)
    assert late.message.startswith("3 of 4 users") and "have a longer ramp" in late.message
    assert none.message.startswith("0 of 4 users") and "ramp" not in none.message


@pytest.mark.parametrize(
    ("per_s", "reach"), [(1, "no percentile"), (2, "p50"), (20, "p95"), (100, "p99")]
)
def test_the_percentile_that_samples_support_is_in_words(
    make_bundle: Any, per_s: int, reach: str
) -> None:
    """Ten measured seconds: 10 requests above it at the least."""
    rows = made.closed_rows(users=1, service_ns=made.S // per_s)
    assert load.samples(make_bundle(rows=rows)).message.endswith(reach)


def test_nothing_is_dropped_where_the_generator_did_not_tell(make_bundle: Any) -> None:
    """A trial without the generator's facts is judged by its rows alone."""
    bundle = make_bundle(with_facts=False)
    assert meet(bundle, Criterion(statistic="mean", limit_ms=10.0)).kept
    strict = Criterion(statistic="mean", limit_ms=10.0, failed_share=0.0)
    assert meet(bundle, strict).kept


def test_the_tests_of_a_steady_state_are_among_the_numbers(make_bundle: Any) -> None:
    """Trend and shift, with their p, of each series that was looked at."""
    found = steady.steady(make_bundle())
    assert found.passed
    for told in ("trend_p", "trend", "shift_p", "shift"):
        assert len([name for name in found.numbers if name.endswith(f"_{told}")]) >= 2
