"""Rules over the trials of a design."""

from __future__ import annotations

from typing import Any

import pytest
import synthetic_bundles as made

from sizebook.checks import SET_RULES, judge_set


def at_rates(make_bundle: Any, *rates: float) -> list[Any]:
    """Return bundles whose generator completed 4800 requests in the time these rates take."""
    return [make_bundle(facts={"wall_s": 4800 / rate}) for rate in rates]


def finding(rule: str, treated: dict[str, list[Any]], floor: float | None = None) -> Any:
    return next(one for one in judge_set(treated, floor) if one.rule == rule)


def test_too_few_replicates_raise_doubt(make_bundle: Any) -> None:
    """The treatment with the fewest decides; none at all is too few."""
    three, two = at_rates(make_bundle, 400, 401, 402), at_rates(make_bundle, 400, 401)
    assert finding("SB701-replicates", {"a": three}).passed
    found = finding("SB701-replicates", {"a": three, "b": two})
    assert found.passed is False
    assert found.numbers["least"] == 2
    assert finding("SB701-replicates", {}).passed is False


def test_replicates_that_scatter_more_than_noise_raise_doubt(make_bundle: Any) -> None:
    """The floor of the machine decides; the spread is that of logarithms, pooled."""
    near = {"a": at_rates(make_bundle, 400, 404), "b": at_rates(make_bundle, 100, 101)}
    far = {"a": at_rates(make_bundle, 400, 500), "b": at_rates(make_bundle, 100, 101)}
    assert finding("SB702-spread", near, 0.01).passed
    found = finding("SB702-spread", far, 0.01)
    assert found.passed is False
    assert found.numbers["spread"] == pytest.approx(0.1115, abs=0.001)
    assert "noise floor 1.0%" in found.message
    assert finding("SB702-spread", far).passed, "without a floor 15 % are allowed"


def test_spread_needs_two_replicates(make_bundle: Any) -> None:
    """One trial a treatment has no spread, a failed one has no rate."""
    assert finding("SB702-spread", {"a": at_rates(make_bundle, 400)}).passed is None
    failed = [make_bundle(outcome="failed"), make_bundle(outcome="failed")]
    assert finding("SB702-spread", {"a": failed}).passed is None
    assert finding("SB702-spread", {}).passed is None


def test_trials_of_two_machines_are_not_compared(make_bundle: Any) -> None:
    """Each kind of fingerprint counts."""
    here = make_bundle()
    other = made.with_fingerprints(make_bundle(), machine="another")
    assert finding("SB703-comparable", {"a": [here, here]}).passed
    found = finding("SB703-comparable", {"a": [here], "b": [other]})
    assert found.passed is False
    assert "2 machines" in found.message
    assert finding("SB703-comparable", {"a": []}).passed is None


def test_each_rule_says_what_it_means_and_what_to_do() -> None:
    for rule in SET_RULES:
        assert rule.id.startswith("SB70")
        assert min(len(rule.title), len(rule.meaning), len(rule.remedy)) > 20
