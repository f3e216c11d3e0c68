"""The Prometheus text format, read exactly for the series that are asked for.

A scrape has some 450 lines, of which thirty are wanted. Names are compared before anything is
parsed, which makes it ten times as fast as ``prometheus_client.parser`` (0.5 ms against 5 ms for
the 40 kB of one node); the tests read the same text with both and compare. Format: Prometheus
documentation, "Exposition formats", text format 0.0.4.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from sizebook.probes.base import give_way

_LABEL = re.compile(r'\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\\n]|\\[\\"n])*)"\s*(,|$)')
_ESCAPE = re.compile(r"\\(.)")
_NUMBER = re.compile(r"[+-]?(?:Inf|NaN|\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)")

LINES_AT_A_TIME = 50
"""Between two of these pieces others may run."""


class Point(NamedTuple):
    """One value of one series."""

    name: str
    labels: dict[str, str]
    value: float


class ExpositionError(ValueError):
    """A line is not in the text format; the message shows it."""


def read_points(text: str, wanted: Collection[str]) -> Iterator[Point]:
    """Yield the points whose name is wanted, in the text's order; time stamps are ignored.

    Raises ExpositionError for a wanted line that is not in the format; others are not looked at.
    """
    for number, line in enumerate(text.splitlines()):
        if number % LINES_AT_A_TIME == 0:
            give_way()
        if not line.strip() or line[0] == "#":
            continue
        brace = line.find("{")
        end = brace if brace >= 0 else len(line.split(None, 1)[0])
        name = line[:end].strip()
        if name not in wanted:
            continue
        labels, rest = _labels(line, brace) if brace >= 0 else ({}, line[end:])
        fields = rest.split()
        if not 1 <= len(fields) <= 2:
            raise ExpositionError(f"line {line[:200]!r}")
        yield Point(name, labels, read_number(fields[0], line))


def read_number(word: str, line: str) -> float:
    """Return the number that a word of the line is; raises ExpositionError for anything else."""
    if _NUMBER.fullmatch(word) is None:
        raise ExpositionError(f"line {line[:200]!r}")
    return float(word)


def _labels(line: str, brace: int) -> tuple[dict[str, str], str]:
    """Return the labels and what follows them. A value may hold braces, commas and blanks."""
    labels: dict[str, str] = {}
    at = brace + 1
    while True:
        if line[at : at + 1] == "}":
            return labels, line[at + 1 :]
        match = _LABEL.match(line, at) or _LAST_LABEL.match(line, at)
        if match is None:
            raise ExpositionError(f"labels in line {line[:200]!r}")
        value = match[2]
        labels[match[1]] = _ESCAPE.sub(_unescape, value) if "\\" in value else value
        at = match.end()


def _unescape(match: re.Match[str]) -> str:
    return "\n" if match[1] == "n" else match[1]


_LAST_LABEL = re.compile(_LABEL.pattern.replace("(,|$)", "(?=})"))
