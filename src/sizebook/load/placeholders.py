"""Texts with placeholders, such as ``/orders/{{order_id}}``, filled in for each request."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from html import escape
from urllib.parse import quote, quote_plus

PLACEHOLDER = re.compile(r"\{\{\s*([A-Za-z_][A-Za-z0-9_.-]{0,63})\s*\}\}")

Encode = Callable[[str], str]
"""Makes of a value what may stand in its place: in a path, a form, a JSON text."""


class MissingValueError(LookupError):
    """A placeholder has no value; ``name`` is its name."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(name)


def fill(text: str, values: Mapping[str, str], encode: Encode = str) -> str:
    """Return a text with the values of its placeholders. Raises MissingValueError."""
    parts = _parts(text)
    if len(parts) == 1:
        return text
    return "".join(
        encode(_value(part, values)) if number % 2 else part for number, part in enumerate(parts)
    )


def placeholders(text: str) -> tuple[str, ...]:
    """Return the names of a text's placeholders, in their order, each once."""
    return tuple(dict.fromkeys(_parts(text)[1::2]))


def in_path(value: str) -> str:
    """Return a value as it may stand in a path or a query."""
    return quote(value, safe="")


def encoder_of(content_type: str) -> Encode:
    """Return how values are written in a body of this Content-Type."""
    kind = content_type.partition(";")[0].strip().lower()
    if kind.endswith("json"):
        return lambda value: json.dumps(value)[1:-1]
    if kind == "application/x-www-form-urlencoded":
        return quote_plus
    if kind.endswith("xml"):
        return escape
    return str


@lru_cache(maxsize=10_000)
def _parts(text: str) -> tuple[str, ...]:
    """Return what stands between placeholders, and their names, in turn."""
    return tuple(PLACEHOLDER.split(text))


def _value(name: str, values: Mapping[str, str]) -> str:
    try:
        return values[name]
    except KeyError:
        raise MissingValueError(name) from None
