"""Measuring: sessions of trials on a started stack, each trial leaving a bundle."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from sizebook.hosts import Guard, LocalHost
from sizebook.hosts.guard import sweep
from sizebook.lab.archive import present_fingerprints
from sizebook.lab.planning import SETUP_GUESS_S, Session, planned_s
from sizebook.lab.progress import Progress
from sizebook.lab.recording import TrialRecord, write_bundle
from sizebook.load.control import Generator
from sizebook.model.errors import TrialError
from sizebook.model.trial import TrialSpec
from sizebook.probes.base import Probe
from sizebook.probes.sampler import Sampler
from sizebook.probes.sets import stack_probes
from sizebook.stack import RunningStack, StackRunner, ensure_built
from sizebook.stack.postgres import remove_socket_folders
from sizebook.store import Project, measurement_lock
from sizebook.store.bundles import Bundle, remove_partial


def measure(project: Project, chapter: str, sessions: Sequence[Session]) -> None:
    """Run sessions one after the other, in the given order; each trial becomes a bundle.

    A trial that fails is stored as failed, and the session's other trials go on with a fresh
    start. Raises MeasurementLockedError, HostLacksError, and KeyboardInterrupt; in every case all
    processes are ended and finished bundles stay.
    """
    with opened_bench(project, f"chapter {chapter}") as bench:
        trials = sum(len(session.trials) for session in sessions)
        progress = Progress(chapter, trials, planned_s(sessions))
        for session in sessions:
            bench.run(session, project.runs / chapter, progress)
        progress.finish()


@contextlib.contextmanager
def opened_bench(project: Project, purpose: str) -> Iterator[Bench]:
    """Hold this machine for measuring: lock, left-overs removed, stack built, nothing left after.

    Raises MeasurementLockedError if another measurement runs.
    """
    with contextlib.ExitStack() as undo:
        undo.enter_context(measurement_lock(purpose))
        ledgers = project.state / "guard"
        sweep(ledgers)
        shutil.rmtree(project.state / "run", ignore_errors=True)
        remove_socket_folders()
        remove_partial(project.runs)
        build, _ = ensure_built(project)
        guard = Guard(ledgers)
        undo.callback(guard.close)
        host = LocalHost(guard)
        yield Bench(project, host, StackRunner(build, {host.name: host}, project.state))


@dataclass
class _Started:
    """A stack and a generator, ready for trials."""

    name: str
    stack: RunningStack
    generator: Generator
    probes: list[Probe]
    setup_s: float
    position: int = 0


class Bench:
    """This machine, held for measuring."""

    def __init__(self, project: Project, host: LocalHost, runner: StackRunner) -> None:
        self.project = project
        self.host = host
        self.runner = runner

    def run(self, session: Session, folder: Path, progress: Progress) -> list[Bundle]:
        """Run the trials of a session; after a failure the rest go on with a fresh start."""
        todo = list(session.trials)
        bundles: list[Bundle] = []
        progress.step(f"{session.experiment}, block {session.replicate + 1}: starting the stack")
        while todo:
            try:
                with self._started(session) as started:
                    spent_s = SETUP_GUESS_S
                    if session.conditioning is not None:
                        progress.step("conditioning", planned_s=spent_s)
                        bundles.append(self.trial(started, session.conditioning, folder))
                        spent_s = session.conditioning.load.phases.planned_s
                    started.stack.pin()
                    while todo:
                        progress.step(_label(todo[0]), planned_s=spent_s)
                        spec = todo.pop(0)
                        bundles.append(self.trial(started, spec, folder))
                        progress.step(f"{_label(spec)}: stored", done=1)
                        spent_s = spec.load.phases.planned_s
                    progress.step("stopping the stack", planned_s=spent_s)
            except _SessionLost as lost:
                bundles.append(lost.bundle)
                if lost.bundle.record.trial.purpose == "conditioning":
                    reason = f"its conditioning load failed: {lost.bundle.record.failure}"
                    bundles += self._give_up(todo, reason, folder, progress)
            except TrialError as error:  # the stack did not come up
                bundles += self._give_up(todo, str(error), folder, progress)
        return bundles

    def _give_up(
        self, todo: list[TrialSpec], reason: str, folder: Path, progress: Progress
    ) -> list[Bundle]:
        """Store every trial still to do as failed for one reason: a new start would end alike."""
        bundles = []
        while todo:
            spec = todo.pop(0)
            bundles.append(self._failed(spec, reason, folder))
            progress.step(f"failed: {reason}", spec.load.phases.planned_s, done=1)
        return bundles

    def trial(self, started: _Started, spec: TrialSpec, folder: Path) -> Bundle:
        """Run one trial and return its bundle; raises _SessionLost after storing a failed one."""
        record = TrialRecord(
            root=self.project.root,
            spec=spec,
            fingerprints=present_fingerprints(self.project, spec),
            machine=self.host.facts(),
            session=started.name,
            position=started.position,
            stack=started.stack,
            setup_s=started.setup_s,
        )
        started.position += 1
        out = started.stack.folder / f"trial-{started.position}"
        marks = record.mark_logs()
        record.sampler = Sampler(started.probes)
        try:
            started.generator.prepare(spec.load, started.stack.targets(), out)
            with record.sampler:
                record.collected = started.generator.run(on_tick=_watch(started.stack))
        except TrialError as error:
            record.failure = _cause(started.stack) or str(error)
        bundle = write_bundle(record, marks, folder)
        shutil.rmtree(out, ignore_errors=True)
        if record.failure:
            raise _SessionLost(bundle)
        return bundle

    @contextlib.contextmanager
    def _started(self, session: Session) -> Iterator[_Started]:
        began = time.monotonic()
        name = f"{time.strftime('%Y%m%dT%H%M%SZ', time.gmtime())}-{secrets.token_hex(3)}"
        cpus = session.trials[0].load.cpus
        logs = self.project.state / "run" / f"{name}-generator"
        generator = Generator(
            self.host, sys.executable, logs, cpus, locustfiles=self.project.locustfiles
        )
        with contextlib.ExitStack() as undo:
            undo.callback(shutil.rmtree, logs, ignore_errors=True)
            undo.enter_context(_pinned_to(cpus))
            undo.callback(generator.stop)
            with ThreadPoolExecutor(1) as aside:  # Locust is imported while the stack starts
                starting = aside.submit(generator.start)
                stack = undo.enter_context(self.runner.running(session.deployment, name))
                starting.result()
            probes = stack_probes(stack, generator.process)
            yield _Started(name, stack, generator, probes, time.monotonic() - began)

    def _failed(self, spec: TrialSpec, reason: str, folder: Path) -> Bundle:
        record = TrialRecord(
            root=self.project.root,
            spec=spec,
            fingerprints=present_fingerprints(self.project, spec),
            machine=self.host.facts(),
            session="none",
            position=0,
            stack=RunningStack(),
            setup_s=0.0,
            failure=reason,
        )
        return write_bundle(record, {}, folder)


class _SessionLost(Exception):  # noqa: N818 - an outcome, kept inside this module
    """A trial failed; its bundle is stored, but the stack cannot be trusted any more."""

    def __init__(self, bundle: Bundle) -> None:
        super().__init__(bundle.record.failure)
        self.bundle = bundle


def _cause(stack: RunningStack) -> str | None:
    """Return which process of the stack has ended, if one has: the reason behind other errors."""
    deadline = time.monotonic() + 0.5
    while (died := stack.died()) is None and time.monotonic() < deadline:
        time.sleep(0.05)
    return died


def _watch(stack: RunningStack) -> Callable[[object], None]:
    """Return a function that raises TrialError as soon as a process of the stack has ended."""

    def look(_: object) -> None:
        if (died := stack.died()) is not None:
            raise TrialError(
                found=died,
                expected="a stack that runs until the trial is over",
                next_step="see logs/ in the trial's bundle",
            )

    return look


@contextlib.contextmanager
def _pinned_to(cpus: tuple[int, ...]) -> Iterator[None]:
    """Keep the harness itself off the stack's CPUs while it measures."""
    if not cpus or not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def _label(spec: TrialSpec) -> str:
    levels = ", ".join(f"{name} {level}" for name, level in spec.treatment.items())
    return f"{spec.experiment}, block {spec.replicate + 1}: {levels}"
