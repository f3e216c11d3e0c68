"""Published pages do not contradict themselves, each other, or the claims that they cite."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sizebook.book.audit.agreement.checking import find_disagreements
from sizebook.book.audit.agreement.claimed import comparisons_of
from sizebook.book.audit.agreement.quoted import check_quoted
from sizebook.book.audit.agreement.shown import shown_numbers
from sizebook.book.audit.outputs import ExecutedPage, read_cells, read_page
from sizebook.book.audit.targets import PageFile
from sizebook.book.chapters import find_chapters
from sizebook.book.notebooks import hash_cells
from sizebook.store import Project
from sizebook.store.rounds import find_rounds, newest_packs

PROJECT = Project(Path(__file__).parents[2])
Treatments = dict[str, dict[str, Any]]


def members(archive: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the records of trials and the executed notebooks in a pack."""
    with tarfile.open(archive) as pack:
        for member in pack:
            if member.name.endswith(("/trial.json", ".ipynb")):
                file = pack.extractfile(member)
                assert file is not None
                yield member.name, file.read()


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[ExecutedPage], Treatments]:
    """Give the newest published page of each chapter, and the treatment of every trial.

    A page whose notebook has changed since is left out: the book makes it anew of its trials.
    """
    folder = tmp_path_factory.mktemp("pages")
    present = {
        each.id: hash_cells(read_cells(each.notebook)) for each in find_chapters(PROJECT.root)
    }
    pages, treatments = [], Treatments()
    for chapter, pack in newest_packs(find_rounds(PROJECT)).items():
        for archive in pack.paths:
            for name, data in members(archive):
                if name.endswith("/trial.json"):
                    treatments[name.split("/")[-2]] = json.loads(data)["trial"]["treatment"]
                    continue
                path = folder / f"{chapter}.ipynb"
                path.write_bytes(data)
                page = read_page(PageFile(f"chapters/{chapter}", path))
                if page.run.get("template_sha256") == present.get(chapter):
                    pages.append(page)
    return pages, treatments


def test_published_pages_agree(published: tuple[list[ExecutedPage], Treatments]) -> None:
    """No number, claim or sentence of a published page contradicts another."""
    assert find_disagreements(*published, {}) == []


def test_the_book_s_own_pages_agree(published: tuple[list[ExecutedPage], Treatments]) -> None:
    """The landing page says of a claim what its measure is."""
    assert list(check_quoted(PROJECT.book, published[0])) == []


def test_the_check_sees_what_is_published(published: tuple[list[ExecutedPage], Treatments]) -> None:
    """Many numbers and claims are told apart by measure and trials: it is no empty promise."""
    pages, treatments = published
    numbers = [one for page in pages for one in shown_numbers(page, treatments)]
    known = [one for one in comparisons_of(pages, treatments) if one.known]
    assert len(numbers) > 1000
    assert len(known) > 80
    assert len({one.page for one in numbers}) > 10
