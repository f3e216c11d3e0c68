"""Deployments that chapters share: the app with its database, its back end near or far."""

from __future__ import annotations

from collections.abc import Mapping

from sizebook.lab.placement import Placement
from sizebook.model.deployment import DatabaseRole, Deployment, JvmRole, RoleSpec
from sizebook.model.errors import UsageError
from sizebook.model.records import Scalar

TOPOLOGIES = ("local", "remote")


def app_stack(
    placement: Placement,
    *,
    topology: str = "local",
    heap_mib: int = 512,
    settings: Mapping[str, Scalar] | None = None,
    jvm: str = "",
    flights: int = 400,
    data_seed: int = 1,
) -> Deployment:
    """Return database and app node; ``remote`` puts the back end into a process of its own.

    ``settings`` are the app's: threads, connections, pool (see ``stack.settings``). Raises
    UsageError for a topology that does not exist.
    """
    if topology not in TOPOLOGIES:
        raise UsageError(
            found=f"topology {topology!r}",
            expected=f"one of {', '.join(TOPOLOGIES)}",
            next_step="choose one of them",
        )
    cpus = placement.stack
    roles: list[RoleSpec] = [DatabaseRole(cpus=cpus, flights=flights, data_seed=data_seed)]
    if topology == "remote":
        roles.append(JvmRole(role="backend", heap_mib=heap_mib, cpus=cpus, jvm=jvm))
    app = JvmRole(role="app", heap_mib=heap_mib, cpus=cpus, jvm=jvm, settings=dict(settings or {}))
    return Deployment(roles=(*roles, app))


def null_server(placement: Placement, *, body_bytes: int = 1024) -> Deployment:
    """Return a server that does nothing but answer: what the generator is measured against."""
    role = JvmRole(
        role="nullserver",
        heap_mib=64,
        cpus=placement.stack,
        settings={"body-bytes": body_bytes},
    )
    return Deployment(roles=(role,))
