"""The reports' data against their checksums, and the claims that pages decide against them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from sizebook.book.audit.contents import LookUp
from sizebook.book.audit.findings import AuditReport
from sizebook.book.audit.outputs import ExecutedPage
from sizebook.book.ledger.standing import began_utc, stand
from sizebook.book.ledger.tables import ClaimTables
from sizebook.model.claim import OWN, ClaimOutcome
from sizebook.store import Project
from sizebook.store.fingerprints import fingerprint_file

SUMS = "SHA256SUMS"
_LINE = re.compile(r"([0-9a-f]{64}) [ *]([^/\0]+)")


def audit_reported(project: Project, report: AuditReport) -> None:
    """Report each table of ``data/reported`` that is not the one in its list of checksums."""
    folder = project.root / "data" / "reported"
    if not folder.is_dir():
        return
    listed = _read_sums(folder / SUMS)
    there = {path.name for path in folder.glob("*.csv") if path.is_file()}
    for name in sorted(there | set(listed)):
        expected = listed.get(name)
        found = fingerprint_file(folder / name) if name in there else None
        if found == expected:
            continue
        if found is None:
            words = "the file is missing"
        elif expected is None:
            words = f"the file is not in {SUMS}"
        else:
            words = "the file is not the one whose checksum was recorded"
        report.add(
            "AU501-reported", f"data/reported/{name}", words,
            found=f"SHA-256 {found}" if found else "no file",
            expected=f"SHA-256 {expected}" if expected else f"a line in {SUMS}",
        )  # fmt: skip


def audit_claims(pages: Sequence[ExecutedPage], look_up: LookUp, report: AuditReport) -> None:
    """Report claims that no report makes, and those that two results decide."""
    decided: dict[str, str] = {}
    for page in pages:
        for output in page.results:
            if output.kind != "claim":
                continue
            key = str((output.fields or {}).get("key"))
            first = decided.setdefault(key, output.place)
            if first != output.place:
                words = f"decided already by {first}"
            elif not key.startswith("own-") and look_up(key) is None:
                words = "no report makes this claim"
            else:
                continue
            report.add(
                "AU502-claim-unknown", output.place, words,
                found=key[:120], expected="a claim of data/reported/claims.csv, decided once",
                spoils=[page.item, *output.items()],
            )  # fmt: skip


def audit_written(pages: Sequence[ExecutedPage], tables: ClaimTables, report: AuditReport) -> None:
    """Report claims of the book's own that were written down after a trial behind them began."""
    for output in (each for page in pages for each in page.results if each.kind == "claim"):
        try:
            result = output.read()
            outcome = ClaimOutcome.from_record(getattr(result, "claim", {}))
        except ValueError:  # told by the audit of its contents
            continue
        if outcome.source != OWN:
            continue
        bundles = [source.bundle for source in result.evidence.sources]
        standing = stand(outcome, bundles, tables, lambda _: None)
        if standing.instead is not None:
            began = min(map(began_utc, bundles), default="")
            report.add(
                "AU503-claim-late", output.place, standing.why,
                found=standing.written_utc or "not in data/claims/own.csv",
                expected=f"before {began}" if began else "before its trials",
            )  # fmt: skip


def _read_sums(path: Path) -> dict[str, str]:
    """Return checksums by file name, as ``sha256sum`` writes them; none if there is no list."""
    if not path.is_file():
        return {}
    lines = path.read_text(encoding="utf-8").splitlines()
    found = [match for line in lines if (match := _LINE.fullmatch(line))]
    return {match[2]: match[1] for match in found}
