"""What a chapter would measure: its notebook read up to the point where measuring would begin."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import nbformat

from sizebook.book.chapters import Chapter
from sizebook.lab import PlanComplete, planning_only
from sizebook.lab.planning import Session, planned_s


@dataclass(frozen=True)
class PlannedChapter:
    """The sessions of a chapter and those not yet on disk."""

    chapter: Chapter
    sessions: tuple[Session, ...]
    missing: tuple[Session, ...]

    @property
    def trials(self) -> int:
        """Trials in all designs of the chapter."""
        return sum(len(session.trials) for session in self.sessions)

    @property
    def missing_trials(self) -> int:
        """Trials that a run would measure."""
        return sum(len(session.trials) for session in self.missing)

    @property
    def missing_s(self) -> float:
        """Seconds that a run should take."""
        return planned_s(self.missing)


def plan_chapter(chapter: Chapter, parameters: Mapping[str, Any]) -> PlannedChapter:
    """Return what a run of the chapter with these parameters would measure; measures nothing.

    The notebook's code runs in this process until it asks the lab for trials, so the plan is the
    notebook's own and cannot drift from it. A notebook that asks for none has an empty plan.
    """
    notebook = nbformat.read(chapter.notebook, as_version=4)
    names: dict[str, Any] = {"__name__": "__plan__"}
    try:
        with planning_only(), contextlib.redirect_stdout(io.StringIO()):
            for cell in notebook.cells:
                if cell.cell_type == "code":
                    code = compile(cell.source, f"{chapter.notebook.name}[{cell.id}]", "exec")
                    exec(code, names)
                    if "parameters" in cell.metadata.get("tags", []):
                        names.update(parameters)
    except PlanComplete as plan:
        return PlannedChapter(chapter, plan.sessions, plan.missing)
    return PlannedChapter(chapter, (), ())
