"""Runs that readers sent are checked, counted once, and shown with what came out."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from audited_book import write_pages
from compared_runs import ROUND, make_run, publish
from typer.testing import CliRunner

from sizebook.book.compared.reproductions import (
    ReproducedChapter,
    Reproduction,
    add_reproduction,
    check_run,
    count_chapters,
    read_reproductions,
    reproductions_folder,
)
from sizebook.book.crate.export import export_crate
from sizebook.book.site import build_site
from sizebook.cli.main import app
from sizebook.model.errors import BundleError, UsageError, UserError
from sizebook.store import Project

ELSEWHERE = {"cpu_model": "Another processor"}


@pytest.fixture(scope="module")
def book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a book with a published round; tests work in copies."""
    root = make_run(tmp_path_factory.mktemp("books") / "book")
    publish(root, root)
    return root


@pytest.fixture(scope="module")
def crates(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Give what readers sent, as archives: repeated, another machine's, and a slower one's."""
    folder = tmp_path_factory.mktemp("sent")
    runs = {
        "again": make_run(folder / "again", offset_ns=7_000, day="2026-04-01"),
        "elsewhere": make_run(
            folder / "elsewhere", offset_ns=9_000, day="2026-05-01", machine=ELSEWHERE
        ),
        "slower": make_run(folder / "slower", slow={"json": 3.0}, day="2026-06-01"),
    }
    return {name: export_crate(run, folder / f"{name}.zip").path for name, run in runs.items()}


@pytest.fixture
def project(book: Path, tmp_path: Path) -> Project:
    """Give a copy of the book."""
    return Project(Path(shutil.copytree(book, tmp_path / "project")))


def ask(project: Project, *words: str) -> tuple[int, str]:
    """Run ``sizebook reproductions``; return exit code and standard output."""
    env = {"SIZEBOOK_ROOT": str(project.root)}
    done = CliRunner().invoke(app, ["reproductions", *words], env=env)
    if isinstance(done.exception, UserError):
        raise done.exception
    return done.exit_code, done.stdout


def test_runs_are_counted_by_machine_with_what_came_out(project: Project, crates) -> None:
    """One machine agrees within 5 %; on another claims alone count; a slower one contradicts."""
    code, _ = ask(project, str(crates["again"]), str(crates["elsewhere"]))
    assert code == 0
    first, second = read_reproductions(project)
    (one,), (other,) = first.chapters, second.chapters
    assert (one.state, one.closeness, one.tolerance, one.round) == (
        "reproduced", "same host", 1.05, ROUND,
    )  # fmt: skip
    assert (one.claims, set(one.ratios), one.trials) == ({"agree": 1}, {"within"}, 6)
    assert (other.state, other.closeness, other.tolerance) == ("reproduced", "other class", None)
    assert set(other.ratios) == {"not judged"}
    assert first.machine != second.machine
    assert (first.first_day, first.last_day) == ("2026-04-01", "2026-04-01")
    said = json.loads(ask(project, "--json")[1])
    (count,) = said["chapters"]
    assert (count["machines"], count["judged"], count["within"]) == (2, 1, 1)
    assert count["states"] == {"reproduced": 2, "contradicted": 0, "open": 0}
    # the first machine again, later and slower: its newest run counts
    _, out = ask(project, str(crates["slower"]))
    assert "3 runs from 2 machines" in out
    (newest,) = count_chapters(read_reproductions(project))
    assert newest.states == {"reproduced": 1, "contradicted": 1, "open": 0}
    assert (newest.machines, newest.judged, newest.within) == (2, 1, 0)


def test_what_is_kept_names_nobody(project: Project, crates) -> None:
    """Counts, days and facts of the machine; no path, no trial's own content."""
    ask(project, str(crates["again"]), "--no-replay")
    (file,) = reproductions_folder(project).iterdir()
    assert file.name.startswith("2026-04-01-")
    assert set(json.loads(file.read_text())) == set(Reproduction.model_fields)
    assert str(crates["again"].parent) not in file.read_text()


def test_a_run_counts_once_and_the_published_one_never(
    project: Project, crates, tmp_path: Path
) -> None:
    """The same trials under another name are the same run."""
    ask(project, str(crates["again"]), "--no-replay")
    renamed = shutil.copy(crates["again"], tmp_path / "other.zip")
    with pytest.raises(UsageError, match="counted already"):
        ask(project, str(renamed), "--no-replay")
    own = export_crate(project.root, tmp_path / "own.zip").path
    with pytest.raises(UsageError, match="the published trials themselves"):
        ask(project, str(own), "--no-replay")
    assert len(read_reproductions(project)) == 1


def test_a_run_that_fails_the_audit_is_refused(project: Project, crates, tmp_path: Path) -> None:
    """A page that says something else than its trials is found by making it again."""
    folder = make_run(tmp_path / "forged", offset_ns=5_000, day="2026-07-01")
    page = folder / "book" / "chapters" / "tiny.ipynb"
    content = json.loads(page.read_text())
    for cell in content["cells"]:
        for output in cell.get("outputs", []):
            said = output.get("metadata", {}).get("sizebook", {})
            if said.get("kind") == "claim":
                said["claim"]["effect"] = said["claim"]["high"]
    page.write_text(json.dumps(content))
    sent = export_crate(folder, tmp_path / "forged.zip").path
    with pytest.raises(UserError, match=r"errors in forged\.zip"):
        check_run(sent, project, make_folder(tmp_path / "unpacked"))
    assert read_reproductions(project) == []


def test_what_cannot_be_compared_is_refused_with_the_reason(
    project: Project, tmp_path: Path
) -> None:
    """A smoke run proves that it works, not how fast; and a path must be there."""
    smoke = make_run(tmp_path / "smoke", profile="smoke")
    sent = export_crate(smoke, tmp_path / "smoke.zip").path
    with pytest.raises(UsageError, match="smoke profile"):
        ask(project, str(sent), "--no-replay")
    with pytest.raises(UsageError, match="neither a run nor a path"):
        ask(project, str(tmp_path / "nowhere.zip"))


def make_folder(path: Path) -> Path:
    """Make a folder and give it."""
    path.mkdir()
    return path


def test_a_chapter_is_open_where_nothing_came_out_alike() -> None:
    """Neither a claim nor a ratio decides it; one that differs outweighs all that agree."""
    known = {"chapter": "x", "round": ROUND, "closeness": "same host", "tolerance": 1.05}
    states = {
        "open": ({"open": 2}, {"open": 5}),
        "reproduced": ({"open": 2}, {"open": 5, "within": 1}),
        "contradicted": ({"agree": 9}, {"within": 5, "beyond": 1}),
    }
    for state, (claims, ratios) in states.items():
        one = ReproducedChapter(**known, trials=3, claims=claims, ratios=ratios)
        assert one.state == state


def test_a_file_that_is_none_is_one_message(project: Project, crates, tmp_path: Path) -> None:
    """Nothing is counted from a file that somebody changed by hand."""
    found = check_run(crates["again"], project, make_folder(tmp_path / "unpacked"), replay=False)
    path = add_reproduction(project, found)
    path.write_text(path.read_text().replace('"trials": 6', '"trials": -6'))
    with pytest.raises(BundleError, match="reproductions"):
        read_reproductions(project)


def test_the_page_shows_counts_and_runs(project: Project, crates) -> None:
    """Nobody yet, and then one machine with its chapter."""
    write_pages(project.root)
    notes = project.book / "notes.md"
    notes.write_text(notes.read_text() + "\n```{sbreproductions}\n```\n")
    page = build_site(project.root).with_name("notes.html")
    assert "Nobody has sent a run yet." in page.read_text()
    ask(project, str(crates["again"]), "--no-replay")
    html = build_site(project.root).with_name("notes.html").read_text()
    for words in (
        "Runs that were sent: 1, from machines: 1.",
        "same host",
        "1 agree",
        "reproduced",
    ):
        assert words in html
