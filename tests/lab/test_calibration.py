"""What the calibration of this machine says, found again from its bundles (made-up ones)."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from synthetic_bundles import BEGIN, END, open_rows, with_fingerprints, write_synthetic

from sizebook.lab import calibration, place
from sizebook.lab.calibration import (
    CLIENTS,
    Ceiling,
    Ceilings,
    ceiling_design,
    ceiling_treat,
    first_sessions,
)
from sizebook.lab.profiles import PROFILES
from sizebook.model.bundle import Fingerprints
from sizebook.store import Bundle, Project, find_project

HERE = Fingerprints(stack="", jvm="", locustfile="", machine="")
THERE = HERE.model_copy(update={"machine": "there"})


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
        outcome, rows = changed.pop("outcome", "completed"), changed.pop("rows", None)
        update = {"chapter": calibration.CHAPTER, "profile": "quick"} | changed
        update |= {"experiment": experiment, "treatment": treatment}
        spec = self.base.model_copy(update=update)
        name = f"trial-{self.made}"
        facts = {"wall_s": 4800 / rate}
        return write_synthetic(
            self.folder, name, spec=spec, facts=facts, outcome=outcome, rows=rows
        )


def _made_anew(bundle: Bundle, started: str, **prints: str) -> Bundle:
    """Return a bundle as if it had been measured at another time, with other fingerprints."""
    record = with_fingerprints(bundle, **prints).record
    execution = record.execution.model_copy(update={"started_utc": started})
    return Bundle(bundle.path, record.model_copy(update={"execution": execution}))


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
    found = calibration.find_ceilings(project)
    assert found["LeanHttpUser"].closed.per_s == pytest.approx(65_000)
    assert found["LeanHttpUser"].closed.bundles == ("trial-1", "trial-2", "trial-3")
    assert found["HttpUser"].closed.per_s == pytest.approx(3_000)
    assert found["HttpUser"].open is None


def search_of(
    bundles: Bundles, block: int, passed: list[int], failed: list[int], times: int = 2
) -> None:
    """One block of the search for the open ceiling: levels that kept the criterion and did not."""
    levels = calibration.open_search(PROFILES["quick"], 1).levels
    for index in passed + failed:
        due = np.arange(BEGIN, END, 10_000_000, dtype=np.int64)
        rows = open_rows(due, np.full(due.size, 500_000 if index in passed else 2_000_000))
        for attempt in range(times):
            treatment = {"rate_per_s": levels[index], "attempt": attempt}
            bundles.add("open-rate", 4800, treatment, replicate=block, rows=rows)


def test_the_open_ceiling_is_the_median_of_the_highest_rates_kept(
    project: Project, bundles: Bundles
) -> None:
    """By client, of the blocks whose search came to its end."""
    levels = calibration.open_search(PROFILES["quick"], 1).levels
    search_of(bundles, 0, passed=[14, 15], failed=[16, 18])
    search_of(bundles, 1, passed=[13], failed=[14])
    search_of(bundles, 2, passed=[15, 16], failed=[17])
    search_of(bundles, 3, passed=[14, 18], failed=[])
    search_of(bundles, 4, passed=[19], failed=[20], times=1)
    (found,) = calibration.find_ceilings(project).values()
    assert found.closed is None
    assert found.open.per_s == levels[15]
    assert found.open.kind == "open"
    assert len(found.open.bundles) == 8 + 4 + 6


def test_one_search_that_goes_on_is_no_ceiling(project: Project, bundles: Bundles) -> None:
    search_of(bundles, 0, passed=[14], failed=[])
    assert calibration.find_ceilings(project) == {}


def test_open_loads_have_their_own_ceiling_where_it_is_known() -> None:
    """A closed loop's never is the open one; the other way round it is better than none."""
    closed, open_load = Ceiling(9.0, ("a",)), Ceiling(5.0, ("b",), "open")
    assert Ceilings(closed, open_load).of("open") == open_load
    assert Ceilings(closed, open_load).of("closed") == closed
    assert Ceilings(closed).of("open") == closed
    assert Ceilings(open=open_load).of("closed") is None
    assert Ceilings().of("open") is None


def test_a_rate_of_the_search_is_a_trial_of_poisson_arrivals() -> None:
    setup = calibration.open_treat(PROFILES["quick"], 7, place())({"rate_per_s": 5000.0})
    assert (setup.load.seed, setup.load.arrivals.rate_per_s) == (7, 5000.0)
    assert setup.load.arrivals.poisson


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


def test_a_pages_floor_is_that_of_its_machine_and_day(
    project: Project, bundles: Bundles, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The newest calibration of its trials' machine in their time counts, whatever follows."""
    days = {"first": 1, "second": 3, "elsewhere": 4, "third": 5}
    made: list[Bundle] = []
    for scale, (name, day) in enumerate(days.items(), start=1):
        machine = "there" if name == "elsewhere" else ""
        for block in range(3):
            treatment = {"name": "A", "pass": 1}
            bundle = bundles.add("aa", 100 + scale * block, treatment, replicate=block)
            started = f"2026-01-0{day}T00:00:0{block}Z"
            made.append(_made_anew(bundle, started, machine=machine, stack=name))
    monkeypatch.setattr(calibration, "readable_bundles", lambda _: made)

    def floor_of(machine: str, day: int, lent: Sequence[Bundle] = ()) -> float | None:
        trial = _made_anew(made[0], f"2026-01-0{day}T12:00:00Z", machine=machine)
        return calibration.find_floor(project, trials=(trial,), lent=lent).relative_sd

    def like(scale: int) -> Any:
        values = [100.0 + scale * block for block in range(3)]
        return pytest.approx(np.std(values, ddof=1) / np.mean(values), rel=0.05)

    monkeypatch.setattr(calibration, "present_fingerprints", lambda *_: THERE)
    assert floor_of("", 1) == like(1)
    assert floor_of("", 4) == like(2)
    assert floor_of("", 9) == like(4)
    assert floor_of("there", 9) == floor_of("there", 1) == like(3)  # measured before: the first
    assert floor_of("nowhere", 9) is None
    assert calibration.find_floor(project).relative_sd == like(3)

    monkeypatch.setattr(calibration, "readable_bundles", lambda _: made[:3])
    lent = [*made, bundles.add("aa", 1.0, {"name": "A", "pass": 1}, chapter="another")]
    assert floor_of("", 9) == like(1)
    assert floor_of("", 9, lent) == like(4)  # a round's own, each bundle once


def test_a_calibration_repeated_on_another_day_is_another_one(
    project: Project, bundles: Bundles, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the same harness on the same machine: a page's floor is not pooled from several days."""
    made: list[Bundle] = []
    for day, scale in ((5, 9), (3, 1)):  # their order on disk plays no part
        for block in range(3):
            treatment = {"name": "A", "pass": 1}
            bundle = bundles.add("aa", 100 + scale * block, treatment, replicate=block)
            made.append(_made_anew(bundle, f"2026-01-0{day}T00:00:0{block}Z"))
    monkeypatch.setattr(calibration, "readable_bundles", lambda _: made)

    def days(newest: str | None) -> set[str]:
        chosen = calibration.one_calibration(made, newest)
        assert sorted(each.record.trial.replicate for each in chosen) == [0, 1, 2]
        return {each.record.execution.started_utc[:10] for each in chosen}

    assert days("2026-01-01T12:00:00Z") == {"2026-01-03"}  # measured before: the first
    assert days("2026-01-04T12:00:00Z") == {"2026-01-03"}
    assert days("2026-01-05T12:00:00Z") == days(None) == {"2026-01-05"}
    assert days("2026-01-05T00:00:01Z") == {"2026-01-03", "2026-01-05"}  # in the midst of it
    floor = calibration.find_floor(project)
    assert floor.replicates == 3
    assert floor.relative_sd == pytest.approx(9 / 109, rel=0.05)


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
