"""The bundles that a book's results name as evidence, and where they are on this machine."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from sizebook.book.records import PublishedResult, read_records
from sizebook.model.errors import BundleError
from sizebook.model.trial import TrialSpec
from sizebook.model.verdict import VERDICTS
from sizebook.store import Bundle, Project, find_bundles, open_bundle
from sizebook.store.bundles import verify_bundle
from sizebook.store.rounds import list_rounds, open_published

_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}")
_TITLE = re.compile(r"^#\s+(.+?)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class ChapterPage:
    """A page of the book that was made from a notebook."""

    page: str
    title: str


@dataclass
class Cited:
    """One bundle as the results of the book name it."""

    bundle: str
    sha256: str
    verdict: str
    chapters: dict[str, ChapterPage] = field(default_factory=dict)
    results: dict[str, dict[str, str]] = field(default_factory=dict)
    numbers: dict[str, dict[str, str]] = field(default_factory=dict)
    commands: dict[str, None] = field(default_factory=dict)


@dataclass(frozen=True)
class Found:
    """A cited bundle on disk, or another one of its name; ``trouble`` says what is not right."""

    bundle: Bundle | None
    trouble: str = ""

    @property
    def cited(self) -> Bundle | None:
        """The very bundle that the results were made from, if it is here."""
        return None if self.trouble else self.bundle


class ProjectBundles:
    """The bundles of a project by name and checksum; each is opened when first asked for."""

    def __init__(self, root: Path) -> None:
        """Look below ``root``: own bundles come before published ones of the same name."""
        self.root = root
        self._found: dict[tuple[str, str], Found] = {}
        self._whole: dict[Path, bool] = {}

    def find(self, bundle: str, sha256: str) -> Found:
        """Give the bundle with this checksum; another one of the same name with a note."""
        if (bundle, sha256) not in self._found:
            self._found[bundle, sha256] = self._open(bundle, sha256)
        return self._found[bundle, sha256]

    def find_whole(self, bundle: str, sha256: str) -> Bundle | None:
        """Give the cited bundle if it is here and the checksums of all its files hold."""
        found = self.find(bundle, sha256).cited
        if found is None:
            return None
        if found.path not in self._whole:
            self._whole[found.path] = _is_whole(found)
        return found if self._whole[found.path] else None

    @cached_property
    def _folders(self) -> dict[str, list[Path]]:
        project = Project(self.root)
        folders: dict[str, list[Path]] = {}
        places = [project.runs]
        if list_rounds(project):
            places.append(open_published(project))
        for place in places:
            for path in find_bundles(place):
                folders.setdefault(path.name, []).append(path)
        return folders

    def _open(self, name: str, sha256: str) -> Found:
        other: Bundle | None = None
        trouble = ""
        for path in self._folders.get(name, ()):
            try:
                bundle = open_bundle(path)
            except BundleError as error:
                trouble = f"The bundle on this machine cannot be read: {error.found}."
                continue
            if bundle.sha256 == sha256:
                return Found(bundle)
            other = other or bundle
        if other is not None:
            words = "The bundle on this machine is not the one that the results were made from: its"
            return Found(other, f"{words} trial.json has the checksum {other.sha256}.")
        missing = "The bundle of this trial is not on this machine; what is known of it stands "
        return Found(None, trouble or f"{missing}below.")


def find_cited(book: Path, pages: Iterable[str]) -> dict[str, Cited]:
    """Return the bundles that the notebooks behind these pages name as evidence, by id."""
    cited: dict[str, Cited] = {}
    for page in pages:
        notebook = book / f"{page}.ipynb"
        if not notebook.exists():
            continue
        chapter = ChapterPage(page, _read_title(notebook))
        for record in read_records(notebook).values():
            for source in record.evidence["sources"]:
                _cite(cited, source, chapter, record)
    return dict(sorted(cited.items()))


def trial_file(bundle: str) -> str:
    """Give the name of a trial's page in ``trials/``; a name unfit for a file is hashed."""
    return f"{file_stem(bundle, 'trial')}.html"


def file_stem(name: str, kind: str) -> str:
    """Give a name from data as the stem of a file; one that is unfit is hashed behind ``kind``."""
    if _SAFE_NAME.fullmatch(name) and name != "index":
        return name
    return f"{kind}-{hashlib.sha256(name.encode()).hexdigest()[:20]}"


def result_anchor(key: str) -> str:
    """Give the HTML id of a figure, table or claim on its chapter's page."""
    return f"result-{key}"


def number_anchor(key: str) -> str:
    """Give the HTML id of a number's row."""
    return f"number-{key}"


def treatment_words(trial: TrialSpec) -> str:
    """Give the levels of a trial's factors in words; the experiment where there is no factor."""
    words = [f"{name} {_level(value)}" for name, value in trial.treatment.items()]
    return ", ".join(words) or trial.experiment


def _cite(
    cited: dict[str, Cited],
    source: Mapping[str, str],
    chapter: ChapterPage,
    record: PublishedResult,
) -> None:
    known = cited.setdefault(
        source["bundle"], Cited(source["bundle"], source["sha256"], source["verdict"])
    )
    known.verdict = min(known.verdict, source["verdict"], key=_rank)
    known.chapters.setdefault(chapter.page, chapter)
    known.commands.setdefault(str(record.evidence["command"]))
    where = f"{chapter.page}#{record.key}"
    if record.kind == "value":
        anchor = number_anchor(record.key)
        known.numbers[where] = {"page": chapter.page, "anchor": anchor, "title": record.key}
    else:
        title = f"{record.kind.capitalize()}: {record.fields.get('caption', record.key)}"
        anchor = result_anchor(record.key)
        known.results[where] = {"page": chapter.page, "anchor": anchor, "title": title}


def _is_whole(bundle: Bundle) -> bool:
    try:
        verify_bundle(bundle)
    except (BundleError, OSError):
        return False
    return True


def _rank(verdict: str) -> int:
    return VERDICTS.index(verdict) if verdict in VERDICTS else -1


def _read_title(notebook: Path) -> str:
    for cell in json.loads(notebook.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "markdown" and (found := _TITLE.search("".join(cell["source"]))):
            return found[1]
    return notebook.stem


def _level(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return str(value)
