"""Measuring: sessions of trials on a started stack, each trial leaving a bundle.

Between two trials the bundle of the first is written while the generator prepares the second, by
threads that may use all CPUs; while a load runs, nothing of the harness is at work but the probes.
The generator serves one session after the other; every session has a fresh stack.
"""

from __future__ import annotations

import contextlib
import shutil
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Executor, wait
from pathlib import Path
from types import MappingProxyType

from sizebook.hosts import Guard, LocalHost
from sizebook.hosts.guard import sweep
from sizebook.hosts.idling import polling_idle
from sizebook.lab.await_rows import await_stored, count_rows
from sizebook.lab.await_server_count import await_counted, counting_source, requests_counted
from sizebook.lab.by_hand import StopByHand
from sizebook.lab.calibration import Ceilings, find_ceilings
from sizebook.lab.disturbing import disturbed
from sizebook.lab.exhaustion import cause_of_failure, supervised
from sizebook.lab.generators import KeptWorkers
from sizebook.lab.inventories import chosen_inventory
from sizebook.lab.live import tell_seconds, tell_stored
from sizebook.lab.measurement_cache import present_fingerprints
from sizebook.lab.placement import pinned_to, placement_facts, stack_cpus, threads_on_all_cpus
from sizebook.lab.planning import Session, TurnSession
from sizebook.lab.progress import FAILED, Progress
from sizebook.lab.recording import TrialRecord, write_bundle
from sizebook.lab.started import Ahead, Broken, SessionLost, Started, new_session_name
from sizebook.lab.taking_turns import run_block
from sizebook.lab.warm_up import Settling
from sizebook.lab.watching import watch
from sizebook.load.protocol import Tick
from sizebook.load.turns import TurnOrder
from sizebook.model.bundle import NO_SESSION
from sizebook.model.errors import LocustfileError, LostError, TrialError
from sizebook.model.records import Scalar
from sizebook.model.trial import TrialSpec, treatment_words
from sizebook.probes.sampler import Sampler
from sizebook.probes.sets import stack_probes
from sizebook.stack import RunningStack, StackRunner, ensure_built, has_stack
from sizebook.stack.postgres import remove_socket_folders
from sizebook.store import Project, measurement_lock
from sizebook.store.bundles import Bundle
from sizebook.store.lock import ALONE
from sizebook.store.partial import remove_partial

_STARTS = 2
"""Starts of a stack in a row in which something was killed before a trial."""


@contextlib.contextmanager
def opened_bench(project: Project, purpose: str) -> Iterator[Bench]:
    """Hold this machine for measuring: lock, left-overs removed, stack built, nothing left after.

    Raises MeasurementLockedError if another measurement runs.
    """
    with contextlib.ExitStack() as undo:
        alone = undo.enter_context(measurement_lock(purpose, project.state))
        ledgers = project.state / "guard"
        sweep(ledgers)
        shutil.rmtree(project.state / "run", ignore_errors=True)
        remove_socket_folders()
        remove_partial(project.runs)
        build = ensure_built(project)[0] if has_stack(project) else None
        guard = Guard(ledgers)
        undo.callback(guard.close)
        undo.enter_context(polling_idle(guard))
        host = LocalHost(guard)
        runner = StackRunner(build, host, project.state, chosen_inventory())
        runner.remove_partial()
        generators = KeptWorkers(project, host)
        aside = undo.enter_context(threads_on_all_cpus())
        undo.callback(generators.drop)
        yield Bench(project, host, runner, generators, aside, alone=alone)


class Bench:
    """This machine, held for measuring."""

    def __init__(
        self,
        project: Project,
        host: LocalHost,
        runner: StackRunner,
        generators: KeptWorkers,
        aside: Executor,
        *,
        alone: bool,
    ) -> None:
        self.project = project
        self.host = host
        self.runner = runner
        self.alone = alone
        """Whether no other measurement runs on this machine."""
        self.notes: dict[str, Scalar] = {} if alone else {ALONE: False}
        """Facts that the record of each trial tells."""
        self.ceilings: dict[str, Ceilings] = {}
        """What each client of the generator can do on this machine, as far as it was measured."""
        self.by_hand = StopByHand()
        """Whether somebody stops the load that runs."""
        self.broken: dict[str, Broken] = {}
        """Locustfiles that cannot be loaded: no stack is started for their other trials."""
        self._generators = generators
        self._aside = aside
        self.learn_ceilings()

    def learn_ceilings(self) -> None:
        """Look up what the calibration has found out."""
        self.ceilings = find_ceilings(self.project)

    def run(self, session: Session, folder: Path, progress: Progress) -> list[Bundle]:
        """Run the trials of a session; after a failure the rest go on with a fresh start.

        Those of a block that takes turns are measured, or fail, together.

        A start that fails for another reason than a process that was killed would fail again: then
        no trial is left to try. After one that was killed there is one start more.
        """
        if isinstance(session, TurnSession):
            return run_block(self, session, folder, progress)
        starts_lost = 0
        conditioned: list[Bundle] = []
        done: list[Bundle] = []
        progress.step(f"{session.experiment}, block {session.replicate + 1}: starting the stack")
        while due := session.remaining(done):
            if (broken := self.broken.get(due[0].load.locustfile)) is not None:
                alike = [one for one in due if one.load.locustfile == due[0].load.locustfile]
                done += self.give_up(alike, broken.reason, folder, progress)
                continue
            try:
                with self.started(session, new_session_name()) as started:
                    spent_s = session.start_s
                    if session.conditioning:
                        progress.step("conditioning", planned_s=spent_s)
                        started.stack.spread(self.host.cpus)
                        loads = session.conditioning
                        for bundle in self.condition(started, loads, folder, due[0]):
                            conditioned.append(bundle)
                        progress.add_phases(started.conditioned_s)
                        spent_s = sum(spec.load.phases.planned_s for spec in loads)
                    started.stack.pin()
                    while due:
                        progress.step(_label(due[0]), planned_s=spent_s)
                        then = due[1] if len(due) > 1 else None
                        done.append(self.trial(started, due[0], folder, then=then))
                        progress.add_phases(done[-1].record.execution.phases_s())
                        progress.step(f"{_label(due[0])}: stored", done=1)
                        spent_s = due[0].load.phases.planned_s
                        due = session.remaining(done)
                        if not started.stack.is_as_deployed:
                            break
                    progress.step("stopping the stack", planned_s=spent_s)
            except SessionLost as lost:
                if lost.bundle.record.trial.purpose == "measured":
                    done.append(lost.bundle)
                    starts_lost = 0
                    continue
                conditioned.append(lost.bundle)
                starts_lost += 1
                may_return = lost.may_return and starts_lost < _STARTS
                if may_return or due[0].load.locustfile in self.broken:
                    continue
                reason = f"its conditioning load failed: {lost.bundle.record.failure}"
                return [*conditioned, *done, *self.give_up(due, reason, folder, progress)]
            except TrialError as error:  # the stack did not come up
                starts_lost += 1
                if isinstance(error, LostError) and starts_lost < _STARTS:
                    continue
                return [*conditioned, *done, *self.give_up(due, str(error), folder, progress)]
        return [*conditioned, *done]

    def condition(
        self,
        started: Started,
        loads: Sequence[TrialSpec],
        folder: Path,
        first: TrialSpec,
        *,
        prepare: bool = True,
    ) -> Iterator[Bundle]:
        """Load a fresh stack until it has settled as far as its first trial asks for.

        Gives the bundle of the first load; nothing is kept of others unless they fail. Then the
        first trial is prepared, if it is to follow at once.
        """
        if not loads:
            return
        trial_s = first.load.phases.measured_s
        started.settling = Settling(trial_s, is_last=len(loads) == 1)
        then = first if prepare and len(loads) == 1 else None
        yield self.trial(started, loads[0], folder, then=then)
        for spec in loads[1:]:
            started.settling = Settling(trial_s, is_last=spec is loads[-1])
            further = self.look_ahead(started, spec)
            self._carry_out(started, further)
            if further.record.failure:
                raise SessionLost(_store(further, folder), may_return=further.is_lost)
            shutil.rmtree(further.out, ignore_errors=True)
        started.settling = None

    def give_up(
        self, due: Sequence[TrialSpec], reason: str, folder: Path, progress: Progress
    ) -> list[Bundle]:
        """Store these trials as failed for one reason: a new start would end alike."""
        bundles = [self._failed(spec, reason, folder) for spec in due]
        left_s = sum(spec.load.phases.planned_s for spec in due)
        progress.step(f"{FAILED}{reason}", left_s, done=len(due))
        return bundles

    def trial(
        self, started: Started, spec: TrialSpec, folder: Path, then: TrialSpec | None = None
    ) -> Bundle:
        """Run one trial and return its bundle; raises SessionLost after storing a failed one.

        ``then`` is the trial that will follow, if that is known: it is prepared while this one's
        bundle is written.
        """
        ahead = started.take_ahead(spec) or self.look_ahead(started, spec)
        self._carry_out(started, ahead)
        started.position += 1
        record = ahead.record
        writing = self._aside.submit(_store, ahead, folder)
        try:
            if then is not None and not record.failure and started.stack.is_as_deployed:
                started.ahead = self.look_ahead(started, then)
        finally:
            bundle = writing.result()
        if record.failure:
            raise SessionLost(bundle, may_return=ahead.is_lost)
        return bundle

    def _carry_out(self, started: Started, ahead: Ahead) -> None:
        """Run the trial that everything was prepared for; its record tells if it failed."""
        spec, record, sampler = ahead.record.spec, ahead.record, ahead.sampler
        try:
            with contextlib.ExitStack() as undo:
                undo.push(sampler)
                for future in wait(ahead.ready).done:
                    future.result()
                before = count_rows(started.stack, spec.stores)
                sampler.snapshot()
                counting = counting_source(spec.deployment)
                counted = requests_counted(sampler, counting)
                sampler.start()
                record.begin()
                with (
                    supervised(started.stack, spec, record.events),
                    disturbed(started.stack, spec, record.monotonic_ns, record.events),
                ):
                    looking = watch(
                        started.stack,
                        record,
                        started.settling,
                        started.generator.stop_trial,
                        self.by_hand,
                    )
                    telling = tell_seconds(record)

                    def look(tick: Tick) -> None:
                        looking(tick)
                        telling(tick)

                    with self.by_hand.heard():
                        record.collected = started.generator.run(on_tick=look)
                record.facts |= await_stored(started.stack, spec, before, record.collected)
                await_counted(sampler, counted, record.collected, counting)
                # No ceiling of another machine is known.
                record.end({} if spec.load.hosts else self.ceilings, started.generator.hosts)
                record.failure = self.by_hand.told(spec.load.phases.planned_s)
                if spec.purpose == "conditioning":
                    started.conditioned_s += record.collected.facts.wall_s
        except TrialError as error:
            cause = cause_of_failure(started.stack, spec, record.events) or error
            record.failure, ahead.is_lost = str(cause), isinstance(cause, LostError)
            if isinstance(error, LocustfileError):
                broken = Broken(record.failure, started.generator.read)
                self.broken[spec.load.locustfile] = broken
        record.read(started.generator.read)

    def store(self, ahead: Ahead, folder: Path) -> Bundle:
        """Write the bundle of a trial that is over."""
        return self._aside.submit(_store, ahead, folder).result()

    def look_ahead(
        self,
        started: Started,
        spec: TrialSpec,
        turns: TurnOrder | None = None,
        neighbours: Mapping[str, str] = MappingProxyType({}),
    ) -> Ahead:
        """Have generator and probes get ready for a trial, aside.

        Where it takes turns, ``turns`` says when; ``neighbours`` are the targets of all trials.
        """
        record = TrialRecord(
            root=self.project.root,
            spec=spec,
            fingerprints=present_fingerprints(self.project, spec),
            machine=self.host.facts(),
            session=started.name,
            position=started.position,
            stack=started.stack,
            setup_s=started.setup_s,
            sampler=Sampler(started.probes),
            facts={
                **self.notes,
                **placement_facts(spec, self.host.facts().memory_mib),
                "conditioned_s": round(started.conditioned_s, 3),
            },
        )
        marks = record.mark_logs()
        out = started.stack.folder / f"trial-{started.position}"
        assert record.sampler is not None
        urls = started.stack.targets()
        targets = {role: url for role, url in urls.items() if url.startswith("http:")}
        preparing = self._aside.submit(
            started.generator.prepare,
            spec.load,
            targets,
            out,
            turns=turns,
            neighbours={name: url for name, url in neighbours.items() if url.startswith("http:")},
        )
        attaching = self._aside.submit(record.sampler.attach)
        return Ahead(record, marks, out, (preparing, attaching), turns)

    @contextlib.contextmanager
    def started(self, session: Session, name: str) -> Iterator[Started]:
        """Start the stack of a session and the generator; both are gone on leaving."""
        began = time.monotonic()
        first = session.trials[0]
        cpus, callers = first.load.cpus, first.load.hosts
        workers = max(spec.load.workers for spec in session.trials)
        with contextlib.ExitStack() as undo:
            starting = self._aside.submit(self._generators.get, cpus, workers, callers)
            undo.callback(wait, (starting,))
            undo.enter_context(pinned_to(cpus))
            stack = undo.enter_context(self.runner.running(session.deployment, name, callers))
            generator = starting.result()
            probes = stack_probes(
                stack,
                generator.processes,
                interval_s=first.probe_interval_s,
                tables=first.stores,
                callers=generator,
                cpus=stack_cpus(session.deployment),
            )
            started = Started(name, stack, generator, probes, time.monotonic() - began)
            undo.callback(started.take_ahead, None)
            try:
                yield started
            except BaseException:
                self._generators.drop()
                raise

    def _failed(self, spec: TrialSpec, reason: str, folder: Path) -> Bundle:
        broken = self.broken.get(spec.load.locustfile)
        data = broken.read if broken is not None else {}
        record = TrialRecord(
            root=self.project.root,
            spec=spec,
            fingerprints=present_fingerprints(self.project, spec, data),
            machine=self.host.facts(),
            session=NO_SESSION,
            position=0,
            stack=RunningStack(),
            setup_s=0.0,
            failure=reason,
            facts={**self.notes},
        )
        return write_bundle(record, {}, folder)


def _store(ahead: Ahead, folder: Path) -> Bundle:
    bundle = write_bundle(ahead.record, ahead.marks, folder)
    shutil.rmtree(ahead.out, ignore_errors=True)
    tell_stored(bundle)
    return bundle


def _label(spec: TrialSpec) -> str:
    words = treatment_words(spec.treatment)
    return f"{spec.experiment}, block {spec.replicate + 1}: {words}"
