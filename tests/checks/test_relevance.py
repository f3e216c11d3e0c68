"""Which doubts touch what a metric rests on."""

from __future__ import annotations

import pytest

from sizebook.checks import RULES
from sizebook.checks.relevance import IDLE, LATE, MACHINE, PRECISION, known_within, verdict_on
from sizebook.model.verdict import Finding, Judgement, worst_of


def judged(*failed: tuple[str, str]) -> Judgement:
    """Return the judgement of a trial in which these rules did not pass, with these verdicts."""
    findings = [Finding(rule.id, True, "") for rule in RULES]
    findings += [Finding(rule, False, "", verdict=verdict) for rule, verdict in failed]
    return Judgement(worst_of(verdict for _, verdict in failed), tuple(findings))


@pytest.mark.parametrize(
    ("failed", "times", "server", "use", "start", "account"),
    [
        ([], "valid", "valid", "valid", "valid", "valid"),
        ([("SB601-steady", "noisy")], "noisy", "noisy", "valid", "valid", "valid"),
        ([("SB601-steady", "no steady state")], "no steady state", "no steady state",
         "no steady state", "valid", "valid"),
        ([("SB202-generator-lag", "generator-bound")], "generator-bound", "valid", "valid", "valid",
         "valid"),
        ([("SB203-own-time", "noisy"), ("SB601-steady", "noisy")], "noisy", "noisy", "noisy",
         "valid", "valid"),
        ([("SB203-own-time", "generator-bound")], "generator-bound", "generator-bound",
         "generator-bound", "valid", "valid"),
        ([("SB204-ceiling", "generator-bound")], "generator-bound", "generator-bound",
         "generator-bound", "valid", "valid"),
        ([("SB401-steal", "noisy")], "noisy", "noisy", "noisy", "noisy", "valid"),
        ([("SB405-readings", "noisy")], "noisy", "noisy", "noisy", "valid", "valid"),
        ([("SB602-jit", "noisy"), ("SB501-samples", "noisy")], "noisy", "noisy", "noisy", "valid",
         "valid"),
        ([("SB301-errors", "failed"), ("SB601-steady", "noisy")], "failed", "failed", "failed",
         "failed", "failed"),
        ([("SB900-stale", "stale")], "stale", "stale", "stale", "stale", "stale"),
    ],
)  # fmt: skip
def test_doubts_touch_what_they_are_about(failed, times, server, use, start, account):
    """The verdict for each kind of metric; what failed or is stale touches all."""
    judgement = judged(*failed)
    expected = {"times": times, "server": server, "use": use, "start": start, "account": account}
    assert {basis: verdict_on(judgement, basis) for basis in expected} == expected


def test_nobody_queues_where_one_user_asks():
    """How soon a user asks again is nothing to a server's times there, and is to a throughput."""
    judgement = judged(("SB203-own-time", "generator-bound"))
    assert verdict_on(judgement, "server", alone=True) == "valid"
    assert verdict_on(judgement, "times", alone=True) == "generator-bound"
    assert verdict_on(judgement, "use", alone=True) == "generator-bound"
    late = judged(("SB203-own-time", "noisy"), ("SB602-jit", "noisy"))
    assert known_within(late, "server", alone=True) is None


LATENESS = {"lag_p99_ms": 2.0, "lag_max_ms": 52.0, "mean_ms": 10.0}
CHANGES = {"throughput_trend": 0.0, "throughput_shift": -0.02, "latency_trend": 0.1}


@pytest.mark.parametrize(
    ("failed", "shift", "basis", "within"),
    [
        ([], 0.3, "times", 1.0),
        ([("SB601-steady", "noisy")], 0.3, "times", 1.3),
        ([("SB601-steady", "noisy")], -0.3, "times", 1.3),
        ([("SB601-steady", "noisy")], 1.1, "times", None),
        ([("SB601-steady", "noisy")], None, "times", None),
        ([("SB601-steady", "noisy")], 0.3, "use", 1.0),
        ([("SB601-steady", "no steady state")], 0.3, "times", None),
        ([("SB601-steady", "noisy"), ("SB602-jit", "noisy")], 0.3, "times", None),
        ([("SB602-jit", "noisy")], 0.3, "times", None),
        ([("SB601-steady", "noisy")], 0.3, "server", 1.3),
        ([("SB202-generator-lag", "generator-bound")], None, "times", 1.25),
        ([("SB202-generator-lag", "generator-bound"), ("SB602-jit", "noisy")], 0.3, "times", None),
        (
            [("SB601-steady", "noisy"), ("SB202-generator-lag", "generator-bound")],
            0.3,
            "times",
            1.3 * 1.25,
        ),
        (
            [("SB601-steady", "noisy"), ("SB202-generator-lag", "generator-bound")],
            0.3,
            "server",
            1.3,
        ),
    ],
)
def test_some_doubts_say_how_far_off_a_trial_is(failed, shift, basis, within):
    """They bound the level; beside another doubt, or where it is not known, they do not."""
    numbers = CHANGES | LATENESS | ({} if shift is None else {"latency_shift": shift})
    findings = tuple(Finding(rule, False, "", numbers, verdict) for rule, verdict in failed)
    judgement = Judgement(worst_of(verdict for _, verdict in failed), findings)
    assert known_within(judgement, basis) == within


def test_the_rules_that_it_names_have_such_verdicts():
    """A rule that is named here and gives another verdict by now would spare nothing."""
    known = {rule.id: rule for rule in RULES}
    assert set(MACHINE) | set(PRECISION) | {LATE, IDLE} <= set(known)
    worse = {name: known[name].verdict for name in PRECISION}
    assert worse == {**PRECISION, "SB601-steady": "no steady state"}
