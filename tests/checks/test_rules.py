"""Each rule: a bundle that passes, one that does not, one to which it does not apply."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
import pytest

from sizebook.checks import RULES, judge
from sizebook.model.bundle import PhaseMark
from sizebook.model.deployment import Deployment, JvmRole
from sizebook.model.load import ClosedLoop, OpenArrivals
from sizebook.model.trial import Allowance
from sizebook.model.verdict import Finding


def _synthetic() -> ModuleType:
    spec = importlib.util.spec_from_file_location(
        "synthetic_bundles", Path(__file__).with_name("conftest.py")
    )
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


made = _synthetic()
S, BEGIN, MEASURED, END = made.S, made.BEGIN, made.MEASURED, made.END
BY_ID = {rule.id: rule for rule in RULES}
NULLSERVER = Deployment(roles=(JvmRole(role="nullserver"),))
CUT_SHORT = (
    PhaseMark(name="warm-up", begin_ns=BEGIN, end_ns=MEASURED),
    PhaseMark(name="measured", begin_ns=MEASURED, end_ns=END - S),
)
NEVER_MEASURED = (PhaseMark(name="warm-up", begin_ns=BEGIN, end_ns=MEASURED),)


def constant(rate: float = 100.0, stop: int = END) -> np.ndarray:
    return np.arange(BEGIN, stop, int(S / rate), dtype=np.int64)


def opened(latency_ns: int = 20_000_000, **changes: Any) -> dict[str, Any]:
    intended = constant()
    latency = np.full(intended.size, latency_ns)
    return {
        "rows": made.open_rows(intended, latency),
        "arrivals": OpenArrivals(kind="constant", rate_per_s=100.0),
    } | changes


def with_errors(number: int, error: str = "body", status: int = 200) -> pl.DataFrame:
    rows = made.closed_rows().with_row_index("at")
    bad = (pl.col("phase").cast(pl.String) == "measured") & (pl.col("at") >= 4800 - number)
    kinds = made.REQUEST_COLUMNS
    return rows.with_columns(
        pl.when(bad).then(pl.lit(error)).otherwise(pl.lit("")).alias("error"),
        pl.when(bad).then(status).otherwise(200).alias("status"),
    ).select(pl.col(name).cast(getattr(pl, kind)) for name, kind in kinds.items())


def shifted(**columns: pl.Expr) -> pl.DataFrame:
    return made.closed_rows().with_columns(**columns)


def growing() -> dict[str, Any]:
    intended = constant()
    latency = 10_000_000 + np.maximum(0, intended - MEASURED) // 5
    return opened(rows=made.open_rows(intended, latency))


PASSING: dict[str, list[dict[str, Any]]] = {
    "SB100-completed": [{}],
    "SB101-accounting": [{}, {"facts": {"issued": 4803, "dropped": 3}}],
    "SB102-clock": [{}, opened()],
    "SB103-little": [{}, opened()],
    "SB104-server-count": [
        {},
        {
            "rows": with_errors(5, "connect", 0),
            "counters": {("server/app-1", "requests_total"): 4797.0},
        },
        {
            "deployment": Deployment(roles=(JvmRole(role="app", nodes=2),)),
            "counters": {
                ("server/app-1", "requests_total"): 4000.0,
                ("server/app-2", "requests_total"): 800.0,
            },
        },
    ],
    "SB201-generator-cpu": [{}, {"cpus": (), "facts": {"cpu_s": 10.0}}],
    "SB202-generator-lag": [{}, {"facts": {"lag_p99_ms": 1.2}}],
    "SB203-own-time": [{}, {"rows": made.closed_rows(gap_ns=400_000)}],
    "SB301-errors": [
        {},
        {"rows": with_errors(40), "allowance": Allowance(failed_share=0.01)},
        {"rows": with_errors(400, "status"), "allowance": Allowance(expected_error="status")},
    ],
    "SB302-offered": [opened()],
    "SB401-steal": [{}],
    "SB402-swapping": [{}],
    "SB501-samples": [{}],
}

FAILING: dict[str, list[tuple[dict[str, Any], str]]] = {
    "SB100-completed": [
        ({"outcome": "failed"}, "failed"),
        ({"with_facts": False}, "failed"),
        ({"phases": CUT_SHORT}, "failed"),
        ({"phases": NEVER_MEASURED}, "failed"),
    ],
    "SB101-accounting": [
        ({"facts": {"issued": 4801}}, "failed"),
        ({"facts": {"issued": 4801, "completed": 4801}}, "failed"),
        ({"rows": with_errors(1), "facts": {"failed": 0, "completed": 4800}}, "failed"),
    ],
    "SB102-clock": [
        ({"rows": shifted(phase=pl.lit("drain", dtype=pl.Categorical))}, "failed"),
        ({"rows": shifted(start_ns=pl.col("start_ns") - 5)}, "failed"),
        ({"rows": shifted(latency_ns=pl.col("latency_ns") + 5)}, "failed"),
    ],
    "SB103-little": [
        ({"rows": shifted(service_ns=(pl.col("service_ns") * 2))}, "failed"),
        ({"rows": made.closed_rows(users=3)}, "failed"),
        ({"rows": made.closed_rows().filter(pl.col("start_ns") % 7 != 0).with_columns(
            start_ns=pl.col("start_ns") - S)}, "failed"),
    ],
    "SB104-server-count": [
        ({"counters": {("server/app-1", "requests_total"): 4799.0}}, "failed"),
        ({"counters": {("server/app-1", "requests_total"): 4801.0}}, "failed"),
    ],
    "SB201-generator-cpu": [
        ({"facts": {"cpu_s": 11.5}}, "generator-bound"),
        ({"facts": {"cpu_s": 11.5}, "cpus": (0, 1)}, "generator-bound"),
        ({"counters": {("process/generator-1", "cpu_user_s"): 10.0,
                       ("process/generator-1", "cpu_system_s"): 2.5}}, "generator-bound"),
    ],
    "SB202-generator-lag": [({"facts": {"lag_p99_ms": 1.3}}, "generator-bound")],
    "SB203-own-time": [
        ({"rows": made.closed_rows(gap_ns=1_000_000)}, "noisy"),
        ({"rows": made.closed_rows(gap_ns=5_000_000)}, "generator-bound"),
    ],
    "SB301-errors": [
        ({"rows": with_errors(1)}, "failed"),
        ({"rows": with_errors(1), "allowance": Allowance(expected_error="status")}, "failed"),
    ],
    "SB302-offered": [
        (opened(facts={"dropped": 3, "issued": 1203}), "noisy"),
        (opened(facts={"dropped": 30, "issued": 1230}), "failed"),
        (opened(arrivals=OpenArrivals(kind="constant", rate_per_s=103.0)), "failed"),
        (opened(arrivals=OpenArrivals(kind="poisson", rate_per_s=150.0)), "failed"),
        (growing(), "noisy"),
    ],
    "SB401-steal": [
        ({"counters": {("host", "core_steal_s/0"): 0.4, ("host", "core_steal_s/1"): 0.0}}, "noisy")
    ],
    "SB402-swapping": [
        ({"counters": {("host", "swap_in_bytes"): 2e6, ("host", "swap_out_bytes"): 0.0}}, "noisy")
    ],
    "SB501-samples": [({"rows": made.closed_rows(users=1, service_ns=S)}, "noisy")],
}  # fmt: skip

NOT_APPLICABLE: dict[str, list[dict[str, Any]]] = {
    "SB101-accounting": [{"with_facts": False}, {"with_requests": False}],
    "SB102-clock": [{"with_requests": False}, {"rows": made.closed_rows().clear()}],
    "SB103-little": [{"with_requests": False}, {"phases": NEVER_MEASURED}],
    "SB104-server-count": [
        {"counters": {}},
        {"deployment": NULLSERVER},
        {"deployment": Deployment(roles=(JvmRole(role="app", nodes=2),))},
        {"counters": {("server/app-1", "requests_total"): -10.0}},
    ],
    "SB201-generator-cpu": [{"with_facts": False}, {"facts": {"wall_s": 0.0}}],
    "SB202-generator-lag": [{"with_facts": False}, {"rows": made.closed_rows(1, S)}],
    "SB203-own-time": [opened(), {"arrivals": ClosedLoop(users=4, think_s=1.0)}],
    "SB301-errors": [{"with_requests": False}, {"rows": made.closed_rows().clear()}],
    "SB302-offered": [{}, opened(with_facts=False)],
    "SB401-steal": [{"counters": {}}, {"phases": NEVER_MEASURED}],
    "SB402-swapping": [{"counters": {}}, {"counters": {("host", "swap_in_bytes"): 0.0}}],
    "SB501-samples": [{"with_requests": False}],
}

ALWAYS_APPLIES = {"SB100-completed"}


def _cases(table: dict[str, list[Any]]) -> list[Any]:
    return [
        pytest.param(rule, case, id=f"{rule}-{number}")
        for rule, cases in table.items()
        for number, case in enumerate(cases)
    ]


def _find(rule: str, bundle: Any) -> Finding:
    return BY_ID[rule](bundle)


def test_every_rule_has_cases() -> None:
    """A new rule is tested with a passing, a failing and a not-applicable bundle."""
    assert set(BY_ID) == set(PASSING) == set(FAILING)
    assert set(BY_ID) == set(NOT_APPLICABLE) | ALWAYS_APPLIES


@pytest.mark.parametrize(("rule", "case"), _cases(PASSING))
def test_pass(rule: str, case: dict[str, Any], make_bundle: Any) -> None:
    """A good bundle passes and keeps its verdict."""
    finding = _find(rule, make_bundle(**case))
    assert (finding.passed, finding.verdict) == (True, "valid"), finding.message


@pytest.mark.parametrize(("rule", "case"), _cases(FAILING))
def test_fail(rule: str, case: tuple[dict[str, Any], str], make_bundle: Any) -> None:
    """A bundle with the fault gets the verdict that the rule announces, with numbers."""
    changes, verdict = case
    bundle = make_bundle(**changes)
    finding = _find(rule, bundle)
    assert (finding.passed, finding.verdict) == (False, verdict), finding.message
    assert finding in judge(bundle).failed()
    assert all(np.isfinite(list(finding.numbers.values())))


@pytest.mark.parametrize(("rule", "case"), _cases(NOT_APPLICABLE))
def test_not_applicable(rule: str, case: dict[str, Any], make_bundle: Any) -> None:
    """Where something is missing the rule says so and neither passes nor fails."""
    finding = _find(rule, make_bundle(**case))
    assert (finding.passed, finding.verdict) == (None, "valid"), finding.message
    assert finding.message.startswith("does not apply: ")


def test_good_trials_are_valid(make_bundle: Any) -> None:
    """Synthetic trials without a fault pass every rule that applies."""
    for case in ({}, opened()):
        judgement = judge(make_bundle(**case))
        assert (judgement.verdict, judgement.failed()) == ("valid", ())
        assert [f.rule for f in judgement.findings] == [r.id for r in RULES]


def test_worst_verdict_wins(make_bundle: Any) -> None:
    """A trial that is noisy, generator-bound and failed is failed."""
    noisy = {("host", "core_steal_s/0"): 5.0}
    bound = {"cpu_s": 12.1}
    assert judge(make_bundle(counters=noisy)).verdict == "noisy"
    assert judge(make_bundle(counters=noisy, facts=bound)).verdict == "generator-bound"
    both = make_bundle(counters=noisy, facts=bound, rows=with_errors(1))
    assert judge(both).verdict == "failed"


def test_rules_are_documented() -> None:
    """A page can be made from the rules: unique ids, and each text says something."""
    assert len(BY_ID) == len(RULES)
    for rule in RULES:
        assert rule.id.startswith("SB") and rule.verdict != "valid"
        assert min(len(rule.title), len(rule.meaning), len(rule.remedy)) > 15
        assert (rule.function.__doc__ or "").endswith(".")


def test_batches_do_not_count_as_own_time(make_bundle: Any) -> None:
    """Users that wait for each other at the end of a shared pass are not the generator's cost."""
    rows = made.closed_rows()
    passes = (rows["start_ns"] - BEGIN) // S
    late = rows.with_columns(iteration=passes.cast(pl.UInt32)).filter(
        (pl.col("start_ns") - BEGIN) % S < 0.8 * S
    )
    finding = _find("SB203-own-time", make_bundle(rows=late))
    assert finding.passed is True, finding.message
