"""A block whose treatments take turns: all stacks up, all warm, one load that goes to each in turn.

What the machine does meanwhile happens to all of them; what a treatment used is read at the edges
of its turns and booked to it (``lab.turn_booking``). Each treatment leaves a bundle of its own.
"""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import wait
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from sizebook.checks.accounting import BESIDE, left_by
from sizebook.lab.await_rows import await_stored, count_rows
from sizebook.lab.await_server_count import await_counted, counting_source, requests_counted
from sizebook.lab.exhaustion import cause_of_failure
from sizebook.lab.live import tell_seconds
from sizebook.lab.planning import Session, TurnSession
from sizebook.lab.progress import FAILED, Progress
from sizebook.lab.started import Ahead, Broken, SessionLost, Started, new_session_name
from sizebook.lab.turn_order import lay_out_turns, order_rounds
from sizebook.lab.watching import watch
from sizebook.load.protocol import Tick
from sizebook.load.turns import TurnTimes
from sizebook.model.errors import LocustfileError, LostError, TrialError
from sizebook.store.bundles import Bundle
from sizebook.store.columns import RequestColumns

if TYPE_CHECKING:
    from sizebook.lab.bench import Bench

_STARTS = 2
"""Starts in a row in which something was killed."""
_LEAD_NS = 300_000_000
"""Time for the probes to be ready, too, before the first turn."""


def run_block(bench: Bench, session: TurnSession, folder: Path, progress: Progress) -> list[Bundle]:
    """Measure a block whose treatments take turns, and return its bundles, failed ones included.

    Whatever makes one trial fail makes all of the block fail, since none could be compared. After
    a process that was killed there is one start more.
    """
    for spec in session.trials:
        if (broken := bench.broken.get(spec.load.locustfile)) is not None:
            return bench.give_up(session.trials, broken.reason, folder, progress)
    done: list[Bundle] = []
    for attempt in range(1, _STARTS + 1):
        block = _Block(bench, session, folder, progress)
        failure = block.run()
        done += block.stored
        if failure is None or not failure.is_lost or attempt == _STARTS:
            break
    if failure is not None and not block.has_measured:
        done += bench.give_up(session.trials, failure.reason, folder, progress)
    elif failure is not None:
        progress.step(f"{FAILED}{failure.reason}", done=len(session.trials))
    return done


@dataclass(frozen=True)
class _Failure:
    """Why a block failed."""

    reason: str
    is_lost: bool
    """Whether a process was killed or is gone, so that a fresh start may help."""

    @classmethod
    def of(cls, error: TrialError) -> _Failure:
        return cls(str(error), isinstance(error, LostError))


class _Block:
    """One start of all stacks of a block."""

    def __init__(
        self, bench: Bench, session: TurnSession, folder: Path, progress: Progress
    ) -> None:
        self._bench = bench
        self._session = session
        self._folder = folder
        self._progress = progress
        self._name = new_session_name()
        self._label = f"{session.experiment}, block {session.replicate + 1}"
        self.stored: list[Bundle] = []
        self.has_measured = False
        """Whether each trial has left a bundle, be it one that says why it failed."""

    def run(self) -> _Failure | None:
        """Start, warm and measure; return what went wrong."""
        session, progress = self._session, self._progress
        try:
            with contextlib.ExitStack() as undo:
                progress.step(f"{self._label}: starting {len(session.starts)} stacks")
                started = [
                    undo.enter_context(self._bench.started(one, f"{self._name}-{number}"))
                    for number, one in enumerate(session.starts, 1)
                ]
                progress.step(f"{self._label}: conditioning", planned_s=session.start_s)
                for one, each in zip(session.starts, started, strict=True):
                    self._condition(one, each)
                failure = self._measure(started)
                if failure is None:
                    planned_s = session.planned_s() - session.start_s
                    done = len(session.trials)
                    progress.step(f"{self._label}: stored", planned_s=planned_s, done=done)
        except SessionLost as lost:
            self.stored.append(lost.bundle)
            reason = f"its conditioning load failed: {lost.bundle.record.failure}"
            return _Failure(reason, lost.may_return)
        except TrialError as error:
            return _Failure.of(error)
        return failure

    def _condition(self, session: Session, started: Started) -> None:
        """Load a fresh stack until it has settled."""
        started.name = self._name
        started.stack.spread(self._bench.host.cpus)
        loads, first = session.conditioning, session.trials[0]
        self.stored += self._bench.condition(started, loads, self._folder, first, prepare=False)
        self._progress.add_phases(started.conditioned_s)
        started.stack.pin()

    def _measure(self, started: Sequence[Started]) -> _Failure | None:
        """Let the load go from one treatment to the next; store all; return why they failed."""
        self._progress.step(f"{self._label}: {len(self._session.trials)} treatments in turns")
        trials = self._prepare(started)
        failure: _Failure | None = None
        try:
            self._take_turns(trials)
        except TrialError as error:
            causes = (
                cause_of_failure(each.stack, ahead.record.spec, ahead.record.events)
                for each, ahead in trials
            )
            failure = _Failure.of(next((cause for cause in causes if cause is not None), error))
            for _, ahead in trials:
                ahead.record.failure = failure.reason
            if isinstance(error, LocustfileError):
                broken = Broken(failure.reason, trials[0][0].generator.read)
                locustfiles = [spec.load.locustfile for spec in self._session.trials]
                self._bench.broken |= dict.fromkeys(locustfiles, broken)
        for _, ahead in trials:
            self.stored.append(self._bench.store(ahead, self._folder))
        self.has_measured = True
        return failure

    def _prepare(self, started: Sequence[Started]) -> list[tuple[Started, Ahead]]:
        """Have generator and probes ready for each trial."""
        session = self._session
        turns = session.trials[0].load.phases.turns
        assert turns is not None
        phases = session.trials[0].load.phases
        rounds = order_rounds(len(session.trials), phases.warm_turns + phases.rounds, session.seed)
        orders = iter(lay_out_turns(rounds, turns))
        urls = [url for each in started for url in each.stack.targets().values()]
        neighbours = {str(number): url for number, url in enumerate(dict.fromkeys(urls))}
        trials: list[tuple[Started, Ahead]] = []
        for one, each in zip(session.starts, started, strict=True):
            for spec in one.trials:
                ahead = self._bench.look_ahead(each, spec, next(orders), neighbours)
                wait(ahead.ready)  # the generator takes one order after the other
                each.position += 1
                trials.append((each, ahead))
        return trials

    def _take_turns(self, trials: Sequence[tuple[Started, Ahead]]) -> None:
        """Carry the trials out; raises TrialError if any cannot be."""
        records = [ahead.record for _, ahead in trials]
        generator = trials[0][0].generator
        with contextlib.ExitStack() as undo:
            counted, stored, looks = [], [], []
            for each, ahead in trials:
                record, sampler = ahead.record, ahead.sampler
                undo.push(sampler)
                for future in ahead.ready:
                    future.result()
                stored.append(count_rows(each.stack, record.spec.stores))
                sampler.snapshot()
                source = counting_source(record.spec.deployment)
                counted.append((requests_counted(sampler, source), source))
                looks.append(watch(each.stack, record, None, generator.stop_trial))
            looks.append(tell_seconds(records[0]))
            start_ns = time.monotonic_ns() + generator.ordered_lead_ns + _LEAD_NS
            for _, ahead in trials:
                assert ahead.turns is not None
                times = TurnTimes(ahead.turns, ahead.record.spec.load.phases, start_ns)
                edges = chain.from_iterable((t.from_ns, t.end_ns) for t in times.counted)
                ahead.record.begin()
                ahead.sampler.start(tuple(edges))

            def look(tick: Tick) -> None:
                for each in looks:
                    each(tick)

            found = generator.run_all(look, start_ns=start_ns)
            for record, collected in zip(records, found, strict=True):
                record.collected = collected
            self._progress.add_phases((time.monotonic_ns() - start_ns) * 1e-9)
            _tell_of_each_other(trials)
            for (each, ahead), rows, (before, source) in zip(trials, stored, counted, strict=True):
                record = ahead.record
                assert record.collected is not None
                record.facts |= await_stored(each.stack, record.spec, rows, record.collected)
                await_counted(ahead.sampler, before, record.collected, source)
                record.end(self._bench.ceilings, generator.hosts)
                record.read(generator.read)


def _tell_of_each_other(trials: Sequence[tuple[Started, Ahead]]) -> None:
    """Note in each trial what those that share its stack left there: servers count all of them."""
    left = [
        left_by(RequestColumns.of(collected.requests), ahead.record.spec.stored())
        for _, ahead in trials
        if (collected := ahead.record.collected) is not None
    ]
    for at, (each, ahead) in enumerate(trials):
        sums: Counter[str] = Counter()
        for other, (beside, _) in enumerate(trials):
            if other != at and beside is each:
                sums.update(left[other])
        ahead.record.facts |= {f"{BESIDE}/{what}": count for what, count in sums.items()}
