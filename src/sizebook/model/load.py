"""What the load generator is asked to do: arrivals, phases, locustfile."""

from __future__ import annotations

import math
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from sizebook.model.deployment import CpuSet, HostSpec
from sizebook.model.given_times import MOST_TIMES, first_disorder, rate_legs
from sizebook.model.intensity import Intensity, Leg, lay_out
from sizebook.model.phases import MOST_S, Phases, Seconds, Turns
from sizebook.model.records import Record, Scalars

__all__ = [
    "REQUEST_TIMEOUT_S",
    "RUSH",
    "Arrivals",
    "ClosedLoop",
    "LoadProfile",
    "OpenArrivals",
    "PacedGroup",
    "PacedUsers",
    "Phases",
    "RampArrivals",
    "Rate",
    "ReplayedArrivals",
    "Scheduled",
    "StaircaseArrivals",
    "Step",
    "Turns",
    "UserStage",
]

Rate = Annotated[float, Field(ge=0)]

REQUEST_TIMEOUT_S = 30.0
"""How long a request may take unless its load says otherwise."""


RUSH = 10.0
"""How many times less users pause in a rush."""


class UserStage(Record):
    """A length of time in which the number of users changes linearly, or stays."""

    length_s: Annotated[float, Field(gt=0, le=MOST_S)]
    begin_users: Annotated[float, Field(ge=0, le=1e6)]
    end_users: Annotated[float, Field(ge=0, le=1e6)]


class ClosedLoop(Record):
    """A number of users; each starts its next request when the last one is answered."""

    kind: Literal["closed"] = "closed"
    users: Annotated[int, Field(gt=0)]
    think_s: Seconds = 0.0
    """Pause of a user between two requests (its mean, exponential, when ``think_random``)."""
    think_random: bool = False
    rush_s: Annotated[Seconds, Field(exclude_if=lambda rush_s: not rush_s)] = 0.0
    """Seconds from the load's begin in which users pause ``RUSH`` times less: a peak, which is over
    before what is measured begins. Of loads that share a stack each then finds it as its own peak
    has left it, and less as the load before did."""
    stages: Annotated[tuple[UserStage, ...], Field(exclude_if=lambda stages: not stages)] = ()
    """How many of the users are there, from the begin of the measured phase on: one stage after
    the other, and then as many as the last one ends with. Before the phase there are as many as
    the first one begins with. Empty: all users throughout. A user who goes ends its pass before,
    and is the first to come back."""

    @model_validator(mode="after")
    def _has_a_user_for_each_place(self) -> Self:
        most = max((max(one.begin_users, one.end_users) for one in self.stages), default=0.0)
        if self.stages and not most >= 1:
            raise ValueError("a stage with at least one user")
        if most > self.users:
            raise ValueError(f"users for each place of its stages, {most:g}, not {self.users}")
        return self

    @property
    def length_s(self) -> float:
        """Seconds of the measured phase that the stages take."""
        return math.fsum(stage.length_s for stage in self.stages)

    @property
    def counts(self) -> tuple[float, float]:
        """Fewest and most users that are there at a time."""
        ends = [count for one in self.stages for count in (one.begin_users, one.end_users)]
        return (min(ends), max(ends)) if ends else (float(self.users), float(self.users))

    @property
    def varies(self) -> bool:
        """Whether the number of users changes within the measured phase."""
        fewest, most = self.counts
        return fewest < most


class PacedGroup(Record):
    """Users who each begin a pass of the scenario every so many seconds."""

    users: Annotated[int, Field(gt=0, le=1_000_000)]
    period_s: Annotated[float, Field(gt=0)]
    """Seconds from one due time of a user to its next: its pacing."""
    name: str = ""
    """What these users do, in the locustfile's words; several groups may do the same. Empty where
    the locustfile knows no groups."""

    @property
    def rate_per_s(self) -> float:
        """Passes a second that fall due for all users of the group together."""
        return self.users / self.period_s


class PacedUsers(Record):
    """Users who begin their passes a fixed period apart, as long as the server keeps up.

    Each user has due times of its own, fixed before the run. A pass that is overdue, because the
    user's last one took longer than its period, begins as soon as that one is done. So the load is
    offered at a known rate like an open one, but no user has two passes under way. In the ramp
    phase the users of each group join one after the other.

    Users are numbered group by group.
    """

    kind: Literal["paced"] = "paced"
    groups: Annotated[tuple[PacedGroup, ...], Field(min_length=1)]

    @property
    def users(self) -> int:
        """Users of all groups."""
        return sum(group.users for group in self.groups)

    @property
    def rate_per_s(self) -> float:
        """Passes a second that fall due for all users together."""
        return math.fsum(group.rate_per_s for group in self.groups)

    @property
    def length_s(self) -> float:
        """Seconds of the measured phase that the load needs: any length will do."""
        return 0.0

    def hastened(self, times: float) -> PacedUsers:
        """Return the same users with periods that are so many times shorter."""
        groups = tuple(
            group.model_copy(update={"period_s": group.period_s / times}) for group in self.groups
        )
        return PacedUsers(groups=groups)

    def place_of(self, user: int) -> tuple[PacedGroup, int]:
        """Return a user's group and its number within it; IndexError if there is no such user."""
        number = user
        for group in self.groups:
            if 0 <= number < group.users:
                return group, number
            number -= group.users
        raise IndexError(f"no user of number {user}")

    def intensity(self, phases: Phases) -> Intensity:
        """Return the passes a second that fall due over a trial with these phases."""
        rate = self.rate_per_s
        legs = ((phases.ramp_s, 0.0, rate), (phases.warmup_s + phases.loaded_s, rate, rate))
        return lay_out(legs, phases.planned_s)


class _Open(Record):
    """Requests start at times fixed before the run, whatever the server does.

    In the ramp phase the rate climbs linearly from 0 to the first rate, which then holds through
    the warm-up. The rates that a kind states count from the begin of the *measured* phase, so that
    results hold all of them and nothing else. The last rate holds until the end of the trial; what
    would come after that end is cut off (``length_s`` says how long a measured phase has to be).
    """

    users: Annotated[int, Field(gt=0)] = 100
    """Locust users that carry the arrivals: the most requests under way at a time."""

    def legs(self) -> tuple[Leg, ...]:
        """Return how the rate changes from the begin of the measured phase on; at least one leg."""
        raise NotImplementedError

    @property
    def length_s(self) -> float:
        """Seconds of the measured phase that the changes of the rate take."""
        return math.fsum(length_s for length_s, _, _ in self.legs())

    def intensity(self, phases: Phases) -> Intensity:
        """Return the arrivals per second over a trial with these phases."""
        legs = self.legs()
        first, last = legs[0][1], legs[-1][2]
        around = (
            (phases.ramp_s, 0.0, first),
            (phases.warmup_s, first, first),
            *legs,
            (max(0.0, phases.loaded_s - self.length_s), last, last),
        )
        return lay_out(around, phases.planned_s)


class OpenArrivals(_Open):
    """Open arrivals at one rate: evenly spaced, or a Poisson process."""

    kind: Literal["constant", "poisson"]
    rate_per_s: Annotated[float, Field(gt=0)]

    @property
    def poisson(self) -> bool:
        """Whether the arrivals are a Poisson process."""
        return self.kind == "poisson"

    def legs(self) -> tuple[Leg, ...]:
        return ((0.0, self.rate_per_s, self.rate_per_s),)


class Step(Record):
    """A length of time at one rate; at rate 0 nothing arrives."""

    rate_per_s: Rate
    length_s: Annotated[float, Field(gt=0)]


class StaircaseArrivals(_Open):
    """Open arrivals at one rate after the other."""

    kind: Literal["staircase"] = "staircase"
    steps: Annotated[tuple[Step, ...], Field(min_length=1)]
    poisson: bool = False
    """Whether the arrivals are a Poisson process; evenly spaced otherwise."""

    @model_validator(mode="after")
    def _arrives(self) -> Self:
        if not any(step.rate_per_s for step in self.steps):
            raise ValueError("a rate above 0 in at least one step")
        return self

    def legs(self) -> tuple[Leg, ...]:
        return tuple((step.length_s, step.rate_per_s, step.rate_per_s) for step in self.steps)


class RampArrivals(_Open):
    """Open arrivals whose rate changes linearly from one value to another."""

    kind: Literal["ramp"] = "ramp"
    begin_per_s: Rate
    end_per_s: Rate
    over_s: Annotated[float, Field(gt=0)]
    """Length of the change; the rate then stays what it is."""
    poisson: bool = False
    """Whether the arrivals are a Poisson process; evenly spaced otherwise."""

    @model_validator(mode="after")
    def _arrives(self) -> Self:
        if not self.begin_per_s and not self.end_per_s:
            raise ValueError("a rate above 0 at the begin or at the end")
        return self

    def legs(self) -> tuple[Leg, ...]:
        return ((self.over_s, self.begin_per_s, self.end_per_s),)


class ReplayedArrivals(_Open):
    """Open arrivals at given times, such as those of a recording.

    Ramp and warm-up have evenly spaced arrivals at the mean rate of these times; after the last one
    nothing arrives.
    """

    kind: Literal["replayed"] = "replayed"
    times_us: Annotated[
        tuple[Annotated[int, Field(ge=0)], ...], Field(min_length=1, max_length=MOST_TIMES)
    ]
    """Microseconds from the begin of the measured phase, ascending."""
    over_s: Annotated[float, Field(gt=0, le=MOST_S)]
    """Length of what is replayed."""
    first: Annotated[int, Field(ge=0)] = 0
    """Number of the first time in the recording: the locustfile sends what came then."""

    @property
    def poisson(self) -> bool:
        """Whether the arrivals are a Poisson process: they are what was recorded."""
        return False

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if expected := first_disorder(self.times_us, self.over_s):
            raise ValueError(expected)
        return self

    def legs(self) -> tuple[Leg, ...]:
        return rate_legs(self.times_us, self.over_s)

    def intensity(self, phases: Phases) -> Intensity:
        """Return the arrivals per second: their mean first, then as many as come in each piece."""
        mean, replayed_s = len(self.times_us) / self.over_s, min(self.over_s, phases.loaded_s)
        before = ((phases.ramp_s, 0.0, mean), (phases.warmup_s, mean, mean))
        after = (phases.loaded_s - replayed_s, 0.0, 0.0)
        legs = (*before, *rate_legs(self.times_us, replayed_s), after)
        return lay_out(legs, phases.planned_s)


Scheduled = OpenArrivals | StaircaseArrivals | RampArrivals | ReplayedArrivals
"""Open arrivals of every kind; their times come from ``intensity`` and ``poisson``, or are given.
"""

Arrivals = Annotated[
    ClosedLoop | PacedUsers | OpenArrivals | StaircaseArrivals | RampArrivals | ReplayedArrivals,
    Field(discriminator="kind"),
]


class LoadProfile(Record):
    """One load: a locustfile with its settings, the arrivals, the phases, the seed."""

    locustfile: str
    """File name in ``locustfiles/``."""
    arrivals: Arrivals
    phases: Phases
    settings: Scalars = Field(default_factory=dict)
    """Handed to the locustfile: representation, mode, sizes."""
    seed: int = 1
    cpus: CpuSet = ()
    """CPUs of the generator."""
    workers: Annotated[int, Field(gt=0, le=256)] = 1
    """Processes that share the users, and the arrivals, among them."""
    request_timeout_s: Annotated[
        float, Field(gt=0, le=3600, exclude_if=lambda within: within == REQUEST_TIMEOUT_S)
    ] = REQUEST_TIMEOUT_S
    """What a whole exchange may take; then it has failed, with error ``timeout``. The server goes
    on with it, so a load of long work needs more; a shorter drain cuts it off before."""
    hosts: Annotated[tuple[HostSpec, ...], Field(exclude_if=lambda hosts: not hosts)] = ()
    """Other machines to which the processes are dealt out in turn. Without any, and then the JSON
    does not mention them, all run on this machine."""

    @model_validator(mode="after")
    def _machines_of_their_own(self) -> Self:
        for host in self.hosts:
            if not host.is_elsewhere:
                raise ValueError(f"other machines for workers, not host {host.name} ({host.mode})")
        return self

    @model_validator(mode="after")
    def _the_same_in_each_turn(self) -> Self:
        if self.phases.turns is None:
            return self
        if isinstance(self.arrivals, StaircaseArrivals | RampArrivals | ReplayedArrivals):
            raise ValueError("one rate throughout, since each turn is compared with others'")
        if self.hosts:
            raise ValueError("a load from this machine: workers elsewhere cannot take turns yet")
        return self

    @model_validator(mode="after")
    def _a_rush_before_what_is_measured(self) -> Self:
        if not isinstance(self.arrivals, ClosedLoop) or not self.arrivals.rush_s:
            return self
        before_s = self.phases.ramp_s + self.phases.warmup_s
        if not self.arrivals.think_s:
            raise ValueError("a rush of users who think; these do not pause at all")
        if self.arrivals.rush_s > before_s:
            raise ValueError(
                f"a rush within ramp and warm-up, {before_s:g} s, not of {self.arrivals.rush_s:g} s"
            )
        return self

    @model_validator(mode="after")
    def _a_user_a_worker(self) -> Self:
        if self.workers > self.arrivals.users:
            raise ValueError(
                f"a user for each worker at least; {self.arrivals.users} users are fewer than "
                f"{self.workers} workers"
            )
        return self
