"""Twenty planted faults are named, and clean files raise no alarm, whatever tool wrote them."""

from __future__ import annotations

import pytest
from bench.judging import CLEAN, FAULTS, JudgedFile, judge_planted

from sizebook.judge.judging import RULES


@pytest.fixture(scope="module")
def clean(tmp_path_factory) -> list[JudgedFile]:
    """Give the clean files with what is said of them."""
    folder = tmp_path_factory.mktemp("clean")
    return [judge_planted(each, folder) for each in CLEAN]


def test_there_are_twenty_of_each_over_all_tools() -> None:
    """Every tool has files of both kinds, and most rules a fault."""
    assert len(FAULTS) == len(CLEAN) == 20
    assert {each.tool for each in FAULTS} == {each.tool for each in CLEAN} - {"wrk2"}
    rules = {each.rule for each in FAULTS}
    assert rules <= {rule.id for rule, _ in RULES}
    assert len(rules) >= 13


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_planted_fault_is_named(fault, tmp_path) -> None:
    """By the rule that is about it, with numbers; and little else is called wrong beside it."""
    judged = judge_planted(fault, tmp_path)
    assert judged.is_named, judged.wrong
    words = dict(judged.wrong)[fault.rule]
    assert any(char.isdigit() for char in words)
    assert len(judged.wrong) <= 2
    assert any(char.isdigit() for char in judged.own)


def test_clean_files_raise_one_false_alarm_at_most(clean) -> None:
    """Closed and open, idle and saturated."""
    alarms = [(each.planted.name, each.wrong) for each in clean if each.wrong]
    assert len(alarms) <= 1, alarms
