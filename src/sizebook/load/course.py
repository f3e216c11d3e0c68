"""The course of one trial in one worker: its times, whose turn it is, what was counted.

All users of a trial share one course. It decides when a user may start something; what it starts
is the scenario's business (``users``), what came of it the recorder's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from time import monotonic_ns
from typing import Any

import numpy as np
from gevent.event import Event

from sizebook.load.clock import Clock
from sizebook.load.http import TimeoutSweep
from sizebook.load.protocol import Order
from sizebook.load.schedule import (
    Offsets,
    arrival_offsets,
    user_share,
    user_start_offset_ns,
    worker_share,
)
from sizebook.load.target import Target
from sizebook.model.bundle import PhaseMark
from sizebook.model.errors import TrialError, UserError
from sizebook.model.load import ClosedLoop, LoadProfile
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


class Course:
    """What the users of one trial share."""

    def __init__(
        self,
        order: Order,
        *,
        targets: Mapping[str, Target],
        clock: Clock,
        sweep: TimeoutSweep,
    ) -> None:
        self.order = order
        self.load: LoadProfile = order.load
        self.targets = targets
        self.clock = clock
        self.sweep = sweep
        self.settings: Mapping[str, Scalar] = {}
        self.shared: Any = None
        """What the scenario's ``set_up`` returned."""
        self.users = user_share(order.load.arrivals.users, order.worker, order.workers)
        self.offsets: Offsets | None = None
        arrivals = order.load.arrivals
        if not isinstance(arrivals, ClosedLoop):
            whole = arrival_offsets(arrivals, order.load.phases, order.load.seed)
            self.offsets = worker_share(whole, order.worker, order.workers)
        self._due: Any = () if self.offsets is None else memoryview(self.offsets.copy())  # type: ignore[arg-type]
        self._next_arrival = 0
        self._started_arrivals = 0
        self._enrolled = 0
        self._iterations = 0
        self.gate = Event()
        self.start_ns = 0
        self.end_ns = 0
        """No arrival is due, and no closed-loop iteration begins, from here on."""
        self.closed = False
        """True after the drain: nothing may start any more."""
        self.measured = (0, 0)
        self.iterations = 0
        """Passes of the scenario that lie wholly in the measured phase."""
        self.batch: Batch | None = None
        self.failure: UserError | None = None

    def enroll(self) -> int:
        """Return the number of a new user, counted over all workers."""
        number = self.users[min(self._enrolled, len(self.users) - 1)]
        self._enrolled += 1
        return number

    def launch(self, start_ns: int) -> None:
        """Set the trial's times and let the users go."""
        phases = self.load.phases
        self.start_ns = start_ns
        self.end_ns = start_ns + round(phases.planned_s * 1e9)
        self.measured = (self.end_ns - round(phases.measured_s * 1e9), self.end_ns)
        self.gate.set()

    def stop(self) -> None:
        """End the trial now instead of at its planned end. To be called from the event loop."""
        self.end_ns = min(self.end_ns, monotonic_ns())
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

    def wait_for_turn(self, user: int) -> None:
        """Return when this user is to start for the first time."""
        self.gate.wait()
        arrivals = self.load.arrivals
        offset_ns = 0
        if isinstance(arrivals, ClosedLoop):
            offset_ns = user_start_offset_ns(user, arrivals.users, self.load.phases.ramp_s)
        self.clock.sleep_until(self.start_ns + offset_ns)

    def next_iteration(self) -> int:
        """Return the number of a new pass of the scenario, counted over all workers."""
        number = self._iterations * self.order.workers + self.order.worker
        self._iterations += 1
        return number

    def finish_iteration(self, begin_ns: int, end_ns: int) -> None:
        """Count a whole pass of the scenario if it lies within the measured phase."""
        if begin_ns >= self.measured[0] and end_ns <= min(self.measured[1], self.end_ns):
            self.iterations += 1

    def take_arrival(self) -> int | None:
        """Return the due time of the next arrival when it has come; None if there is no more.

        Arrivals are taken in the order of their due times, late ones at once. What is overdue at
        the end of the measured phase is still started during the drain: leaving it out would hide
        just the requests that had to wait longest.
        """
        index = self._next_arrival
        if self.closed or index >= len(self._due):
            return None
        self._next_arrival = index + 1
        due_ns: int = self.start_ns + self._due[index]
        self.clock.sleep_until(due_ns)
        if self.closed or due_ns >= self.end_ns:
            return None
        self._started_arrivals += 1
        return due_ns

    @property
    def dropped(self) -> int:
        """Arrivals that fell due before the trial's end and were never started."""
        if self.offsets is None:
            return 0
        fell_due = int(np.searchsorted(self.offsets, self.end_ns - self.start_ns))
        return fell_due - self._started_arrivals

    def phase_marks(self, over_ns: int) -> tuple[PhaseMark, ...]:
        """Return the phases as they were run, up to ``over_ns``, when the drain was over."""
        phases = self.load.phases
        marks: list[PhaseMark] = []
        begin_ns = self.start_ns
        for name, length_s in (
            ("ramp", phases.ramp_s),
            ("warm-up", phases.warmup_s),
            ("measured", phases.measured_s),
        ):
            end_ns = min(begin_ns + round(length_s * 1e9), self.end_ns)
            if name == "measured":
                end_ns = self.end_ns
            if end_ns > begin_ns:
                marks.append(
                    PhaseMark.model_validate({"name": name, "begin_ns": begin_ns, "end_ns": end_ns})
                )
                begin_ns = end_ns
        marks.append(PhaseMark(name="drain", begin_ns=begin_ns, end_ns=max(begin_ns, over_ns)))
        return tuple(marks)
