"""Which roles run where: nodes, heaps, CPU sets, pools, data."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, ValidationError

from sizebook.model.errors import UsageError
from sizebook.model.records import Record, Scalars

CpuSet = tuple[int, ...]
"""Numbers of the logical CPUs that a process may use; empty means any."""

Positive = Annotated[int, Field(gt=0, le=2**40)]


class JvmRole(Record):
    """One or more equal JVM nodes that play one role of the reference stack."""

    kind: Literal["jvm"] = "jvm"
    role: Literal["app", "backend", "broker", "nullserver"]
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
    ledger_rows: Annotated[int, Field(ge=0, le=10_000_000, exclude_if=lambda rows: not rows)] = 0
    """Items of the ledger that part ``work`` needs; 0: the database has none, and the JSON does not
    mention them, so that trials from before there were ledgers are the same trials."""
    data_seed: int = 1
    settings: Scalars = Field(default_factory=dict)
    """PostgreSQL settings that differ from the project's, by their PostgreSQL names."""


class BalancerRole(Record):
    """HAProxy in front of the app nodes: clients of role ``app`` are sent to it."""

    kind: Literal["balancer"] = "balancer"
    role: Literal["balancer"] = "balancer"
    host: str = "local"
    cpus: CpuSet = ()
    algorithm: Literal["leastconn", "roundrobin"] = "leastconn"
    sticky: bool = False
    """Whether a cookie keeps a session on its node."""


RoleSpec = Annotated[JvmRole | DatabaseRole | BalancerRole, Field(discriminator="kind")]


class Deployment(Record):
    """The roles of one stack, in the order in which they start."""

    roles: tuple[RoleSpec, ...]

    def jvm_roles(self) -> tuple[JvmRole, ...]:
        """Return the roles that are JVM nodes, in start order."""
        return tuple(role for role in self.roles if isinstance(role, JvmRole))

    def database(self) -> DatabaseRole | None:
        """Return the database role, or None where the stack has none."""
        return next((role for role in self.roles if isinstance(role, DatabaseRole)), None)

    def balancer(self) -> BalancerRole | None:
        """Return the balancer, or None where clients go to the one app node."""
        return next((role for role in self.roles if isinstance(role, BalancerRole)), None)

    def find(self, role: str) -> JvmRole | DatabaseRole | BalancerRole | None:
        """Return the specification of the named role, or None."""
        return next((spec for spec in self.roles if spec.role == role), None)

    def changed(self, role: str, **fields: Any) -> Deployment:
        """Return this deployment with some fields of a role changed, and checked.

        So a treatment chooses what no factory has a parameter for, such as the collector::

            messaging_stack(here).changed("app", flags=("-XX:+UseZGC",), jvm="25")

        Raises UsageError if there is no such role, or it has no such field or value.
        """
        found = self.find(role)
        if found is None:
            raise UsageError(
                found=f"role {role!r}",
                expected=f"one of {', '.join(spec.role for spec in self.roles)}",
                next_step="correct the deployment in the notebook",
            )
        try:
            new = type(found).model_validate(found.model_dump() | fields)
        except ValidationError as error:
            first = error.errors()[0]
            raise UsageError(
                found=f"{'.'.join(map(str, first['loc']))} of role {role}: {first['msg']}",
                expected=f"fields of {type(found).__name__}",
                next_step="correct the deployment in the notebook",
            ) from error
        return Deployment(roles=tuple(new if spec is found else spec for spec in self.roles))
