"""What a rule of the audit is, and the remedies that several share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Severity = Literal["error", "warning", "note"]

SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")
"""Worst first. An error says that something shown cannot be believed as it stands."""


@dataclass(frozen=True)
class AuditRule:
    """One rule of the audit. The first digit of its number says what it looks at."""

    id: str
    severity: Severity
    title: str
    meaning: str
    """What it compares, and what a difference means."""
    remedy: str
    """What to do about a finding."""


Wrong = tuple[str, str, str, str]
"""Rule, what differs, what was found, what follows from the rest."""

MEASURE = "Get a fresh copy of the bundle, or remove it and measure the trial again."
RUN = "Run the chapter again: sizebook run CHAPTER, with --source data/runs to measure nothing."
BUILD = "Build the site again: sizebook build."
