"""Settings of a locustfile: declared with default and choices, an unknown one is an error."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from sizebook.model.errors import UsageError
from sizebook.model.records import Scalar


@dataclass(frozen=True)
class Setting:
    """One setting: its default, which also fixes its type, and the values it may have.

    Numbers are 0 or more, as sizes, counts and seconds are, unless ``least`` says otherwise; one
    whose default is lower may be as low as its default.
    """

    default: Scalar
    choices: tuple[Scalar, ...] = ()
    least: float = 0
    greatest: float = math.inf

    def expected(self, value: Scalar) -> str:
        """Return what would fit instead of a value; empty if it fits."""
        if self.choices and value not in self.choices:
            return "one of " + ", ".join(map(str, self.choices))
        if type(value) is not type(self.default):
            return f"a value of type {type(self.default).__name__}"
        if isinstance(value, bool | str) or isinstance(self.default, bool | str):
            return ""
        least = min(self.least, self.default)
        if least <= value <= self.greatest:
            return ""
        above = "" if math.isinf(self.greatest) else f", {self.greatest:g} at most"
        return f"a number, {least:g} or more{above}"


def resolve_settings(
    declared: Mapping[str, Setting], given: Mapping[str, Scalar], locustfile: str
) -> dict[str, Scalar]:
    """Return a value for every declared setting. Raises UsageError for what does not fit."""
    unknown = sorted(set(given) - set(declared))
    if unknown:
        raise UsageError(
            found=f"setting {unknown[0]!r} for {locustfile}",
            expected="one of " + (", ".join(sorted(declared)) or "none: it has no settings"),
            next_step="correct the load profile's settings",
        )
    values = {name: given.get(name, setting.default) for name, setting in declared.items()}
    for name, value in values.items():
        expected = declared[name].expected(value)
        if not expected:
            continue
        raise UsageError(
            found=f"setting {name}={value!r} for {locustfile}",
            expected=expected,
            next_step="correct the load profile's settings",
        )
    return values
