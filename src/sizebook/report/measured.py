"""Numbers that know what they are of, as long as nobody calculates with them.

The result of a calculation is a plain number: what it is of cannot be told from its terms.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sizebook.model.measurand import FIELD, Measurand
from sizebook.stats.intervals import Interval


class MeasuredNumber(float):
    """A number with its measurand."""

    measurand: Measurand | None

    def __new__(cls, value: float, measurand: Measurand | None = None) -> MeasuredNumber:
        """Return the value as it is, with what it is of."""
        number = super().__new__(cls, value)
        number.measurand = measurand
        return number


class MeasuredWords(str):
    """A number in words, such as ``2.47 (2.31 to 2.64, n = 3)``, with its measurand."""

    measurand: Measurand | None

    def __new__(cls, words: str, measurand: Measurand | None = None) -> MeasuredWords:
        """Return the words as they are, with what they are of."""
        said = super().__new__(cls, words)
        said.measurand = measurand
        return said


@dataclass(frozen=True)
class MeasuredInterval(Interval):
    """An estimate with its interval and its measurand."""

    measurand: Measurand | None = None

    @classmethod
    def of(cls, found: Interval, measurand: Measurand) -> MeasuredInterval:
        """Return an interval with what it is of; its estimate says so, too."""
        known = found.estimate
        estimate = None if known is None else MeasuredNumber(known, measurand)
        return cls(estimate, found.low, found.high, found.level, found.n, found.method,
                   found.reason, measurand)  # fmt: skip


def measurand_of(value: object) -> Measurand | None:
    """Return what a value is of, None where it does not say."""
    if isinstance(value, MeasuredNumber | MeasuredWords | MeasuredInterval):
        return value.measurand
    return None


def measurand_field(value: object) -> dict[str, Any]:
    """Return the field of a record that says what a number is of; none if it does not know it."""
    known = measurand_of(value)
    return {} if known is None else {FIELD: known.as_record()}
