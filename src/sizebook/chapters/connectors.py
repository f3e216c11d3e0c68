"""App nodes that call a back end, which stores for them."""

from __future__ import annotations

from collections.abc import Mapping

from sizebook.lab import Placement
from sizebook.lab.roles import app_roles, of_part, share_heap
from sizebook.model.deployment import DatabaseRole, Deployment, JvmRole, RoleSpec
from sizebook.model.records import Scalar


def connector_stack(
    placement: Placement,
    *,
    nodes: int = 1,
    total_heap_mib: int = 0,
    backend_heap_mib: int = 512,
    settings: Mapping[str, Scalar] | None = None,
    backend_settings: Mapping[str, Scalar] | None = None,
    jvm: str = "",
) -> Deployment:
    """Return app nodes that call one back-end node, which stores into the database.

    The app ``nodes`` share ``total_heap_mib`` (0: the placement's); several stand behind a
    balancer. The back end is the same in every layout. ``settings`` are each app node's (threads,
    connector_pool), ``backend_settings`` the back end's (rpc_threads, pool, login_iterations).
    Raises UsageError if a node's share of the heap is too small to start with.
    """
    heap_mib = share_heap(total_heap_mib or placement.total_heap_mib, nodes)
    cpus = placement.stack
    roles: list[RoleSpec] = [
        DatabaseRole(cpus=cpus),
        JvmRole(
            role="backend",
            heap_mib=backend_heap_mib,
            cpus=cpus,
            jvm=jvm,
            settings=of_part("connectors", backend_settings),
        ),
        *app_roles("connectors", cpus, nodes, heap_mib, settings, jvm),
    ]
    return Deployment(roles=tuple(roles))
