"""What the words on a command line name: the own run, a published round, something sent."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sizebook.book.compared.pages import ChapterResults, results_of_run
from sizebook.book.compared.published import (
    ReadRound,
    list_names,
    read_folder,
    read_named,
    read_newest,
)
from sizebook.book.compared.trials import CitedTrials, read_trials
from sizebook.book.crate.received import unpack_crate
from sizebook.book.crate.rules import is_crate
from sizebook.model.errors import UsageError
from sizebook.store import Project
from sizebook.store.plain_files import need_plain
from sizebook.store.received import is_archive

OWN = "own"
PUBLISHED = "published"


@dataclass(frozen=True)
class ComparedRun:
    """One run: its results by chapter, and the trials behind them as far as they are at hand."""

    name: str
    results: dict[str, ChapterResults]
    trials: CitedTrials


def open_side(name: str, project: Project | None, into: Path) -> ComparedRun:
    """Return the run that ``name`` means; a crate's archive is unpacked ``into`` an empty folder.

    ``own``: the executed notebooks of ``project`` with ``data/runs``; ``published``: its newest
    round; a date: the round of that day; else a path to a round's folder, a crate (folder or zip),
    a project, or a folder of executed notebooks. What does not belong to the project is read as
    something that somebody sent. Raises UsageError for what is not there, UserError for notebooks
    that cannot be read and archives that are not a crate, BundleError for damaged trials.
    """
    if name == OWN:
        return _own(_need(project, name))
    if project is not None and (name == PUBLISHED or name in list_names(project)):
        return _published(project, name)
    path = Path(name)
    if not path.exists():
        raise UsageError(
            found=f"{name!r}, which is neither a run nor a path",
            expected=f"{OWN}, {PUBLISHED}, "
            + "".join(f"{date}, " for date in (list_names(project) if project else []))
            + "a crate, or a folder with executed notebooks",
            next_step="sizebook compare --help",
        )
    if path.is_dir():
        return _folder(path.resolve(), path.name or str(path), into)
    need_plain(path, "a crate")
    if not is_archive(path):
        raise UsageError(
            found=f"{path.name}, a file that is no archive of a run (results of other tools cannot "
            "be compared)",
            expected="own, published, a round's date, a folder with executed notebooks, or an "
            "archive as 'sizebook export run.zip' packs it",
            next_step="on the other machine run sizebook export run.zip and compare with that; for "
            "bundles without pages see sizebook audit",
        )
    unpack_crate(path, into)
    return _folder(into, path.name, into)


def _own(project: Project) -> ComparedRun:
    results = results_of_run(project.chapters)
    if not results:
        raise UsageError(
            found="no executed chapter here",
            expected="a run of your own",
            next_step="sizebook run <chapter>, or make book",
        )
    newest = read_newest(project)
    places = [project.runs, *([newest.folder] if newest is not None else [])]
    return ComparedRun("own run", results, read_trials(results, places, foreign=False))


def _published(project: Project, name: str) -> ComparedRun:
    found = read_newest(project) if name == PUBLISHED else read_named(project, name)
    if found is None:
        raise UsageError(
            found="no round in data/published",
            expected="results that came with the book",
            next_step="compare with a folder or a crate instead",
        )
    return _round(found, foreign=False)


def _round(found: ReadRound, *, foreign: bool) -> ComparedRun:
    results = results_of_run(found.pages)
    trials = read_trials(results, [found.folder], foreign=foreign)
    return ComparedRun(found.words, results, trials)


def _folder(folder: Path, name: str, into: Path) -> ComparedRun:
    """Return the run in a folder: of a round, of a crate or project by its layout, else as it lies.

    A round is unpacked ``into`` a folder.
    """
    if (found := read_folder(folder, into)) is not None:
        return _round(found, foreign=True)
    laid_out = is_crate(folder) or (folder / "book" / "chapters").is_dir()
    inner = folder / "chapters" if (folder / "chapters").is_dir() else folder
    pages = folder / "book" / "chapters" if laid_out else inner
    results = results_of_run(pages)
    if not results:
        raise UsageError(
            found=f"no executed notebook in {name}",
            expected="a crate, a round, or a folder with executed notebooks (*.ipynb)",
            next_step="for bundles without pages see sizebook audit",
        )
    places = [folder / "data" / "runs"] if laid_out else [folder]
    there = [place for place in places if place.is_dir()]
    return ComparedRun(name, results, read_trials(results, there, foreign=True))


def _need(project: Project | None, name: str) -> Project:
    if project is None:
        raise UsageError(
            found=f"{name!r} outside of a project",
            expected="a checkout of the book around this folder",
            next_step="change into a checkout, or set SIZEBOOK_ROOT to one",
        )
    return project
