"""From a role's settings, in the book's words, to the properties of the reference stack."""

from __future__ import annotations

from collections.abc import Mapping

from sizebook.model.deployment import JvmRole
from sizebook.model.errors import UsageError
from sizebook.stack.allowed import Allowed

_GIB = 1 << 30
_LONG = (1 << 63) - 1

_count, _size, _span = Allowed.count, Allowed.size, Allowed.span
_text, _truth, _one_of = Allowed.text, Allowed.truth, Allowed.one_of

NODE: Mapping[str, tuple[str, Allowed]] = {
    "parts": ("refstack.parts", _text()),
    "threads": ("server.tomcat.threads.max", _count()),
    "threads_spare": ("server.tomcat.threads.min-spare", _count(0)),
    "virtual_threads": ("spring.threads.virtual.enabled", _truth()),
    "connections": ("server.tomcat.max-connections", _count()),
    "accept_queue": ("server.tomcat.accept-count", _count(0)),
    "keep_alive_requests": ("server.tomcat.max-keep-alive-requests", _count(-1)),
    "keep_alive_timeout": ("server.tomcat.keep-alive-timeout", _span(-1)),
    "pool": ("spring.datasource.hikari.maximum-pool-size", _count()),
    "remote_pool": ("refstack.remote.max-connections", _count()),
    "rpc_threads": ("refstack.rpc.threads", _count()),
    "connector_pool": ("refstack.connector.pool", _count()),
    "connector_wait": ("refstack.connector.acquire-timeout", _span()),
    "connector_timeout": ("refstack.connector.call-timeout", _span()),
    "login_iterations": ("refstack.connector.iterations", _count()),
    "consumers": ("refstack.messaging.consumers", _count(0, 1000)),
    "event_workers": ("refstack.events.workers", _count(0, 1000)),
    "senders": ("refstack.broker.senders", _count()),
    "consumer_window": ("refstack.broker.consumer-window", _size()),
    "broker_large_bytes": ("refstack.broker.embedded.large-bytes", _count(1 << 10, 1 << 28)),
    "broker_queue_max_bytes": ("refstack.broker.embedded.queue-max-bytes", _count(-1, _LONG)),
    "broker_global_max_bytes": ("refstack.broker.embedded.global-max-bytes", _count(-1, _LONG)),
    "broker_full_policy": (
        "refstack.broker.embedded.full-policy",
        _one_of("fail", "page", "block"),
    ),
    "broker_journal_type": ("refstack.broker.embedded.journal-type", _one_of("nio", "asyncio")),
    "cache": ("refstack.backend.cache", _truth()),
    "xml_max_body": ("refstack.xml.max-body", _size(1, _GIB)),
    "xml_max_depth": ("refstack.xml.max-depth", _count()),
    "payload_max": ("refstack.bindings.max-payload", _size(1, _GIB)),
    "binding_timeout": ("refstack.bindings.timeout", _span()),
    "queue_threads": ("refstack.bindings.queue-threads", _count(0)),
    "queue_capacity": ("refstack.bindings.queue-capacity", _count()),
    "binding_rpc_threads": ("refstack.bindings.rpc-threads", _count()),
    "binding_rpc_capacity": ("refstack.bindings.rpc-capacity", _count()),
    "binding_rpc_growth": ("refstack.bindings.rpc-growth", _truth()),
    "binding_rpc_idle": ("refstack.bindings.rpc-idle", _span()),
    "binding_shared_threads": ("refstack.bindings.shared-threads", _count(0)),
    "binding_shared_capacity": ("refstack.bindings.shared-capacity", _count()),
    "binding_virtual": ("refstack.bindings.virtual", _truth()),
    "binding_connections": ("refstack.bindings.connections", _count()),
    "jms_senders": ("refstack.bindings.jms-senders", _count()),
    "jms_consumers": ("refstack.bindings.jms-consumers", _count()),
    "jms_window": ("refstack.bindings.jms-window", _size(1, _GIB)),
    "jms_threads": ("refstack.bindings.jms-threads", _count(0)),
    "jms_persistent": ("refstack.bindings.jms-persistent", _truth()),
    "pages": ("refstack.pages.count", _count()),
    "page_rows": ("refstack.pages.rows", _count()),
    "page_chart": ("refstack.pages.chart", _size(32, 1 << 24)),
    "session_timeout": ("refstack.pages.session-timeout", _span(1000)),
    "max_sessions": ("refstack.pages.max-sessions", _count()),
    "disk_max_job": ("refstack.disk.max-job", _size(1)),
    "disk_spare": ("refstack.disk.spare", _size()),
    "fio": ("refstack.disk.fio", _text()),
    "work_fetch_rows": ("refstack.work.fetch-rows", _count()),
    "work_chunk_accounts": ("refstack.work.chunk-accounts", _count()),
    "work_max_programs": ("refstack.work.max-programs", _count()),
    "sessions": ("refstack.business.sessions", _one_of("memory", "database")),
    "sessions_in_memory": ("refstack.business.sessions-in-memory", _count(0)),
    "session_bytes": ("refstack.business.session-size", _size(0, 1 << 24)),
    "business_session_timeout": ("refstack.business.session-timeout", _span(1000)),
    "business_workers": ("refstack.business.workers", _count(0)),
    "fault_flights": ("refstack.fault.flights", _count(0)),
    "fault_delay": ("refstack.fault.delay", _span(1)),
}
"""Setting of a node to its Spring property and what it may be, as the stack itself checks it."""
PROPERTIES = {name: name_there for name, (name_there, _) in NODE.items()}
"""Setting to Spring property. Absent settings keep the stack's defaults (stack/README.md)."""
_EMBEDDED = "refstack.broker.embedded."
_BROKER: Mapping[str, Allowed] = {
    **{
        there.removeprefix(_EMBEDDED): allowed
        for there, allowed in NODE.values()
        if there.startswith(_EMBEDDED)
    },
    "queues": _text(),
    "journal-file-bytes": _count(1 << 16, 1 << 30),
    "redelivery-delay-ms": _count(0, 3_600_000),
    "max-deliveries": _count(-1, 1_000_000),
}
_NULLSERVER: Mapping[str, Allowed] = {
    "body-bytes": _count(0),
    "delay-law": _text(),
    "delay-seed": _text(),
    "freeze-at-s": _text(),
    "freeze-for-s": _text(),
}
_OF_ROLE: Mapping[str, Mapping[str, Allowed]] = {"broker": _BROKER, "nullserver": _NULLSERVER}
"""Roles with names of their own."""


def check_settings(role: JvmRole) -> None:
    """Raise UsageError for a setting of a role that there is not, or that it cannot start with."""
    known = _OF_ROLE.get(role.role) or {name: allowed for name, (_, allowed) in NODE.items()}
    for name, value in role.settings.items():
        if name not in known:
            raise UsageError(
                found=f"setting {name!r} of role {role.role}",
                expected=f"one of {', '.join(sorted(known))}",
                next_step="correct the deployment in the notebook or on the command line",
            )
        if not known[name].holds(value):
            raise UsageError(
                found=f"setting {name}={value!r} of role {role.role}",
                expected=known[name].words,
                next_step="correct the parameter, or the deployment in the notebook",
            )


def node_properties(
    role: JvmRole,
    targets: Mapping[str, str],
    addresses: Mapping[str, str],
    address: str,
    port: int,
    management_port: int,
) -> dict[str, str]:
    """Return the properties of one node; raises UsageError as ``check_settings``.

    ``targets`` and ``addresses`` are the URLs, and the remote procedures' addresses, of the roles
    that the node may need.
    """
    check_settings(role)
    properties = {
        "refstack.role": role.role,
        "server.address": address,
        "server.port": str(port),
        "management.server.address": address,
        "management.server.port": str(management_port),
    }
    if role.role == "app" and "backend" in targets:
        properties["refstack.backend.url"] = targets["backend"]
        properties["refstack.backend.rpc"] = addresses["backend"]
    if "broker" in targets:
        properties["refstack.broker.url"] = targets["broker"]
    for name, value in role.settings.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        properties[PROPERTIES[name]] = text
    return properties
