"""JSON that somebody else wrote: only what every reader understands in the same way."""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

_INT64 = 2**63
_HALF = re.compile(r"\\u[dD][89a-fA-F]")
"""One of the two escapes that make a character beyond 16 bits."""


def parse_json(text: str) -> Any:
    """Return what a text in JSON says.

    Raises ValueError, in a few words, for what is none, is nested too deeply, or what two readers
    could understand differently: a key twice in an object, NaN, numbers beyond 64 bits, half of a
    character.
    """
    try:
        content = json.loads(
            text,
            object_pairs_hook=_once,
            parse_int=_bounded,
            parse_float=_finite,
            parse_constant=_no_number,
        )
        if _HALF.search(text):
            json.dumps(content, ensure_ascii=False).encode()
    except RecursionError as error:
        raise ValueError("JSON that is nested too deeply") from error
    except UnicodeEncodeError as error:
        raise ValueError("half of a character (a surrogate), which no text has") from error
    except json.JSONDecodeError as error:
        what = f"{error.msg.lower()} (line {error.lineno}, column {error.colno})"
        raise ValueError(f"invalid JSON: {what}") from error
    return content


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the key {name[:80]!r} twice in one object")
        found[name] = value
    return found


def _bounded(digits: str) -> int:
    if len(digits) > 20 or not -_INT64 <= (number := int(digits)) < _INT64:
        raise ValueError(f"the number {digits[:30]} beyond 64 bits")
    return number


def _finite(digits: str) -> float:
    if not math.isfinite(number := float(digits)):
        raise ValueError(f"the number {digits[:30]} beyond what a double holds")
    return number


def _no_number(word: str) -> NoReturn:
    raise ValueError(f"{word}, which is no JSON")
