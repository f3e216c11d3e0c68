"""Published rounds as comparisons take them: a folder of executed notebooks and bundles."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from sizebook.store import Project
from sizebook.store.plain_files import plain_size
from sizebook.store.rounds import (
    PAGES,
    ROUND,
    Round,
    check_pack,
    find_rounds,
    newest_packs,
    open_published,
    open_round,
    unpack_together,
)


@dataclass(frozen=True)
class ReadRound:
    """What was published, unpacked: bundles lie below ``folder``."""

    folder: Path
    words: str
    """Which round or rounds it is."""

    @property
    def pages(self) -> Path:
        """Folder of the executed notebooks."""
        return self.folder / PAGES


def list_names(project: Project) -> list[str]:
    """Return the names of the published rounds, newest first."""
    return [each.name for each in find_rounds(project)]


def read_newest(project: Project) -> ReadRound | None:
    """Return what the newest round of each chapter has; None where nothing is published."""
    rounds = find_rounds(project)
    used = {each.round.name for each in newest_packs(rounds).values()}
    return _read(project, rounds, sorted(used, reverse=True)) if used else None


def read_named(project: Project, name: str) -> ReadRound:
    """Return one round, by its name. Raises BundleError for a damaged one."""
    return _read(project, [each for each in find_rounds(project) if each.name == name], [name])


def read_folder(folder: Path, into: Path) -> ReadRound | None:
    """Return the round in a folder, unpacked below ``into``; None if it is none.

    Raises BundleError for a damaged one.
    """
    if plain_size(folder, ROUND) is None:
        return None
    found = open_round(folder)
    packs = newest_packs([found])
    for each in packs.values():
        check_pack(each)
    return ReadRound(unpack_together(packs, into), f"round {found.name}")


def _read(project: Project, rounds: list[Round], names: list[str]) -> ReadRound:
    words = f"round{'s' if len(names) > 1 else ''} {', '.join(names)}"
    return ReadRound(open_published(project, rounds), words)
