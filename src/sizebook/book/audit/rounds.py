"""Published rounds as such: packs, signatures, size, privacy."""

from __future__ import annotations

from collections.abc import Callable

from sizebook.book.audit.findings import AuditReport
from sizebook.book.published.choosing import LEAST_REPLICATES
from sizebook.book.published.privacy import find_private
from sizebook.book.published.signing import verify
from sizebook.model.errors import BundleError
from sizebook.store import Project
from sizebook.store.rounds import (
    MOST_PUBLISHED_BYTES,
    Published,
    Round,
    check_pack,
    list_rounds,
    newest_first,
    open_round,
    published_bytes,
)


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
        sound = [_audit_pack(Published(found, each), report) for each in found.record.packs]
        if all(sound):
            whole.append(found)
    total = published_bytes(project)
    if total > MOST_PUBLISHED_BYTES:
        report.add(
            "AU703-size", "data/published",
            f"{total:,} bytes, {total - MOST_PUBLISHED_BYTES:,} too many",
            found=f"{total:,} bytes", expected=f"at most {MOST_PUBLISHED_BYTES:,}",
        )  # fmt: skip
    return newest_first(whole)


def _audit_pack(published: Published, report: AuditReport) -> bool:
    pack, place = published.pack, f"{published.round.name}/{published.pack.file}"
    try:
        check_pack(published)
        files = published.read()
    except BundleError as error:
        report.add("AU701-pack", place, error.found, found=error.found, expected=error.expected)
        return False
    for each in find_private(files):
        report.add(
            "AU704-private", place, f"{each.words} in {each.file}",
            found=each.words, expected="nothing that tells who made it, and where",
        )  # fmt: skip
    if pack.trials and pack.replicates < LEAST_REPLICATES:
        report.add(
            "AU705-replicates", place,
            f"{pack.replicates} replicates of the treatment that has fewest",
            found=str(pack.replicates), expected=f"{LEAST_REPLICATES}",
        )  # fmt: skip
    return True


def _audit_signature(found: Round, report: AuditReport) -> None:
    signature = verify(found.folder, found.sha256)
    if signature.state != "good":
        report.add(
            "AU702-signature", found.name, signature.words,
            found=signature.words, expected="a signature of the round as it is",
            severity="error" if signature.state == "bad" else "note",
        )  # fmt: skip
