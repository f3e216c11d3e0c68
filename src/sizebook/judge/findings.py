"""What a rule says of a results file, and what a rule is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

Weight = Literal["wrong", "caution", "fine", "unknown"]
WEIGHTS: tuple[Weight, ...] = ("wrong", "caution", "unknown", "fine")
"""In the order of a report: what to act on first."""


@dataclass(frozen=True)
class ForeignFinding:
    """The answer of one rule for one file."""

    rule: str
    weight: Weight
    """``wrong``: figures mislead; ``caution``: they may; ``unknown``: the file does not tell."""
    words: str
    """What was found, with its numbers."""
    numbers: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class ForeignRule:
    """One rule for results of other tools."""

    id: str
    title: str
    remedy: str
    """What to do where it finds something wrong."""


class Unknowable(Exception):  # noqa: N818 - an answer, not a fault
    """The file does not tell what the rule asks; the text says what, and why."""

    def __init__(self, what: str, because: str) -> None:
        super().__init__(f"cannot be known: {what}, because {because}")
