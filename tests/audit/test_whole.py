"""The whole audit: clean books, changed sites, the command and its output."""

from __future__ import annotations

import json
import shutil
import zipfile
from pathlib import Path

import nbformat
import pytest
from audited_book import audit, found
from papermill.exceptions import PapermillExecutionError
from typer.testing import CliRunner

from sizebook.book.audit.auditing import Options
from sizebook.book.audit.contents import plain_svg
from sizebook.book.audit.rules import RULES, SEVERITIES
from sizebook.book.kernel import NotebookRun
from sizebook.cli.main import app
from sizebook.model.errors import UsageError

PROJECT = Path(__file__).parents[2]


def command(monkeypatch: pytest.MonkeyPatch, root: Path, *words: str) -> tuple[int, str]:
    """Run ``sizebook audit`` for a book; return exit code and standard output."""
    monkeypatch.setenv("SIZEBOOK_ROOT", str(root))
    done = CliRunner().invoke(app, ["audit", *words], catch_exceptions=False)
    return done.exit_code, done.stdout


def test_an_untouched_book_is_verified(audited_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody touched it: exit code 0, everything counted and verified, and JSON that says so."""
    code, text = command(monkeypatch, audited_root, "--json")
    said = json.loads(text)
    assert [one for one in said["findings"] if one["severity"] == "error"] == []
    assert code == 0
    assert (said["format"], said["version"], said["verified"]) == ("sizebook-audit", 1, True)
    assert said["skipped"] == []
    assert {kind: (n["checked"], n["verified"]) for kind, n in said["counts"].items()} == {
        "figures": (1, 1),
        "tables": (1, 1),
        "numbers": (4, 4),
        "prose": (1, 1),
        "claims": (1, 1),
        "bundles": (6, 6),
        "pages": (1, 1),
    }
    assert [one["place"] for one in said["findings"] if one["rule"] == "AU304-moment"] == [
        "chapters/tiny#clock"
    ]


def test_a_changed_site_is_found(built_book: Path) -> None:
    """A number changed in the HTML, a page put in and one taken out are three errors."""
    site = built_book / "_build" / "html"
    index = site / "index.html"
    assert "398" in index.read_text()
    index.write_text(index.read_text().replace("398", "498"))
    shutil.copy(index, site / "more.html")
    (site / "notes.html").unlink()
    report = audit(built_book, Options(replay=False, site=True))
    errors = {one.rule[:5]: one for one in report.findings if one.severity == "error"}
    assert {rule: one.place for rule, one in errors.items()} == {
        "AU401": "_build/html/index.html",
        "AU402": "_build/html/notes.html",
        "AU403": "_build/html/more.html",
    }
    assert "498" in errors["AU401"].found
    assert "398" in errors["AU401"].expected


def test_a_book_that_is_not_built_is_a_note(book: Path) -> None:
    """Without a site there is nothing to compare."""
    report = audit(book, Options(replay=False, site=True))
    assert found(report) == set()
    assert "AU405" in found(report, "note")


def test_what_is_left_out_is_said(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A quick audit without an error ends with 0, and neither text nor JSON calls it the whole."""
    code, text = command(monkeypatch, book, "--quick")
    assert code == 0
    assert "not the whole audit: replay, site left out" in text
    assert "1 of 1 figures, 1 of 1 tables, 4 of 4 numbers, 1 of 1 claims verified" in text
    code, text = command(monkeypatch, book, "--quick", "--json", "--chapter", "tiny")
    said = json.loads(text)
    assert (code, said["verified"]) == (0, False)
    assert said["skipped"] == ["replay", "site", "other chapters"]


def test_an_error_is_the_exit_code(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One error finding makes 1; each finding says where, and what to do next."""
    (book / "data" / "runs" / "tiny" / "json-0" / "notes.txt").write_text("x")
    code, text = command(monkeypatch, book, "--quick")
    assert code == 1
    assert "error AU103-unnamed-file data/runs/tiny/json-0: notes.txt is not in the record" in text
    assert "next (AU103): Look at what it is" in text
    code, text = command(monkeypatch, book, "--json", "--quick", str(book / "data" / "runs"))
    assert code == 1
    [one] = json.loads(text)["findings"]
    assert set(one) == {
        "rule", "severity", "place", "message", "found", "expected", "next_step",
    }  # fmt: skip


def test_an_archive_is_audited(book: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Bundles in a zip file are unpacked and audited; a damaged one makes one finding."""
    archive, bundle = tmp_path / "sent.zip", book / "data" / "runs" / "tiny" / "json-0"
    with zipfile.ZipFile(archive, "w") as sent:
        for path in sorted(bundle.iterdir()):
            sent.write(path, f"json-0/{path.name}")
    code, text = command(monkeypatch, book, "--json", str(archive))
    said = json.loads(text)
    assert (code, said["target"]) == (0, "sent.zip")
    assert said["counts"]["bundles"] == {"checked": 1, "verified": 1}
    archive.write_bytes(archive.read_bytes()[:-30])
    code, text = command(monkeypatch, book, "--json", str(archive))
    assert (code, [one["rule"] for one in json.loads(text)["findings"]]) == (1, ["AU101-record"])


def test_bad_usage_is_said(book: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two targets at once is exit code 2; nothing there, or an unknown chapter, a UsageError."""
    assert command(monkeypatch, book, "--published", str(book))[0] == 2
    for words in (["nowhere"], ["--published"], ["--chapter", "none"], [str(book / "book")]):
        with pytest.raises(UsageError):
            command(monkeypatch, book, *words)


@pytest.mark.site
@pytest.mark.parametrize("module", ["sizebook.lab.measuring", "sizebook.lab.bench"])
def test_a_replay_cannot_measure(tmp_path: Path, module: str) -> None:
    """In a kernel that may not measure, the machinery of measuring cannot be imported."""
    notebook = nbformat.v4.new_notebook()
    notebook.cells = [nbformat.v4.new_code_cell(f"import {module}")]
    template = tmp_path / "asks.ipynb"
    nbformat.write(notebook, template)
    run = NotebookRun(
        template, tmp_path / "out.ipynb", {}, folder=tmp_path, environment={}, may_measure=False
    )
    with pytest.raises(PapermillExecutionError, match=r"sizebook\.lab\.bench"):
        run.finish(lambda: None, 1.0)


def test_pictures_are_compared_without_their_counters() -> None:
    """vl-convert numbers clip paths and gradients on in one process: that is no difference."""
    assert plain_svg('<a id="clip7"/> url(#clip9) #clip7') == '<a id="clip1"/> url(#clip2) #clip1'
    again = [f'<b id="gradient_{n}"/> url(#gradient_{n}) #clip{n}' for n in (0, 4)]
    assert plain_svg(again[0]) == plain_svg(again[1])


def test_every_rule_is_documented_and_used() -> None:
    """Ids are unique and in order, severities known, and the code names every rule."""
    ids = [rule.id for rule in RULES]
    assert ids == sorted(set(ids))
    assert {rule.severity for rule in RULES} <= set(SEVERITIES)
    for rule in RULES:
        assert all((rule.title, rule.meaning, rule.remedy)), rule.id
    book = PROJECT / "src" / "sizebook" / "book"
    paths = [path for name in ("audit", "crate") for path in (book / name).rglob("*.py")]
    code = "".join(path.read_text() for path in paths if not path.stem.endswith("rules"))
    assert [rule_id for rule_id in ids if f'"{rule_id}"' not in code] == []


def test_reported_data_have_their_list_of_checksums() -> None:
    """The list in the tree is that of the tables in the tree."""
    from sizebook.book.audit.findings import AuditReport
    from sizebook.book.audit.reported import audit_reported
    from sizebook.store import Project

    report = AuditReport("tree")
    audit_reported(Project(PROJECT), report)
    assert report.findings == []
