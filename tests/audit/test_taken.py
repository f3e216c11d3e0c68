"""A book made of published pages, on a machine where nothing was measured: its audit agrees."""

from __future__ import annotations

from pathlib import Path

from tests.working_copy import copy_project

from sizebook.book.audit.auditing import Options, run_audit
from sizebook.book.audit.targets import own_target
from sizebook.book.chapters import get_chapter
from sizebook.book.notebooks import run_chapter
from sizebook.book.published.pages import bring_page
from sizebook.store import Project


def test_pages_that_were_taken_tell_noise_by_the_rounds_calibration(tmp_path: Path) -> None:
    """Nothing was calibrated here; the page's own machine was.

    A page without trials is replayed in the project itself, of whose rounds it tells.
    """
    copy_project(tmp_path / "book")
    project = Project(tmp_path / "book")
    for name in ("calibration", "events"):
        outcome = bring_page(project.root, get_chapter(project.root, name), {})
        assert outcome.state == "published", outcome.error
    machine = get_chapter(project.root, "this-machine")
    assert run_chapter(project.root, machine, {"source": "published"}).state == "ran"
    target = own_target(project, ["events", "this-machine"])
    report = run_audit(target, options=Options(site=False))
    assert [str(each) for each in report.findings if each.severity == "error"] == []
    assert report.counts()["pages"].verified == 2
