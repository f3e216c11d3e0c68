"""What was measured here beside what was published: the comparison that pages of the book show."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path

from sizebook.book.compared.comparing import compare_runs
from sizebook.book.compared.comparison import RunComparison
from sizebook.book.compared.pages import results_of_run
from sizebook.book.compared.sides import OWN, PUBLISHED, open_side
from sizebook.store import Project
from sizebook.store.plain_files import plain_size
from sizebook.store.rounds import PAGES, Published, find_rounds, newest_packs, open_published


def compare_with_published(project: Project) -> RunComparison | None:
    """Return the comparison of the published chapters (A) with those measured here (B).

    It has every chapter that both have and that is not simply the published page, nor the same
    trials shown again; None if there is no such chapter. Raises UserError for notebooks that
    cannot be read, BundleError for damaged trials or packs.
    """
    packs = newest_packs(find_rounds(project))
    chapters = _measured_here(project, packs) if packs else []
    if not chapters:
        return None
    with tempfile.TemporaryDirectory(prefix="sizebook-beside-") as folder:
        sides = [open_side(name, project, Path(folder)) for name in (PUBLISHED, OWN)]
        found = compare_runs(*sides, chapters=chapters)
    shown = {pair.chapter for pair in found.chapters if not pair.same_trials}
    refused = {each.chapter for each in found.refused}
    return found if shown | refused else None


def _measured_here(project: Project, packs: Mapping[str, Published]) -> list[str]:
    """Return the published chapters whose page in the book is another one than the published."""
    published = open_published(project) / PAGES
    names = [f"{chapter}.ipynb" for chapter in packs]
    there = [name for name in names if plain_size(project.chapters, name) is not None]
    other = [name for name in there if not _same(project.chapters / name, published / name)]
    if not other:
        return []
    results = results_of_run(project.chapters)
    chapters = [Path(name).stem for name in other]
    return [each for each in chapters if results[each].claims or results[each].cited]


def _same(page: Path, published: Path) -> bool:
    return published.is_file() and page.read_bytes() == published.read_bytes()
