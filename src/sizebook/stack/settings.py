"""From a role's settings, in the book's words, to the properties of the reference stack."""

from __future__ import annotations

from collections.abc import Mapping

from sizebook.model.deployment import JvmRole
from sizebook.model.errors import UsageError

PROPERTIES = {
    "parts": "refstack.parts",
    "threads": "server.tomcat.threads.max",
    "threads_spare": "server.tomcat.threads.min-spare",
    "virtual_threads": "spring.threads.virtual.enabled",
    "connections": "server.tomcat.max-connections",
    "accept_queue": "server.tomcat.accept-count",
    "keep_alive_requests": "server.tomcat.max-keep-alive-requests",
    "keep_alive_timeout": "server.tomcat.keep-alive-timeout",
    "pool": "spring.datasource.hikari.maximum-pool-size",
    "remote_pool": "refstack.remote.max-connections",
    "rpc_threads": "refstack.rpc.threads",
    "connector_pool": "refstack.connector.pool",
    "connector_wait": "refstack.connector.acquire-timeout",
    "connector_timeout": "refstack.connector.call-timeout",
    "login_iterations": "refstack.connector.iterations",
    "consumers": "refstack.messaging.consumers",
    "event_workers": "refstack.events.workers",
    "senders": "refstack.broker.senders",
    "consumer_window": "refstack.broker.consumer-window",
    "broker_large_bytes": "refstack.broker.embedded.large-bytes",
    "broker_queue_max_bytes": "refstack.broker.embedded.queue-max-bytes",
    "broker_global_max_bytes": "refstack.broker.embedded.global-max-bytes",
    "broker_full_policy": "refstack.broker.embedded.full-policy",
    "broker_journal_type": "refstack.broker.embedded.journal-type",
    "cache": "refstack.backend.cache",
    "xml_max_body": "refstack.xml.max-body",
    "xml_max_depth": "refstack.xml.max-depth",
    "payload_max": "refstack.bindings.max-payload",
    "binding_timeout": "refstack.bindings.timeout",
    "queue_threads": "refstack.bindings.queue-threads",
    "queue_capacity": "refstack.bindings.queue-capacity",
    "binding_rpc_threads": "refstack.bindings.rpc-threads",
    "binding_rpc_capacity": "refstack.bindings.rpc-capacity",
    "binding_rpc_growth": "refstack.bindings.rpc-growth",
    "binding_rpc_idle": "refstack.bindings.rpc-idle",
    "binding_shared_threads": "refstack.bindings.shared-threads",
    "binding_shared_capacity": "refstack.bindings.shared-capacity",
    "binding_virtual": "refstack.bindings.virtual",
    "binding_connections": "refstack.bindings.connections",
    "jms_senders": "refstack.bindings.jms-senders",
    "jms_consumers": "refstack.bindings.jms-consumers",
    "jms_window": "refstack.bindings.jms-window",
    "jms_threads": "refstack.bindings.jms-threads",
    "jms_persistent": "refstack.bindings.jms-persistent",
    "pages": "refstack.pages.count",
    "page_rows": "refstack.pages.rows",
    "page_chart": "refstack.pages.chart",
    "session_timeout": "refstack.pages.session-timeout",
    "max_sessions": "refstack.pages.max-sessions",
    "disk_max_job": "refstack.disk.max-job",
    "disk_spare": "refstack.disk.spare",
    "fio": "refstack.disk.fio",
    "work_fetch_rows": "refstack.work.fetch-rows",
    "work_chunk_accounts": "refstack.work.chunk-accounts",
    "work_max_programs": "refstack.work.max-programs",
    "sessions": "refstack.business.sessions",
    "sessions_in_memory": "refstack.business.sessions-in-memory",
    "session_bytes": "refstack.business.session-size",
    "business_session_timeout": "refstack.business.session-timeout",
    "business_workers": "refstack.business.workers",
    "fault_flights": "refstack.fault.flights",
    "fault_delay": "refstack.fault.delay",
}
"""Setting to Spring property. Absent settings keep the stack's defaults (stack/README.md)."""


def node_properties(
    role: JvmRole,
    targets: Mapping[str, str],
    addresses: Mapping[str, str],
    address: str,
    port: int,
    management_port: int,
) -> dict[str, str]:
    """Return the properties of one node; raises UsageError for a setting that does not exist.

    ``targets`` and ``addresses`` are the URLs, and the remote procedures' addresses, of the roles
    that the node may need.
    """
    unknown = set(role.settings) - set(PROPERTIES)
    if unknown:
        raise UsageError(
            found=f"setting {sorted(unknown)[0]!r} of role {role.role}",
            expected=f"one of {', '.join(sorted(PROPERTIES))}",
            next_step="correct the deployment in the notebook or on the command line",
        )
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
