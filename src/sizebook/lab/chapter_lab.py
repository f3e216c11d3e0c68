"""The lab as a chapter's notebook sees it: add designs, run, get trials."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from sizebook.lab.archive import Archive
from sizebook.lab.planning import Session, Treat, plan_sessions
from sizebook.lab.profiles import get_profile
from sizebook.lab.trials import Trial, Trials
from sizebook.model.design import Design
from sizebook.model.errors import UsageError
from sizebook.store import Project, find_project

_PLANNING: ContextVar[bool] = ContextVar("planning", default=False)


class PlanComplete(Exception):  # noqa: N818 - not an error: ends a notebook that is only planned
    """Carries the plan out of a notebook that is read for its plan alone."""

    def __init__(self, sessions: tuple[Session, ...], missing: tuple[Session, ...]) -> None:
        super().__init__("the plan is complete")
        self.sessions = sessions
        """Every session of every design."""
        self.missing = missing
        """The sessions that would be run, with the trials that are not on disk yet."""


@contextlib.contextmanager
def planning_only() -> Iterator[None]:
    """Within this context ``ChapterLab.run`` measures nothing and raises PlanComplete."""
    token = _PLANNING.set(True)
    try:
        yield
    finally:
        _PLANNING.reset(token)


@dataclass(frozen=True)
class _Entry:
    design: Design
    sessions: tuple[Session, ...]


class ChapterLab:
    """Collects the designs of a chapter and runs them all in one go."""

    def __init__(
        self, chapter: str, *, profile: str, source: str, seed: int, project: Project | None = None
    ) -> None:
        """Open the lab of a chapter.

        ``source`` is ``measure`` (run what is not on disk yet), ``published`` (bundles that came
        with the book) or a folder of bundles; the last two measure nothing.
        Raises UsageError for a profile or source that does not exist.
        """
        self.chapter = chapter
        self.profile = get_profile(profile)
        self.seed = seed
        self.source = source
        self.project = project or find_project()
        self._entries: dict[str, _Entry] = {}
        if source != "measure":
            self._folder()

    def add(self, design: Design, treat: Treat, conditioning_s: float | None = None) -> None:
        """Add a design; ``treat`` turns its treatments into deployments and loads."""
        if design.experiment in self._entries:
            raise ValueError(f"two designs are called {design.experiment!r}")
        seconds = self.profile.conditioning_s if conditioning_s is None else conditioning_s
        sessions = plan_sessions(self.chapter, self.profile, design, treat, seconds)
        self._entries[design.experiment] = _Entry(design, sessions)

    def run(self) -> Mapping[str, Trials]:
        """Return the trials of each design by its name, measured now or taken from ``source``.

        What is on disk for this machine, stack and load profile is not measured again. Raises
        MeasurementLockedError if another measurement runs, HostLacksError if this machine lacks
        something. A trial that fails is stored as failed and does not end the run.
        """
        sessions = tuple(s for entry in self._entries.values() for s in entry.sessions)
        archive = Archive(self.project, self.chapter)
        if _PLANNING.get():
            raise PlanComplete(sessions, archive.missing(sessions))
        if self.source == "measure":
            missing = archive.missing(sessions)
            if missing:
                _measure(self.project, self.chapter, missing)
                archive = Archive(self.project, self.chapter)
            found = archive.planned(sessions)
        else:
            found = archive.replay(self._folder(), self.profile.name)
        return {name: Trials(e.design, _of(name, found)) for name, e in self._entries.items()}

    def _folder(self) -> Path:
        folder = self.project.published if self.source == "published" else Path(self.source)
        if not folder.is_absolute():
            folder = self.project.root / folder
        if not folder.is_dir():
            raise UsageError(
                found=f"source {self.source!r}",
                expected="'measure', 'published', or a folder with bundles",
                next_step="give a folder such as data/runs, or measure",
            )
        return folder


def _measure(project: Project, chapter: str, sessions: tuple[Session, ...]) -> None:
    # The machinery of measuring is imported only where something is measured, so that reading
    # bundles needs neither Java nor a database nor their imports.
    from sizebook.lab.measuring import measure  # noqa: PLC0415

    try:
        measure(project, chapter, sessions)
    except KeyboardInterrupt:
        print("stopped; finished trials are kept, the next run continues", file=sys.stderr)
        raise


def _of(experiment: str, trials: tuple[Trial, ...]) -> list[Trial]:
    return [t for t in trials if t.bundle.record.trial.experiment == experiment]
