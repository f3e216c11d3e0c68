"""Measuring: a chapter's sessions, one after the other, each trial leaving a bundle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sizebook.lab.bench import opened_bench
from sizebook.lab.calibration import CHAPTER as CALIBRATION
from sizebook.lab.planning import Session, planned_s
from sizebook.lab.profiles import PROFILES
from sizebook.lab.progress import Progress
from sizebook.model.errors import BundleError
from sizebook.stack import has_stack
from sizebook.store import Project
from sizebook.store.bundles import RECORD, Bundle
from sizebook.store.lock import need_alone


def measure(
    project: Project,
    chapter: str,
    sessions: Sequence[Session],
    first: Sequence[Session] = (),
    notes: Mapping[str, str] | None = None,
) -> None:
    """Run sessions one after the other, in the given order; each trial becomes a bundle.

    Where the lean client's ceiling is not known yet on this machine, ``first`` is run before, as
    trials of the calibration chapter. Each trial's record tells ``notes`` among its facts. A trial
    that fails is stored as failed, and the session's other trials go on with a fresh start. Raises
    MeasurementLockedError, HostLacksError, and KeyboardInterrupt; in every case all processes are
    ended and finished bundles stay.
    """
    with opened_bench(project, f"chapter {chapter}") as bench:
        bench.notes |= notes or {}
        if any(PROFILES[spec.profile].publishable for one in sessions for spec in one.trials):
            need_alone(bench.alone, "a profile that counts")
        calibrating = chapter == CALIBRATION
        # What the generator can do is told by the reference stack's null server.
        before = () if calibrating or bench.ceilings or not has_stack(project) else first
        trials = sum(len(session.trials) for session in (*before, *sessions))
        progress = Progress(chapter, trials, planned_s([*before, *sessions]))
        stored: list[Bundle] = []
        for session in before:
            stored += bench.run(session, project.runs / CALIBRATION, progress)
            bench.learn_ceilings()
        for session in sessions:
            stored += bench.run(session, project.runs / chapter, progress)
            if calibrating:
                bench.learn_ceilings()
        _need_stored(stored)
        progress.finish()


def _need_stored(bundles: Sequence[Bundle]) -> None:
    """Raise BundleError if somebody removed what was measured while the rest was."""
    gone = [bundle.id for bundle in bundles if not (bundle.path / RECORD).is_file()]
    if gone:
        raise BundleError(
            found=f"{len(gone)} of {len(bundles)} stored trials that are no longer in data/runs, "
            f"first {gone[0]}",
            expected="data/runs left alone while a measurement runs",
            next_step="run it again: what is missing is measured",
        )
