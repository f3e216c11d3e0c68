"""Settings of a locustfile: declared with default and choices, an unknown one is an error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sizebook.model.errors import UsageError
from sizebook.model.records import Scalar


@dataclass(frozen=True)
class Setting:
    """One setting: its default, which also fixes its type, and the values it may have."""

    default: Scalar
    choices: tuple[Scalar, ...] = ()


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
        setting = declared[name]
        if setting.choices and value not in setting.choices:
            expected = "one of " + ", ".join(map(str, setting.choices))
        elif type(value) is not type(setting.default):
            expected = f"a value of type {type(setting.default).__name__}"
        else:
            continue
        raise UsageError(
            found=f"setting {name}={value!r} for {locustfile}",
            expected=expected,
            next_step="correct the load profile's settings",
        )
    return values
