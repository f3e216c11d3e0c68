"""Modes of a design: those that this machine or the source has; the others with a reason."""

from __future__ import annotations

from typing import Any

import pytest
from synthetic_bundles import write_synthetic

from sizebook.hosts.modes import FoundMode
from sizebook.lab import (
    MODES,
    ChapterLab,
    choose_modes,
    limited_modes,
    missing_mode,
    missing_of_links,
)
from sizebook.lab.equipment import tried_modes
from sizebook.lab.modes import find_modes_here
from sizebook.lab.plan_only import planning_only
from sizebook.model.errors import MeasurementLockedError, UsageError
from sizebook.store import Project, measurement_lock


@pytest.fixture
def project(tmp_path: Any) -> Project:
    """Give an empty project."""
    (tmp_path / "pyproject.toml").write_text("")
    return Project(tmp_path)


def lab_of(project: Project, source: str = "measure") -> ChapterLab:
    return ChapterLab("some", profile="smoke", source=source, seed=1, project=project)


def test_bare_is_always_there(project: Project) -> None:
    """In the order of the modes, whatever the order of the wish."""
    chosen = choose_modes(lab_of(project), [*reversed(MODES)])
    assert chosen.present[0] == "bare"
    assert set(chosen.present) | set(chosen.missing) == set(MODES)
    assert not set(chosen.present) & set(chosen.missing)
    assert all(chosen.missing.values())
    assert choose_modes(lab_of(project), ["bare"]).missing == {}


def test_a_source_has_the_modes_of_its_trials(
    project: Project, make_bundle: Any, tmp_path: Any
) -> None:
    """Those of the chapter and profile alone; what this machine can do does not matter."""
    folder = tmp_path / "bundles"
    base = make_bundle().record.trial
    for number, (mode, chapter, profile) in enumerate(
        [("virtio-vm", "some", "smoke"), ("bare", "other", "smoke"), ("container", "some", "full")]
    ):
        said = base.model_copy(
            update={"treatment": {"mode": mode}, "chapter": chapter, "profile": profile}
        )
        write_synthetic(folder, f"trial-{number}", spec=said)
    chosen = choose_modes(lab_of(project, str(folder)), [*MODES])
    assert chosen.present == ("virtio-vm",)
    assert chosen.missing["bare"] == "not measured in this run"


def test_a_source_tells_what_its_machine_lacked(
    project: Project, make_bundle: Any, tmp_path: Any
) -> None:
    """As the newest trial of chapter and profile that notes anything has it."""
    base = make_bundle().record.trial
    said = base.model_copy(
        update={"treatment": {"mode": "bare"}, "chapter": "some", "profile": "smoke"}
    )
    other = said.model_copy(update={"chapter": "other"})
    for name, spec, facts in (
        ("a", said, {"lacks/mode/container": "no runc", "lacks/links/delay": "no netem"}),
        ("b", other, {"lacks/mode/virtio-vm": "not this one's"}),
        ("c", said, {}),
    ):
        write_synthetic(tmp_path / "bundles", name, spec=spec, execution_facts=facts)
    lab = lab_of(project, str(tmp_path / "bundles"))
    chosen = choose_modes(lab, [*MODES])
    assert chosen.present == ("bare",)
    assert chosen.missing["container"] == "no runc"
    assert chosen.missing["virtio-vm"] == "not measured in this run"
    assert missing_of_links(lab) == {"delay": "no netem"}
    assert missing_mode(lab, "container", "tiers") == "no runc"
    assert limited_modes(lab, chosen) == chosen


def test_processes_without_limits_are_left_out_where_they_were(
    project: Project, make_bundle: Any, tmp_path: Any
) -> None:
    """Shown again, a design has the modes that it had where it was measured."""
    base = make_bundle().record.trial
    for name, mode in (("a", "bare"), ("b", "container")):
        said = base.model_copy(
            update={"treatment": {"mode": mode}, "chapter": "some", "profile": "smoke"}
        )
        facts = {"lacks/limits": "no control groups"}
        write_synthetic(tmp_path / "bundles", name, spec=said, execution_facts=facts)
    lab = lab_of(project, str(tmp_path / "bundles"))
    limited = limited_modes(lab, choose_modes(lab, [*MODES]))
    assert limited.present == ("container",)
    assert limited.missing["bare"] == "no control groups"


def test_unknown_modes_and_no_mode_are_refused(project: Project, tmp_path: Any) -> None:
    """The message names the modes there are, or why none of the wanted ones is there."""
    with pytest.raises(UsageError, match="'xen'"):
        choose_modes(lab_of(project), ["bare", "xen"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(UsageError, match="no bare: not measured"):
        choose_modes(lab_of(project, str(tmp_path / "empty")), ["bare"])
    with pytest.raises(UsageError, match="no mode"):
        choose_modes(lab_of(project), [])


def test_a_plan_makes_no_interfaces_to_find_out_about_links(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It takes for granted that they work, and says so; a run tries."""
    tier = FoundMode("namespace", "a network of its own", tried=False)
    monkeypatch.setattr("sizebook.lab.modes.glance_at_modes", lambda state, kinds: (tier,))
    monkeypatch.setattr("sizebook.lab.modes.missing_features", lambda guard: {"rate": "tried"})
    with planning_only() as plan:
        assert missing_of_links(lab_of(project, "measure")) == {}
    assert "links between hosts work" in plan.assumed


def test_a_mode_is_not_lacking_because_another_measurement_runs(project: Project) -> None:
    """A page would say so for good; whoever only asks is told what was tried."""
    with (
        measurement_lock("a test", project.state),
        pytest.raises(MeasurementLockedError, match="a test"),
    ):
        find_modes_here(project, ("container",))
    assert {one.reason for one in tried_modes(project, "busy", "wait")} == {"busy"}
