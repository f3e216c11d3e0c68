"""Chapters of the own run put into a round: all of them, or the round stays as it was."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shlex
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sizebook.book.chapters import Chapter, find_chapters
from sizebook.book.published.calibrations import keep_calibrations
from sizebook.book.published.choosing import LEAST_REPLICATES, Chosen, choose
from sizebook.book.published.loans import lost_loans
from sizebook.book.published.privacy import Private, find_private
from sizebook.book.published.rehearsed import Files, prove, rehearse, staged, write_packs
from sizebook.book.published.renewing import renew
from sizebook.book.published.signing import sign, signature_names
from sizebook.lab import calibration
from sizebook.model.errors import UsageError, UserError
from sizebook.store import Project
from sizebook.store.bundles import PARTIAL
from sizebook.store.rounds import (
    MOST_PUBLISHED_BYTES,
    ROUND,
    ArchiveRecord,
    PackRecord,
    Published,
    Round,
    RoundRecord,
    find_rounds,
    is_round_name,
    newest_packs,
    open_round,
    published_bytes,
)

Say = Callable[[str], None]


@dataclass(frozen=True)
class PublishedRound:
    """A round as it is now."""

    round: Round
    packs: tuple[PackRecord, ...]
    """Those that were published now."""
    published_bytes: int
    """Of all rounds together."""
    signed: bool
    lost: tuple[tuple[Published, int], ...]
    """Pages that show trials that no round has any more, and how many: ``lost_loans``."""


def publish(
    project: Project,
    chapters: Sequence[Chapter],
    name: str,
    *,
    replicates: int = LEAST_REPLICATES,
    key: Path | None = None,
    say: Say = lambda _: None,
) -> PublishedRound:
    """Put chapters of the own run into the round ``name``, which may be there already.

    A chapter that the round has is replaced by what is published now. ``key`` signs the round.
    Raises UserError, with the round as it was, for anything that must not be published.
    """

    def make(packs: dict[str, Published], staging: Path) -> Iterator[Made]:
        chosen = [choose(project, each, replicates) for each in _in_order(chapters)]
        _need_calibration(project, chosen, packs)
        for each in chosen:
            with _scratch() as scratch:
                say(f"{each.chapter.id}: rehearsal on {len(each.own)} whole trials")
                files = rehearse(project, each, scratch)
                before = packs.get(each.chapter.id)
                if each.chapter.id == calibration.CHAPTER and before is not None:
                    others = [one.pack for one in packs.values() if one != before]
                    kept = keep_calibrations(before, each.own, others, scratch / "before")
                    files = {**kept, **files}
            yield each, files, write_packs(each, files, staging)

    return _publish(project, name, make, key=key, say=say)


def renew_pages(
    project: Project,
    chapters: Sequence[Chapter],
    name: str,
    *,
    key: Path | None = None,
    say: Say = lambda _: None,
) -> PublishedRound:
    """Put pages that the present templates make of a round's own trials into that round.

    Nothing is measured, and nothing changes in the trials. Raises UserError as ``publish``, and for
    a chapter that the round does not have.
    """

    def make(packs: dict[str, Published], staging: Path) -> Iterator[Made]:
        before = _find(project, name)
        present = newest_packs([before] if before else [])
        for each in chapters:
            if each.id not in present:
                raise _not_in_round(each.id, name, packs.get(each.id))
        packs |= present  # a newer round may have these chapters, too, and other trials of them
        for each in _in_order(chapters):
            with _scratch() as scratch:
                say(f"{each.id}: its template on its published trials")
                chosen, files = renew(project, each, packs, scratch)
                record = write_packs(chosen, files, staging, packs[each.id])
                yield chosen, files, record

    return _publish(project, name, make, key=key, say=say)


Made = tuple[Chosen, Files, PackRecord]
"""A chapter, what is in its packs, and their record; they are in the staging folder."""
Make = Callable[[dict[str, Published], Path], Iterator[Made]]


def _publish(
    project: Project,
    name: str,
    make: Make,
    *,
    key: Path | None,
    say: Say,
) -> PublishedRound:
    if not is_round_name(name):
        raise UsageError(
            found=f"round {name[:60]!r}",
            expected="a date, YYYY-MM-DD, maybe with -words in lower case behind it",
            next_step="sizebook publish --help",
        )
    project.published.mkdir(parents=True, exist_ok=True)
    _remove_partial(project.published)
    with tempfile.TemporaryDirectory(prefix=PARTIAL, dir=project.published) as folder:
        staging = Path(folder)
        packs: dict[str, Published] = newest_packs(find_rounds(project))
        new = []
        for chosen, files, made in make(packs, staging):
            _refuse_private(chosen, files)
            packs[chosen.chapter.id] = staged(staging, name, made)
            size = sum(each.bytes for each in made.archives)
            say(f"{chosen.chapter.id}: proof on packs of {size:,} bytes")
            with _scratch() as scratch:
                prove(project, chosen, packs, scratch)
            new.append(made)
        before = _find(project, name)
        record = _record(before, name, new)
        text = (record.model_dump_json(indent=1) + "\n").encode()
        added = _sign(staging, text, key)
        others = sum((staging / each).stat().st_size for each in added)
        size = len(text) + others + sum(each.bytes for each in _archives(record))
        _check_size(project, name, size, staging)
        _put(project.published / name, record, text, staging, added)
    done = open_round(project.published / name)
    newest = newest_packs(find_rounds(project))
    lost = tuple((newest[chapter], trials) for chapter, trials in lost_loans(newest).items())
    return PublishedRound(done, tuple(new), published_bytes(project), key is not None, lost)


def _archives(record: RoundRecord) -> list[ArchiveRecord]:
    return [archive for each in record.packs for archive in each.archives]


def _in_order(chapters: Iterable[Chapter]) -> list[Chapter]:
    """Return chapters in the order of the book, the calibration first."""
    return sorted(chapters, key=lambda each: (each.id != calibration.CHAPTER, each.order))


@contextlib.contextmanager
def _scratch() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="sizebook-publish-") as folder:
        yield Path(folder).resolve()


def _need_calibration(
    project: Project, chosen: Sequence[Chosen], packs: Mapping[str, Published]
) -> None:
    names = {each.chapter.id for each in chosen} | packs.keys()
    measured = [each.chapter.id for each in chosen if each.own]
    has_one = any(each.id == calibration.CHAPTER for each in find_chapters(project.root))
    if measured and has_one and calibration.CHAPTER not in names:
        raise UsageError(
            found=f"{measured[0]} without the {calibration.CHAPTER}",
            expected="the calibration first: it says what differences mean on that machine",
            next_step=f"sizebook publish {shlex.quote(calibration.CHAPTER)} {shlex.join(measured)}",
        )


def _refuse_private(chosen: Chosen, files: Files) -> None:
    found: list[Private] = list(find_private(files))
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        raise UserError(
            found=f"{found[0].words} in {found[0].file} of {chosen.chapter.id}{more}",
            expected="files that do not tell who made them, and where",
            next_step="take it out where it comes from and run the chapter again",
        )


def _find(project: Project, name: str) -> Round | None:
    folder = project.published / name
    return open_round(folder) if (folder / ROUND).exists() else None


def _not_in_round(chapter: str, name: str, newest: Published | None) -> UsageError:
    if newest is None:
        return UsageError(
            found=f"no published {chapter}",
            expected="a chapter that the round has",
            next_step=f"sizebook run {shlex.quote(chapter)}, and publish what it measures",
        )
    return UsageError(
        found=f"no {chapter} in round {name}",
        expected=f"a round that has it, such as {newest.round.name}",
        next_step=f"sizebook publish {shlex.quote(chapter)} "
        f"--round {shlex.quote(newest.round.name)} --renew",
    )


def _record(before: Round | None, name: str, new: Sequence[PackRecord]) -> RoundRecord:
    replaced = {each.chapter for each in new}
    kept = [
        each for each in (before.record.packs if before else ()) if each.chapter not in replaced
    ]
    packs = sorted([*kept, *new], key=lambda each: each.chapter)
    least = min((each.replicates for each in packs if each.trials), default=0)
    return RoundRecord(name=name, replicates=least, packs=tuple(packs))


def _check_size(project: Project, name: str, new: int, staging: Path) -> None:
    """Raise UsageError if all would be too much with ``new`` bytes in the round."""
    old = _bytes_below(project.published / name)
    total = published_bytes(project) - _bytes_below(staging) - old + new
    if total > MOST_PUBLISHED_BYTES:
        raise UsageError(
            found=f"{total:,} bytes in data/published, {total - MOST_PUBLISHED_BYTES:,} too many",
            expected=f"at most {MOST_PUBLISHED_BYTES:,}: a clone of the book must stay small",
            next_step="publish fewer chapters, or take an old round out",
        )


def _bytes_below(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _sign(staging: Path, text: bytes, key: Path | None) -> list[str]:
    """Write signature and signers of a ``round.json`` into a folder; return their names."""
    if key is None:
        return []
    draft = staging / "draft.json"
    draft.write_bytes(text)
    names = signature_names(hashlib.sha256(text).hexdigest())
    for name, data in zip(names, sign(draft, key), strict=True):
        (staging / name).write_bytes(data)
    return list(names)


def _put(
    folder: Path, record: RoundRecord, text: bytes, staging: Path, added: Sequence[str]
) -> None:
    """Move files to their places; the round changes at once, when its ``round.json`` does.

    Names of packs and signatures tell their contents, so nothing that the old one names is touched
    before; what the new one does not name is taken away after.
    """
    is_new = not folder.exists()
    folder.mkdir(exist_ok=True)
    try:
        for name in [*(each.file for each in _archives(record)), *added]:
            if (staging / name).exists():
                (staging / name).replace(folder / name)
        partial = staging / ROUND
        with partial.open("xb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(folder / ROUND)
    except BaseException:
        if is_new:
            shutil.rmtree(folder, ignore_errors=True)
        raise
    named = {ROUND, *(each.file for each in _archives(record)), *added}
    for path in folder.iterdir():
        if path.name not in named and path.is_file():
            path.unlink()


def _remove_partial(folder: Path) -> None:
    """Remove what a publisher left that was killed."""
    for path in folder.glob(f"{PARTIAL}*"):
        shutil.rmtree(path, ignore_errors=True)
