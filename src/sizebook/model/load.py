"""What the load generator is asked to do: arrivals, phases, locustfile."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from sizebook.model.deployment import CpuSet
from sizebook.model.records import Record, Scalars

Seconds = Annotated[float, Field(ge=0)]


class Phases(Record):
    """Lengths of a trial's phases in seconds. Samples of the measured phase alone make results.

    A request belongs to the phase in which it was *intended* to start. ``drain_s`` is the longest
    wait for what is under way, or overdue, when the measured phase ends; nothing becomes due in it.
    """

    ramp_s: Seconds = 0.0
    warmup_s: Seconds
    measured_s: Annotated[float, Field(gt=0)]
    drain_s: Seconds = 10.0

    @property
    def planned_s(self) -> float:
        """Seconds from the first request to the end of the measured phase."""
        return self.ramp_s + self.warmup_s + self.measured_s


class ClosedLoop(Record):
    """A fixed number of users; each starts its next request when the last one is answered."""

    kind: Literal["closed"] = "closed"
    users: Annotated[int, Field(gt=0)]
    think_s: Seconds = 0.0
    """Pause of a user between two requests (its mean, exponential, when ``think_random``)."""
    think_random: bool = False


class OpenArrivals(Record):
    """Requests start at times fixed before the run, whatever the server does."""

    kind: Literal["constant", "poisson"]
    rate_per_s: Annotated[float, Field(gt=0)]
    users: Annotated[int, Field(gt=0)] = 100
    """Locust users that carry the arrivals: the most requests under way at a time."""


Arrivals = Annotated[ClosedLoop | OpenArrivals, Field(discriminator="kind")]


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
    workers: Annotated[int, Field(gt=0)] = 1
