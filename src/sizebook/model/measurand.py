"""What a number is of: the measure, the statistic, and the treatments whose trials it is made from.

Two numbers with the same measurand and the same trials must be equal beyond rounding, wherever they
are printed. The audit compares them (``book.audit.agreement``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from sizebook.model.records import Scalar

FIELD = "measurand"
"""Field of a number's record; pages that were made before it do not have it."""

Levels = Mapping[str, Scalar]
Statistic = Literal["mean", "ratio", "trend"]


@dataclass(frozen=True)
class Measurand:
    """A statistic of one measure over the trials of a treatment, or of two for a ratio."""

    statistic: Statistic
    """``trend`` is the change over the measured phase, as a share of the level."""
    measure: str
    """Column of the frame, as claims and tables name it."""
    levels: Levels
    """Levels that select the trials; empty for all of them."""
    base: Levels | None = None
    """Levels of the treatment that a ratio divides by."""

    def as_record(self) -> dict[str, Any]:
        """Return plain JSON data: the field of a number's record."""
        record = {"statistic": self.statistic, "measure": self.measure, "levels": dict(self.levels)}
        return record if self.base is None else {**record, "base": dict(self.base)}

    @classmethod
    def from_record(cls, record: Any) -> Measurand | None:
        """Return what ``as_record`` wrote; None for anything else, such as a page without it."""
        match record:
            case {"statistic": "mean" | "trend" as statistic, "measure": str(measure),
                  "levels": dict(levels)}:  # fmt: skip
                return cls(statistic, measure, levels)
            case {"statistic": "ratio", "measure": str(measure), "levels": dict(levels),
                  "base": dict(base)}:  # fmt: skip
                return cls("ratio", measure, levels, base)
        return None
