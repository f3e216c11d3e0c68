"""A trial: one treatment, run once."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from sizebook.model.deployment import Deployment
from sizebook.model.load import LoadProfile
from sizebook.model.records import Record, Scalar, Scalars

ProfileName = Literal["smoke", "quick", "full"]
Purpose = Literal["measured", "conditioning"]


class Allowance(Record):
    """What a design tolerates; the checks judge against it."""

    failed_share: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Largest share of requests that may fail."""
    generator_cpu_share: Annotated[float, Field(gt=0, le=1)] = 0.9
    """Largest share of its CPUs that the load generator may use."""
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
    probe_interval_s: Annotated[float, Field(gt=0)] = 1.0

    def level(self, factor: str) -> Scalar:
        """Return the level of a factor in this trial; KeyError if the design lacks the factor."""
        return self.treatment[factor]
