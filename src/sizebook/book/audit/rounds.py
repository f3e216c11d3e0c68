"""Published rounds as such: packs, what their index says of them, signatures, size, privacy."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from sizebook.book.audit.findings import AuditReport
from sizebook.book.notebooks import SO_FAR, STAMP
from sizebook.book.processes import map_shared
from sizebook.book.published.choosing import LEAST_REPLICATES
from sizebook.book.published.privacy import find_private
from sizebook.book.published.signing import verify
from sizebook.book.published.stated import misstated
from sizebook.model.errors import BundleError
from sizebook.store import Project
from sizebook.store.rounds import (
    MOST_PUBLISHED_BYTES,
    PAGES,
    ROUND,
    Published,
    Round,
    check_pack,
    list_rounds,
    newest_first,
    open_round,
    published_bytes,
)

_TIMES_UNPACKED = 10
"""Bytes of a pack's files for each of its own, about."""


class WrongPack(NamedTuple):
    """What is wrong with a pack, as a finding tells it."""

    rule: str
    place: str
    message: str
    found: str
    expected: str


def audit_rounds(project: Project, report: AuditReport, say: Callable[[str], None]) -> list[Round]:
    """Report what is wrong with the rounds; return those of which every pack is as published."""
    whole = []
    for folder in list_rounds(project):
        say(f"round {folder.name}: packs and signature")
        try:
            found = open_round(folder)
        except BundleError as error:
            report.add("AU701-pack", folder.name, error.found, found=error.found,
                       expected=error.expected)  # fmt: skip
            continue
        if found.is_renamed:
            report.add(
                "AU706-renamed", folder.name, f"the folder of round {found.name} is called so",
                found=f"a folder {folder.name}", expected=f"a folder {found.name}",
            )  # fmt: skip
        _audit_signature(found, report)
        _audit_index(found, report)
        listed = [Published(found, each) for each in found.record.packs]
        size = sum(each.bytes for pack in found.record.packs for each in pack.archives)
        told = map_shared(
            look_into, listed, "reading packs", data_bytes=_TIMES_UNPACKED * size
        )  # fmt: skip
        sound = True
        for each in told:
            for wrong in each:
                report.add(
                    wrong.rule, wrong.place, wrong.message,
                    found=wrong.found, expected=wrong.expected,
                )  # fmt: skip
                sound = sound and wrong.rule != "AU701-pack"
        if sound:
            whole.append(found)
    total = published_bytes(project)
    if total > MOST_PUBLISHED_BYTES:
        report.add(
            "AU703-size", "data/published",
            f"{total:,} bytes, {total - MOST_PUBLISHED_BYTES:,} too many",
            found=f"{total:,} bytes", expected=f"at most {MOST_PUBLISHED_BYTES:,}",
        )  # fmt: skip
    return newest_first(whole)


def look_into(published: Published) -> list[WrongPack]:
    """Return what is wrong with one chapter's packs."""
    pack, place = published.pack, f"{published.round.name}/{published.pack.file}"
    try:
        check_pack(published)
        files = published.read()
    except BundleError as error:
        return [WrongPack("AU701-pack", place, error.found, error.found, error.expected)]
    wrong = [
        WrongPack("AU704-private", place, f"{each.words} in {each.file}", each.words,
              "nothing that tells who made it, and where")
        for each in find_private(files)
    ]  # fmt: skip
    if pack.trials and pack.replicates < LEAST_REPLICATES:
        message = f"{pack.replicates} replicates of the treatment that has fewest"
        expected = f"{LEAST_REPLICATES}"
        wrong.append(WrongPack("AU705-replicates", place, message, str(pack.replicates), expected))
    return [*wrong, *_misstated(published, files)]


def _misstated(published: Published, files: Mapping[str, bytes]) -> Iterator[WrongPack]:
    chapter = published.pack.chapter
    run = _run_of(files.get(f"{PAGES}/{chapter}.ipynb", b""))
    if SO_FAR in run:
        yield WrongPack(
            "AU707-index", f"{published.round.name}/{ROUND}",
            f"the page of {chapter} shows what was measured so far",
            "a page of a part of its designs", "a page of a whole measurement",
        )  # fmt: skip
    for name, said, follows in misstated(published.pack, files, run):
        yield WrongPack(
            "AU707-index", f"{published.round.name}/{ROUND}",
            f"{name} of {chapter} is {said}, its pack's trials and page say {follows}",
            said, follows,
        )  # fmt: skip


def _run_of(page: bytes) -> dict[str, Any]:
    """Return what an executed notebook says of how it was made; nothing if it is none."""
    try:
        run = json.loads(page)["metadata"][STAMP]
    except (ValueError, LookupError, TypeError, RecursionError):
        return {}
    return run if isinstance(run, dict) else {}


def _audit_index(found: Round, report: AuditReport) -> None:
    least = min((pack.replicates for pack in found.record.packs if pack.trials), default=0)
    if found.record.replicates != least:
        report.add(
            "AU707-index", f"{found.name}/{ROUND}",
            f"replicates are {found.record.replicates}, of its chapters {least}",
            found=str(found.record.replicates), expected=str(least),
        )  # fmt: skip


def _audit_signature(found: Round, report: AuditReport) -> None:
    signature = verify(found.folder, found.sha256)
    if signature.state != "good":
        report.add(
            "AU702-signature", found.name, signature.words,
            found=signature.words, expected="a signature of the round as it is",
            severity="error" if signature.state == "bad" else "note",
        )  # fmt: skip
