"""A load that reads files: what it reads is part of its trials, and what failed is tried again."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sizebook.book.chapters import get_chapter
from sizebook.book.notebooks import run_chapter
from sizebook.book.scaffold import NewChapter, start_book
from sizebook.lab.measurement_cache import MOST_TRIES
from sizebook.lab.trials import compare_fingerprints
from sizebook.store import find_bundles, open_bundle

READER = """
import csv

from helper import keep
from sizebook.load.users import Expect, LeanHttpUser

class Reader(LeanHttpUser):
    role = "system"

    @classmethod
    def set_up(cls, setup):
        return [row["path"] for row in csv.DictReader(open("people.csv"))]

    def iteration(self):
        self.get(keep(self.shared[0]), name="page", check=Expect(status=200))
"""
BROKEN = "import csv\nROWS = list(csv.reader(open('people.csv')))\n" + READER


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A book of one chapter, two rates of which are loads that read files."""
    root = tmp_path / "book"
    start_book(root, "Mine", NewChapter("reads", "Reads"))
    notebook = next((root / "notebooks").glob("*.ipynb"))
    text = notebook.read_text()
    assert "[25.0, 50.0, 100.0]" in text and r"settings={\"path\": \"/\"}" in text
    text = text.replace("[25.0, 50.0, 100.0]", "[25.0, 50.0]")
    notebook.write_text(text.replace(r"settings={\"path\": \"/\"}", "settings={}"))
    (root / "locustfiles" / "helper.py").write_text("def keep(path):\n    return path\n")
    return root


def run(root: Path, **more):
    return run_chapter(root, get_chapter(root, "reads"), {"profile": "smoke"}, **more)


def measured(root: Path):
    bundles = [open_bundle(path) for path in find_bundles(root / "data" / "runs" / "reads")]
    return [one for one in bundles if one.record.trial.purpose == "measured"]


def outcomes(root: Path) -> list[str]:
    return [one.record.outcome for one in measured(root)]


def test_what_a_load_reads_is_part_of_its_trials(book):
    """Supplied, changed and put back: measured anew, anew, and not again; helpers count as well."""
    load = book / "locustfiles" / "reads.py"
    people = book / "locustfiles" / "people.csv"
    load.write_text(BROKEN)
    first = run(book)
    assert first.state == "ran"
    assert outcomes(book) == ["failed"] * 2
    failures = {one.record.failure for one in measured(book)}
    assert len(failures) == 1 and "people.csv" in failures.pop()
    starts = {one.record.execution.session for one in measured(book)} - {"none"}
    assert len(starts) <= 1  # one start is enough to find out; the other trial is told the same

    people.write_text("path\n/\n")
    assert run(book).state == "ran"
    assert outcomes(book) == ["failed"] * 2 + ["completed"] * 2
    done = measured(book)[-1].record
    assert sorted(done.fingerprints.data) == ["locustfiles/helper.py", "locustfiles/people.csv"]
    assert run(book).state == "up to date"

    people.write_text("path\n/files.html\n")
    (book / "locustfiles" / "helper.py").write_text("def keep(path):\n    return '/'\n")
    assert run(book).state == "ran"
    assert outcomes(book)[-2:] == ["completed"] * 2
    assert len(outcomes(book)) == 6
    now = measured(book)[-1].record
    assert now.key != done.key
    assert compare_fingerprints(done.fingerprints, now.fingerprints) == ("load data",)

    people.write_text("path\n/\n")
    (book / "locustfiles" / "helper.py").write_text("def keep(path):\n    return path\n")
    assert run(book).state == "ran"  # the page is made again, of the trials that there are
    assert len(outcomes(book)) == 6
    page = json.dumps(json.loads((book / "book" / "chapters" / "reads.ipynb").read_text()))
    assert all(one.id in page for one in measured(book)[2:4])


def test_what_failed_is_tried_again_a_few_times(book):
    """Each run tries it once more and says so, until the bound; --force tries it then, too.

    The failed ones stay, and one that completes counts from then on.
    """
    load = book / "locustfiles" / "reads.py"
    load.write_text(BROKEN.replace("people.csv", "/proc/no-such-file"))
    run(book)
    for tries in range(2, MOST_TRIES + 1):
        again = run(book)
        assert (again.state, again.note) == ("ran", "2 trials that failed: tried again")
        assert len(outcomes(book)) == 2 * tries
    last = run(book)
    assert last.state == "up to date"
    assert f"2 trials failed {MOST_TRIES} times each: not tried again" in last.note
    assert len(outcomes(book)) == 2 * MOST_TRIES
    run(book, force=True)
    assert outcomes(book) == ["failed"] * (2 * MOST_TRIES + 2)
