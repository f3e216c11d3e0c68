"""One contradiction: the rule that it breaks, both places, and what each says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Disagreement:
    """Two things that a reader sees and that cannot both hold."""

    rule: str
    place: str
    """The result that is named, ``page#key``."""
    message: str
    found: str
    expected: str
    other: str = ""
    """The result that says otherwise, if that is another one."""


Disagreements = Iterator[Disagreement]


def digits(value: float) -> str:
    """Return a number with as many digits as tell it from its neighbours."""
    return f"{value:,.4g}" if abs(value) < 1e4 else f"{value:,.0f}"
