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
from sizebook.hosts import mode_kind, qemu
from sizebook.hosts import modes as tried
from sizebook.hosts.bare import BARE
from sizebook.hosts.kinds import KINDS
from sizebook.hosts.mode_kind import ModeKind
from sizebook.hosts.modes import glance_at_modes
from sizebook.lab import modes
from sizebook.lab.measurement_cache import present_fingerprints
from sizebook.model.errors import HostLacksError, UsageError
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

    def missing(_: object) -> None:
        raise HostLacksError(found="no such program", expected="one", next_step="install it")

    def try_it(*_: object) -> None:
        raise AssertionError("a plan started something")

    kinds = (
        ModeKind("container", "a container", try_it, 7.0, glance=lambda _: None),
        ModeKind("paravirtual-kernel", "a guest", missing, 28.0),
    )
    monkeypatch.setattr(modes, "KINDS_HERE", kinds)
    monkeypatch.setattr(modes, "examine_modes", try_it)
    write_template(DESIGN, parameters=PARAMETERS)
    found = plan(root, wanted=["bare", "container", "paravirtual-kernel"])
    assert {one["mode"] for one in treatments(found)} == {"bare", "container"}
    assert found.assumed == ("mode container works",)
    assert not (root / ".sizebook").exists()


def test_what_was_tried_counts_more_than_a_look(tmp_path: Path) -> None:
    """Every kind can be glanced at; a mode that a trial found wanting is not planned again."""
    works = dataclasses.replace(BARE, glance=lambda _: None)
    assert not glance_at_modes(tmp_path, [works])[0].tried
    tried._remember(tmp_path, works, tried.FoundMode("bare", "x", "a limit that never stopped it"))
    (found,) = glance_at_modes(tmp_path, [works])
    assert (found.available, found.tried) == (False, True)


PUBLISHES = """\
import polars as pl
from sizebook.report import Page, tables
page = Page.of(lab, users=users)
page.table(
    tables.plain_table(pl.DataFrame({"a": [1]}), labels={"a": "A"}).cols_align("left", ["a"]),
    "before",
    "Known before anything was measured.",
)
page.prose("With {users} users at most.", users=max(users))
trials = lab.run()
"""
"""A chapter that shows what the reports printed before it asks for its own trials."""
UNUSED = ("altair", "great_tables", "IPython", "psycopg", "vl_convert")
ASKS = """\
import sys
from sizebook.cli.main import app
try:
    app(sys.argv[2:])
except SystemExit as end:
    assert not end.code, end.code
print([name for name in sys.argv[1].split(",") if name in sys.modules])
"""


def loaded(names: tuple[str, ...], *words: str) -> str:
    """Give the last line of a command: which of these modules it has loaded."""
    done = subprocess.run(
        [sys.executable, "-c", ASKS, ",".join(names), *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[-1]


def test_a_plan_loads_nothing_that_draws_or_talks_to_a_database(
    write_template: TemplateWriter, root: Path
) -> None:
    """Nobody sees the tables of a plan, and nothing is started."""
    write_template(DESIGN.replace("trials = lab.run()\n", ""), PUBLISHES, parameters=PARAMETERS)
    assert plan(root).trials == 2
    assert loaded(UNUSED, "plan") == "[]"


def test_what_is_said_of_a_page_in_a_plan_is_checked_and_asks_nobody(
    write_template: TemplateWriter, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong key is as wrong as when the page is run; Git is not started for its commit."""
    asked: list[object] = []
    monkeypatch.delenv("SIZEBOOK_COMMIT", raising=False)
    monkeypatch.setattr("sizebook.report.evidence._ask_git", lambda *words: asked.append(words))
    before = DESIGN.replace("trials = lab.run()\n", "")
    write_template(before, PUBLISHES, parameters=PARAMETERS)
    assert plan(root).trials == 2
    assert asked == []
    write_template(before, PUBLISHES.replace('"before"', '"No Key"'), parameters=PARAMETERS)
    with pytest.raises(ValueError, match="No Key"):
        plan(root)


def test_a_plan_follows_profile_load_profile_and_machine(
    write_template: TemplateWriter, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was true in one plan is looked at again in the next one of the same process."""
    here = {"container": True}

    def look(_: object) -> None:
        if not here["container"]:
            raise HostLacksError(found="no such program", expected="one", next_step="install it")

    kinds = (ModeKind("container", "a container", look, 7.0),)
    monkeypatch.setattr(modes, "KINDS_HERE", kinds)
    locustfile = root / "locustfiles" / "null.py"
    declares = 'class Load:\n    settings = {"size": Setting(1, greatest=%d)}\n'
    locustfile.write_text(declares % 9)
    phases = "phases=lab.profile.phases"
    set_size = DESIGN.replace(phases, f'{phases}, settings={{"size": 5}}')
    assert set_size != DESIGN
    write_template(set_size, parameters=PARAMETERS)
    both = ["bare", "container"]
    first = plan(root, wanted=both)
    assert {one["mode"] for one in treatments(first)} == set(both)

    here["container"] = False
    assert {one["mode"] for one in treatments(plan(root, wanted=both))} == {"bare"}

    quick = plan(root, profile="quick")
    assert quick.missing_s > plan(root, profile="smoke").missing_s

    locustfile.write_text(declares % 4)  # of the same length, and maybe within the same tick
    with pytest.raises(UsageError, match="size"):
        plan(root)


def test_modes_share_the_look_for_a_kernel_and_the_next_plan_looks_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its modules are read once for all modes that boot it, never for a later question."""
    looks: list[Path] = []
    monkeypatch.setattr(qemu, "look_for_root", lambda: None)
    monkeypatch.setattr(qemu, "find_qemu", lambda: None)
    monkeypatch.setattr(qemu, "look_for_device", lambda: None)
    monkeypatch.setattr(mode_kind, "find_kernel", looks.append)
    for questions in (1, 2):
        guests = [kind for kind in KINDS if kind.mode.startswith(("virtio", "emul"))]
        assert len(glance_at_modes(tmp_path, guests)) == 4
        assert looks == [tmp_path] * questions


def test_help_loads_no_frames_and_no_records() -> None:
    """Each command loads what it needs when it runs; pydantic is loaded by Typer itself."""
    heavy = ("polars", "numpy", "rich", "psutil", "yaml", "sizebook.model.records")
    for words in (["--help"], ["plan", "--help"], ["stack", "--help"], ["--version"]):
        assert loaded(heavy, *words) == "[]", words


def test_planning_loads_no_chart_library_unless_the_notebook_draws_first(
    write_template: TemplateWriter, root: Path
) -> None:
    """The libraries that draw cost more than the plan; a notebook that needs one early gets it."""
    asks = (
        "import contextlib, json, sys\n"
        "from sizebook.cli.main import app\n"
        "with contextlib.suppress(SystemExit):\n"
        "    app(['plan', '--json'])\n"
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
