"""What the calibration of this machine says, found again from its bundles (made-up ones)."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from synthetic_bundles import with_fingerprints, write_synthetic

from sizebook.lab import calibration, place
from sizebook.lab.calibration import CLIENTS, ceiling_design, ceiling_treat, first_sessions
from sizebook.lab.profiles import PROFILES
from sizebook.model.bundle import Fingerprints
from sizebook.store import Bundle, Project, find_project

HERE = Fingerprints(stack="", jvm="", locustfile="", machine="")


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    """A project of its own, whose present fingerprints are those of synthetic bundles."""
    monkeypatch.setattr(calibration, "present_fingerprints", lambda *_: HERE)
    return dataclasses.replace(find_project(), root=tmp_path)


class Bundles:
    """Writes trials of the calibration that completed 4800 requests at a given rate."""

    def __init__(self, project: Project, base: Bundle) -> None:
        self.folder = project.runs / calibration.CHAPTER
        self.base = base.record.trial
        self.made = 0

    def add(
        self, experiment: str, rate: float, treatment: dict[str, Any], **changed: Any
    ) -> Bundle:
        self.made += 1
        outcome = changed.pop("outcome", "completed")
        update = {"experiment": experiment, "treatment": treatment, "profile": "quick"} | changed
        spec = self.base.model_copy(update=update)
        name = f"trial-{self.made}"
        facts = {"wall_s": 4800 / rate}
        return write_synthetic(self.folder, name, spec=spec, facts=facts, outcome=outcome)


@pytest.fixture
def bundles(project: Project, make_bundle: Any) -> Bundles:
    return Bundles(project, make_bundle())


def test_a_machine_that_was_not_calibrated_has_neither_ceiling_nor_floor(project: Project) -> None:
    assert calibration.find_ceilings(project) == {}
    floor = calibration.find_floor(project)
    assert floor.relative_sd is None
    assert floor.reason


def test_the_ceiling_is_the_median_over_the_replicates_of_the_best_profile(
    project: Project, bundles: Bundles
) -> None:
    lean, http = {"client": "LeanHttpUser"}, {"client": "HttpUser"}
    for number, rate in enumerate((60_000, 70_000, 65_000)):
        bundles.add("ceiling", rate, lean, replicate=number)
    bundles.add("ceiling", 3_000, http)
    bundles.add("ceiling", 10, lean, profile="smoke")
    bundles.add("ceiling", 10, lean, outcome="failed")
    bundles.add("ceiling", 10, lean, purpose="conditioning")
    bundles.add("open-rate", 10, lean)
    found = calibration.find_ceilings(project)
    assert found["LeanHttpUser"].per_s == pytest.approx(65_000)
    assert found["LeanHttpUser"].bundles == ("trial-1", "trial-2", "trial-3")
    assert found["HttpUser"].per_s == pytest.approx(3_000)


def test_another_machines_calibration_does_not_count(
    project: Project, bundles: Bundles, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = bundles.add("ceiling", 60_000, {"client": "LeanHttpUser"})
    elsewhere = with_fingerprints(bundle, machine="another").record.fingerprints
    monkeypatch.setattr(calibration, "present_fingerprints", lambda *_: elsewhere)
    assert calibration.find_ceilings(project) == {}


def test_the_noise_floor_comes_from_the_first_trial_of_each_jvm(
    project: Project, bundles: Bundles
) -> None:
    for block, (a, again) in enumerate(((100, 101), (102, 100), (101, 103))):
        bundles.add("aa", a, {"name": "A", "pass": 1}, replicate=block)
        bundles.add("aa", again, {"name": "A again", "pass": 1}, replicate=block)
        bundles.add("aa", 500, {"name": "A", "pass": 2}, replicate=block)
    floor = calibration.find_floor(project)
    assert (floor.treatments, floor.replicates) == (2, 6)
    assert floor.relative_sd == pytest.approx(0.0126, abs=0.001)


def test_what_is_measured_first_is_a_trial_of_the_calibration_chapter() -> None:
    """Else it would be measured again when the chapter runs."""
    profile = PROFILES["quick"]
    (session,) = first_sessions(profile)
    design = ceiling_design(profile, seed=1)
    setup = ceiling_treat(profile, place())({"client": "LeanHttpUser"})
    (spec,) = session.trials
    assert (spec.chapter, spec.experiment) == ("calibration", design.experiment)
    assert spec.load == setup.load
    assert {t["client"] for t in design.treatments()} == set(CLIENTS)
    assert set(CLIENTS.values()) <= {path.name for path in find_project().locustfiles.glob("*.py")}
