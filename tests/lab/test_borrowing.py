"""Trials of another chapter: which of them count, and what is said of those that do not."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from synthetic_bundles import with_fingerprints, write_synthetic

from sizebook.lab.borrowing import borrow_trials
from sizebook.lab.chapter_lab import ChapterLab
from sizebook.lab.measurement_cache import AS_MEASURED
from sizebook.lab.trials import Trial, Trials
from sizebook.store import Bundle, find_project

Make = Callable[..., Bundle]


@pytest.fixture
def make(make_bundle: Any, tmp_path: Path) -> Make:
    """Give what makes SYNTHETIC trials of chapter ``lender``; later ones start later."""
    base = make_bundle().record.trial.model_copy(update={"chapter": "lender", "experiment": "e"})
    made = iter(range(100))

    def one(
        treatment: dict[str, Any], block: int, outcome: str = "completed", **spec: Any
    ) -> Bundle:
        number = next(made)
        said = base.model_copy(update={"treatment": treatment, "replicate": block, **spec})
        bundle = write_synthetic(tmp_path, f"lent-{number}", spec=said, outcome=outcome)
        started = {"started_utc": f"2026-01-01T00:{number:02d}:00Z"}
        execution = bundle.record.execution.model_copy(update=started)
        record = bundle.record.model_copy(update={"execution": execution})
        return Bundle(bundle.path, record)

    return one


def borrow(bundles: list[Bundle], experiment: str = "e") -> Trials:
    return borrow_trials(bundles, "lender", experiment, profile="smoke", mark=Trial)


def names(trials: Trials) -> list[str]:
    return [trial.bundle.id for trial in trials]


def test_none_is_no_failure(make: Make) -> None:
    """Without trials of that chapter, design and profile there is an empty frame and no doubt."""
    others = [
        make({"nodes": 1}, 0, experiment="other"),
        make({"nodes": 1}, 0, chapter="other"),
        make({"nodes": 1}, 0, profile="quick"),
        make({"nodes": 1}, 0, purpose="conditioning"),
    ]
    for bundles in ([], others):
        found = borrow(bundles)
        assert (len(found), found.expected) == (0, 0)
        assert found.frame(rate=lambda _: 1.0).height == 0
        assert not [doubt for doubt in found.doubts() if "not run" in doubt]


def test_a_page_that_only_borrows_stands_on_the_machine_of_its_trials(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Replayed as it was measured nothing is foreign; shown here, another machine's trials are."""
    for block in range(2):
        make({"nodes": 1}, block)
    (tmp_path / "locustfiles").mkdir()
    (tmp_path / "locustfiles" / "synthetic.py").write_text("")
    project = dataclasses.replace(find_project(), root=tmp_path)

    def lent() -> Trials:
        lab = ChapterLab("page", profile="smoke", source=str(tmp_path), seed=1, project=project)
        lab.run()
        return lab.borrow("lender", "e")

    assert [trial.foreign for trial in lent()] == [True, True]
    monkeypatch.setenv(AS_MEASURED, "1")
    assert [trial.foreign for trial in lent()] == [False, False]


def test_the_design_is_what_was_measured(make: Make) -> None:
    """Levels come in order, what was left out stays out, a block that lacks a trial is told."""
    made = [
        make({"nodes": n, "way": w}, b) for b in (0, 1) for n, w in ((4, "b"), (1, "b"), (1, "a"))
    ]
    found = borrow(made[:-1])
    assert [dict(t) for t in found.design.treatments()] == [
        {"nodes": 1, "way": "a"}, {"nodes": 1, "way": "b"}, {"nodes": 4, "way": "b"},
    ]  # fmt: skip
    assert (len(found), found.expected) == (5, 6)
    assert "1 of 6 trials not run" in found.doubts()
    assert found.frame()["nodes"].to_list() == [1, 1, 1, 4, 4]


def test_the_newest_of_a_block_counts(make: Make) -> None:
    """A completed trial wins over a later failed one, as it does when it is measured again."""
    first, again = make({"nodes": 1}, 0), make({"nodes": 1}, 0)
    failed = make({"nodes": 1}, 0, outcome="failed")
    assert names(borrow([failed, again, first])) == [again.id]
    assert names(borrow([failed])) == [failed.id]


def test_replicates_are_sisters(make: Make) -> None:
    """What was measured with other sources or another load is no replicate of the newest ones."""
    old = [with_fingerprints(make({"nodes": 1}, block), stack="old") for block in range(3)]
    other = make({"nodes": 1}, 3, probe_interval_s=30.0)
    new = make({"nodes": 1}, 0)
    found = borrow([*old, other, new])
    assert names(found) == [new.id]
    assert found.expected == 1


def test_an_earlier_design_is_left_out(make: Make) -> None:
    """Trials with other factors than the newest one belong to a design that is no more."""
    earlier = [make({"nodes": n, "users": 5}, 0) for n in (1, 2)]
    now = make({"nodes": 1}, 0)
    assert names(borrow([*earlier, now])) == [now.id]
