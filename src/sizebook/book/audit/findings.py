"""What an audit finds and counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from sizebook.book.audit.rules import SEVERITIES, Severity, get_rule
from sizebook.model.plain_text import on_one_line

Kind = Literal["figures", "tables", "numbers", "prose", "claims", "bundles", "pages"]
KINDS: tuple[Kind, ...] = ("figures", "tables", "numbers", "prose", "claims", "bundles", "pages")

FORMAT = "sizebook-audit"
VERSION = 1


@dataclass(frozen=True)
class AuditFinding:
    """One thing that is wrong, doubtful or worth knowing, and where."""

    rule: str
    severity: Severity
    place: str
    """Bundle, page, result (``page#key``) or file."""
    message: str
    """What is wrong, in one line."""
    found: str
    expected: str
    next_step: str

    def __str__(self) -> str:
        return f"{self.severity} {self.rule} {self.place}: {self.message}"


@dataclass(frozen=True)
class AuditedItem:
    """One thing that is counted: a result, a bundle, a page."""

    kind: Kind
    place: str


@dataclass(frozen=True)
class Counts:
    """How many things of a kind were checked, and of how many everything held."""

    checked: int
    verified: int


@dataclass
class AuditReport:
    """Collects findings and the items that were checked.

    An item is verified if no finding of severity error spoils it.
    """

    target: str
    """What was audited, in words."""
    skipped: list[str] = field(default_factory=list)
    """Parts of the audit that the caller asked to leave out."""
    findings: list[AuditFinding] = field(default_factory=list)
    _items: dict[AuditedItem, bool] = field(default_factory=dict)

    def check(self, *items: AuditedItem) -> None:
        """Count items as checked."""
        for item in items:
            self._items.setdefault(item, True)

    def add(
        self,
        rule_id: str,
        place: str,
        message: str,
        *,
        found: str,
        expected: str,
        next_step: str = "",
        spoils: Iterable[AuditedItem] = (),
        severity: Severity | None = None,
    ) -> None:
        """Add a finding; an error means that the items in ``spoils`` are not verified.

        ``next_step`` and ``severity`` are the rule's unless given.
        """
        rule = get_rule(rule_id)
        finding = AuditFinding(
            rule_id,
            severity or rule.severity,
            place,
            _line(message),
            _line(found),
            _line(expected),
            next_step or rule.remedy,
        )
        if finding not in self.findings:
            self.findings.append(finding)
        if finding.severity == "error":
            self._items |= {item: False for item in spoils if item in self._items}

    def counts(self) -> dict[Kind, Counts]:
        """Return what was checked and verified, by kind."""
        checked = Counter(item.kind for item in self._items)
        verified = Counter(item.kind for item, good in self._items.items() if good)
        return {kind: Counts(checked[kind], verified[kind]) for kind in KINDS}

    def counted(self, kind: Kind) -> list[AuditedItem]:
        """Return the items of a kind that were checked."""
        return [item for item in self._items if item.kind == kind]

    def number_of(self, severity: Severity) -> int:
        """Return how many findings are of this severity."""
        return sum(finding.severity == severity for finding in self.findings)

    @property
    def sorted_findings(self) -> list[AuditFinding]:
        """The findings, worst first, then by rule and in the order in which they were found."""
        return sorted(self.findings, key=lambda one: (SEVERITIES.index(one.severity), one.rule))

    @property
    def verified(self) -> bool:
        """Whether the whole was checked and no error was found."""
        return not self.skipped and not self.number_of("error")

    def as_json(self) -> dict[str, Any]:
        """Return the report as plain data for another program."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "target": self.target,
            "verified": self.verified,
            "skipped": list(self.skipped),
            "counts": {kind: asdict(count) for kind, count in self.counts().items()},
            "findings": [asdict(finding) for finding in self.sorted_findings],
        }


def _line(text: str, most: int = 400) -> str:
    """Return a text as one line that shows as it is on a terminal, cut if it is very long."""
    line = on_one_line(text)
    return line if len(line) <= most else f"{line[: most - 1]}…"
