"""Pages of the book taken from published rounds instead of being executed again.

An executed notebook of a round has proved that its pack makes it. Where the template is still the
one that it was made from it is taken as it is; ``sizebook audit --published`` executes it again.
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sizebook.book.audit.outputs import ExecutedPage, read_cells, read_page
from sizebook.book.audit.targets import PageFile
from sizebook.book.chapters import Chapter, ParameterValue
from sizebook.book.notebooks import ProgressLine, RunOutcome, hash_cells, run_chapter
from sizebook.book.published.choosing import measures
from sizebook.model.errors import UserError
from sizebook.store import Project
from sizebook.store.rounds import PAGES, find_rounds, newest_packs, open_published

SOURCE = "published"
_OF_THE_RUN = {"profile", "replicates", "source"}
"""Parameters that a published page has its own of."""


def is_published(project: Project, chapter: Chapter) -> bool:
    """Return whether a round has the chapter."""
    return chapter.id in newest_packs(find_rounds(project))


def bring_page(
    root: Path,
    chapter: Chapter,
    given: Mapping[str, ParameterValue],
    *,
    force: bool = False,
    on_progress: Callable[[ProgressLine], None] | None = None,
) -> RunOutcome:
    """Put the page of a chapter into the book without measuring: published, or executed now.

    One that shows trials which no round has is reported as not published. ``force`` executes it in
    any case. Raises BundleError for a damaged pack.
    """
    project = Project(root)
    taken = None if force else take_page(project, chapter, given)
    if taken is not None:
        return taken
    if measures(chapter) and not is_published(project, chapter):
        words = (
            f"no round in data/published has it; sizebook run {shlex.quote(chapter.id)} measures it"
        )
        return RunOutcome(chapter.id, "not published", 0.0, error=words)
    asked = {**given, **made_with(project, chapter)}
    return run_chapter(root, chapter, asked, force=force, on_progress=on_progress)


def take_page(project: Project, chapter: Chapter, given: Mapping[str, Any]) -> RunOutcome | None:
    """Put the published page of a chapter into the book; None where it must be executed.

    That is so where no round has it, where the template has changed since, or where other
    parameters are ``given`` than it was made with. Raises BundleError for a damaged pack.
    """
    if not is_published(project, chapter):
        return None
    name = f"{chapter.id}.ipynb"
    page = open_published(project) / PAGES / name
    if not _fits(_read(page), chapter, given):
        return None
    target = project.chapters / name
    data = page.read_bytes()
    if target.is_file() and target.read_bytes() == data:
        return RunOutcome(chapter.id, "up to date", 0.0, page=target)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_name(f".{name}.partial")
    partial.write_bytes(data)
    partial.replace(target)
    return RunOutcome(chapter.id, "published", 0.0, page=target)


def made_with(project: Project, chapter: Chapter) -> dict[str, ParameterValue]:
    """Return profile and replicates of a published chapter: its trials are of these alone.

    Empty where no round has it. Raises UserError for a page that cannot be read.
    """
    if not is_published(project, chapter):
        return {}
    made = _read(open_published(project) / PAGES / f"{chapter.id}.ipynb").run.get("parameters")
    names = {parameter.name for parameter in chapter.parameters} & (_OF_THE_RUN - {"source"})
    return {name: made[name] for name in names if name in made} if isinstance(made, dict) else {}


def _read(page: Path) -> ExecutedPage:
    try:
        return read_page(PageFile(page.stem, page))
    except (OSError, ValueError) as error:
        raise UserError(
            found=f"the published page {page.name} with {str(error)[:200]}",
            expected="an executed notebook",
            next_step="get a fresh copy of the book",
        ) from error


def _fits(page: ExecutedPage, chapter: Chapter, given: Mapping[str, Any]) -> bool:
    defaults = {parameter.name: parameter.default for parameter in chapter.parameters}
    made = page.run.get("parameters")
    if not isinstance(made, dict):
        return False
    wanted = {**defaults, **given}
    same = all(made.get(name) == wanted[name] for name in wanted if name not in _OF_THE_RUN)
    return same and page.cells_sha256 == hash_cells(read_cells(chapter.notebook))
