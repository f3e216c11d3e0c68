"""What the book treats of the five reports: every printed number, setting and claim, by subject.

A subject is a scenario of the reports (numbers and claims) or a component (settings). The chapter
of a scenario stands in ``data/claims/chapters.csv``; ``coverage.csv`` has what is not there: the
chapter of a component, or the reason why a subject is left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from sizebook.book.ledger.rows import NOT_TRANSFERABLE, LedgerRow
from sizebook.book.ledger.tables import bad_table, read_table, read_tables
from sizebook.model.claim import OWN
from sizebook.report.reported_files import read_reported
from sizebook.store import Project

SubjectKind = Literal["scenario", "component"]


@dataclass
class Subject:
    """One thing that a report speaks of, and what the book makes of it."""

    source: str
    kind: SubjectKind
    name: str
    chapters: tuple[str, ...] = ()
    """Empty for what is left out."""
    reason: str = ""
    """Why it is left out."""
    numbers: int = 0
    settings: int = 0
    claims: Counter[str] = field(default_factory=Counter)
    """Claims by fidelity, or ``not transferable``."""

    @property
    def words(self) -> str:
        """The name as a reader sees it: a scenario's is an id."""
        return self.name.replace("-", " ") if self.kind == "scenario" else self.name


def find_coverage(root: Path, rows: Iterable[LedgerRow]) -> list[Subject]:
    """Return every subject of the reports, report by report; ``rows`` are the whole ledger.

    Raises UserError for a subject without a chapter and without a reason, and for a row of
    ``coverage.csv`` about nothing.
    """
    project = Project(root)
    placed = read_tables(root).places
    subjects: dict[tuple[str, str, str], Subject] = {}

    def subject(source: str, kind: SubjectKind, name: str) -> Subject:
        key = (source, kind, name)
        return subjects.setdefault(key, Subject(source, kind, name))

    for source, name, number in _printed("measurements", "scenario", project):
        subject(source, "scenario", name).numbers = number
    for each in rows:
        if each.claim.source != OWN:
            found = subject(each.claim.source, "scenario", each.claim.scenario)
            found.claims[_kind(each)] += 1
            found.chapters = tuple(dict.fromkeys((*found.chapters, each.chapter)))
    for source, name, number in _printed("parameters", "component", project):
        subject(source, "component", name).settings = number
    for (source, name), chapter in placed.items():
        if (known := subjects.get((source, "scenario", name))) and not known.chapters:
            known.chapters = (chapter,)
    _fill(root, subjects)
    return list(subjects.values())


def _printed(table: str, kind: SubjectKind, project: Project) -> list[tuple[str, str, int]]:
    """Return source, subject and number of rows of each subject of a table, in its order."""
    frame = read_reported(table, project).frame
    rows: list[tuple[str, str, int]] = (
        frame.group_by("source", kind, maintain_order=True).len().rows()
    )
    return rows


def _fill(root: Path, subjects: Mapping[tuple[str, str, str], Subject]) -> None:
    for row in read_table(root, "coverage"):
        known = subjects.get((row["source"], row["kind"], row["name"]))
        if known is None or bool(row["chapter"]) == bool(row["reason"]):
            found = f"a row with {row}: a subject of the reports, with a chapter or a reason"
            raise bad_table(root, "coverage", found)
        known.reason = row["reason"]
        known.chapters = known.chapters or ((row["chapter"],) if row["chapter"] else ())
    for each in subjects.values():
        if not each.chapters and not each.reason:
            raise bad_table(
                root, "coverage", f"no row for {each.kind} {each.name!r} of {each.source}"
            )


def count(subjects: Sequence[Subject]) -> tuple[int, int, int]:
    """Return how many numbers, settings and claims subjects have together."""
    return (
        sum(each.numbers for each in subjects),
        sum(each.settings for each in subjects),
        sum(each.claims.total() for each in subjects),
    )


def _kind(row: LedgerRow) -> str:
    if row.state == NOT_TRANSFERABLE:
        return NOT_TRANSFERABLE
    return row.standing.fidelity.kind if row.standing.fidelity else row.state
