"""What is audited: the own run, the published data, or a folder that somebody sent."""

from __future__ import annotations

import contextlib
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sizebook.book.chapters import find_chapters
from sizebook.book.crate.rules import is_crate
from sizebook.book.records import MOST_BYTES
from sizebook.book.site import list_pages
from sizebook.model.errors import UsageError
from sizebook.store import Project
from sizebook.store.bundles import COUNTERS, HISTOGRAMS, RECORD, REQUESTS
from sizebook.store.left_out import STAND_INS
from sizebook.store.plain_files import read_plain
from sizebook.store.rounds import Round, list_rounds, open_published

_PAGES = "chapters/"
_MAX_FOLDERS = 100_000
_NAME = re.compile(rb"[A-Za-z0-9._-]+")
"""What the name of a published bundle is made of."""


@dataclass(frozen=True)
class PageFile:
    """One executed notebook; ``name`` is how findings call it."""

    name: str
    path: Path

    @property
    def chapter(self) -> str:
        """Id of the chapter, by the file's name."""
        return self.path.stem


@dataclass(frozen=True)
class AuditTarget:
    """Bundles and executed notebooks, and what they are compared with."""

    words: str
    base: Path
    """Places of bundles are named from here."""
    project: Project | None
    """The checkout that has the templates; without one, bundles alone are audited."""
    bundles: tuple[Path, ...]
    headless: tuple[Path, ...] = ()
    """Folders that hold a bundle's tables and no record."""
    pages: tuple[PageFile, ...] = ()
    foreign: bool = False
    """Bundles from elsewhere, which may be made to do harm."""
    own: bool = False
    """This checkout's own run: its site and its reported data are part of it."""
    chapters: tuple[str, ...] = ()
    """The only chapters to audit; empty: all."""
    lenders: tuple[str, ...] = ()
    """Those whose trials they borrow."""

    def place(self, path: Path) -> str:
        """Return how findings name a file or folder of the target."""
        return (
            path.relative_to(self.base).as_posix() if path.is_relative_to(self.base) else path.name
        )


def own_target(project: Project, chapters: Sequence[str] = ()) -> AuditTarget:
    """Return the chapters of the table of contents, with the bundles in ``data/runs``.

    Raises UsageError for a chapter that is not in the table of contents.
    """
    toc = project.book / "_toc.yml"
    if not toc.is_file():
        raise UsageError(
            found="no book/_toc.yml here",
            expected="the folder that holds the book",
            next_step="change to the project's folder",
        )
    known = [
        name
        for name in list_pages(toc)
        if name.startswith(_PAGES) or (project.book / f"{name}.ipynb").exists()
    ]
    pages = tuple(PageFile(name, project.book / f"{name}.ipynb") for name in known)
    _check_known(chapters, [page.chapter for page in pages])
    lenders = _lenders(project, chapters)
    folders = [project.runs / name for name in (*chapters, *lenders)] or [project.runs]
    bundles, headless = _walk_all(folders)
    bundles += _published_and_cited(project, pages)
    return AuditTarget(
        words="own run",
        base=project.root,
        project=project,
        bundles=bundles,
        headless=headless,
        pages=tuple(page for page in pages if not chapters or page.chapter in chapters),
        own=True,
        chapters=tuple(chapters),
        lenders=lenders,
    )


def published_target(
    project: Project, rounds: Sequence[Round], chapters: Sequence[str] = ()
) -> AuditTarget:
    """Return the bundles and notebooks of published rounds, the newest of each chapter.

    Raises UsageError if there are none.
    """
    folder = open_published(project, rounds)
    return folder_target(folder, project, chapters, words="published data")


def folder_target(
    folder: Path, project: Project | None, chapters: Sequence[str] = (), words: str = ""
) -> AuditTarget:
    """Return the bundles at or below a folder, and the executed notebooks beside them.

    With ``words`` for what it is, the folder is one that came with this checkout.
    Links are not followed. Raises UsageError if there is no bundle.
    """
    bundles, headless = _walk_all([folder])
    if not bundles and not headless:
        raise UsageError(
            found=f"no bundle in {folder.name}",
            expected="a bundle (a folder with trial.json), or a folder or archive of bundles",
            next_step="see the page about the audit for what a bundle holds",
        )
    base = folder.parent if folder in bundles else folder
    place = folder / "book" / "chapters" if is_crate(folder) else folder
    inside = {*bundles, *headless}
    pages = [
        PageFile(path.relative_to(base).with_suffix("").as_posix(), path)
        for path in sorted(place.rglob("*.ipynb"))
        if not path.is_symlink() and not inside.intersection(path.parents)
    ]
    return AuditTarget(
        words=words or folder.name,
        foreign=not words,
        base=base,
        project=project,
        bundles=bundles,
        headless=headless,
        pages=tuple(page for page in pages if not chapters or page.chapter in chapters),
        chapters=tuple(chapters),
        lenders=_lenders(project, chapters),
    )


def _lenders(project: Project | None, chapters: Sequence[str]) -> tuple[str, ...]:
    """Return the other chapters whose trials these borrow, each once."""
    known = find_chapters(project.root) if chapters and project is not None else []
    lent = [name for each in known if each.id in chapters for name in each.borrows]
    return tuple(name for name in dict.fromkeys(lent) if name not in chapters)


def _published_and_cited(project: Project, pages: Iterable[PageFile]) -> tuple[Path, ...]:
    """Return the published bundles of chapters of which a page names one.

    It was made with ``--source published``. What it does not name, such as a trial that a later one
    replaced, belongs to it all the same: without it, sessions would have gaps.
    """
    if not list_rounds(project):
        return ()
    published, _ = _walk_all([open_published(project)])
    words: set[bytes] = set()
    for page in pages:
        with contextlib.suppress(OSError):  # a page that cannot be read is found later
            words.update(_NAME.findall(read_plain(page.path, MOST_BYTES, follow=True)))
    named = {path.parent for path in published if path.name.encode() in words}
    return tuple(path for path in published if path.parent in named)


def _walk_all(folders: Iterable[Path]) -> tuple[tuple[Path, ...], tuple[Path, ...]]:
    found = [each for folder in folders for each in _walk(folder)]
    bundles = tuple(path for path, headed in found if headed)
    return bundles, tuple(path for path, headed in found if not headed)


def _walk(folder: Path) -> Iterator[tuple[Path, bool]]:
    """Yield each folder that looks like a bundle, and whether it has a record."""
    for seen, (name, folders, files) in enumerate(os.walk(folder), start=1):
        if seen > _MAX_FOLDERS:
            raise UsageError(
                found=f"more than {_MAX_FOLDERS:,} folders in {folder.name}",
                expected="a folder of bundles",
                next_step="name the folder that holds the bundles",
            )
        folders[:] = sorted(each for each in folders if not each.startswith("."))
        if RECORD in files:
            folders.clear()
            yield Path(name), True
        elif {REQUESTS, COUNTERS, HISTOGRAMS, *STAND_INS}.intersection(files):
            folders.clear()
            yield Path(name), False


def _check_known(chapters: Sequence[str], known: Sequence[str]) -> None:
    unknown = [name for name in chapters if name not in known]
    if unknown:
        raise UsageError(
            found=f"no chapter {unknown[0]!r} in the book",
            expected=f"one of {', '.join(known) or 'none: there is no chapter'}",
            next_step="sizebook chapters",
        )
