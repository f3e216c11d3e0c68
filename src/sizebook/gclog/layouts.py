"""How the decorations of a log's lines are laid out, and whatever else stands before them.

A JVM decorates each line in the same way, with the decorations that it was told, in one order (JDK
``logDecorators.hpp``, the same from Java 9 to 25). What carries the lines puts its own words in
front, and a program that prints without an end of line does: the decorations are looked for behind
anything, by what only a JVM says after them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import polars as pl

MOST = 12
"""Layouts that are told apart in one file."""
_SAMPLE = 400
_FEWEST = 5
_SAYS = (
    r"GC\([0-9]{1,9}\) "
    r"|Using (?:Serial|Parallel|G1|The Z|Shenandoah|Epsilon|Concurrent Mark)"
    r'|Safepoint \\?"|Total time for which application|Application time: |Entering safepoint'
)
_RUN = r"(?:\[[^\[\]]*\])+"
_TAGS = r"\[(?:gc|safepoint)[a-z0-9,_]* *\]"
_STEP = r"GC\([0-9]{1,9}\) (?:[yYoO]: )?(?:Pause|Concurrent|Garbage|Minor|Major) ?"
EVIDENCE = f"{_RUN} ?(?:{_SAYS})|{_TAGS}|{_STEP}"
"""What a line has by which a layout may be found."""
_SAID = re.compile(f"({_RUN}) ?(?:{_SAYS})")
_TAGGED = re.compile(rf"((?:\[[^\[\]]*\])*{_TAGS}(?:\[[^\[\]]*\])*)")
_PARTS = re.compile(r"\[([^\[\]]*)\]")
_PLAIN = (
    rf"(?:{_SAYS}|Version: |CPUs: |Memory: |(?:Heap )?(?:Min|Max) Capacity: "
    r"|Heap [Rr]egion [Ss]ize: |Large Page Support: |Mode: |Trigger|Failed to allocate"
    r"|Out Of Memory \(|Heap: [0-9])"
)
"""How messages begin that are known without decorations."""
_WALL = r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}[.,][0-9]{3}(?:[+-][0-9]{4}|Z)"
_KINDS = {
    "uptime": (r" *[0-9]+[.,][0-9]+s *", r" *(?P<uptime>[0-9]+[.,][0-9]+)s *"),
    "ms": (r" *[0-9]+ms *", r" *(?P<ms>[0-9]+)ms *"),
    "ns": (r" *[0-9]+ns *", r" *(?P<ns>[0-9]+)ns *"),
    "wall": (rf" *{_WALL} *", rf" *(?P<wall>{_WALL}) *"),
    "level": (r" *(?:trace|debug|info|warning|error) *", ""),
    "number": (r" *[0-9]+ *", ""),
    "tags": (r"(?:gc|safepoint)[a-z0-9,_]* *", ""),
    "name": (r"[^\[\]]*", ""),
}
CLOCKS = ("uptime", "ms", "wall", "ns")
_OWN = ("number", "name")
_SHAPES = {kind: re.compile(looks) for kind, (looks, _) in _KINDS.items()}


@dataclass(frozen=True)
class LineLayout:
    """The decorations of a JVM's lines; none of them is a layout, too."""

    kinds: tuple[str, ...]

    @property
    def head(self) -> str:
        """The pattern of the decorations, without groups."""
        if not self.kinds:
            return _PLAIN
        return "".join(rf"\[{self._looks(kind)}\]" for kind in self.kinds)

    @property
    def groups(self) -> str:
        """The pattern of decorations and message with a group for each clock and JVM's name.

        The message has the space between them, if there is one.
        """
        if not self.kinds:
            return f"(?P<message>{_PLAIN}.*)$"
        parts, seen, own = [], set[str](), 0
        for kind in self.kinds:
            # the second of two clocks of one unit is left alone
            pattern = _KINDS[kind][1] if kind not in seen else ""
            if kind in _OWN:
                pattern, own = f"(?P<own{own}>{_KINDS[kind][0]})", own + 1
            parts.append(rf"\[{pattern or self._looks(kind)}\]")
            seen.add(kind)
        # with " ?" in front of the group no line would be read in one pass: it takes twice as long
        return "".join(parts) + "(?P<message>.*)$"

    @property
    def clocks(self) -> tuple[str, ...]:
        """The clocks that lines have."""
        return tuple(kind for kind in CLOCKS if kind in self.kinds)

    @property
    def own(self) -> tuple[str, ...]:
        """The groups of what may tell JVMs apart: names of hosts, numbers of processes, threads."""
        return tuple(f"own{n}" for n in range(sum(kind in _OWN for kind in self.kinds)))

    def _looks(self, kind: str) -> str:
        """A JVM logs more than its collections: other tags are its own, too, where a clock or a
        level shows that the line is."""
        if kind == "tags" and (self.clocks or "level" in self.kinds):
            return r"[a-z][a-z0-9,_]* *"
        return _KINDS[kind][0]


def evident(lines: pl.Series) -> pl.Series:
    """Return lines by which a layout may be found, of many the first."""
    return lines.filter(lines.str.contains(EVIDENCE)).head(_SAMPLE)


def find_layouts(lines: Iterable[str], known: Sequence[LineLayout] = ()) -> list[LineLayout]:
    """Return the layouts that lines show beyond the known ones, the longest first.

    A rare layout that is the end of another one, or has one as its end, comes from a line that was
    damaged or from words in front of the decorations.
    """
    counts: Counter[LineLayout] = Counter()
    for line in lines:
        said = _SAID.search(line)
        tagged = said or _TAGGED.search(line)
        if tagged is not None:
            counts[LineLayout(tuple(map(_kind, _PARTS.findall(tagged[1]))))] += 1
        elif re.search(_STEP, line):
            counts[LineLayout(())] += 1
    found: list[LineLayout] = []
    enough = max(_FEWEST, 0.1 * counts.total())
    for layout in sorted(counts, key=lambda one: (-len(one.clocks), -counts[one], len(one.kinds))):
        others = [*known, *found]
        related = any(_is_end_of(layout, o) or _is_end_of(o, layout) for o in others)
        if counts[layout] >= enough or not (related if layout.kinds else others):
            found.append(layout)
    return sorted(found, key=lambda one: -len(one.kinds))[: MOST - len(known)]


def _kind(text: str) -> str:
    return next(kind for kind, shape in _SHAPES.items() if shape.fullmatch(text))


def _is_end_of(end: LineLayout, whole: LineLayout) -> bool:
    length = len(end.kinds)
    return bool(length) and end.kinds == whole.kinds[len(whole.kinds) - length :]
