"""What a check finds and what the checks together make of a trial."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Literal

Severity = Literal["fail", "doubt"]
Verdict = Literal["valid", "noisy", "generator-bound", "no steady state", "failed", "stale"]

VERDICTS: tuple[Verdict, ...] = (
    "failed",
    "generator-bound",
    "no steady state",
    "noisy",
    "stale",
    "valid",
)
"""Worst first: a trial carries the worst of what its checks say."""


def worst_of(verdicts: Iterable[Verdict]) -> Verdict:
    """Return the worst of some verdicts, valid if there are none."""
    said = {*verdicts, "valid"}
    return next(verdict for verdict in VERDICTS if verdict in said)


@dataclass(frozen=True)
class Finding:
    """The answer of one check for one trial."""

    rule: str
    passed: bool | None
    """None: the check does not apply to this trial; ``message`` says why."""
    message: str
    """What was found, with numbers and units."""
    numbers: dict[str, float] = field(default_factory=dict)
    verdict: Verdict = "valid"
    """What the trial becomes by this finding; ``valid`` when it passed or does not apply."""


@dataclass(frozen=True)
class Judgement:
    """All findings of a trial and the verdict they add up to."""

    verdict: Verdict
    findings: tuple[Finding, ...]

    def failed(self) -> tuple[Finding, ...]:
        """Return the findings that did not pass."""
        return tuple(finding for finding in self.findings if finding.passed is False)
