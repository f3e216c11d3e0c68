"""Measuring until the time is over: step by step, on one bench for all chapters."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from sizebook.budget.choosing import BEYOND_S, BudgetStep
from sizebook.budget.minutes import Deadline
from sizebook.lab.bench import Bench, opened_bench
from sizebook.lab.calibration import CHAPTER as CALIBRATION
from sizebook.lab.calibration import first_sessions
from sizebook.lab.measurement_cache import Archive
from sizebook.lab.planning import Session, planned_s
from sizebook.lab.profiles import Profile
from sizebook.lab.progress import Progress
from sizebook.model.errors import HostLacksError
from sizebook.stack import has_stack
from sizebook.store import Project
from sizebook.store.lock import need_alone

Notes = Mapping[str, Mapping[str, str]]
"""Chapter to what each of its trials tells of what this machine lacks."""
Say = Callable[[str], None]
Show = Callable[[str, int, int], None]
"""Shows how far a session is: a line, trials done, trials in all."""


@dataclass
class Spent:
    """What was done with the time; filled while it goes on, and true wherever that ends."""

    chapters: set[str] = field(default_factory=set)
    """Those that have new trials."""
    left_out: set[str] = field(default_factory=set)
    """Those for which this machine lacks something."""
    decisions: float = 0.0
    """Claims that the steps done to their end should decide."""
    trials: int = 0
    wall_s: float = 0.0
    """Time with the bench open."""
    phases_s: float = 0.0
    """Part of it that the designs prescribe as load."""
    interrupted: bool = False
    """Whether Ctrl-C ended it."""
    beyond_s: float = 0.0
    """What the sessions took beyond their plans."""
    sessions: int = 0

    @property
    def words(self) -> str:
        """What was done with the time, in one line."""
        begun = f"{self.trials} trials of {len(self.chapters)} chapters"
        pace = f" (x {self.wall_s / self.phases_s:.2f})" if self.phases_s else ""
        return (
            f"measured {begun} in {self.wall_s / 60:.1f} min, of which "
            f"{self.phases_s / 60:.1f} min were load{pace}; {self.decisions:.1f} decisions were "
            "expected of it"
        )

    def needs_s(self, sessions: Sequence[Session]) -> float:
        """Return how long sessions should take, by how much longer those before them took.

        What comes on top is starting and stopping, which does not depend on a session's length.
        """
        each = self.beyond_s / self.sessions if self.sessions else BEYOND_S
        return planned_s(sessions) + max(0.0, each) * len(sessions)


def measure_steps(
    project: Project,
    profile: Profile,
    steps: Sequence[BudgetStep],
    notes: Notes,
    deadline: Deadline,
    say: Say,
    show: Show | None = None,
) -> Spent:
    """Measure steps in their order as long as they fit, and return what was done.

    A step that does not fit into the time that is left, with the pages that must be made after it,
    is passed over for the next that does. What the machine interfered with is measured again where
    time is left. Where this machine lacks something for a chapter, that is left out. Ctrl-C ends
    it: what is whole is kept. Raises MeasurementLockedError if another measurement runs.
    """
    spent = Spent()
    with _counted(spent), opened_bench(project, "the book") as bench:
        if profile.publishable:
            need_alone(bench.alone, "a profile that counts")
        own = dict(bench.notes)

        def run(chapter: str, session: Session) -> None:
            bench.notes = {**own, **notes.get(chapter, {})}
            _run(bench, chapter, session, spent, show)

        first = first_sessions(profile)
        if not bench.ceilings and has_stack(project):
            for one in first:
                run(CALIBRATION, one)
            bench.learn_ceilings()
            spent.chapters.discard(CALIBRATION)  # the least of it makes no page
        for number, step in enumerate(steps, start=1):
            pages = len(spent.chapters | step.chapters)
            needed_s = spent.needs_s([session for _, session in step.sessions])
            late = needed_s > deadline.measuring_s(pages)
            if late or step.chapters & spent.left_out:
                continue
            say(_words(step, number, len(steps), spent, deadline))
            for count, (chapter, session) in enumerate(step.sessions, start=1):
                say(
                    f"  {count} of {len(step.sessions)}: {chapter}, {session.experiment}, block "
                    f"{session.replicate + 1}; {deadline.words}"
                )
                try:
                    run(chapter, session)
                except HostLacksError as error:  # of one chapter, and the others make a book
                    say(f"{chapter}: left out: {error}")
                    spent.left_out.add(chapter)
                    break
            else:
                spent.decisions += step.decisions
        for chapter, session in _interfered(project, profile, steps, spent):
            if spent.needs_s([session]) <= deadline.measuring_s(len(spent.chapters)):
                run(chapter, session)
    return spent


@contextlib.contextmanager
def _counted(spent: Spent) -> Iterator[None]:
    """Count the wall time; a Ctrl-C ends what is done within, and is noted."""
    began = time.monotonic()
    try:
        yield
    except KeyboardInterrupt:
        spent.interrupted = True
    finally:
        spent.wall_s = time.monotonic() - began


def _run(bench: Bench, chapter: str, session: Session, spent: Spent, show: Show | None) -> None:
    progress = Progress(chapter, len(session.trials), session.planned_s(), display=show)
    began = time.monotonic()
    spent.chapters.add(chapter)
    try:
        spent.trials += len(bench.run(session, bench.project.runs / chapter, progress))
    finally:
        spent.beyond_s += time.monotonic() - began - session.planned_s()
        spent.sessions += 1
        spent.phases_s += progress.pace.phases_s


def _interfered(
    project: Project, profile: Profile, steps: Sequence[BudgetStep], spent: Spent
) -> list[tuple[str, Session]]:
    """Return what the machine interfered with in chapters that were measured."""
    found = []
    for chapter in sorted(spent.chapters):
        archive = Archive(project, chapter)
        own = [one for step in steps for where, one in step.sessions if where == chapter]
        tried = [one for one in own if archive.newest(one.trials[0]) is not None]
        found += [(chapter, one) for one in archive.interfered(tried, profile.repeats)]
    return found


def _words(step: BudgetStep, number: int, count: int, spent: Spent, deadline: Deadline) -> str:
    what = ", ".join(dict.fromkeys(f"{where} {one.experiment}" for where, one in step.sessions))
    return (
        f"step {number} of {count}: {what}; {step.seconds / 60:.1f} min for {step.decisions:.1f} "
        f"decisions; {spent.decisions:.1f} expected so far; {deadline.words}"
    )
