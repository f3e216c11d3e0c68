"""The plan of a chapter is what its notebook would have measured, found out without a trial."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
from synthetic_bundles import write_synthetic

from sizebook.book.chapters import get_chapter
from sizebook.book.notebooks import run_chapter
from sizebook.book.planning import PlannedChapter, plan_chapter
from sizebook.hosts import modes as tried
from sizebook.hosts.kinds import ModeKind, mode_kinds
from sizebook.hosts.modes import glance_at_modes
from sizebook.lab import modes
from sizebook.lab.measurement_cache import present_fingerprints
from sizebook.model.errors import HostLacksError
from sizebook.store import Project, cache_key

TemplateWriter = Callable[..., Path]

PARAMETERS = """\
profile = "smoke"
source = "measure"
seed = 1
users = [1, 2]
wanted = ["bare"]
"""
DESIGN = """\
from sizebook.lab import ChapterLab, Setup, choose_modes, null_server, place
from sizebook.model.design import Design, Factor
from sizebook.model.load import ClosedLoop, LoadProfile
lab = ChapterLab("tiny", profile=profile, source=source, seed=seed)
here = place()
chosen = choose_modes(lab, wanted)
lab.add(
    Design("tiny", (Factor("users", tuple(users)), Factor("mode", chosen.present)), 1, seed),
    lambda t: Setup(
        null_server(here),
        LoadProfile(
            locustfile="null.py", arrivals=ClosedLoop(users=t["users"]), phases=lab.profile.phases
        ),
    ),
)
trials = lab.run()
"""
MEASURES = """\
from sizebook.lab.measuring import measure
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give an empty project that this process is in."""
    (tmp_path / "_config.yml").touch()
    (tmp_path / "locustfiles").mkdir()
    (tmp_path / "locustfiles" / "null.py").write_text("# asks for nothing\n")
    monkeypatch.setenv("SIZEBOOK_ROOT", str(tmp_path))
    return tmp_path


def plan(root: Path, **parameters: Any) -> PlannedChapter:
    return plan_chapter(get_chapter(root, "tiny"), parameters)


def treatments(planned: PlannedChapter) -> list[Mapping[str, Any]]:
    return [dict(trial.treatment) for session in planned.missing for trial in session.trials]


def test_a_plan_follows_notebook_parameters_and_bundles(
    write_template: TemplateWriter, root: Path
) -> None:
    """Change one of them, and the next plan is another: nothing of an earlier one is kept."""
    write_template(DESIGN, parameters=PARAMETERS)
    first = plan(root)
    assert sorted(one["users"] for one in treatments(first)) == [1, 2]
    assert sorted(one["users"] for one in treatments(plan(root, users=[3]))) == [3]

    [spec] = [t for s in first.missing for t in s.trials if t.treatment["users"] == 1]
    key = cache_key(spec, present_fingerprints(Project(root), spec))
    write_synthetic(root / "data" / "runs" / "tiny", "one", spec=spec, key=key)
    assert [one["users"] for one in treatments(plan(root))] == [2]

    write_template(DESIGN.replace("null_server(here)", "null_server(here, body_bytes=7)"),
                   parameters=PARAMETERS)  # fmt: skip
    assert sorted(one["users"] for one in treatments(plan(root))) == [1, 2]


def test_a_page_is_planned_without_running_it_and_cannot_measure(
    write_template: TemplateWriter, root: Path
) -> None:
    """So an empty plan is true: a page that reaches for the means of measuring fails."""
    write_template(MEASURES, kind="page")
    assert plan(root).sessions == ()
    chapter = get_chapter(root, "tiny")
    assert run_chapter(root, chapter, {}).state == "failed"
    assert run_chapter(root, dataclasses.replace(chapter, kind="chapter"), {}).state == "ran"


def test_a_plan_tries_no_mode_and_says_what_it_takes_for_granted(
    write_template: TemplateWriter, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is looked at decides; what only a trial tells is named, once it was tried no more."""

    def missing() -> None:
        raise HostLacksError(found="no such program", expected="one", next_step="install it")

    def try_it() -> None:
        raise AssertionError("a plan started something")

    kinds = (
        ModeKind("container", "a container", try_it, glance=lambda: None),
        ModeKind("paravirtual-kernel", "a guest", missing),
    )
    monkeypatch.setattr(modes, "mode_kinds", lambda _: kinds)
    monkeypatch.setattr(modes, "examine_modes", lambda *_: try_it())
    write_template(DESIGN, parameters=PARAMETERS)
    found = plan(root, wanted=["bare", "container", "paravirtual-kernel"])
    assert {one["mode"] for one in treatments(found)} == {"bare", "container"}
    assert found.assumed == ("mode container works",)
    assert not (root / ".sizebook").exists()


def test_what_was_tried_counts_more_than_a_look(tmp_path: Path) -> None:
    """Every kind can be glanced at; a mode that a trial found wanting is not planned again."""
    (bare,) = (kind for kind in mode_kinds(tmp_path) if kind.mode == "bare")
    works = dataclasses.replace(bare, glance=lambda: None)
    assert not glance_at_modes(tmp_path, [works])[0].tried
    tried._remember(tmp_path, works, tried.FoundMode("bare", "x", "a limit that never stopped it"))
    (found,) = glance_at_modes(tmp_path, [works])
    assert (found.available, found.tried) == (False, True)


def test_planning_loads_no_chart_library_unless_the_notebook_draws_first(
    write_template: TemplateWriter, root: Path
) -> None:
    """The libraries that draw cost more than the plan; a notebook that needs one early gets it."""
    asks = (
        "import json, sys\n"
        "from sizebook.cli.main import app\n"
        "app(['plan', '--json'], standalone_mode=False)\n"
        "print(json.dumps([name in sys.modules for name in ('altair', 'altair.vegalite')]))\n"
    )

    def planned(*cells: str) -> tuple[Any, Any]:
        write_template(*cells, DESIGN, parameters=PARAMETERS)
        done = subprocess.run(
            [sys.executable, "-c", asks], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        *plan_lines, loaded = done.stdout.splitlines()
        return json.loads("\n".join(plan_lines))[0]["trials"], json.loads(loaded)

    assert planned("from sizebook.report import Page, charts") == (2, [False, False])
    drawn = "import altair as alt\nassert alt.Chart().mark_point().to_dict()['mark']"
    assert planned(drawn) == (2, [True, True])
