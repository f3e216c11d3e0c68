"""Numbers as words of a sentence: formatted, escaped, and never mistaken for markup."""

from __future__ import annotations

import math
import numbers
import re
import string
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sizebook.model.plain_text import show_plainly

MISSING = "not measured"
NARROW_SPACE = "\u202f"

Scalar = str | bool | int | float | None

_PLAIN_DOT = re.compile(r"(?<=\d)\.(?=\d)")
_UNSAFE = re.compile(r"[^0-9A-Za-z ,.\u00a0-\U0010ffff]|\.")


@dataclass(frozen=True)
class Placeholder:
    """One ``{name:format}`` of a template."""

    name: str
    format: str


@dataclass(frozen=True)
class Sentence:
    """A template taken apart: ``texts[0] placeholders[0] texts[1] …``; one text more than gaps."""

    texts: tuple[str, ...]
    placeholders: tuple[Placeholder, ...]

    @property
    def names(self) -> list[str]:
        """The names in the gaps, each once."""
        return list(dict.fromkeys(each.name for each in self.placeholders))

    def join(self, words: list[str]) -> str:
        """Give the whole text with a word in each gap."""
        filled = [text + word for text, word in zip(self.texts, [*words, ""], strict=True)]
        return "".join(filled)


def to_scalar(name: str, value: Any) -> Scalar:
    """Give a value as JSON can hold it; None and NaN are the same: missing.

    NumPy and polars scalars are unwrapped. Raises TypeError for anything that is no scalar and
    ValueError for an infinity.
    """
    if hasattr(value, "item") and callable(value.item):
        value = value.item()
    if isinstance(value, str):
        return str(value)
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, numbers.Real):
        number = float(value)
        if math.isinf(number):
            raise ValueError(f"{name} is infinite; publish what was found instead")
        return None if math.isnan(number) else number
    raise TypeError(f"{name} is a {type(value).__name__}; a number, text or truth value is needed")


def format_scalar(value: Scalar, spec: str, unit: str = "") -> str:
    """Give the words for a value with its unit; a missing one reads "not measured"."""
    if value is None:
        return MISSING
    if isinstance(value, bool) and not spec:
        words = "yes" if value else "no"
    else:
        words = format(value, spec)
    words = show_plainly(words) if isinstance(value, str) else words
    return words + (NARROW_SPACE + unit if unit else "")


def parse_template(template: str) -> Sentence:
    """Take a template of prose apart.

    Only plain names are placeholders: no attribute, index or conversion. Raises ValueError.
    """
    texts = [""]
    placeholders = []
    for text, field, spec, conversion in string.Formatter().parse(template):
        texts[-1] += text
        if field is None:
            continue
        if not field.isidentifier() or conversion or (spec and "{" in spec):
            raise ValueError(f"{{{field}}}: a placeholder is a plain name with a format")
        placeholders.append(Placeholder(field, spec or ""))
        texts.append("")
    return Sentence(tuple(texts), tuple(placeholders))


def choose(
    texts: Mapping[str, str], chosen: str, known: Mapping[str, object], passed: set[str]
) -> Sentence:
    """Give the chosen template, taken apart, after all of them were checked.

    Each may name what is ``known``; what was ``passed`` must be named by one of them. Raises
    ValueError, so that a mistake does not wait for the day on which another text is chosen.
    """
    parsed = {name: parse_template(text) for name, text in texts.items()}
    named = {name for sentence in parsed.values() for name in sentence.names}
    if named - set(known) or passed - named:
        missing, unused = sorted(named - set(known)), sorted(passed - named)
        raise ValueError(f"placeholders without value: {missing}; values without place: {unused}")
    return parsed[chosen]


def fill(sentence: Sentence, values: Mapping[str, Scalar]) -> list[str]:
    """Give the words of each gap. Raises ValueError for a name without value, or one unused."""
    asked = {placeholder.name for placeholder in sentence.placeholders}
    if asked != set(values):
        missing, unused = sorted(asked - set(values)), sorted(set(values) - asked)
        raise ValueError(f"placeholders without value: {missing}; values without place: {unused}")
    return [format_scalar(values[each.name], each.format) for each in sentence.placeholders]


def escape_markdown(text: str) -> str:
    """Give a text that shows as it is in Markdown and HTML, whatever it contains.

    Every ASCII sign that could start markup becomes a numeric entity: entities cannot open
    emphasis, links, lists, roles or tags (CommonMark 0.31, 2.5).
    """
    kept = _PLAIN_DOT.sub("\ue000", " ".join(text.split()))
    return _UNSAFE.sub(lambda match: f"&#{ord(match[0])};", kept).replace("\ue000", ".")
