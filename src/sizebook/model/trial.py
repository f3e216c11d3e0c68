"""A trial: one treatment, run once."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, Literal, Self

from pydantic import AfterValidator, Field, PlainSerializer, model_validator

from sizebook.model.deployment import CpuLimit, CpuSet, CpuWeight, Deployment, Positive
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
    throttled_share: Annotated[float, Field(ge=0)] = 0.01
    """Largest share of the measured phase for which a CPU limit may stop the processes."""
    expected_error: str = ""
    """Name of the error class that this treatment provokes on purpose, if any."""


class HostLimits(Record):
    """What a host may use of this machine from now on, as in ``HostSpec``.

    If one of the three for the CPU is there, all of them count; memory stays as it was without.
    """

    cpus: CpuSet = ()
    cpu_limit: CpuLimit | None = None
    cpu_weight: CpuWeight | None = None
    memory_mib: Positive | None = None


class Disturbance(Record):
    """Something done to a node, or beside the stack, while a load runs."""

    at_s: Annotated[float, Field(ge=-3600)]
    """Seconds after the begin of the measured phase; below 0: before it, in ramp or warm-up, at
    the earliest when the load begins."""
    action: Literal["kill", "restart", "hang", "drain", "renew", "spike", "page-out", "resize"]
    """``kill``: SIGKILL, and it stays away; ``restart``: SIGKILL, then the same node again, with
    its ports and data; ``hang``: SIGSTOP, and it goes on later: until then connections to it are
    accepted and nobody answers; ``drain``: the balancer sends it no new sessions, then nothing at
    all, then it is stopped in good order and stays away; ``renew``: the same, then it is started
    again; ``spike``: a process that has nothing to do with the stack computes on the
    node's CPUs; ``page-out``: the pages of its heap, which is in a file, are taken away again and
    again, as where memory is short; ``resize``: the host that it runs on, one of the
    deployment's own, gets other limits."""
    node: str
    """Its name, such as ``app-1``."""
    for_s: Annotated[float, Field(ge=0)] = 0.0
    """Length of a spike, of paging or of hanging in seconds; it ends with the load at the latest.
    Of a drain: how long its sessions may go on there."""
    cpu_share: Annotated[float, Field(gt=0, le=1)] = 1.0
    """Share of its time for which a spike wants each CPU."""

    limits: Annotated[HostLimits | None, Field(exclude_if=lambda limits: limits is None)] = None
    """What the host may use from then on, where it is resized."""

    @model_validator(mode="after")
    def _has_what_its_action_needs(self) -> Self:
        lasting = self.action in ("spike", "page-out", "hang")
        if lasting != (self.for_s > 0) and self.action not in ("drain", "renew"):
            raise ValueError("a spike, paging and hanging have a length, and a drain may have one")
        if (self.action == "resize") != (self.limits is not None):
            raise ValueError("a resized host gets limits, and nothing else does")
        return self


class Exhaustion(Record):
    """A node that the load may let run out of memory, and the heaps with which it comes back.

    Without it such an end makes the trial fail. Each time the node has ended, it is started again
    after a rest, with its ports and data and the next of the heaps.
    """

    action: Literal["exhaust"] = "exhaust"
    node: str
    """Its name, such as ``app-1``."""
    heaps_mib: tuple[Annotated[int, Field(gt=0, le=2**40)], ...] = ()
    """Heap of each further start in MiB, in order; when none is left, the node stays away."""
    rest_s: Annotated[float, Field(ge=0)] = 1.0
    """Seconds between an end and the start that follows."""


class Stored(Record):
    """The requests that leave rows in a table, and how many each of them leaves."""

    request: Annotated[str, Field(min_length=1)]
    """Their name."""
    also: Annotated[tuple[str, ...], Field(exclude_if=lambda names: not names)] = ()
    """Names of further requests that leave rows in the same table, as many each."""
    each: Annotated[int, Field(gt=0)] = 1
    """Rows that one of them leaves when it is acknowledged."""

    @property
    def requests(self) -> tuple[str, ...]:
        """The names of all of them."""
        return (self.request, *self.also)


def _freeze_stores(value: Mapping[str, str | Stored]) -> Mapping[str, str | Stored]:
    return MappingProxyType(dict(value))


def _dump_stores(value: Mapping[str, str | Stored]) -> dict[str, Any]:
    return {
        table: rows if isinstance(rows, str) else rows.model_dump() for table, rows in value.items()
    }


Stores = Annotated[
    Mapping[str, str | Stored],
    AfterValidator(_freeze_stores),
    PlainSerializer(_dump_stores, return_type=dict),
]
"""A read-only mapping from table to what fills it: the name alone where each leaves one row."""


Identity = tuple[str, Purpose, str, int]
"""Experiment, purpose, levels of the treatment, block."""


def levels_of(treatment: Mapping[str, Scalar]) -> str:
    """Return a treatment as words that tell 1, 1.0 and True apart."""
    return str(sorted(treatment.items()))


def treatment_words(treatment: Mapping[str, Scalar]) -> str:
    """Return a treatment for people: ``users 10, nodes 2``."""
    return ", ".join(f"{name} {level}" for name, level in treatment.items())


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
    replicate: Annotated[int, Field(ge=0, lt=100_000)]
    """Number of the block; each block has fresh JVMs."""
    deployment: Deployment
    load: LoadProfile
    beside: Annotated[tuple[str, ...], Field(exclude_if=lambda beside: not beside)] = ()
    """Levels of the treatments that are up beside it and take turns with it, as ``levels_of`` puts
    them; none, and not in the JSON: it is alone."""
    allowance: Allowance = Allowance()
    probe_interval_s: Annotated[float, Field(ge=0.1, le=60)] = 1.0
    """Seconds between readings; sources that are dear to read are read once a second at most."""
    disturbances: tuple[
        Annotated[Disturbance | Exhaustion, Field(discriminator="action")], ...
    ] = ()
    """What happens to the stack meanwhile: what has a time in order of time, and the nodes that may
    run out of memory."""
    stores: Stores = Field(default_factory=dict)
    """Table to the requests that fill it: each acknowledged one leaves one row there, or so many
    as it says."""
    stored_within_s: Annotated[float, Field(gt=0)] = 30.0
    """Longest wait, after the load, for rows that are stored later than they are acknowledged."""

    @property
    def identity(self) -> Identity:
        """Return what makes two trials of a chapter measurements of the same one."""
        return self.experiment, self.purpose, levels_of(self.treatment), self.replicate

    @model_validator(mode="after")
    def _names_each_exhaustible_node_once(self) -> Self:
        names = [one.node for one in self.disturbances if isinstance(one, Exhaustion)]
        if len(set(names)) < len(names):
            raise ValueError("two accounts of how the same node may run out of memory")
        return self

    @model_validator(mode="after")
    def _takes_turns_undisturbed(self) -> Self:
        if self.load.phases.turns is not None and self.disturbances:
            raise ValueError("nothing done on purpose to a stack whose load takes turns")
        return self

    @model_validator(mode="after")
    def _reaches_every_step(self) -> Self:
        arrivals, measured_s = self.load.arrivals, self.load.phases.measured_s
        if self.purpose != "measured":
            return self
        if arrivals.length_s > measured_s * (1 + 1e-9):
            raise ValueError(
                f"a measured phase of at least the {arrivals.length_s:g} s that its arrivals take, "
                f"not {measured_s:g} s"
            )
        return self

    def stored(self) -> dict[str, Stored]:
        """Return what fills each table that the load leaves rows in, in the tables' order."""
        return {
            table: Stored(request=rows) if isinstance(rows, str) else rows
            for table, rows in sorted(self.stores.items())
        }

    def planned(self) -> tuple[Disturbance, ...]:
        """Return what is done to the stack at given times, in order."""
        return tuple(one for one in self.disturbances if isinstance(one, Disturbance))

    def exhaustible(self) -> dict[str, Exhaustion]:
        """Return the nodes that may run out of memory, by name."""
        found = (one for one in self.disturbances if isinstance(one, Exhaustion))
        return {one.node: one for one in found}

    def level(self, factor: str) -> Scalar:
        """Return the level of a factor in this trial; KeyError if the design lacks the factor."""
        return self.treatment[factor]
