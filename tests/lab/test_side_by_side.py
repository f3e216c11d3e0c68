"""Stacks of a block side by side: as far as memory allows, and as trials were measured."""

from __future__ import annotations

import pytest

from sizebook.lab import ChapterLab, PlanComplete, Setup, planning_only
from sizebook.lab.deployments import app_stack
from sizebook.lab.placement import place
from sizebook.lab.planning import Session, TurnSession
from sizebook.model.design import Design, Factor
from sizebook.model.load import ClosedLoop, LoadProfile, Phases
from sizebook.store import find_project

HEAPS = (256, 512)
NEEDED = sum(heap + 220 + 400 for heap in HEAPS)
"""MiB: heap and what a node takes beside it, and a database, for each stack."""
SPARE = 2048


def planned(usable_mib: int, monkeypatch):
    """Return the sessions of two heaps that may take turns, and what the plan remarks."""
    monkeypatch.setattr("sizebook.lab.chapter_lab.usable_memory_mib", lambda: usable_mib)
    here = place((0, 1), 16_000)
    lab = ChapterLab("some", profile="smoke", source="measure", seed=1, project=find_project())
    load = LoadProfile(
        locustfile="odata_rest.py",
        arrivals=ClosedLoop(users=2),
        phases=Phases(warmup_s=0.2, measured_s=0.5),
    )
    with planning_only() as words, pytest.raises(PlanComplete) as plan:
        lab.add(
            Design("heaps", (Factor("heap_mib", HEAPS),), 2, 1),
            lambda t: Setup(app_stack(here, heap_mib=t["heap_mib"]), load),
            turns=True,
        )
        lab.run()
    return plan.value.sessions, list(words.remarks)


def test_stacks_that_fit_take_turns(monkeypatch):
    """One session a block, and nothing to remark."""
    sessions, remarks = planned(NEEDED + SPARE, monkeypatch)
    assert [type(one) for one in sessions] == [TurnSession, TurnSession]
    assert {one.memory_mib for one in sessions} == {NEEDED}
    assert not remarks


def test_stacks_that_do_not_fit_are_measured_one_after_the_other(monkeypatch):
    """With their own phases; the plan says why."""
    sessions, remarks = planned(NEEDED + SPARE - 1, monkeypatch)
    assert [type(one) for one in sessions] == [Session] * 4
    assert all(one.trials[0].load.phases.turns is None for one in sessions)
    assert remarks == [
        "some, heaps: one stack after the other; "
        f"side by side they need {NEEDED} MiB of {NEEDED - 1} MiB"
    ]
