"""The lab as a chapter's notebook sees it: add designs, run, get trials."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from sizebook.checks.design_rules import good_per_s
from sizebook.hosts.allowed import usable_memory_mib
from sizebook.lab.borrowing import borrow_trials
from sizebook.lab.calibration import find_floor, first_sessions
from sizebook.lab.design_notes import write_notes
from sizebook.lab.given_settings import checking
from sizebook.lab.inventories import chosen_inventory, placing
from sizebook.lab.measurement_cache import (
    Archive,
    mark_trial,
    read_source,
    readable_bundles,
    taken_as_measured,
)
from sizebook.lab.plan_only import PlanComplete, is_planned_only, remark
from sizebook.lab.planning import Session, Treat, plan_sessions
from sizebook.lab.precision import Precision
from sizebook.lab.profiles import get_profile
from sizebook.lab.search import Search, search_sessions, visited
from sizebook.lab.trials import Measure, Trial, Trials
from sizebook.model.design import Design
from sizebook.model.errors import UsageError
from sizebook.model.records import Scalar
from sizebook.stats.noise import NoiseFloor
from sizebook.store import Bundle, Project, find_project
from sizebook.store.rounds import open_published

LACKS = "lacks/"
"""Begin of the names of facts in which a trial notes what its machine could not do."""
_SPARE_MIB = 2048
"""What generator, harness and page cache keep beside stacks that are up side by side."""


@dataclass(frozen=True)
class _Planned:
    """A design with the sessions that it may take."""

    design: Design
    sessions: tuple[Session, ...]
    until: Precision | None

    def due(self, archive: Archive) -> tuple[Session, ...]:
        """Return the sessions up to the block after which the answer is precise enough."""
        return self.due_by(archive.planned(self.sessions)) if self.until else self.sessions

    def due_by(self, found: Sequence[Trial]) -> tuple[Session, ...]:
        """Return the same by the design's trials that were found."""
        if self.until is None:
            return self.sessions
        blocks = self.until.blocks(self.design, found)
        return tuple(session for session in self.sessions if session.replicate < blocks)

    def trials(self, found: tuple[Trial, ...], floor: float | None) -> Trials:
        own = _of(self.design.experiment, found)
        blocks = self.until.blocks(self.design, own) if self.until else self.design.replicates
        return Trials(self.design, own, len(self.design.treatments()) * blocks, floor)


@dataclass(frozen=True)
class _Searched:
    """A search with its sessions."""

    search: Search
    sessions: tuple[Session, ...]

    def due(self, archive: Archive) -> tuple[Session, ...]:  # noqa: ARG002
        """Return all sessions: each ends by itself."""
        return self.sessions

    def due_by(self, found: Sequence[Trial]) -> tuple[Session, ...]:  # noqa: ARG002
        """Return all sessions, too."""
        return self.sessions

    def trials(self, found: tuple[Trial, ...], floor: float | None) -> Trials:
        own = _of(self.search.experiment, found)
        tried = sum(trial.bundle.record.trial.purpose == "measured" for trial in own)
        return Trials(visited(self.search, own), own, tried, floor)


class ChapterLab:
    """Collects the designs of a chapter and runs them all in one go."""

    def __init__(
        self,
        chapter: str,
        *,
        profile: str,
        source: str,
        seed: int,
        replicates: int = 0,
        project: Project | None = None,
    ) -> None:
        """Open the lab of a chapter.

        ``source`` is ``measure`` (run what is not on disk yet), ``published`` (bundles that came
        with the book) or a folder of bundles; the last two measure nothing. So does ``measure``
        where the runner says that what was measured so far is all (``AS_MEASURED``).
        ``replicates`` are the blocks that ``profile`` has here; 0 leaves it as it is.
        Raises UsageError for a profile or source that does not exist, and for a number below 0.
        """
        self.chapter = chapter
        self.profile = get_profile(profile, replicates)
        self.seed = seed
        self.source = source
        self.project = project or find_project()
        self._entries: dict[str, _Planned | _Searched] = {}
        self._found: tuple[Trial, ...] | None = None
        self._replayed: list[Bundle] | None = None
        self._lacking: dict[str, str] = {}
        self._is_own = source == "measure"
        """Whether the trials are those of ``data/runs``, measured now or before."""
        self._inventory = chosen_inventory() if self._is_own else None
        if not self._is_own:
            self._folder()

    @property
    def measures(self) -> bool:
        """Whether what is not on disk yet is measured; else trials come from ``source`` alone."""
        return self._is_own and not taken_as_measured()

    def lacks(self, what: str, found: str) -> str:
        """Return why a machine cannot do what the chapter would measure there; empty if it can.

        Where the lab measures that is what was ``found`` out about this machine, and each trial
        measured from then on notes it. Else it is what the newest trial with such notes says.
        """
        if not self.measures:
            return self._noted_lacking.get(what, "")
        if found:
            self._lacking[what] = found
        return found

    def add(
        self,
        design: Design,
        treat: Treat,
        conditioning_s: float | None = None,
        *,
        until: Precision | None = None,
        turns: bool = False,
        rounds_share: float = 1.0,
    ) -> None:
        """Add a design; ``treat`` turns its treatments into deployments and loads.

        With ``turns`` the treatments of a block are up side by side and the load takes turns
        between them, in turns of the profile and this share of its rounds (a round of many
        treatments is long); phases of their loads do not count then.
        Where this machine has too little memory for that they are measured one after the other,
        and the plan says so. Where trials are only read, they are planned as they were measured.
        ``conditioning_s`` is the longest load after a fresh start. With ``until`` the design stops
        after the block with which its answer is precise enough, except in the smoke profile.
        """
        seconds = self._conditioning_s(conditioning_s)
        place = self._placing(treat)
        taking = turns and self.takes_turns(design.experiment)
        planned = partial(plan_sessions, self.chapter, self.profile, design, place, seconds)
        sessions = planned(turns=taking, rounds_share=rounds_share)
        if taking and self.measures and (found := _lacking_memory(sessions)):
            remark(f"{self.chapter}, {design.experiment}: one stack after the other; {found}")
            sessions = planned()
        stop = until if self.profile.publishable else None
        self._enter(design.experiment, _Planned(design, sessions, stop))

    def add_search(self, search: Search, treat: Treat, conditioning_s: float | None = None) -> None:
        """Add a search for the heaviest load; see ``lab.search.boundaries`` for its answer."""
        seconds = self._conditioning_s(conditioning_s)
        place = self._placing(treat)
        sessions = search_sessions(self.chapter, self.profile, search, place, seconds)
        self._enter(search.experiment, _Searched(search, sessions))

    def _placing(self, treat: Treat) -> Treat:
        """Return what is planned of the treatments; what is only read was once measured so."""
        if not self._is_own:
            return treat
        return checking(placing(treat, self._inventory), self.project.locustfiles)

    def run(self) -> Mapping[str, Trials]:
        """Return the trials of each design by its name, measured now or taken from ``source``.

        What is on disk for this machine, stack and load profile is not measured again. Raises
        MeasurementLockedError if another measurement runs, HostLacksError if this machine lacks
        something. A trial that fails is stored as failed and does not end the run.
        """
        archive = Archive(self.project, self.chapter)
        if is_planned_only():
            sessions = tuple(s for entry in self._entries.values() for s in entry.sessions)
            missing = archive.missing(self._due(archive))
            raise PlanComplete(sessions, missing, self._notes())
        if self._is_own:
            archive = self._measured(archive) if self.measures else archive
            found = archive.planned(self._due(archive))
        elif self._entries:
            found = archive.replay(self._source(), self.profile.name)
            for name, entry in self._entries.items():
                own = _of(name, found)
                write_notes(entry.due_by(own), [trial.bundle for trial in own])
        else:  # a page that only borrows has no trials to be found
            found = ()
        self._found = found
        floor = self.noise_floor().relative_sd
        return {name: entry.trials(found, floor) for name, entry in self._entries.items()}

    def borrow(self, chapter: str, experiment: str) -> Trials:
        """Return the trials of another chapter's design in this profile, without measuring any.

        They come from where this chapter's own do: ``data/runs`` when it measures, else from its
        ``source``; none there means no trials. Marked where they are stale or foreign. The chapters
        that a notebook borrows from stand in its metadata. Raises RuntimeError before ``run``,
        BundleError for a damaged bundle of a source.
        """
        if self._found is None:
            raise RuntimeError("trials are borrowed after those of the chapter itself: call run")
        measured = self.measures or taken_as_measured()
        own = [trial.bundle for trial in self._found] if measured else []
        if taken_as_measured() and not own:  # the machine was that of the newest it was shown
            own = sorted(self._lent(chapter), key=lambda one: one.record.execution.started_utc)
        return borrow_trials(
            self._lent(chapter),
            chapter,
            experiment,
            profile=self.profile.name,
            mark=lambda bundle: mark_trial(self.project, bundle, own),
            floor=lambda trials: self._floor(good_per_s, trials).relative_sd,
        )

    def _lent(self, chapter: str) -> Sequence[Bundle]:
        """Return bundles among which another chapter's are: its own, or all of the source."""
        return readable_bundles(self.project.runs / chapter) if self._is_own else self._source()

    def _source(self) -> Sequence[Bundle]:
        """Return all bundles of the source, read once. Raises BundleError for a damaged one."""
        if self._replayed is None:
            self._replayed = read_source(self.project, self._folder())
        return self._replayed

    def takes_turns(self, experiment: str) -> bool:
        """Return whether treatments of a design that may take turns are up side by side.

        They are where this lab measures; else they were if the source's trials took turns. Then the
        stacks share the machine: ``Placement.beside`` says what each gets.
        """
        return self.measures or any(
            bundle.record.execution.turns
            for bundle in self._lent(self.chapter)
            if (bundle.record.trial.chapter, bundle.record.trial.experiment)
            == (self.chapter, experiment)
            and bundle.record.trial.profile == self.profile.name
        )

    def measured_levels(self, factor: str) -> set[Scalar]:
        """Return the levels of a factor that the trials of a ``source`` have.

        None where this lab measures: then the machine says which levels there are.
        """
        if self.measures:
            return set()
        trials = (bundle.record.trial for bundle in self._lent(self.chapter))
        return {
            trial.treatment[factor]
            for trial in trials
            if (trial.chapter, trial.profile) == (self.chapter, self.profile.name)
            and factor in trial.treatment
        }

    @cached_property
    def _noted_lacking(self) -> dict[str, str]:
        """What the newest trial with such notes says; read once, and asked for each mode."""
        newest = max(
            (
                bundle.record.execution
                for bundle in self._lent(self.chapter)
                if bundle.record.trial.chapter == self.chapter
                and bundle.record.trial.profile == self.profile.name
                and any(name.startswith(LACKS) for name in bundle.record.execution.facts)
            ),
            key=lambda execution: execution.wall_ns,
            default=None,
        )
        facts = newest.facts.items() if newest is not None else ()
        return {name.removeprefix(LACKS): str(why) for name, why in facts if name.startswith(LACKS)}

    def noise_floor(self, measure: Measure = good_per_s) -> NoiseFloor:
        """Return how far trials of one treatment lie apart, by the calibration's A/A trials.

        On the machine of the chapter's trials; where that was not calibrated there is no floor,
        and the result says why.
        """
        return self._floor(measure, [trial.bundle for trial in self._found or ()])

    def _floor(self, measure: Measure, trials: Sequence[Bundle]) -> NoiseFloor:
        """Return it by the calibrations of the project and of the source, if there is one."""
        lent = () if self._is_own else self._source()
        return find_floor(self.project, measure, trials, lent)

    def _measured(self, archive: Archive) -> Archive:
        """Measure what is due, and again what the machine interfered with; newest ones count."""
        archive = self._all_due(archive)
        for _ in range(self.profile.repeats):
            again = archive.interfered(self._due(archive), self.profile.repeats)
            if not again:
                break
            self._measure(again)
            archive = self._all_due(Archive(self.project, self.chapter))
        return archive

    def _all_due(self, archive: Archive) -> Archive:
        """Measure what is due, block by block where that depends on what was found."""
        tried: list[Session] = []
        while True:
            due = [session for session in self._due(archive) if session not in tried]
            missing = archive.missing(due)
            if not missing:
                return archive
            tried += due
            self._measure(missing)
            archive = Archive(self.project, self.chapter)

    def _measure(self, sessions: tuple[Session, ...]) -> None:
        # The machinery of measuring is imported only where something is measured, so that reading
        # bundles needs neither Java nor a database nor their imports.
        from sizebook.lab.measuring import measure  # noqa: PLC0415

        first = first_sessions(self.profile)
        try:
            measure(self.project, self.chapter, sessions, first, self._notes())
        except KeyboardInterrupt:
            print("stopped; finished trials are kept, the next run continues", file=sys.stderr)
            raise

    def _notes(self) -> dict[str, str]:
        """Return what each trial tells of what this machine lacks."""
        return {f"{LACKS}{what}": why for what, why in self._lacking.items()}

    def _due(self, archive: Archive) -> tuple[Session, ...]:
        return tuple(s for entry in self._entries.values() for s in entry.due(archive))

    def _enter(self, experiment: str, entry: _Planned | _Searched) -> None:
        if experiment in self._entries:
            raise ValueError(f"two designs are called {experiment!r}")
        self._entries[experiment] = entry

    def _conditioning_s(self, asked_s: float | None) -> float:
        return self.profile.conditioning_s if asked_s is None else asked_s

    def _folder(self) -> Path:
        if self.source == "published":
            return open_published(self.project)
        folder = Path(self.source)
        if not folder.is_absolute():
            folder = self.project.root / folder
        if not folder.is_dir():
            raise UsageError(
                found=f"source {self.source!r}",
                expected="'measure', 'published', or a folder with bundles",
                next_step="give a folder such as data/runs, or measure",
            )
        return folder


def _lacking_memory(sessions: Sequence[Session]) -> str:
    """Return why the stacks of a block cannot be up side by side; empty: they can."""
    most = max((session.memory_mib for session in sessions), default=0)
    usable = usable_memory_mib() - _SPARE_MIB
    return f"side by side they need {most} MiB of {usable} MiB" if most > usable else ""


def _of(experiment: str, trials: tuple[Trial, ...]) -> list[Trial]:
    return [t for t in trials if t.bundle.record.trial.experiment == experiment]
