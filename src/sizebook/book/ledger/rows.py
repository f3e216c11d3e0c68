"""The ledger: one row a claim, with what the chapters of the book found.

A claim gets its verdict from the executed notebook of the chapter that ``data/claims`` names for
it. What is not decided has a reason; what a chapter of the book leaves out without one is a fault,
and the book does not build. The answer of a test that does not ask the claim's question, or of a
claim that was made after its trials, is no verdict (``standing``). A verdict that does not survive
the limit of false discoveries over the whole book is undetermined here, and its reason says what
its page says (``discoveries``).
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sizebook.book.chapters import find_chapters
from sizebook.book.cited import ProjectBundles
from sizebook.book.ledger.discoveries import DECIDED, BookDiscoveries, discover_claims
from sizebook.book.ledger.standing import NO_VERDICT, Standing, fidelity_words, stand
from sizebook.book.ledger.tables import ClaimTables, check_known, read_tables
from sizebook.book.records import PublishedResult, read_records
from sizebook.model.bundle import BundleRecord
from sizebook.model.claim import CLAIM_VERDICTS, OWN, Claim, ClaimOutcome, ClaimSize
from sizebook.model.errors import UserError
from sizebook.model.reported import REPORTS
from sizebook.report.claims import read_claims
from sizebook.store import Project

NOT_TRANSFERABLE = "not transferable"
STATES: tuple[str, ...] = (*CLAIM_VERDICTS, *NO_VERDICT, NOT_TRANSFERABLE)


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
    """What the ledger says: a verdict, what stands in its place, or ``not transferable``."""
    reason: str
    chapter: str
    title: str
    part: str
    outcome: ClaimOutcome | None = None
    evidence: ClaimEvidence | None = None
    fault: str = ""
    standing: Standing = field(default_factory=Standing)

    @property
    def verdict(self) -> str | None:
        """The verdict; None for a claim that gets none."""
        return self.state if self.state in CLAIM_VERDICTS else None

    @property
    def size(self) -> ClaimSize | None:
        """How large a confirmed effect is; None where the ledger does not say confirmed."""
        counts = self.outcome is not None and self.state == self.outcome.verdict
        return self.outcome.size if self.outcome is not None and counts else None

    def as_json(self) -> dict[str, Any]:
        """Return the row as ``sizebook claims --json`` prints it."""
        found, fidelity = self.outcome, self.standing.fidelity
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
            "fidelity": fidelity.kind if fidelity else None,
            "fidelity_reason": fidelity.reason if fidelity else None,
            "requires": dict(fidelity.requires) if fidelity else {},
            "written_utc": self.standing.written_utc or None,
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
    standing: Standing


def read_ledger(root: Path, pages: Sequence[str]) -> list[LedgerRow]:
    """Return a row for each claim, in the order of the chapters that decide them.

    ``pages`` are those of the book, without ending. Raises UserError for an unreadable notebook or
    table.
    """
    known = _read_reported(root)
    tables = read_tables(root)
    check_known(root, tables, list(known))
    titles = {chapter: _Chapter(*about) for chapter, about in tables.planned.items()}
    titles |= {each.id: _Chapter(each.part, each.title) for each in find_chapters(root)}
    decided = _read_decided(root, pages, tables)
    executed = [page for page in pages if (root / "book" / f"{page}.ipynb").exists()]
    rows = [
        _row(claim, decided.pop(claim.claim_id, None), tables, pages, executed, titles)
        for claim in known.values()
    ]
    rows += [_own_row(found, titles) for found in decided.values()]
    rows = _without_withdrawn(rows)
    order = {chapter: place for place, chapter in enumerate(titles)}
    return sorted(rows, key=lambda row: order.get(row.chapter, len(order)))


def stand_of(
    outcome: ClaimOutcome, record: PublishedResult, tables: ClaimTables, at_hand: ProjectBundles
) -> Standing:
    """Return what the answer of a claim's test counts for, with its evidence as a page has it."""
    sources = {source["bundle"]: source["sha256"] for source in record.evidence["sources"]}

    def measured(bundle: str) -> BundleRecord | None:
        found = at_hand.find(bundle, sources[bundle]).cited
        return found.record if found is not None else None

    return stand(outcome, list(sources), tables, measured)


def discoveries(rows: Iterable[LedgerRow]) -> BookDiscoveries:
    """Return which verdicts of a ledger count, and how many of them may be wrong.

    ``rows`` are all of a book: with fewer of them other verdicts would survive. A test whose answer
    is no verdict is none of them.
    """
    return discover_claims(
        row.outcome for row in rows if row.outcome is not None and row.standing.instead is None
    )


def _without_withdrawn(rows: Sequence[LedgerRow]) -> list[LedgerRow]:
    withdrawn = discoveries(rows).withdrawn
    return [
        replace(row, state="undetermined", reason=withdrawn[row.claim.claim_id])
        if row.claim.claim_id in withdrawn
        else row
        for row in rows
    ]


def in_question(rows: Iterable[LedgerRow]) -> list[LedgerRow]:
    """Return the claims that are asked about: the transferable ones and the book's own."""
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
    found: _Decided | None,
    tables: ClaimTables,
    pages: Sequence[str],
    executed: Sequence[str],
    titles: Mapping[str, _Chapter],
) -> LedgerRow:
    name = claim.claim_id
    places = tables.places
    chapter = places.get((claim.source, name)) or places.get((claim.source, claim.scenario), "")
    about = titles.get(chapter, _Chapter("", chapter))
    fault = ""
    if not chapter:
        fault = f"data/claims/chapters.csv names no chapter for claim {name}"
    elif claim.is_transferable and tables.fidelity and name not in tables.fidelity:
        fault = f"data/claims/fidelity.csv does not say how faithfully claim {name} is tested"
    if found is not None:
        if found.outcome.chapter != chapter:
            fault = (f"chapter {found.outcome.chapter} decides claim {name}, which "
                     f"data/claims/chapters.csv gives to {chapter or 'no chapter'}")  # fmt: skip
        elif name in tables.undecidable:
            fault = f"chapter {chapter} decides claim {name}: take it out of undecidable.csv"
        return _decided_row(claim, found, chapter, about, fault)
    if (
        claim.is_transferable
        and name not in tables.undecidable
        and f"chapters/{chapter}" in executed
    ):
        fault = (f"chapter {chapter} does not decide claim {name}, nor does "
                 "data/claims/undecidable.csv say why not")  # fmt: skip
    state, reason, standing = _undecided(claim, chapter, about, tables, pages, executed)
    return LedgerRow(claim, state, reason, chapter, about.title, about.part, fault=fault,
                     standing=standing)  # fmt: skip


def _undecided(
    claim: Claim,
    chapter: str,
    about: _Chapter,
    tables: ClaimTables,
    pages: Sequence[str],
    executed: Sequence[str],
) -> tuple[str, str, Standing]:
    """Return state, reason and standing of a claim that no page of the book decides."""
    name, page = claim.claim_id, f"chapters/{chapter}"
    if not claim.is_transferable:
        return NOT_TRANSFERABLE, claim.limits, Standing()
    fidelity = tables.fidelity.get(name)
    if fidelity is not None and fidelity.kind == "not testable here":
        why = fidelity_words(fidelity)
        return fidelity.kind, why, Standing(fidelity, instead=fidelity.kind, why=why)
    if name in tables.undecidable:
        reason = f"it cannot be put to the test here: {tables.undecidable[name]}"
    elif page in executed:
        reason = f"its chapter, {about.title}, does not decide it"
    elif page in pages:
        reason = (
            f"its chapter, {about.title}, has not been run: 'sizebook run {shlex.quote(chapter)}'"
        )
    else:
        reason = f"its chapter, {about.title}, is not written yet"
    return "not run", reason, Standing(fidelity)


def _decided_row(
    claim: Claim, found: _Decided, chapter: str, about: _Chapter, fault: str
) -> LedgerRow:
    """Return the row of a claim that a page decides: its verdict, or what stands in its place."""
    state: str = found.outcome.verdict
    reason = found.outcome.reason
    standing = found.standing
    if standing.instead is not None:
        answer = f"; test result: {state}, not a verdict" if state in DECIDED else ""
        state, reason = standing.instead, f"{standing.why}{answer}"
    return LedgerRow(claim, state, reason, chapter, about.title, about.part, found.outcome,
                     found.evidence, fault, standing)  # fmt: skip


def _own_row(found: _Decided, titles: Mapping[str, _Chapter]) -> LedgerRow:
    """Return the row of a claim that no report makes: a chapter's own, or a mistake."""
    outcome = found.outcome
    about = titles.get(outcome.chapter, _Chapter("", outcome.chapter))
    claim = outcome.as_claim()
    fault = ""
    if claim.source != OWN:
        fault = f"chapter {outcome.chapter} decides claim {claim.claim_id}, which no report has"
    return _decided_row(claim, found, outcome.chapter, about, fault)


def _read_decided(root: Path, pages: Sequence[str], tables: ClaimTables) -> dict[str, _Decided]:
    """Return what the executed notebooks of the book decide, by claim."""
    decided: dict[str, _Decided] = {}
    bundles_at_hand = ProjectBundles(root)
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
        standing = stand_of(outcome, record, tables, bundles_at_hand)
        bundles = tuple(source["bundle"] for source in record.evidence["sources"])
        command, sha256 = str(record.evidence["command"]), str(record.evidence["sha256"])
        evidence = ClaimEvidence(page, record.key, bundles, command, sha256)
        decided[record.key] = _Decided(outcome, evidence, standing)
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
