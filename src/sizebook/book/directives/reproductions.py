"""How often the book was repeated elsewhere, as a table in a page."""

# docutils brings no types
# mypy: disable-error-code="import-untyped, misc, no-any-return"

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.util.docutils import SphinxDirective

from sizebook.book.compared.reproductions import (
    STATES,
    ChapterCount,
    Reproduction,
    count_chapters,
    read_reproductions,
)
from sizebook.book.directives.registries import registry_table
from sizebook.store import Project

_CHAPTERS = ("Chapter", "Machines", *map(str.capitalize, STATES), "Within tolerance")
_RUNS = ("Measured", "Machine", "Chapter", "Round", "Machines are", "Claims", "Ratios", "Together")
_NOBODY = "Nobody has sent a run yet."


class ReproductionsDirective(SphinxDirective):
    """```{sbreproductions}```: counts by chapter, and every run that was sent."""

    def run(self) -> list[nodes.Node]:
        """Return a sentence and two tables; a sentence alone where nobody sent a run."""
        runs = read_reproductions(Project(Path(self.env.srcdir).parent))
        if not runs:
            return [nodes.paragraph("", _NOBODY)]
        counts = [_count_cells(each) for each in count_chapters(runs)]
        machines = len({each.machine for each in runs})
        cells = [row for each in runs for row in _run_cells(each)]
        return [
            nodes.paragraph("", f"Runs that were sent: {len(runs)}, from machines: {machines}."),
            registry_table(_CHAPTERS, counts, literal=1),
            registry_table(_RUNS, cells),
        ]


def _count_cells(found: ChapterCount) -> tuple[str, ...]:
    states = (str(found.states[state]) for state in STATES)
    within = f"{found.within} of {found.judged}" if found.judged else ""
    return (found.chapter, str(found.machines), *states, within)


def _run_cells(run: Reproduction) -> list[tuple[str, ...]]:
    days = " to ".join(dict.fromkeys((run.first_day, run.last_day)))
    return [
        (
            days,
            run.words,
            one.chapter,
            one.round,
            one.closeness,
            _numbers(one.claims),
            _numbers(one.ratios),
            one.state,
        )
        for one in run.chapters
    ]


def _numbers(counts: Mapping[Any, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items())
