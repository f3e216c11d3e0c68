"""Values as Python that a formatter leaves as it is: quotes, and long texts over several lines."""

from __future__ import annotations

import re
from collections.abc import Sequence

WIDTH = 100
_PIECE = 70
_ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def text_literal(text: str, indent: int = 0, used: int = 0) -> str:
    """Return a text as a literal; ``used`` is what else stands on its line, after the indent.

    One that is too long for a line comes in pieces, which Python joins.
    """
    whole = _quoted(text)
    if indent + used + len(whole) < WIDTH:
        return whole
    pieces = _pieces(text)
    return f"\n{' ' * indent}".join(map(_quoted, pieces))


def pairs_literal(pairs: Sequence[tuple[str, str]], indent: int, used: int, first: str = "") -> str:
    """Return a tuple of pairs, one a line; ``first`` is what comes before them, such as ``*ALL``.

    ``used`` is what else stands on the line on which it begins, after the indent.
    """
    inner = " " * (indent + 4)
    lines = [f"{inner}{first},"] if first else []
    for name, value in pairs:
        pair = f"({_quoted(name)}, {_quoted(value)})"
        if not first and len(pairs) == 1 and indent + used + len(pair) + 3 <= WIDTH:
            return f"({pair},)"
        if len(inner) + len(pair) < WIDTH:
            lines.append(f"{inner}{pair},")
            continue
        deeper = indent + 8
        told = text_literal(value, deeper, 1)
        lines.append(f"{inner}(\n{' ' * deeper}{_quoted(name)},\n{' ' * deeper}{told},\n{inner}),")
    return "(\n" + "\n".join(lines) + f"\n{' ' * indent})"


def plain_name(text: str) -> str:
    """Return a text as a name of Python: small letters, digits and underscores, a letter first."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", text).strip("_").lower()[:40].rstrip("_")
    return plain if plain[:1].isalpha() else f"part_{plain}".rstrip("_")


def one_line(text: str) -> str:
    """Return a text as it may stand in a docstring or a comment."""
    plain = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return plain.replace("\\", "/").replace('"', "'")


def _quoted(text: str) -> str:
    quote = "'" if text.count('"') > text.count("'") else '"'
    made = []
    for letter in text:
        if letter == quote:
            made.append(f"\\{letter}")
        elif letter in _ESCAPES:
            made.append(_ESCAPES[letter])
        elif letter.isprintable() and ord(letter) < 0x10000:
            made.append(letter)
        else:
            made.append(letter.encode("unicode_escape").decode("ascii"))
    return quote + "".join(made) + quote


def _pieces(text: str) -> list[str]:
    """Return a text in pieces, cut after what separates words where there is such a place."""
    pieces = []
    while len(text) > _PIECE:
        cut = max(text.rfind(mark, 20, _PIECE) for mark in (" ", "&", "/", ",", ";"))
        cut = cut + 1 if cut > 0 else _PIECE
        pieces.append(text[:cut])
        text = text[cut:]
    return [*pieces, text] if text else pieces
