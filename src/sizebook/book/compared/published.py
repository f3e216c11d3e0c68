"""Published rounds as comparisons take them: a folder of executed notebooks, and its date."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from sizebook.model.errors import UserError
from sizebook.store import Project
from sizebook.store.fingerprints import fingerprint_file
from sizebook.store.plain_files import read_plain

ROUND = "round.json"
CHAPTERS = "chapters"
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_MOST_BYTES = 4 * 2**20


@dataclass(frozen=True)
class PublishedRound:
    """A round whose notebooks are at hand; bundles, if there are any, lie below ``folder``."""

    folder: Path
    date: str
    sha256: str
    """Of ``round.json``; empty for a folder without."""

    @property
    def pages(self) -> Path:
        """Folder of its executed notebooks."""
        inner = self.folder / CHAPTERS
        return inner if inner.is_dir() else self.folder


def list_dates(project: Project) -> list[str]:
    """Return the dates of the published rounds, newest first."""
    if not project.published.is_dir():
        return []
    folders = (path for path in project.published.iterdir() if path.is_dir())
    return sorted((path.name for path in folders if _is_round(path)), reverse=True)


def newest_round(project: Project) -> PublishedRound | None:
    """Return the newest published round, None where there is none."""
    dates = list_dates(project)
    return open_round(project.published / dates[0]) if dates else None


def open_round(folder: Path) -> PublishedRound:
    """Return the round in a folder. Raises UserError for a ``round.json`` that is not one."""
    path = folder / ROUND
    if not path.is_file():
        return PublishedRound(folder, folder.name if _DATE.fullmatch(folder.name) else "", "")
    try:
        content = json.loads(read_plain(path, _MOST_BYTES)[:_MOST_BYTES])
        date = str(content["date"])
        if not _DATE.fullmatch(date):
            raise ValueError(f"the date {date[:40]!r}")
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        raise UserError(
            found=f"{folder.name}/{ROUND} with {error}",
            expected="a round as 'sizebook publish' writes it",
            next_step="get a fresh copy of the book",
        ) from error
    return PublishedRound(folder, date, fingerprint_file(path))


def _is_round(folder: Path) -> bool:
    if not _DATE.fullmatch(folder.name):
        return False
    return (folder / ROUND).is_file() or any((folder / CHAPTERS).glob("*.ipynb"))
