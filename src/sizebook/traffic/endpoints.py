"""Names of endpoints: ids in paths become parameters, so that a few names stand for many paths."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from urllib.parse import unquote

from sizebook.load.placeholders import PLACEHOLDER

ID = "{id}"
MOST_CHILDREN = 60
"""Names that may follow one part of a path; where there are more, they are values."""
_PLAIN_FILE = re.compile(
    r"[\w.-]+\.(?:html?|php|aspx?|jsp|do|json|xml|css|js|png|jpe?g|gif|svg|ico|webp|woff2?)\Z", re.I
)
_IDS = (
    re.compile(r"\d+\Z"),
    re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\Z", re.IGNORECASE),
    re.compile(r"(?=.*\d)[0-9a-f]{8,}\Z", re.IGNORECASE),
    re.compile(r"\d{4}-\d{2}-\d{2}.*\Z"),
    re.compile(r"(?=.*\d)(?=.*[A-Za-z])[\w~-]{16,}={0,2}\Z"),
    re.compile(r"[^@]+@[^@]+\Z"),
    re.compile(r"(?=.*\d.*\d)[A-Z0-9]{2,}(?:-[A-Z0-9]+)*\Z"),
)
_HASHED = re.compile(r"([.-])(?=[0-9a-zA-Z_]*\d)[0-9a-zA-Z_]{8,}(?=\.[a-z0-9]{2,5}\Z)")
_ODATA = re.compile(r"\([^()]*\)\Z")


def name_paths(paths: Iterable[str]) -> dict[str, str]:
    """Return path to name for paths with their queries, which the names leave out.

    Parts that look like ids become ``{id}``; so do those of a place where more than
    ``MOST_CHILDREN`` different ones stand, most of them rarely.
    """
    counts = Counter(path.partition("?")[0] for path in paths)
    shapes = {path: tuple(map(_part, path.split("/"))) for path in counts}
    shapes = _learn(shapes, counts)
    return {path: "/".join(shape) or "/" for path, shape in shapes.items()}


def name_path(path: str) -> str:
    """Return a name for one path, of which no other is known; ids become ``{id}``."""
    return "/".join(map(_part, path.partition("?")[0].split("/"))) or "/"


def _part(text: str) -> str:
    """Return a part of a path, or what stands for it."""
    if found := PLACEHOLDER.search(text):
        return f"{{{found[1]}}}"
    plain = unquote(text)
    if any(pattern.match(plain) for pattern in _IDS):
        return ID
    if _ODATA.search(plain) and len(plain) > plain.index("(") + 2:
        return f"{plain[: plain.index('(')]}({ID})"
    if _PLAIN_FILE.match(plain):
        return _HASHED.sub(rf"\1{ID}", plain)
    return text


def _learn(shapes: dict[str, tuple[str, ...]], counts: Counter[str]) -> dict[str, tuple[str, ...]]:
    """Return shapes in which places with many different parts have one name, from the left on."""
    deepest = max((len(shape) for shape in shapes.values()), default=0)
    for depth in range(1, min(deepest, 40)):
        children: dict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
        for path, shape in shapes.items():
            if len(shape) > depth:
                children[shape[:depth]][shape[depth]] += counts[path]
        many = {before for before, found in children.items() if _are_values(found)}
        if many:
            shapes = {
                path: (*shape[:depth], "{name}", *shape[depth + 1 :])
                if shape[:depth] in many and len(shape) > depth and shape[depth] != ID
                else shape
                for path, shape in shapes.items()
            }
    return shapes


def _are_values(found: Counter[str]) -> bool:
    if len(found) <= MOST_CHILDREN:
        return False
    total = sum(found.values())
    rare = sum(number for number in found.values() if number <= max(1, total / MOST_CHILDREN))
    return rare > total / 2


def unique(names: Sequence[str]) -> list[str]:
    """Return names of which those that are there before get a number."""
    taken: set[str] = set()
    found = []
    for name in names:
        one, number = name, 2
        while one in taken:
            one, number = f"{name} {number}", number + 1
        taken.add(one)
        found.append(one)
    return found
