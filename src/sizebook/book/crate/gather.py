"""What belongs to a run: executed notebooks, their templates, bundles and load profiles."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from sizebook.book.chapters import Chapter, find_chapters, get_chapter
from sizebook.book.cited import ProjectBundles
from sizebook.book.notebooks import STAMP, hash_cells
from sizebook.book.records import read_records
from sizebook.model.errors import UsageError, UserError
from sizebook.store import Bundle, Project, find_bundles, open_bundle
from sizebook.store.fingerprints import fingerprint_file

NOT_CITED = "not cited"
"""Verdict of a bundle that no result cites, but that was measured in the same start of a stack."""

_PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*(/[A-Za-z0-9_][A-Za-z0-9._-]*)*")
_LICENCES = ("LICENSE*", "LICENCE*", "COPYING*")


@dataclass(frozen=True)
class RunBundle:
    """One trial of the run; ``place`` is its folder in the project and in the crate."""

    bundle: Bundle
    place: str
    verdict: str

    @property
    def began(self) -> datetime:
        """When its trial started, UTC."""
        return datetime.fromisoformat(self.bundle.record.execution.started_utc)

    @property
    def ended(self) -> datetime:
        """When its last phase ended, UTC, whole seconds; its start if it reached no phase."""
        execution = self.bundle.record.execution
        ends = [phase.end_ns for phase in execution.phases]
        took_ns = max([*ends, execution.monotonic_ns]) - execution.monotonic_ns
        return self.began + timedelta(seconds=round(took_ns / 1e9))


@dataclass(frozen=True)
class ChapterRun:
    """One executed chapter: its own bundles, and those of other chapters that it reads."""

    chapter: Chapter
    page: Path
    parameters: Mapping[str, Any]
    commit: str
    harness: str
    commands: tuple[str, ...]
    """What makes its page again."""
    bundles: tuple[RunBundle, ...]
    read: tuple[RunBundle, ...]


@dataclass(frozen=True)
class CrateContents:
    """Everything that a crate holds, in the order of the book."""

    project: Project
    chapters: tuple[ChapterRun, ...]
    bundles: tuple[RunBundle, ...]
    load_profiles: Mapping[str, Path]
    licence: str
    """SPDX expression or words from ``pyproject.toml``; empty: the project states none."""
    licence_files: tuple[Path, ...]

    @property
    def began(self) -> datetime:
        """When the first trial started."""
        return min(bundle.began for bundle in self.bundles)

    @property
    def ended(self) -> datetime:
        """When the last trial ended."""
        return max(bundle.ended for bundle in self.bundles)


def gather_run(root: Path, ids: Sequence[str] = ()) -> CrateContents:
    """Return the present run: the named chapters, or all that are executed, with their bundles.

    Raises UsageError if a named chapter is not executed, a page was made from another version of
    its notebook, or a bundle behind a result is missing or another one than the result names, and
    if there is no trial at all; UserError for a damaged page, BundleError for a damaged bundle.
    """
    project = Project(root)
    chapters = [get_chapter(root, name) for name in ids] or find_chapters(root)
    for each in chapters:
        _check_name(each.id)
        _check_name(each.notebook.name)
    pages = {each.id: project.chapters / f"{each.id}.ipynb" for each in chapters}
    absent = [each.id for each in chapters if not pages[each.id].is_file()]
    chapters = [each for each in chapters if each.id not in absent]
    if not chapters or (ids and absent):
        raise UsageError(
            found=f"no executed notebook of {', '.join(absent) or 'any chapter'}",
            expected="chapters that were run",
            next_step="sizebook run, then export again",
        )
    found = _Bundles(project)
    runs = tuple(_gather_chapter(each, pages[each.id], found) for each in chapters)
    if not found.taken:
        raise UsageError(
            found=f"no trial behind {', '.join(each.id for each in chapters)}",
            expected="at least one chapter that measures: a crate's dates are those of its trials",
            next_step="export a measured chapter with it",
        )
    bundles = tuple(sorted(found.taken.values(), key=lambda each: each.place))
    return CrateContents(
        project,
        runs,
        bundles,
        _find_load_profiles(project, bundles),
        _read_licence(root),
        tuple(file for glob in _LICENCES for file in sorted(root.glob(glob))),
    )


class _Bundles:
    """The bundles on this machine, and those that the run turns out to need."""

    def __init__(self, project: Project) -> None:
        self._project = project
        self._known = ProjectBundles(project.root)
        self._sessions: dict[Path, dict[str, list[Bundle]]] = {}
        self.taken: dict[str, RunBundle] = {}

    def take(self, source: Mapping[str, str], chapter: str) -> list[RunBundle]:
        """Return the bundle that a result names, with what was measured in the same session."""
        name, sha256 = source["bundle"], source["sha256"]
        found = self._known.find(name, sha256)
        bundle = found.cited
        if bundle is None:
            raise UsageError(
                found=f"chapter {chapter} with results of bundle {name}: {found.trouble}",
                expected="every bundle behind the results in data/runs or data/published",
                next_step=f"sizebook run {shlex.quote(chapter)}, then export again",
            )
        cited = self._keep(bundle, source["verdict"])
        execution = bundle.record.execution
        sessions = self._by_session(bundle.path.parent) if execution.started else {}
        same = sessions.get(execution.session, [])
        return [cited, *(self._keep(each, _uncited(each)) for each in same)]

    def _keep(self, bundle: Bundle, verdict: str) -> RunBundle:
        if bundle.path.is_relative_to(self._project.state):
            chapter = bundle.record.trial.chapter
            raise UsageError(
                found=f"trials of chapter {chapter} that came with the book: nothing of it was "
                "measured here",
                expected="chapters that this machine measured",
                next_step=f"sizebook run {shlex.quote(chapter)}, then export again; or "
                "pass on data/published",
            )
        place = bundle.path.relative_to(self._project.root).as_posix()
        for name in (place, *bundle.record.files, bundle.record.trial.load.locustfile):
            _check_name(name)
        known = self.taken.get(place)
        if known is None or known.verdict == _uncited(bundle):
            self.taken[place] = RunBundle(bundle, place, verdict)
        return self.taken[place]

    def _by_session(self, folder: Path) -> dict[str, list[Bundle]]:
        if folder not in self._sessions:
            sessions: dict[str, list[Bundle]] = {}
            for path in find_bundles(folder):
                bundle = open_bundle(path)
                sessions.setdefault(bundle.record.execution.session, []).append(bundle)
            self._sessions[folder] = sessions
        return self._sessions[folder]


def is_plain(name: str) -> bool:
    """Tell whether a crate can carry a name to every system as it is."""
    return _PLAIN.fullmatch(name) is not None


def _check_name(name: str) -> None:
    if not is_plain(name):
        raise UsageError(
            found=f"the name {name[:100]!r}",
            expected="letters, digits, dots, hyphens and underscores, no leading dot",
            next_step="rename it, and run the chapter again",
        )


def _uncited(bundle: Bundle) -> str:
    """Return what stands for the verdict of a trial that came along: it was measured again, say."""
    purpose = bundle.record.trial.purpose
    return purpose if purpose == "conditioning" else NOT_CITED


def _gather_chapter(chapter: Chapter, page: Path, found: _Bundles) -> ChapterRun:
    records = read_records(page).values()
    notebook = json.loads(page.read_text(encoding="utf-8"))
    template = json.loads(chapter.notebook.read_text(encoding="utf-8"))
    run = notebook["metadata"].get(STAMP)
    if run is None or hash_cells(notebook["cells"]) != hash_cells(template["cells"]):
        raise UsageError(
            found=f"a page of {chapter.id} that was not made from {chapter.notebook.name} as it is",
            expected="pages of the present notebooks",
            next_step=f"sizebook run {shlex.quote(chapter.id)}, then export again",
        )
    named = {
        source["bundle"]: source for record in records for source in record.evidence["sources"]
    }
    try:
        taken = [each for name in sorted(named) for each in found.take(named[name], chapter.id)]
        bundles = {each.place: each for each in taken}
        own = {p: b for p, b in bundles.items() if b.bundle.record.trial.chapter == chapter.id}
        return ChapterRun(
            chapter,
            page,
            dict(run["parameters"]),
            str(run["commit"]),
            str(run["harness"]),
            tuple(sorted({str(record.evidence["command"]) for record in records})),
            tuple(own[place] for place in sorted(own)),
            tuple(bundles[place] for place in sorted(bundles.keys() - own.keys())),
        )
    except (KeyError, TypeError) as error:
        raise UserError(
            found=f"{page.name} whose records lack {error}",
            expected="a page that 'sizebook run' made",
            next_step=f"sizebook run {shlex.quote(chapter.id)} --force",
        ) from error


def _find_load_profiles(project: Project, bundles: Sequence[RunBundle]) -> dict[str, Path]:
    """Return the load profiles that are still what the trials ran, by name."""
    used = {
        (each.bundle.record.trial.load.locustfile, each.bundle.record.fingerprints.locustfile)
        for each in bundles
    }
    files = {name: project.locustfiles / name for name, _ in sorted(used)}
    return {
        name: file
        for name, file in files.items()
        if file.parent == project.locustfiles
        and file.is_file()
        and (name, fingerprint_file(file)) in used
    }


def _read_licence(root: Path) -> str:
    try:
        project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    except (OSError, KeyError, ValueError):
        return ""
    licence = project.get("license", "")
    return str(licence.get("text", "") if isinstance(licence, dict) else licence)
