"""Published rounds: dated folders with packs of each chapter, and the folder where they are read.

``data/published/DATE/round.json`` names the packs with their checksums; a file that it does not
name is not read. A chapter's trials never change once they are published, its page does, with each
word of its template: they lie in packs of their own. Rounds are kept as history: of each chapter
the newest round that has it counts. Packs are unpacked once into ``.sizebook/published``, which may
be deleted at any time.
"""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import shutil
import threading
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, ValidationError

from sizebook.model.bundle import MachineFacts
from sizebook.model.errors import BundleError, UsageError
from sizebook.model.records import Record
from sizebook.store.bundles import PARTIAL, RECORD
from sizebook.store.digest import digest_name
from sizebook.store.fingerprints import fingerprint_file
from sizebook.store.packs import read_pack, unpack
from sizebook.store.plain_files import plain_size, read_plain
from sizebook.store.project import Project
from sizebook.store.record_file import first_fault

ROUND = "round.json"
PAGES = "chapters"
"""Folder of the executed notebooks, in a pack and where packs are read."""
BORROWED = "borrowed"
"""Folder of a pack with digests of other chapters' trials: ``CHAPTER/BUNDLE/SHA256.json``."""
MOST_PUBLISHED_BYTES = 20_000_000
"""All of ``data/published``: a clone of the book must stay small."""
_UNPACKING = threading.Lock()
_CHECKED: set[tuple[Path, int, str]] = set()
"""Packs whose checksum was found good by this process, by their time of change."""
_MOST_RECORD_BYTES = 4 * 2**20
_NAME = re.compile(r"\d{4}-\d\d-\d\d(-[a-z0-9]+)*")
_Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


class ArchiveRecord(Record):
    """A pack, named after what is in it."""

    file: Annotated[str, Field(pattern=r"^[a-z0-9-]+\.tar\.xz$")]
    sha256: _Sha256
    bytes: int


class PackRecord(ArchiveRecord):
    """One chapter of a round: the pack of its trials, that of its page, what was measured how."""

    chapter: Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
    page: ArchiveRecord | None = None
    """The executed page, and digests of what it asked of other chapters' trials.

    None where these lie in the one pack: a page without trials, and a round of version 1.
    """
    trials: int
    profile: str
    """Empty, like all that follows, for a page that measures nothing."""
    replicates: int
    """Of the treatment that has fewest; 0 where nothing was replicated."""
    machine: str
    """Fingerprint."""
    facts: MachineFacts | None
    stack: str
    jvm: str
    harness: str
    capture_version: int
    first_utc: str
    last_utc: str
    left_out: tuple[str, ...]
    """Files that were left out of bundles, each kind once."""
    commit: str

    @property
    def archives(self) -> tuple[ArchiveRecord, ...]:
        """All of its packs."""
        return (self,) if self.page is None else (self, self.page)


class RoundRecord(Record):
    """The whole of ``round.json``."""

    format: Literal["sizebook-round"] = "sizebook-round"
    version: Literal[1, 2] = 2
    name: Annotated[str, Field(pattern=r"^\d{4}-\d\d-\d\d(-[a-z0-9]+)*$")]
    replicates: int
    """Of the chapter that has fewest; 0 where none has trials."""
    packs: tuple[PackRecord, ...]


@dataclass(frozen=True)
class Round:
    """A round on disk, as its ``round.json`` says; packs are checked when they are read."""

    folder: Path
    record: RoundRecord
    sha256: str
    """Of ``round.json``."""

    @property
    def name(self) -> str:
        """Date, with a name behind it where a day has several."""
        return self.record.name

    @property
    def date(self) -> str:
        """The day, as YYYY-MM-DD."""
        return self.record.name[:10]

    @property
    def last_utc(self) -> str:
        """When the last trial of its packs began; empty where none has trials."""
        return max((pack.last_utc for pack in self.record.packs), default="")

    @property
    def is_renamed(self) -> bool:
        """Whether its folder is called otherwise than it was published."""
        return self.folder.name != self.record.name


@dataclass(frozen=True)
class Published:
    """One chapter as a round has it."""

    round: Round
    pack: PackRecord

    @property
    def paths(self) -> tuple[Path, ...]:
        """Where its packs are."""
        return tuple(self.round.folder / each.file for each in self.pack.archives)

    def read(self) -> dict[str, bytes]:
        """Return the files of its packs by name. Raises BundleError for damage, or a name twice."""
        files: dict[str, bytes] = {}
        for path in self.paths:
            more = read_pack(path)
            if twice := sorted(files.keys() & more.keys()):
                raise _spoilt(f"{twice[0][:100]!r} in both packs of {self.pack.chapter}")
            files |= more
        return files


def is_round_name(name: str) -> bool:
    """Return whether a round may be called so: a date, maybe with lower-case words behind it."""
    return _NAME.fullmatch(name) is not None


def open_round(folder: Path) -> Round:
    """Return the round in a folder. Raises BundleError if its ``round.json`` is none."""
    path = folder / ROUND
    try:
        data = read_plain(path, _MOST_RECORD_BYTES)
        if len(data) > _MOST_RECORD_BYTES:
            raise ValueError(f"more than {_MOST_RECORD_BYTES} bytes")
        record = RoundRecord.model_validate_json(data)
        names = [pack.chapter for pack in record.packs]
        if len({*names}) < len(names):
            raise ValueError("one chapter twice")
    except ValidationError as error:
        raise _no_round(folder, first_fault(error)) from error
    except (OSError, ValueError) as error:
        raise _no_round(folder, str(error)) from error
    return Round(folder, record, hashlib.sha256(data).hexdigest())


def list_rounds(project: Project) -> list[Path]:
    """Return the folders of ``data/published`` that hold a round, by their names, which say little.

    Which is the newest its ``round.json`` tells: see ``newest_first``.
    """
    if not project.published.is_dir():
        return []
    found = project.published.iterdir()
    shown = (path for path in found if not path.name.startswith("."))
    return sorted(path for path in shown if plain_size(path, ROUND) is not None)


def find_rounds(project: Project) -> list[Round]:
    """Return the rounds, newest first. Raises BundleError for one that cannot be read."""
    return newest_first(open_round(folder) for folder in list_rounds(project))


def newest_first(rounds: Iterable[Round]) -> list[Round]:
    """Return rounds in the order of their own names and of when their trials were measured.

    Both are in ``round.json``, which is signed; a folder that somebody called otherwise changes
    nothing.
    """
    return sorted(rounds, key=lambda one: (one.name, one.last_utc), reverse=True)


def newest_packs(rounds: Iterable[Round]) -> dict[str, Published]:
    """Return of each chapter what the newest round has that has it; rounds newest first."""
    newest: dict[str, Published] = {}
    for each in rounds:
        for pack in each.record.packs:
            newest.setdefault(pack.chapter, Published(each, pack))
    return newest


def published_bytes(project: Project) -> int:
    """Return the bytes of all files in ``data/published``."""
    files = (path for path in project.published.rglob("*") if not path.is_symlink())
    return sum(path.stat().st_size for path in files if path.is_file())


def check_pack(published: Published) -> None:
    """Raise BundleError unless the packs are there with bytes and checksums of their round."""
    for each in published.pack.archives:
        _check_archive(published.round, each)


def _check_archive(found: Round, archive: ArchiveRecord) -> None:
    size, path = plain_size(found.folder, archive.file), found.folder / archive.file
    if size is None:
        raise _spoilt(f"round {found.name} without {archive.file}")
    if size == archive.bytes:
        known = path, path.stat().st_mtime_ns, archive.sha256
        if known in _CHECKED:
            return
        if fingerprint_file(path) == archive.sha256:
            _CHECKED.add(known)
            return
    raise _spoilt(f"{found.name}/{archive.file}, which is not the file that was published")


def open_published(project: Project, rounds: Iterable[Round] | None = None) -> Path:
    """Return the folder in which published chapters are read: bundles by chapter, and pages.

    Without ``rounds`` the newest of each chapter. Every pack's checksum is verified, once in a
    process as long as the file does not change.
    Raises UsageError if nothing is published, BundleError for a damaged pack.
    """
    chosen = newest_packs(find_rounds(project) if rounds is None else rounds)
    if not chosen:
        raise UsageError(
            found="no round in data/published",
            expected="results that came with the book",
            next_step="measure: sizebook run; or publish what was measured: sizebook publish",
        )
    for each in chosen.values():
        check_pack(each)
    return unpack_together(chosen, project.state / "published")


def unpack_together(chosen: Mapping[str, Published], into: Path) -> Path:
    """Unpack packs side by side into a folder below ``into`` that is named after them; return it.

    One that is there already is used as it is; of threads that ask at the same time one unpacks.
    """
    names = sorted(
        f"{chapter} {archive.sha256}"
        for chapter, each in chosen.items()
        for archive in each.pack.archives
    )
    folder = into / hashlib.sha256("\n".join(names).encode()).hexdigest()[:20]
    with _UNPACKING:
        return folder if folder.is_dir() else _unpack_into(folder, chosen)


def _unpack_into(folder: Path, chosen: Mapping[str, Published]) -> Path:
    partial = folder.with_name(f"{PARTIAL}{os.getpid()}-{secrets.token_hex(4)}")

    def unpack_one(chapter: str) -> None:
        for path in chosen[chapter].paths:
            unpack(path, partial / chapter)
        _take_pages(partial, chapter)

    try:
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            list(pool.map(unpack_one, chosen))
        for chapter in chosen:
            _hand_out(partial, chapter)
        try:
            partial.rename(folder)
        except OSError:
            if not folder.is_dir():  # else another process was faster
                raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return folder


def _take_pages(folder: Path, chapter: str) -> None:
    page = folder / chapter / PAGES / f"{chapter}.ipynb"
    if page.is_file():
        (folder / PAGES).mkdir(parents=True, exist_ok=True)
        page.rename(folder / PAGES / page.name)


def _hand_out(folder: Path, chapter: str) -> None:
    """Put the digests that a chapter made of others' trials beside these, if they are the same."""
    for path in sorted((folder / chapter / BORROWED).glob("*/*/*.json")):
        lender, bundle = path.parts[-3:-1]
        place = folder / lender / bundle
        there = plain_size(place, RECORD) is not None
        if there and fingerprint_file(place / RECORD) == path.stem:
            path.rename(place / digest_name(lender, chapter))
    for name in (BORROWED, PAGES):
        shutil.rmtree(folder / chapter / name, ignore_errors=True)


def _no_round(folder: Path, what: str) -> BundleError:
    return BundleError(
        found=f"{folder.name}/{ROUND} with {what[:200]}",
        expected="a round as 'sizebook publish' writes it",
        next_step="get a fresh copy of the book",
    )


def _spoilt(found: str) -> BundleError:
    return BundleError(
        found=found,
        expected="every pack with the checksum in its round.json",
        next_step="get a fresh copy of the book; sizebook audit --published says more",
    )
