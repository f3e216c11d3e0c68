"""The ledger: one row a claim, with what the chapters of the book found.

A claim gets its verdict from the executed notebook of the chapter that ``data/claims`` names for
it. What is not decided has a reason; what a chapter of the book leaves out without one is a fault,
and the book does not build. A verdict that does not survive the limit of false discoveries over the
whole book is undetermined here, and its reason says what its page says (``book.discoveries``).
"""

from __future__ import annotations

import csv
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sizebook.book.chapters import find_chapters
from sizebook.book.discoveries import BookDiscoveries, discover_claims
from sizebook.book.records import PublishedResult, read_records
from sizebook.model.claim import CLAIM_VERDICTS, OWN, Claim, ClaimOutcome, ClaimSize
from sizebook.model.errors import UserError
from sizebook.model.reported import REPORTS
from sizebook.report.claims import read_claims
from sizebook.store import Project

NOT_TRANSFERABLE = "not transferable"
STATES: tuple[str, ...] = (*CLAIM_VERDICTS, NOT_TRANSFERABLE)

_COLUMNS = {
    "chapters": ("source", "scenario", "claim_id", "chapter"),
    "planned": ("chapter", "part", "title"),
    "undecidable": ("claim_id", "reason"),
}


@dataclass(frozen=True)
class ClaimEvidence:
    """Where a decided claim stands in the book, and what was behind it."""

    page: str
    """The chapter's page without ending, such as ``chapters/odata-rest``."""
    key: str
    bundles: tuple[str, ...]
    command: str
    sha256: str


@dataclass(frozen=True)
class LedgerRow:
    """One claim with its state; ``fault`` says what is wrong with how it was decided, or not."""

    claim: Claim
    state: str
    """A verdict, or ``not transferable``: what the ledger says."""
    reason: str
    chapter: str
    title: str
    part: str
    outcome: ClaimOutcome | None = None
    evidence: ClaimEvidence | None = None
    fault: str = ""

    @property
    def verdict(self) -> str | None:
        """The verdict; None for a claim that is not transferable."""
        return None if self.state == NOT_TRANSFERABLE else self.state

    @property
    def size(self) -> ClaimSize | None:
        """How large a confirmed effect is; None where the ledger does not say confirmed."""
        counts = self.outcome is not None and self.state == self.outcome.verdict
        return self.outcome.size if self.outcome is not None and counts else None

    def as_json(self) -> dict[str, Any]:
        """Return the row as ``sizebook claims --json`` prints it."""
        found = self.outcome
        interval = None
        if found is not None and found.low is not None and found.high is not None:
            interval = [found.low, found.high]
        return {
            "claim_id": self.claim.claim_id,
            "source": self.claim.source,
            "statement": self.claim.statement,
            "scenario": self.claim.scenario or None,
            "part": self.part or None,
            "chapter": self.chapter,
            "page": f"{self.evidence.page}.html" if self.evidence else None,
            "relation": found.relation if found else self.claim.relation,
            "metric": (found.metric if found else self.claim.metric) or None,
            "reported_ratio": self.claim.reported_ratio,
            "transferable": self.claim.transferable,
            "state": self.state,
            "verdict": self.verdict,
            "page_verdict": found.verdict if found else None,
            "p": found.p if found else None,
            "reason": self.reason,
            "effect": found.effect if found else None,
            "interval": interval,
            "n": found.n if found else 0,
            "size": self.size,
            "least": found.least if found else None,
            "evidence": self._evidence(),
        }

    def _evidence(self) -> dict[str, Any] | None:
        if self.evidence is None:
            return None
        return {
            "link": f"{self.evidence.page}.html#evidence-{self.evidence.key}",
            "bundles": list(self.evidence.bundles),
            "command": self.evidence.command,
            "sha256": self.evidence.sha256,
        }


@dataclass(frozen=True)
class _Chapter:
    part: str
    title: str


@dataclass(frozen=True)
class _Decided:
    outcome: ClaimOutcome
    evidence: ClaimEvidence


def read_ledger(root: Path, pages: Sequence[str]) -> list[LedgerRow]:
    """Return a row for each claim, in the order of the chapters that decide them.

    ``pages`` are those of the book, without ending. Raises UserError for an unreadable notebook or
    table.
    """
    known = _read_reported(root)
    titles = {row["chapter"]: _Chapter(row["part"], row["title"]) for row in _read(root, "planned")}
    titles |= {each.id: _Chapter(each.part, each.title) for each in find_chapters(root)}
    places = _places(root)
    undecidable = {row["claim_id"]: row["reason"] for row in _read(root, "undecidable")}
    decided = _read_decided(root, pages)
    executed = [page for page in pages if (root / "book" / f"{page}.ipynb").exists()]
    rows = []
    for claim in known.values():
        chapter = places.get((claim.source, claim.claim_id)) or places.get(
            (claim.source, claim.scenario), ""
        )
        found = decided.pop(claim.claim_id, None)
        rows.append(_row(claim, chapter, found, undecidable, pages, executed, titles))
    for claim_id in undecidable.keys() - known.keys():
        raise _bad(root, "undecidable", f"claim_id {claim_id!r}, which no report has")
    rows += [_own_row(found, titles) for found in decided.values()]
    rows = _without_withdrawn(rows)
    order = {chapter: place for place, chapter in enumerate(titles)}
    return sorted(rows, key=lambda row: order.get(row.chapter, len(order)))


def discoveries(rows: Iterable[LedgerRow]) -> BookDiscoveries:
    """Return which verdicts of a ledger count, and how many of them may be wrong.

    ``rows`` are all of a book: with fewer of them other verdicts would survive.
    """
    return discover_claims(row.outcome for row in rows if row.outcome is not None)


def _without_withdrawn(rows: Sequence[LedgerRow]) -> list[LedgerRow]:
    withdrawn = discoveries(rows).withdrawn
    return [
        replace(row, state="undetermined", reason=withdrawn[row.claim.claim_id])
        if row.claim.claim_id in withdrawn
        else row
        for row in rows
    ]


def in_question(rows: Iterable[LedgerRow]) -> list[LedgerRow]:
    """Return the claims that get a verdict: the transferable ones and the book's own."""
    return [row for row in rows if row.state != NOT_TRANSFERABLE]


def count_states(rows: Iterable[LedgerRow]) -> dict[str, dict[str, int]]:
    """Return how many claims of each source have each state: the reports, then our own."""
    counts: dict[str, Counter[str]] = {source: Counter() for source in (*REPORTS, OWN)}
    for row in rows:
        counts.setdefault(row.claim.source, Counter())[row.state] += 1
    return {
        source: {state: found[state] for state in STATES}
        for source, found in counts.items()
        if found
    }


def faults(rows: Iterable[LedgerRow]) -> list[str]:
    """Return what is wrong with the ledger, a sentence each; empty for a book that may build."""
    return [row.fault for row in rows if row.fault]


def _row(
    claim: Claim,
    chapter: str,
    found: _Decided | None,
    undecidable: Mapping[str, str],
    pages: Sequence[str],
    executed: Sequence[str],
    titles: Mapping[str, _Chapter],
) -> LedgerRow:
    about = titles.get(chapter, _Chapter("", chapter))
    name = claim.claim_id
    if found is not None:
        fault = ""
        if found.outcome.chapter != chapter:
            fault = (f"chapter {found.outcome.chapter} decides claim {name}, which "
                     f"data/claims/chapters.csv gives to {chapter or 'no chapter'}")  # fmt: skip
        elif name in undecidable:
            fault = f"chapter {chapter} decides claim {name}: take it out of undecidable.csv"
        verdict, reason = found.outcome.verdict, found.outcome.reason
        return LedgerRow(claim, verdict, reason, chapter, about.title, about.part,
                         found.outcome, found.evidence, fault)  # fmt: skip
    state: str = "not run"
    fault = ""
    if not claim.is_transferable:
        state, reason = NOT_TRANSFERABLE, claim.limits
    elif name in undecidable:
        reason = f"it cannot be put to the test here: {undecidable[name]}"
    elif f"chapters/{chapter}" in executed:
        reason = f"its chapter, {about.title}, does not decide it"
        fault = (f"chapter {chapter} does not decide claim {name}, nor does "
                 "data/claims/undecidable.csv say why not")  # fmt: skip
    elif f"chapters/{chapter}" in pages:
        reason = (
            f"its chapter, {about.title}, has not been run: 'sizebook run {shlex.quote(chapter)}'"
        )
    else:
        reason = f"its chapter, {about.title}, is not written yet"
    if not chapter:
        fault = f"data/claims/chapters.csv names no chapter for claim {name}"
    return LedgerRow(claim, state, reason, chapter, about.title, about.part, fault=fault)


def _own_row(found: _Decided, titles: Mapping[str, _Chapter]) -> LedgerRow:
    """Return the row of a claim that no report makes: a chapter's own, or a mistake."""
    outcome = found.outcome
    about = titles.get(outcome.chapter, _Chapter("", outcome.chapter))
    claim = outcome.as_claim()
    fault = ""
    if claim.source != OWN:
        fault = f"chapter {outcome.chapter} decides claim {claim.claim_id}, which no report has"
    return LedgerRow(claim, outcome.verdict, outcome.reason, outcome.chapter, about.title,
                     about.part, outcome, found.evidence, fault)  # fmt: skip


def _read_decided(root: Path, pages: Sequence[str]) -> dict[str, _Decided]:
    """Return what the executed notebooks of the book decide, by claim."""
    decided: dict[str, _Decided] = {}
    for page, record in _claim_records(root, pages):
        try:
            outcome = ClaimOutcome.from_record(record.fields["claim"])
        except (KeyError, ValueError) as error:
            raise UserError(
                found=f"{page}.ipynb: claim {record.key!r} is unreadable ({error})",
                expected="a claim as this version of the harness writes it",
                next_step=f"sizebook run {shlex.quote(page.rpartition('/')[2])}",
            ) from error
        if record.key in decided:
            raise UserError(
                found=f"claim {record.key} is decided in {decided[record.key].evidence.page} "
                f"and in {page}",
                expected="one chapter for each claim",
                next_step="take it out of one of them, or make it an own_claim(...)",
            )
        bundles = tuple(source["bundle"] for source in record.evidence["sources"])
        command, sha256 = str(record.evidence["command"]), str(record.evidence["sha256"])
        evidence = ClaimEvidence(page, record.key, bundles, command, sha256)
        decided[record.key] = _Decided(outcome, evidence)
    return decided


def _claim_records(root: Path, pages: Sequence[str]) -> Iterator[tuple[str, PublishedResult]]:
    for page in pages:
        notebook = root / "book" / f"{page}.ipynb"
        if notebook.exists():
            for record in read_records(notebook).values():
                if record.kind == "claim":
                    yield page, record


def _read_reported(root: Path) -> dict[str, Claim]:
    """Return the reports' claims; a book without reported data has none."""
    if not (root / "data" / "reported" / "claims.csv").exists():
        return {}
    return read_claims(Project(root))


def _places(root: Path) -> dict[tuple[str, str], str]:
    """Return the chapter of each (source, claim) and (source, scenario)."""
    places = {}
    for row in _read(root, "chapters"):
        if bool(row["scenario"]) == bool(row["claim_id"]):
            raise _bad(root, "chapters", f"a row with {row}: a scenario or a claim_id, not both")
        places[row["source"], row["scenario"] or row["claim_id"]] = row["chapter"]
    return places


def _read(root: Path, table: str) -> list[dict[str, str]]:
    """Return the rows of a table of ``data/claims``; none where the book has no such table."""
    path = root / "data" / "claims" / f"{table}.csv"
    if not path.exists():
        return []
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream, strict=True)
            rows = list(reader)
    except (csv.Error, UnicodeDecodeError) as error:
        raise _bad(root, table, f"no readable table ({error})") from error
    if tuple(reader.fieldnames or ()) != _COLUMNS[table]:
        raise _bad(root, table, f"the columns {reader.fieldnames}")
    if any(None in row or None in row.values() for row in rows):
        raise _bad(root, table, "a row of another length than its heading")
    return rows


def _bad(root: Path, table: str, found: str) -> UserError:
    path = (root / "data" / "claims" / f"{table}.csv").relative_to(root)
    return UserError(
        found=f"{path.as_posix()} has {found}",
        expected=f"columns {', '.join(_COLUMNS[table])}, as data/claims/README.md describes them",
        next_step="correct the table",
    )
