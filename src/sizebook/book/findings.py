"""The ledger at a glance: how the claims fared in each part, and what is measured."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from sizebook.book.claims import LedgerRow, in_question
from sizebook.model.claim import CLAIM_VERDICTS

TESTED = ("confirmed", "contradicted", "undetermined")
"""What came of a claim that valid trials were asked about."""


@dataclass(frozen=True)
class Findings:
    """The ledger at a glance."""

    states: Mapping[str, int]
    """How many claims have each verdict, over all parts."""
    parts: Mapping[str, Mapping[str, int]]
    """The same by part of the book, in its order."""
    measured: tuple[str, ...]
    """Titles of the chapters with a claim that was put to the test."""
    unmeasured: tuple[str, ...]
    """Titles of the others that have claims."""


def find_findings(rows: Iterable[LedgerRow]) -> Findings:
    """Return what the rows of a ledger say at a glance; claims not in question are left out."""
    listed = in_question(rows)
    tested = {row.chapter for row in listed if row.state in TESTED}
    titles = {row.chapter: row.title or row.chapter for row in listed if row.chapter}
    return Findings(
        states=_count(listed),
        parts={
            part: _count(row for row in listed if row.part == part)
            for part in dict.fromkeys(row.part for row in listed if row.part)
        },
        measured=tuple(title for chapter, title in titles.items() if chapter in tested),
        unmeasured=tuple(title for chapter, title in titles.items() if chapter not in tested),
    )


def _count(rows: Iterable[LedgerRow]) -> dict[str, int]:
    found = Counter(row.state for row in rows)
    return {state: found[state] for state in CLAIM_VERDICTS}
