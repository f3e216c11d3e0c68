"""A trial: one treatment, run once."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from sizebook.model.deployment import Deployment
from sizebook.model.load import ClosedLoop, LoadProfile
from sizebook.model.records import Record, Scalar, Scalars

ProfileName = Literal["smoke", "quick", "full"]
Purpose = Literal["measured", "conditioning"]


class Allowance(Record):
    """What a design tolerates; the checks judge against it."""

    failed_share: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Largest share of requests that may fail."""
    generator_cpu_share: Annotated[float, Field(gt=0, le=1)] = 0.9
    """Largest share of its CPUs that the load generator may use."""
    throttled_share: Annotated[float, Field(ge=0)] = 0.01
    """Largest share of the measured phase for which a CPU limit may stop the processes."""
    expected_error: str = ""
    """Name of the error class that this treatment provokes on purpose, if any."""


class TrialSpec(Record):
    """Everything that was decided before the trial ran. Equal specifications are replicates'
    sisters only if they differ in ``replicate``; otherwise they are the same trial."""

    chapter: str
    experiment: str
    """Name of the design within the chapter, such as ``formats`` or ``ladder``."""
    profile: ProfileName
    purpose: Purpose = "measured"
    """``conditioning``: the load that follows a fresh start; reported only as first contact."""
    treatment: Scalars
    """Factor name to level."""
    replicate: Annotated[int, Field(ge=0)]
    """Number of the block; each block has fresh JVMs."""
    deployment: Deployment
    load: LoadProfile
    allowance: Allowance = Allowance()
    probe_interval_s: Annotated[float, Field(ge=0.1, le=60)] = 1.0
    """Seconds between readings; sources that are dear to read are read once a second at most."""

    @model_validator(mode="after")
    def _reaches_every_step(self) -> Self:
        arrivals, measured_s = self.load.arrivals, self.load.phases.measured_s
        if isinstance(arrivals, ClosedLoop) or self.purpose != "measured":
            return self
        if arrivals.length_s > measured_s * (1 + 1e-9):
            raise ValueError(
                f"a measured phase of at least the {arrivals.length_s:g} s that its arrivals take, "
                f"not {measured_s:g} s"
            )
        return self

    def level(self, factor: str) -> Scalar:
        """Return the level of a factor in this trial; KeyError if the design lacks the factor."""
        return self.treatment[factor]
