"""A chapter that shows trials of another one: made again in time, replayed with them."""

from __future__ import annotations

import shutil
from pathlib import Path

import nbformat
import pytest
from audited_book import CELLS, audit, bundle_of, change_bytes, found, write_trial

from sizebook.book.audit.auditing import Options, run_audit
from sizebook.book.audit.targets import folder_target
from sizebook.book.chapters import Chapter, get_chapter
from sizebook.book.crate.gather import gather_run
from sizebook.book.notebooks import is_up_to_date, run_chapter
from sizebook.book.records import read_records
from sizebook.store import Project

REPLAY = Options(replay=True, site=False)
GIVEN = {"profile": "quick"}
SHOW = """\
lent = lab.borrow("tiny", "formats")
page.table(tables.validity_table({**trials, "tiny": lent, "none": lab.borrow("tiny", "nothing")}),
           "both", "Own and borrowed trials (synthetic).", trials=[trials["formats"], lent])"""


def write_joined(root: Path, borrows: list[str]) -> Chapter:
    """Write the template of chapter ``joined``, which measures as ``tiny`` does and borrows its."""
    about = {"id": "joined", "title": "Joined", "part": "T", "order": 2, "sources": []}
    about |= {"kind": "chapter"} | ({"borrows": borrows} if borrows else {})
    notebook = nbformat.v4.new_notebook(metadata={"sizebook": about})
    (_, _, title), (_, _, given), (_, _, code) = CELLS[:3]
    code = code.replace('"tiny"', '"joined"').replace("load)\n", "load, probe_interval_s=60.0)\n")
    notebook.cells = [
        nbformat.v4.new_markdown_cell(title, id="joined-0"),
        nbformat.v4.new_code_cell(given, id="joined-1", metadata={"tags": ["parameters"]}),
        nbformat.v4.new_code_cell(code, id="joined-2"),
        nbformat.v4.new_code_cell(SHOW, id="joined-3"),
    ]
    nbformat.write(notebook, root / "notebooks" / "11-joined.ipynb")
    return get_chapter(root, "joined")


@pytest.fixture
def joined(book: Path) -> Path:
    """Give a book with two chapters; half of what the second borrows is stale."""
    toc = book / "book" / "_toc.yml"
    toc.write_text(toc.read_text() + "- file: chapters/joined\n")
    for replicate in range(3):
        shutil.rmtree(bundle_of(book, f"atom-{replicate}"))
        write_trial(book, "atom", replicate, 1, stack="an older one")
        for position, name in enumerate(("json", "atom")):
            write_trial(book, name, replicate, position, chapter="joined")
    chapter = write_joined(book, ["tiny"])
    outcome = run_chapter(book, chapter, GIVEN)
    assert outcome.state == "ran", outcome.error
    return book


def test_borrowed_trials_are_evidence(joined: Path) -> None:
    """Cited by checksum, marked where stale, exported with the run; the audit verifies them."""
    page = joined / "book" / "chapters" / "joined.ipynb"
    [record] = [one for one in read_records(page).values() if one.kind == "table"]
    assert len(record.evidence["sources"]) == 12
    verdicts = [source["verdict"] for source in record.evidence["sources"]]
    assert verdicts.count("stale") == 3
    assert "3 of 12 trials stale" in record.fields["caption"]
    [run] = gather_run(joined, ["joined"]).chapters
    assert (len(run.bundles), len(run.read)) == (6, 6)
    report = audit(joined, REPLAY, chapters=["joined"])
    assert found(report) == set(), report.findings
    assert {one.place for one in report.findings if one.rule.startswith("AU112")} == {"tiny"}


def test_they_are_verified_elsewhere(joined: Path, tmp_path: Path) -> None:
    """A folder that somebody sent is replayed with the marks that the page has."""
    sent = tmp_path / "sent"
    shutil.copytree(joined / "data" / "runs", sent / "runs")
    shutil.copy(joined / "book" / "chapters" / "joined.ipynb", sent)
    report = run_audit(folder_target(sent, Project(joined)), REPLAY)
    assert not {rule for rule in found(report) if rule.startswith("AU3")}
    change_bytes(sent / "runs" / "tiny" / "json-0" / "requests.parquet")
    report = run_audit(folder_target(sent, Project(joined)), REPLAY)
    assert {"AU102", "AU208"} <= found(report)


def test_the_page_follows_what_it_borrows(joined: Path) -> None:
    """It is made again when the other chapter was measured again, and must name that chapter."""
    chapter = get_chapter(joined, "joined")
    assert is_up_to_date(joined, chapter, GIVEN)
    shutil.rmtree(bundle_of(joined, "atom-2"))
    assert not is_up_to_date(joined, chapter, GIVEN)
    outcome = run_chapter(joined, write_joined(joined, []), GIVEN)
    assert outcome.state == "failed"
    assert "borrows" in str(outcome.error)
