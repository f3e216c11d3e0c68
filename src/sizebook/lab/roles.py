"""The roles of which deployments are made: app nodes, balancer, broker, and each one's heap."""

from __future__ import annotations

from collections.abc import Mapping

from sizebook.model.deployment import BalancerRole, CpuSet, JvmRole, RoleSpec
from sizebook.model.errors import UsageError
from sizebook.model.records import Scalar

LEAST_HEAP_MIB = 64


def broker_role(
    cpus: CpuSet, heap_mib: int, settings: Mapping[str, Scalar] | None, jvm: str
) -> JvmRole:
    """Return a broker in a process of its own."""
    return JvmRole(
        role="broker", heap_mib=heap_mib, cpus=cpus, jvm=jvm, settings=dict(settings or {})
    )


def app_roles(
    parts: str,
    cpus: CpuSet,
    nodes: int,
    heap_mib: int,
    settings: Mapping[str, Scalar] | None,
    jvm: str,
    *,
    sticky: bool = False,
    flags: tuple[str, ...] = (),
) -> list[RoleSpec]:
    """Return the app role with these parts (empty: the stack's default), a balancer if several."""
    own = of_part(parts, settings)
    roles: list[RoleSpec] = [
        JvmRole(
            role="app",
            nodes=nodes,
            heap_mib=heap_mib,
            cpus=cpus,
            jvm=jvm,
            flags=flags,
            settings=own,
        )
    ]
    return [*roles, BalancerRole(cpus=cpus, sticky=sticky)] if nodes > 1 else roles


def of_part(parts: str, settings: Mapping[str, Scalar] | None) -> dict[str, Scalar]:
    """Return settings of a node that has these parts (empty: the stack's default)."""
    return ({"parts": parts} if parts else {}) | dict(settings or {})


def share_heap(total_mib: int, nodes: int) -> int:
    """Return each node's share in MiB; raises UsageError if it is too small to start with."""
    heap_mib = total_mib // nodes
    if heap_mib < LEAST_HEAP_MIB:
        raise UsageError(
            found=f"{heap_mib} MiB of heap for each of {nodes} nodes",
            expected=f"{LEAST_HEAP_MIB} MiB or more",
            next_step="choose fewer nodes or a larger total",
        )
    return heap_mib
