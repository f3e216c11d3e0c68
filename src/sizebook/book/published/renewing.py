"""Pages of published chapters made again from their own trials, after their templates changed.

Words, charts and analysis may change without a new measurement. The trials of the pack stay as they
are; a template that asks them what no page has asked before cannot be answered, and is refused.
Trials that it borrows are asked with all their requests where they are still at hand, so that a
chapter can be renewed when one that lends to it was measured again.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path

import nbformat

from sizebook.book.audit.bundles import AuditedBundle
from sizebook.book.audit.outputs import ExecutedPage, cited_by, read_page
from sizebook.book.audit.replay import execute_again, make_view
from sizebook.book.audit.targets import PageFile
from sizebook.book.chapters import Chapter
from sizebook.book.notebooks import INJECTED, stamp_page
from sizebook.book.published.choosing import Chosen
from sizebook.book.published.rehearsed import (
    Files,
    audit_bundles,
    audit_folders,
    borrowed_digests,
)
from sizebook.lab import calibration
from sizebook.model.errors import UserError
from sizebook.store import Bundle, Project, open_bundle
from sizebook.store.digest_recording import noted, rehearsing
from sizebook.store.rounds import BORROWED, PAGES, Published, unpack_together


def renew(
    project: Project, chapter: Chapter, packs: Mapping[str, Published], scratch: Path
) -> tuple[Chosen, Files]:
    """Return a published chapter with the page that the present template makes, and its files.

    ``packs`` are those that are read together, its own among them. Raises UserError for a template
    that cannot be executed on its trials.
    """
    view = unpack_together(packs, scratch / "view")
    name, page_file = f"{chapter.id}.ipynb", f"{PAGES}/{chapter.id}"
    before = read_page(PageFile(page_file, view / PAGES / name))
    own = audit_folders(view / chapter.id)
    published = audit_folders(*(view / lender for lender in chapter.borrows))
    lent = [_whole(project, each.bundle) or each for each in published]
    floor = audit_folders(view / calibration.CHAPTER, without={each.bundle.id for each in own})
    root = make_view(project, [*own, *lent, *floor], scratch / "project")
    again = scratch / "again"
    again.mkdir()
    notes = scratch / "notes"
    with rehearsing(notes):
        executed, failure = execute_again(before, chapter, [*own, *lent], root, again.resolve())
    if failure:
        raise UserError(
            found=f"{chapter.id}, whose template cannot be executed on its published trials: "
            f"{failure}",
            expected="a template that asks of them what their pages asked",
            next_step=f"sizebook run {shlex.quote(chapter.id)}, and publish what it measures",
        )
    _sign_off(project, chapter, before, executed, str(again.resolve() / "bundles"))
    page = read_page(PageFile(page_file, executed))
    cited = {each.bundle for out in page.results for each in cited_by(out)}
    borrowed = tuple(each.bundle for each in lent if each.bundle.id in cited)
    chosen = Chosen(chapter, page, tuple(each.bundle for each in own), borrowed)
    files = packs[chapter.id].read()
    return chosen, {
        **_still_lent(files, chapter, [each.bundle for each in lent]),
        **borrowed_digests([each.bundle for each in lent], noted(notes)),
        f"{PAGES}/{name}": executed.read_bytes(),
    }


def _whole(project: Project, lent: Bundle) -> AuditedBundle | None:
    """Return a lent trial with its requests, if it was measured here and is still there."""
    folder = project.runs / lent.record.trial.chapter / lent.id
    if not folder.is_dir():
        return None
    here = open_bundle(folder)
    return audit_bundles([here])[0] if here.sha256 == lent.sha256 else None


def _still_lent(files: Files, chapter: Chapter, lent: Sequence[Bundle]) -> Files:
    """Return the files without digests of trials that a lender no longer has.

    Those of calibrations stay: the noise of the pack's own machine is told by them.
    """
    known = {bundle.id for bundle in lent}

    def is_gone(name: str) -> bool:
        folder, *place = name.split("/")
        return folder == BORROWED and place[0] in chapter.borrows and place[1] not in known

    return {name: data for name, data in files.items() if not is_gone(name)}


def _sign_off(
    project: Project, chapter: Chapter, before: ExecutedPage, executed: Path, source: str
) -> None:
    """Write into a page how it was made: from a measurement, as the one before it."""
    node = nbformat.read(executed, as_version=4)  # type: ignore[no-untyped-call, unused-ignore]
    for cell in node.cells:
        if INJECTED in cell.metadata.get("tags", []):
            cell.source = cell.source.replace(source, "measure")
    nbformat.write(node, executed)  # type: ignore[no-untyped-call, unused-ignore]
    recorded = before.run.get("parameters")
    known = {parameter.name for parameter in chapter.parameters}
    given = recorded if isinstance(recorded, dict) else {}
    parameters = {name: value for name, value in given.items() if name in known}
    stamp_page(project.root, chapter, parameters, executed)
