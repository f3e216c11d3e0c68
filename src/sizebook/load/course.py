"""The course of one trial in one worker: its times, whose turn it is, what was counted.

All users of a trial share one course. It decides when a user may start something; what it starts
is the scenario's business (``users``), what came of it the recorder's.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import monotonic_ns
from typing import Any

import numpy as np
from gevent.event import Event

from sizebook.load.clock import Clock
from sizebook.load.fence import Fence
from sizebook.load.http import TimeoutSweep
from sizebook.load.protocol import Order
from sizebook.load.schedule import (
    Offsets,
    ThinkTimes,
    arrival_offsets,
    leading,
    paced_offsets,
    user_share,
    user_start_offset_ns,
    worker_share,
)
from sizebook.load.stages import StagedUsers
from sizebook.load.target import Target
from sizebook.load.turns import TurnTimes
from sizebook.model.bundle import PhaseMark, TurnMark
from sizebook.model.errors import TrialError, UserError
from sizebook.model.load import RUSH, ClosedLoop, LoadProfile, PacedUsers
from sizebook.model.records import Scalar


@dataclass
class Batch:
    """One run of a shared batch: items that the users take one by one until all are done."""

    number: int
    begin_ns: int
    items: Any = ()
    next: int = 0
    left: int = 0
    opened: Event = field(default_factory=Event)
    finished: Event = field(default_factory=Event)


@dataclass
class DueTimes:
    """Due times that are taken one after the other, in ns from the start of the trial."""

    offsets: Sequence[int]
    taken: int = 0

    @classmethod
    def of(cls, offsets: Offsets) -> DueTimes:
        """Return these due times, none taken yet."""
        return cls(memoryview(offsets.copy()))  # type: ignore[arg-type]


class TrialSchedule:
    """What the users of one trial share."""

    def __init__(
        self,
        order: Order,
        *,
        targets: Mapping[str, Target],
        clock: Clock,
        sweep: TimeoutSweep,
        fence: Fence,
    ) -> None:
        self.order = order
        self.fence = fence
        fence.on_breach = lambda error: self.fail(error, "")
        self.load: LoadProfile = order.load
        self.targets = targets
        self.clock = clock
        self.sweep = sweep
        self.settings: Mapping[str, Scalar] = {}
        self.shared: Any = None
        """What the scenario's ``set_up`` returned."""
        self.users = user_share(order.load.arrivals.users, order.worker, order.workers)
        self.offsets: Offsets | None = None
        """When passes are due, in ascending order; None: users begin them when they are free."""
        self.stages = StagedUsers.of(order.load)
        """When users have a place, where they come and go; None: always."""
        self._own: Mapping[int, DueTimes] = {}
        """Due times of each user, where users have their own."""
        self._common = DueTimes(())
        """Due times for whoever is free."""
        self._leading = 0
        """Arrivals of all workers before the measured phase."""
        self._carried: dict[int, int] = {}
        """Number of the arrival that each user carries."""
        self._schedule()
        self._started_arrivals = 0
        self._stopped = False
        self._enrolled = 0
        self._iterations = 0
        self.gate = Event()
        self.turns: TurnTimes | None = None
        """When the load is this trial's; None: throughout, or it has not started."""
        self._turn_end_ns = 0
        self.start_ns = 0
        self.end_ns = 0
        """No arrival is due, and no closed-loop iteration begins, from here on."""
        self.closed = False
        """True after the drain: nothing may start any more."""
        self.measured = (0, 0)
        self.iterations = 0
        """Passes of the scenario that lie wholly in the measured phase."""
        self.joins = 0
        """Users who had something to do when they joined, such as to log in."""
        self._joined_in_time = 0
        self.batch: Batch | None = None
        self.failure: UserError | None = None

    def enroll(self) -> int:
        """Return the number of a new user, counted over all workers."""
        number = self.users[min(self._enrolled, len(self.users) - 1)]
        self._enrolled += 1
        return number

    def _schedule(self) -> None:
        order, load = self.order, self.load
        if isinstance(load.arrivals, ClosedLoop):
            return
        if isinstance(load.arrivals, PacedUsers):
            each = paced_offsets(load.arrivals, load.phases, load.seed)
            own = [each[user] for user in self.users]
            self.offsets = np.sort(np.concatenate(own)) if own else np.empty(0, dtype=np.int64)
            self._own = dict(zip(self.users, map(DueTimes.of, own), strict=True))
            return
        whole = arrival_offsets(load.arrivals, load.phases, load.seed)
        self._leading = leading(whole, load.phases)
        self.offsets = worker_share(whole, order.worker, order.workers)
        self._common = DueTimes.of(self.offsets)

    def group_of(self, user: int) -> str:
        """Return the name of a paced user's group, empty for users without groups."""
        arrivals = self.load.arrivals
        return arrivals.place_of(user)[0].name if isinstance(arrivals, PacedUsers) else ""

    def launch(self, start_ns: int) -> None:
        """Set the trial's times and let the users go."""
        phases = self.load.phases
        self.start_ns = start_ns
        if self.order.turns is not None:
            self.turns = TurnTimes(self.order.turns, phases, start_ns)
            counted = self.turns.counted
            self.measured = (counted[0].begin_ns, counted[-1].end_ns)
        else:
            end_ns = start_ns + round(phases.planned_s * 1e9)
            self.measured = (end_ns - round(phases.measured_s * 1e9), end_ns)
        self.end_ns = self.measured[1]
        self.gate.set()

    def may_begin(self) -> bool:
        """Return whether a user may begin a pass now, once the load is this trial's.

        Until then it waits. False: the measured phase is over.
        """
        while (now_ns := monotonic_ns()) < self.end_ns:
            if self.turns is None or now_ns < self._turn_end_ns:
                return True
            turn = self.turns.at(now_ns)
            if turn is None:
                return False
            self.clock.sleep_until(turn.begin_ns)
            if monotonic_ns() >= turn.begin_ns:
                self._turn_end_ns = turn.end_ns
        return False

    def _wall_ns(self, own_ns: int) -> int:
        """Return when so much of the trial's own time has passed since its start."""
        return self.start_ns + own_ns if self.turns is None else self.turns.wall_ns(own_ns)

    def _own_ns(self, wall_ns: int) -> int:
        """Return how much of the trial's own time had passed since its start."""
        return wall_ns - self.start_ns if self.turns is None else self.turns.own_ns(wall_ns)

    def stop(self) -> None:
        """End the trial now instead of at its planned end. To be called from the event loop.

        What is overdue is not started any more, as it is at the planned end.
        """
        self.end_ns = min(self.end_ns, monotonic_ns())
        self._stopped = True
        self.clock.wake_all()

    def fail(self, error: BaseException, where: str) -> None:
        """End the trial because its locustfile is wrong; the first such error is told."""
        if self.failure is None:
            self.failure = (
                error
                if isinstance(error, UserError)
                else TrialError(
                    found=f"{type(error).__name__} in {where}: {error}",
                    expected="a locustfile whose scenario runs without exceptions",
                    next_step=f"correct {where}; a failed request is no exception, see its check",
                )
            )
        self.end_ns = min(self.end_ns, monotonic_ns())

    def await_place(self, user: int) -> bool:
        """Return True once the load has a place for this user, False when it has none any more.

        A load whose users do not come and go always has one.
        """
        while self.stages is not None:
            now_ns = monotonic_ns()
            begin_ns = self.stages.next_ns(user, now_ns - self.start_ns)
            if begin_ns is None or now_ns >= self.end_ns:
                return False
            if self.start_ns + begin_ns <= now_ns:
                return True
            self.clock.sleep_until(min(self.start_ns + begin_ns, self.end_ns))
        return True

    def wait_for_turn(self, user: int) -> None:
        """Return when this user is to start for the first time."""
        self.gate.wait()
        arrivals, ramp_s = self.load.arrivals, self.load.phases.ramp_s
        offset_ns = 0
        if isinstance(arrivals, PacedUsers):
            group, number = arrivals.place_of(user)
            offset_ns = user_start_offset_ns(number, group.users, ramp_s)
        elif isinstance(arrivals, ClosedLoop):
            first = arrivals.users if self.stages is None else self.stages.first
            offset_ns = user_start_offset_ns(min(user, first), max(first, 1), ramp_s)
        self.clock.sleep_until(self._wall_ns(offset_ns))

    @contextlib.contextmanager
    def joining(self) -> Iterator[None]:
        """Count a user who joins within this context."""
        self.joins += 1
        yield
        self._joined_in_time += monotonic_ns() <= self.measured[0]

    @property
    def joined_late(self) -> int:
        """Users who had not joined when the measured phase began."""
        return self.joins - self._joined_in_time

    def think(self, pauses: ThinkTimes) -> None:
        """Return after this user's next pause: ``RUSH`` times shorter if it begins in a rush."""
        arrivals, now_ns = self.load.arrivals, self._own_ns(monotonic_ns())
        pause_ns = pauses.next_ns()
        if isinstance(arrivals, ClosedLoop) and now_ns < arrivals.rush_s * 1e9:
            pause_ns = round(pause_ns / RUSH)
        self.clock.sleep_until(self._wall_ns(now_ns + pause_ns))

    def next_iteration(self) -> int:
        """Return the number of a new pass of the scenario, counted over all workers."""
        number = self._iterations * self.order.workers + self.order.worker
        self._iterations += 1
        return number

    def finish_iteration(self, begin_ns: int, end_ns: int) -> None:
        """Count a whole pass of the scenario if it lies within the measured phase.

        Of a trial that takes turns: within the part of a turn that counts.
        """
        begin, end = self.measured[0], min(self.measured[1], self.end_ns)
        if self.turns is not None and (turn := self.turns.at(begin_ns)) is not None:
            begin, end = max(begin, turn.from_ns), min(end, turn.end_ns)
        if begin_ns >= begin and end_ns <= end:
            self.iterations += 1

    def take_arrival(self, user: int) -> int | None:
        """Return the due time of this user's next pass when it has come; None if there is no more.

        Due times are taken in their order, overdue ones at once: by the paced user whose own they
        are, of open arrivals by whoever is free. What is overdue at the end of the measured phase
        is still started during the drain: leaving it out would hide just the requests that had to
        wait longest.
        """
        due = self._own.get(user, self._common)
        if self._over or due.taken >= len(due.offsets):
            return None
        due_ns = self._wall_ns(due.offsets[due.taken])
        if due is self._common:
            number = due.taken * self.order.workers + self.order.worker
            self._carried[user] = number - self._leading
        due.taken += 1
        self.clock.sleep_until(due_ns)
        if self._over or due_ns >= self.end_ns:
            return None
        self._started_arrivals += 1
        return due_ns

    def arrival_of(self, user: int) -> int:
        """Return the number of the open arrival that a user carries, over all workers.

        They count from the begin of the measured phase on; those before it have negative numbers.
        0 for users who carry none.
        """
        return self._carried.get(user, 0)

    @property
    def _over(self) -> bool:
        """Whether nothing that is due may be started any more."""
        return self.closed or self._stopped

    def due_offsets(self) -> Offsets | None:
        """Return when passes were due, in ns from the trial's start; None: when users were free."""
        if self.offsets is None or self.turns is None:
            return self.offsets
        due = (self.turns.wall_ns(own_ns) - self.start_ns for own_ns in self.offsets.tolist())
        return np.fromiter(due, dtype=np.int64, count=len(self.offsets))

    @property
    def dropped(self) -> int:
        """Arrivals that fell due before the trial's end and were never started."""
        if self.offsets is None:
            return 0
        fell_due = int(np.searchsorted(self.offsets, self._own_ns(self.end_ns)))
        return fell_due - self._started_arrivals

    def turn_marks(self) -> tuple[TurnMark, ...]:
        """Return the turns that counted and were whole when the trial ended."""
        if self.turns is None:
            return ()
        whole = (turn for turn in self.turns.counted if turn.end_ns <= self.end_ns)
        return tuple(TurnMark(**turn._asdict()) for turn in whole)

    def phase_marks(self, over_ns: int) -> tuple[PhaseMark, ...]:
        """Return the phases as they were run, up to ``over_ns``, when the drain was over."""
        phases = self.load.phases
        marks: list[PhaseMark] = []
        begin_ns = self.start_ns
        for name, planned_ns in (
            ("ramp", self.start_ns + round(phases.ramp_s * 1e9)),
            ("warm-up", self.measured[0]),
            ("measured", self.end_ns),
        ):
            end_ns = min(planned_ns, self.end_ns)
            if end_ns > begin_ns:
                marks.append(
                    PhaseMark.model_validate({"name": name, "begin_ns": begin_ns, "end_ns": end_ns})
                )
                begin_ns = end_ns
        marks.append(PhaseMark(name="drain", begin_ns=begin_ns, end_ns=max(begin_ns, over_ns)))
        return tuple(marks)
