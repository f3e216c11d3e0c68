"""A chapter that was measured here and is published ends with both side by side."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from audited_book import write_pages
from browser import Browser
from compared_runs import ROUND, make_run, publish
from site_check import check_page

from sizebook.book.compared.beside import compare_with_published
from sizebook.book.directives.beside import ANCHOR, TITLE
from sizebook.book.directives.beside_html import render_beside
from sizebook.book.site import build_site
from sizebook.model.errors import UserError
from sizebook.store import Project

PAGE = Path("_build/html/chapters/tiny.html")


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the run that is published."""
    return make_run(tmp_path_factory.mktemp("runs") / "published")


@pytest.fixture(scope="module")
def slower(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a run of one's own in which JSON takes three times as long."""
    return make_run(tmp_path_factory.mktemp("runs") / "slower", slow={"json": 3.0})


@pytest.fixture(scope="module")
def built(published: Path, slower: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a built book of the own run with the published one in it."""
    root = Path(shutil.copytree(slower, tmp_path_factory.mktemp("books") / "built"))
    publish(published, root)
    write_pages(root)
    build_site(root)
    return root


def copied(run: Path, target: Path) -> Project:
    """Give a copy of a run as a project."""
    return Project(Path(shutil.copytree(run, target)))


def test_the_page_ends_with_both_runs_and_what_they_say_together(built: Path) -> None:
    """Claim, ratios and differences, with the round's name; the verdicts are opposite."""
    html = (built / PAGE).read_text()
    section = html[html.index(f'id="{ANCHOR}"') :]
    assert TITLE in section
    assert f"round {ROUND}" in section
    assert "agree within 5 %" in section
    assert "data-agreement='differ'" in section
    assert "sb-is-confirmed" in section and "sb-is-contradicted" in section
    for words in ("CPU per request, app", "Throughput", "Latency, median"):
        assert words in section
    judged = {words: section.count(f"data-judged='{words}'") for words in ("within", "beyond")}
    found = compare_with_published(Project(built))
    assert found is not None
    assert judged == {
        words: sum(each.judged == words for each in found.metrics) for words in judged
    }
    assert judged["beyond"] > 0
    assert ANCHOR not in (built / "_build" / "html" / "notes.html").read_text()


def test_the_page_is_sound_in_a_browser(built: Path, browser: Browser) -> None:
    """Nothing complains, nothing is wider than the window, and the fold opens."""
    site = (built / "_build" / "html").resolve()
    assert check_page(browser, site, (built / PAGE).resolve()) == []
    folds = f"[...document.querySelectorAll('#{ANCHOR} details')]"
    assert browser.run(f"{folds}.length") >= 1
    browser.run(f"{folds}.forEach(fold => fold.open = true)")
    assert browser.run(f"{folds}.every(fold => fold.querySelector('table').clientHeight > 0)")


def test_nothing_is_beside_where_there_are_not_two_runs(published: Path, tmp_path: Path) -> None:
    """Without a round, with the published page itself, and with its trials shown again."""
    alone = copied(published, tmp_path / "alone")
    assert compare_with_published(alone) is None
    publish(published, alone.root)
    assert compare_with_published(alone) is None
    page = alone.chapters / "tiny.ipynb"
    page.write_text(page.read_text() + "\n")
    assert compare_with_published(alone) is None


def test_what_cannot_be_compared_is_said(published: Path, tmp_path: Path) -> None:
    """A smoke run: the section has the reason and what to run instead, and no number."""
    smoke = Project(make_run(tmp_path / "smoke", profile="smoke"))
    publish(published, smoke.root)
    found = compare_with_published(smoke)
    assert found is not None
    html = render_beside(found, "tiny")
    assert "smoke profile" in html and "sizebook run tiny --profile quick" in html
    assert "<table" not in html
    assert render_beside(found, "another") == ""


def test_text_of_a_page_stays_text(published: Path, slower: Path, tmp_path: Path) -> None:
    """A statement or reason may hold anything."""
    project = copied(slower, tmp_path / "project")
    page = project.chapters / "tiny.ipynb"
    hostile = "<script>window.stolen = 1</script>"
    content = json.loads(page.read_text())
    for cell in content["cells"]:
        for output in cell.get("outputs", []):
            said = output.get("metadata", {}).get("sizebook", {})
            if said.get("kind") == "claim":
                said["claim"] |= {"reason": hostile, "statement": hostile}
    page.write_text(json.dumps(content))
    publish(published, project.root)
    found = compare_with_published(project)
    assert found is not None
    html = render_beside(found, "tiny")
    assert "window.stolen" in html and "<script" not in html


def test_a_damaged_round_stops_the_build_with_its_name(
    published: Path, slower: Path, tmp_path: Path
) -> None:
    """A warning is an error: nobody reads a comparison with what was not published."""
    project = copied(slower, tmp_path / "project")
    folder = publish(published, project.root)
    pack = folder / "tiny.tar.xz"
    pack.write_bytes(pack.read_bytes()[:-1] + b"x")
    write_pages(project.root)
    with pytest.raises(UserError, match="which is not the file that was published"):
        build_site(project.root)
