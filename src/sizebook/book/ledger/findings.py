"""The ledger at a glance: how the claims fared in each part, and what is measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sizebook.book.ledger.rows import LedgerRow, in_question
from sizebook.book.ledger.standing import NO_VERDICT
from sizebook.model.claim import CLAIM_VERDICTS, OWN

TESTED = ("confirmed", "contradicted", "undetermined")
"""What came of a claim that valid trials were asked about."""
NONE = "no verdict"
"""What ``NO_VERDICT`` counts as together."""
OWN_GROUP = "This book's own"


@dataclass(frozen=True)
class Findings:
    """The ledger at a glance; the book's own claims are counted apart from those of the reports."""

    reports: Mapping[str, int]
    """How many claims of the reports have each verdict, or what stands in its place."""
    own: Mapping[str, int]
    """The same of the book's own."""
    parts: Mapping[str, Mapping[str, int]]
    """Those of the reports by part of the book, in its order, then the book's own together."""
    measured: tuple[str, ...]
    """Titles of the chapters with a claim that was put to the test."""
    unmeasured: tuple[str, ...]
    """Titles of the others that have claims."""


def find_findings(rows: Iterable[LedgerRow]) -> Findings:
    """Return what the rows of a ledger say at a glance; claims not in question are left out."""
    listed = in_question(rows)
    tested = {
        row.chapter for row in listed if row.outcome is not None and row.outcome.verdict in TESTED
    }
    titles = {row.chapter: row.title or row.chapter for row in listed if row.chapter}
    reports = [row for row in listed if row.claim.source != OWN]
    own = [row for row in listed if row.claim.source == OWN]
    groups = {
        part: [row for row in reports if row.part == part]
        for part in dict.fromkeys(row.part for row in listed if row.part)
    }
    groups |= {OWN_GROUP: own} if own else {}
    return Findings(
        reports=_count(reports),
        own=_count(own),
        parts={name: _drawn(rows) for name, rows in groups.items()},
        measured=tuple(title for chapter, title in titles.items() if chapter in tested),
        unmeasured=tuple(title for chapter, title in titles.items() if chapter not in tested),
    )


def _count(rows: Iterable[LedgerRow]) -> dict[str, int]:
    found = Counter(row.state for row in rows)
    return {state: found[state] for state in (*CLAIM_VERDICTS, *NO_VERDICT)}


def _drawn(rows: Iterable[LedgerRow]) -> dict[str, int]:
    found = Counter(row.verdict or NONE for row in rows)
    return {state: found[state] for state in (*CLAIM_VERDICTS, NONE)}
