"""Names of the sessions of several plans: all, those with a trial missing, those begun."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sizebook.book.planning import PlannedChapter
from sizebook.lab.planning import Session
from sizebook.model.trial import levels_of


class Start(NamedTuple):
    """A session of a chapter's plan, by its place there."""

    chapter: str
    number: int


def every_start(planned: Sequence[PlannedChapter]) -> dict[Start, Session]:
    """Return all planned sessions by their names, in the order of the plans."""
    return {
        Start(each.chapter.id, number): session
        for each in planned
        for number, session in enumerate(each.sessions)
    }


def missing_starts(planned: Sequence[PlannedChapter]) -> dict[Start, Session]:
    """Return what is left of the sessions of which a trial is missing, by the same names."""
    found = {}
    for each in planned:
        names = {
            (session.experiment, session.replicate, levels_of(spec.treatment)): number
            for number, session in enumerate(each.sessions)
            for spec in session.trials
        }
        for session in each.missing:
            levels = levels_of(session.trials[0].treatment)
            number = names[session.experiment, session.replicate, levels]
            found[Start(each.chapter.id, number)] = session
    return found


def begun_starts(planned: Sequence[PlannedChapter]) -> dict[Start, Session]:
    """Return the sessions of which a trial is on disk."""
    missing = missing_starts(planned)
    return {
        start: session
        for start, session in every_start(planned).items()
        if start not in missing or len(missing[start].trials) < len(session.trials)
    }
