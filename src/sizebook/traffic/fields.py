"""Fields of documents that others wrote: of the right type, or not there."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Mapping
from typing import Any


def text_of(given: Any, name: str, default: str = "") -> str:
    """Return a text; numbers become one, anything else is the default."""
    value = given.get(name) if isinstance(given, Mapping) else None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return str(value)
    # Half a surrogate pair, as JSON may have it, could not be written.
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else default


def number_of(given: Any, name: str, default: float = 0.0) -> float:
    """Return a finite number, also of a text; anything else is the default."""
    value = given.get(name) if isinstance(given, Mapping) else None
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return default
    if isinstance(value, bool) or not isinstance(value, int | float) or abs(value) > 1e15:
        return default
    return float(value) if math.isfinite(value) else default


def map_of(given: Any, name: str) -> Mapping[str, Any]:
    """Return an object; anything else is an empty one."""
    value = given.get(name) if isinstance(given, Mapping) else None
    return value if isinstance(value, dict) else {}


def maps_of(given: Any, name: str) -> list[Mapping[str, Any]]:
    """Return the objects of a list; anything else is left out."""
    value = given.get(name) if isinstance(given, Mapping) else None
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def pairs_of(given: Any, name: str) -> tuple[tuple[str, str], ...]:
    """Return names and values of a list such as HAR's headers, cookies and params."""
    return tuple((text_of(e, "name"), text_of(e, "value")) for e in maps_of(given, name))


def unpack_base64(text: str) -> bytes | None:
    """Return the bytes of a text in base64; None if it is not."""
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        return None


def header_of(headers: tuple[tuple[str, str], ...], name: str) -> str:
    """Return the first header of a name in small letters; empty if there is none."""
    return next((value for key, value in headers if key.lower() == name), "")
