"""Failed trials of a chapter are counted and told once; a run in which all failed has failed."""

import json
from types import SimpleNamespace

import pytest
from sample_run import make_sample_run
from typer.testing import CliRunner

from sizebook.book import notebooks
from sizebook.book.failures import Failures, find_failures
from sizebook.book.notebooks import ProgressLine, RunOutcome
from sizebook.cli.main import app
from sizebook.cli.run import ProgressShown


def test_the_trials_that_a_page_shows_are_counted(tmp_path):
    """One of two failed; neither conditioning loads nor trials of other pages count."""
    root = make_sample_run(tmp_path)
    found = find_failures(root, "alpha", root / "book" / "chapters" / "alpha.ipynb")
    assert (found.trials, found.failed, found.is_total) == (2, 1, False)
    assert found.words == "1 of 2 trials failed: it did not start"
    beta = find_failures(root, "beta", root / "book" / "chapters" / "beta.ipynb")
    assert (beta.trials, beta.is_total, beta.words) == (0, False, "")


def test_each_reason_is_told_once_with_its_number():
    """The most frequent first, at most three of them."""
    assert Failures(3, (("no csv", 3),)).words == "3 of 3 trials failed: no csv"
    assert Failures(3, (("no csv", 3),)).is_total
    several = Failures(9, (("a", 4), ("b", 2), ("c", 1), ("d", 1)))
    assert several.words == "8 of 9 trials failed: 4: a; 2: b; 1: c; and 1 more reasons"
    assert not several.is_total


@pytest.mark.parametrize("state", ["ran", "up to date"])
@pytest.mark.parametrize(("failed", "code"), [(2, 1), (1, 0)])
def test_a_chapter_whose_trials_all_failed_is_a_failure(tmp_path, monkeypatch, state, failed, code):
    """Today and when it is asked for again; some that failed are told, and the chapter ran."""
    root = make_sample_run(tmp_path)
    for record in sorted((root / "data" / "runs" / "alpha").glob("t-[12]/trial.json"))[:failed]:
        told = json.loads(record.read_text())
        told |= {"outcome": "failed", "failure": "the CSV is not there"}
        record.write_text(json.dumps(told))
    for record in sorted((root / "data" / "runs" / "alpha").glob("t-[12]/trial.json"))[failed:]:
        told = json.loads(record.read_text())
        told |= {"outcome": "completed", "failure": ""}
        record.write_text(json.dumps(told))
    page = root / "book" / "chapters" / "alpha.ipynb"
    monkeypatch.setattr(
        notebooks, "run_chapter", lambda *_, **__: RunOutcome("alpha", state, 1.0, page=page)
    )
    monkeypatch.setenv("SIZEBOOK_ROOT", str(root))
    done = CliRunner().invoke(app, ["run", "alpha", "--profile", "smoke"])
    assert done.exit_code == code, done.output
    assert done.output.count("the CSV is not there") == 1
    assert f"{failed} of 2 trials failed" in done.output
    assert ("1 of 1 chapters failed" in done.output) == bool(code)


def test_where_nothing_was_published_taking_it_fails(tmp_path, monkeypatch):
    """Not one chapter of the book came: that is no success, whoever asked for all of them."""
    root = make_sample_run(tmp_path)
    monkeypatch.setenv("SIZEBOOK_ROOT", str(root))
    outcome = SimpleNamespace(error="no round has it", state="not published", page=None, note="")
    monkeypatch.setattr(
        "sizebook.book.published.pages.bring_page",
        lambda _, chapter, *__, **___: SimpleNamespace(**vars(outcome), chapter=chapter.id),
    )
    done = CliRunner().invoke(app, ["run", "--source", "published"])
    assert done.exit_code == 1
    assert "2 of 2 chapters failed" in done.output


def test_progress_tells_a_reason_once(capsys):
    """Three trials that fail alike are three steps and one message."""
    line = ProgressShown()
    for done in (1, 2, 3):
        line.update(ProgressLine(0.0, "c", done, 3, "failed: no module named x", 1.0))
    said = capsys.readouterr().err
    assert said.count("no module named x") == 1
    assert "3/3 trials" in said
