"""Deployments that chapters share: the app with its database, its back end near or far."""

from __future__ import annotations

from collections.abc import Mapping

from sizebook.lab.placement import Placement
from sizebook.lab.roles import app_roles, broker_role, of_part, share_heap
from sizebook.model.deployment import (
    DatabaseRole,
    Deployment,
    JvmRole,
    RoleSpec,
)
from sizebook.model.errors import UsageError
from sizebook.model.records import Scalar

TOPOLOGIES = ("local", "remote")
BROKERS = ("embedded", "process")
SESSIONS = ("memory", "database")
LEDGER_ROWS = 259_480
"""Rows of the table that the report on virtual machines counted."""
_SPARE_CONNECTIONS = 50
"""More than users, or than pools, need."""
_LEAST_CONNECTIONS = 200
"""Of any database of the book."""


def app_stack(
    placement: Placement,
    *,
    topology: str = "local",
    nodes: int = 1,
    heap_mib: int = 512,
    settings: Mapping[str, Scalar] | None = None,
    jvm: str = "",
    flights: int = 400,
    data_seed: int = 1,
) -> Deployment:
    """Return database and app nodes; ``remote`` puts the back end into a process of its own.

    Several ``nodes`` of ``heap_mib`` each stand behind a balancer.

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
    roles += app_roles("", cpus, nodes, heap_mib, settings, jvm)
    return Deployment(roles=tuple(roles))


def events_stack(
    placement: Placement,
    *,
    nodes: int = 1,
    total_heap_mib: int = 0,
    broker: str = "embedded",
    broker_heap_mib: int = 512,
    settings: Mapping[str, Scalar] | None = None,
    broker_settings: Mapping[str, Scalar] | None = None,
    jvm: str = "",
) -> Deployment:
    """Return app nodes that queue events on disk and store them, see ``messaging_stack``.

    ``settings`` are each node's (threads, pool, event_workers, senders).
    """
    return _queue_stack(
        "events", placement, nodes, total_heap_mib, broker, broker_heap_mib, settings,
        broker_settings, jvm,
    )  # fmt: skip


def messaging_stack(
    placement: Placement,
    *,
    nodes: int = 1,
    total_heap_mib: int = 0,
    broker: str = "embedded",
    broker_heap_mib: int = 512,
    settings: Mapping[str, Scalar] | None = None,
    broker_settings: Mapping[str, Scalar] | None = None,
    jvm: str = "",
) -> Deployment:
    """Return app nodes that drain a durable queue into the database.

    The ``nodes`` share ``total_heap_mib`` (0: the placement's); several stand behind a balancer.
    ``broker``: ``embedded`` gives each node a queue of its own, inside it; ``process`` one queue to
    all, in a process with ``broker_heap_mib`` that is the same in every layout. ``settings`` are
    each node's (threads, pool, consumers, broker_...), ``broker_settings`` those of the broker's
    process (its own names: stack/README.md). Raises UsageError for another kind of broker and for
    too small a share of the heap.
    """
    return _queue_stack(
        "messaging", placement, nodes, total_heap_mib, broker, broker_heap_mib, settings,
        broker_settings, jvm,
    )  # fmt: skip


def _queue_stack(
    part: str,
    placement: Placement,
    nodes: int,
    total_heap_mib: int,
    broker: str,
    broker_heap_mib: int,
    settings: Mapping[str, Scalar] | None,
    broker_settings: Mapping[str, Scalar] | None,
    jvm: str,
) -> Deployment:
    if broker not in BROKERS:
        raise UsageError(
            found=f"broker {broker!r}",
            expected=f"one of {', '.join(BROKERS)}",
            next_step="choose one of them",
        )
    if broker == "embedded" and broker_settings:
        raise UsageError(
            found="settings of a broker process, and a broker in each node",
            expected="broker_... among the settings of the nodes, or broker='process'",
            next_step="correct the deployment in the notebook",
        )
    cpus = placement.stack
    heap_mib = share_heap(total_heap_mib or placement.total_heap_mib, nodes)
    roles: list[RoleSpec] = [DatabaseRole(cpus=cpus)]
    if broker == "process":
        roles.append(broker_role(cpus, broker_heap_mib, broker_settings, jvm))
    roles += app_roles(part, cpus, nodes, heap_mib, settings, jvm)
    return Deployment(roles=tuple(roles))


def plain_stack(
    parts: str,
    placement: Placement,
    *,
    nodes: int = 1,
    total_heap_mib: int = 0,
    settings: Mapping[str, Scalar] | None = None,
    jvm: str = "",
    sticky: bool = False,
) -> Deployment:
    """Return app nodes with these ``parts`` of the stack, by commas, and their database.

    The ``nodes`` share ``total_heap_mib`` (0: the placement's); several stand behind a balancer,
    which keeps sessions on their node where it is ``sticky``. Raises UsageError if a node's share
    of the heap is too small to start with.
    """
    heap_mib = share_heap(total_heap_mib or placement.total_heap_mib, nodes)
    apps = app_roles(parts, placement.stack, nodes, heap_mib, settings, jvm, sticky=sticky)
    return Deployment(roles=(DatabaseRole(cpus=placement.stack), *apps))


def xml_stack(
    placement: Placement,
    *,
    nodes: int = 1,
    total_heap_mib: int = 0,
    settings: Mapping[str, Scalar] | None = None,
    jvm: str = "",
) -> Deployment:
    """Return app nodes that transform XML documents and store a row of each.

    The ``nodes`` share ``total_heap_mib`` (0: the placement's); several stand behind a balancer.
    ``settings`` are each node's (threads, pool, xml_max_body). Raises UsageError if a node's share
    of the heap is too small to start with.
    """
    return plain_stack(
        "xml", placement, nodes=nodes, total_heap_mib=total_heap_mib, settings=settings, jvm=jvm
    )


def binding_stack(
    placement: Placement,
    *,
    apart: bool = True,
    broker: bool = True,
    heap_mib: int = 512,
    broker_heap_mib: int = 512,
    settings: Mapping[str, Scalar] | None = None,
    backend_settings: Mapping[str, Scalar] | None = None,
    broker_settings: Mapping[str, Scalar] | None = None,
    jvm: str = "",
    flags: tuple[str, ...] = (),
) -> Deployment:
    """Return an app node with the sender, and a back-end node with the receiver if ``apart``.

    Without one the sender's node is the receiver too, and calls itself over its own ports. Without
    a ``broker`` there is no binding over a queue of it. ``settings`` are the sender's
    (queue_threads, jms_senders, binding_connections), ``backend_settings`` the receiver's
    (threads, binding_rpc_threads, jms_consumers), ``broker_settings`` the broker's own (its names:
    stack/README.md); ``flags`` are of the sender's JVM.
    """
    cpus = placement.stack
    roles: list[RoleSpec] = [DatabaseRole(cpus=cpus)]
    if broker:
        roles.append(broker_role(cpus, broker_heap_mib, broker_settings, jvm))
    if apart:
        own = of_part("bindings", backend_settings)
        roles.append(JvmRole(role="backend", heap_mib=heap_mib, cpus=cpus, jvm=jvm, settings=own))
    roles += app_roles("bindings", cpus, 1, heap_mib, settings, jvm, flags=flags)
    return Deployment(roles=tuple(roles))


def work_stack(
    placement: Placement,
    *,
    heap_mib: int = 512,
    ledger_rows: int = LEDGER_ROWS,
    settings: Mapping[str, Scalar] | None = None,
    database_settings: Mapping[str, Scalar] | None = None,
    jvm: str = "",
) -> Deployment:
    """Return an app node that works on a ledger, and the database that holds it.

    The database scans in one process, so that a host with more CPUs is not another plan.
    ``settings`` are the node's (threads, pool, work_fetch_rows, work_chunk_accounts),
    ``database_settings`` PostgreSQL's, by its own names.
    """
    cpus = placement.stack
    own: dict[str, Scalar] = {"max_parallel_workers_per_gather": 0, **(database_settings or {})}
    database = DatabaseRole(cpus=cpus, ledger_rows=ledger_rows, settings=own)
    app = JvmRole(
        role="app",
        heap_mib=heap_mib,
        cpus=cpus,
        jvm=jvm,
        settings=of_part("work", settings),
    )
    return Deployment(roles=(database, app))


def business_stack(
    placement: Placement,
    *,
    users: int,
    nodes: int = 1,
    heap_mib: int = 512,
    sessions: str = "memory",
    threads: int = 50,
    pool: int = 20,
    settings: Mapping[str, Scalar] | None = None,
    database_settings: Mapping[str, Scalar] | None = None,
    jvm: str = "",
    flags: tuple[str, ...] = (),
) -> Deployment:
    """Return app nodes of a trading business, with data made for so many users.

    Several ``nodes`` of ``heap_mib`` each stand behind a balancer that keeps sessions on their
    node. ``sessions``: ``memory`` keeps each in the node that made it, ``database`` where every
    node finds it. A node has ``threads`` and a ``pool`` of database connections, and takes a
    connection of each user. Further ``settings`` are each node's (sessions_in_memory,
    session_bytes, business_workers, keep_alive_timeout), ``database_settings`` PostgreSQL's, by its
    own names. Raises UsageError for another kind of sessions.
    """
    if sessions not in SESSIONS:
        raise UsageError(
            found=f"sessions {sessions!r}",
            expected=f"one of {', '.join(SESSIONS)}",
            next_step="choose one of them",
        )
    cpus = placement.stack
    own: dict[str, Scalar] = {
        "sessions": sessions,
        "threads": threads,
        "pool": pool,
        "connections": users + _SPARE_CONNECTIONS,
        **(settings or {}),
    }
    room: dict[str, Scalar] = {
        "max_connections": max(_LEAST_CONNECTIONS, nodes * int(own["pool"]) + _SPARE_CONNECTIONS),
        **(database_settings or {}),
    }
    database = DatabaseRole(cpus=cpus, business_users=users, settings=room)
    apps = app_roles("business", cpus, nodes, heap_mib, own, jvm, sticky=True, flags=flags)
    return Deployment(roles=(database, *apps))


def null_server(placement: Placement, *, body_bytes: int = 1024) -> Deployment:
    """Return a server that does nothing but answer: what the generator is measured against."""
    role = JvmRole(
        role="nullserver",
        heap_mib=64,
        cpus=placement.stack,
        settings={"body-bytes": body_bytes},
    )
    return Deployment(roles=(role,))
