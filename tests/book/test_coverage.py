"""Each number, setting and claim of the reports is accounted for, with a chapter or a reason."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import pytest
from sample_book import PROJECT

from sizebook.book.chapters import find_chapters
from sizebook.book.ledger.coverage import count, find_coverage
from sizebook.book.ledger.rows import read_ledger
from sizebook.book.site import list_pages
from sizebook.model.errors import UserError


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Give a folder with this book's data on the reports and their claims."""
    for inside in ("data/reported", "data/claims"):
        shutil.copytree(PROJECT / inside, tmp_path / inside)
    return tmp_path


def rows_in(table: str) -> int:
    with (PROJECT / "data" / "reported" / f"{table}.csv").open(newline="") as stream:
        return len(list(csv.DictReader(stream)))


def test_everything_that_the_reports_print_is_in_one_row(root: Path) -> None:
    """As many as the files have; a chapter is one of the book's, or there is a reason."""
    pages = list_pages(PROJECT / "book" / "_toc.yml")
    found = find_coverage(root, read_ledger(root, pages))
    assert count(found) == tuple(map(rows_in, ("measurements", "parameters", "claims")))
    chapters = {each.id for each in find_chapters(PROJECT)}
    for each in found:
        assert bool(each.chapters) != bool(each.reason), each
        assert set(each.chapters) <= chapters, each
    assert sum(each.claims["proxy"] for each in found) > 0


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            "itanium-2010,scenario,licensing,,prices of 2010\n",
            "",
            "no row for scenario 'licensing'",
        ),
        (",licensing,,", ",licences,,", "'licences'"),
        (",licensing,,prices", ",licensing,disk,prices", "with a chapter or a reason"),
        (",licensing,,prices of 2010", ",licensing,,", "with a chapter or a reason"),
    ],
)
def test_what_is_accounted_for_nowhere_is_a_message(
    root: Path, old: str, new: str, words: str
) -> None:
    """Found, expected, next step."""
    table = root / "data" / "claims" / "coverage.csv"
    before = table.read_text()
    table.write_text(before.replace(old, new))
    assert table.read_text() != before
    with pytest.raises(UserError, match=words):
        find_coverage(root, read_ledger(root, []))
