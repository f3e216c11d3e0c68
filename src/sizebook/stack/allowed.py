"""What a setting of a node may be: a count, a size, a span, yes or no, one of a few words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Self

from sizebook.model.records import Scalar

Kind = Literal["count", "size", "span", "truth", "text"]

_INT = (1 << 31) - 1
"""Largest number of Java's ``int``."""
_LONG = (1 << 63) - 1
_UNITS: Mapping[str, Mapping[str, int]] = {
    "count": {"": 1},
    "size": {"": 1, "B": 1, "KB": 1 << 10, "MB": 1 << 20, "GB": 1 << 30, "TB": 1 << 40},
    "span": {"": 1, "ms": 1, "s": 1000, "m": 60_000, "h": 3_600_000, "d": 86_400_000},
}
"""What Spring reads behind a number, with its worth in bytes or milliseconds."""
_NUMBER = re.compile(r"([+-]?[0-9]{1,20})([a-zA-Z]{0,2})")


@dataclass(frozen=True)
class Allowed:
    """The values of one setting; sizes are bytes, spans milliseconds."""

    kind: Kind
    least: int = 0
    greatest: int = _LONG
    choices: tuple[str, ...] = ()

    @classmethod
    def count(cls, least: int = 1, greatest: int = _INT) -> Self:
        """Return whole numbers of a range."""
        return cls("count", least, greatest)

    @classmethod
    def size(cls, least: int = 0, greatest: int = _LONG) -> Self:
        """Return sizes of a range in bytes."""
        return cls("size", least, greatest)

    @classmethod
    def span(cls, least_ms: int = 0) -> Self:
        """Return lengths of time from so many milliseconds on."""
        return cls("span", least_ms)

    @classmethod
    def truth(cls) -> Self:
        """Return yes and no."""
        return cls("truth", choices=("true", "false"))

    @classmethod
    def one_of(cls, *words: str) -> Self:
        """Return these words."""
        return cls("text", choices=words)

    @classmethod
    def text(cls) -> Self:
        """Return any text: the node says what it cannot use."""
        return cls("text")

    def holds(self, value: Scalar) -> bool:
        """Return whether a setting may have this value, as it is or as text."""
        text = str(value).strip()
        if self.kind not in _UNITS:
            return not self.choices or text.lower() in self.choices
        found = _NUMBER.fullmatch(text)
        units = _UNITS[self.kind]
        if found is None or found[2] not in units:
            return False
        return self.least <= int(found[1]) * units[found[2]] <= self.greatest

    @property
    def words(self) -> str:
        """What may be there, for a message."""
        if self.choices:
            return f"one of {', '.join(self.choices)}"
        if self.kind == "text":
            return "a text"
        what, unit = {
            "count": ("a whole number", ""),
            "size": ("a size such as 4096 or 64KB", " bytes"),
            "span": ("a length of time such as 500ms or 10s", " ms"),
        }[self.kind]
        if self.greatest in (_INT, _LONG):
            return f"{what}, {self.least}{unit} or more"
        return f"{what}, from {self.least} to {self.greatest}{unit}"
