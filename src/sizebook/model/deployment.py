"""Which roles run where: nodes, heaps, CPU sets, pools, data."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from sizebook.model.records import Record, Scalars

CpuSet = tuple[int, ...]
"""Numbers of the logical CPUs that a process may use; empty means any."""

Positive = Annotated[int, Field(gt=0, le=2**40)]


class JvmRole(Record):
    """One or more equal JVM nodes that play one role of the reference stack."""

    kind: Literal["jvm"] = "jvm"
    role: Literal["app", "backend", "nullserver"]
    host: str = "local"
    nodes: Annotated[int, Field(gt=0, le=1000)] = 1
    heap_mib: Positive = 256
    """Heap of each node in MiB: initial and maximum size alike."""
    cpus: CpuSet = ()
    jvm: str = ""
    """Feature version of the JVM to use (``"17"``, ``"25"``); empty: the first that is found."""
    flags: tuple[str, ...] = ()
    """Further JVM flags, such as the collector."""
    settings: Scalars = Field(default_factory=dict)
    """The role's own configuration: threads, connections, pools (names: stack/README.md)."""

    @property
    def total_heap_mib(self) -> int:
        """Heap of all nodes together, in MiB."""
        return self.nodes * self.heap_mib


class DatabaseRole(Record):
    """A private PostgreSQL cluster with generated data."""

    kind: Literal["database"] = "database"
    role: Literal["database"] = "database"
    host: str = "local"
    cpus: CpuSet = ()
    flights: Positive = 400
    data_seed: int = 1
    settings: Scalars = Field(default_factory=dict)
    """PostgreSQL settings that differ from the project's, by their PostgreSQL names."""


RoleSpec = Annotated[JvmRole | DatabaseRole, Field(discriminator="kind")]


class Deployment(Record):
    """The roles of one stack, in the order in which they start."""

    roles: tuple[RoleSpec, ...]

    def jvm_roles(self) -> tuple[JvmRole, ...]:
        """Return the roles that are JVM nodes, in start order."""
        return tuple(role for role in self.roles if isinstance(role, JvmRole))

    def database(self) -> DatabaseRole | None:
        """Return the database role, or None where the stack has none."""
        return next((role for role in self.roles if isinstance(role, DatabaseRole)), None)

    def find(self, role: str) -> JvmRole | DatabaseRole | None:
        """Return the specification of the named role, or None."""
        return next((spec for spec in self.roles if spec.role == role), None)
