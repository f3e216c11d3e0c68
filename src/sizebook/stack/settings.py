"""From a role's settings, in the book's words, to the properties of the reference stack."""

from __future__ import annotations

from collections.abc import Mapping

from sizebook.model.deployment import JvmRole
from sizebook.model.errors import UsageError

PROPERTIES = {
    "threads": "server.tomcat.threads.max",
    "connections": "server.tomcat.max-connections",
    "accept_queue": "server.tomcat.accept-count",
    "pool": "spring.datasource.hikari.maximum-pool-size",
    "remote_pool": "refstack.remote.max-connections",
    "cache": "refstack.backend.cache",
    "fault_flights": "refstack.fault.flights",
    "fault_delay": "refstack.fault.delay",
}
"""Setting to Spring property. Absent settings keep the stack's defaults (stack/README.md)."""


def node_properties(
    role: JvmRole, targets: Mapping[str, str], port: int, management_port: int
) -> dict[str, str]:
    """Return the properties of one node; raises UsageError for a setting that does not exist."""
    unknown = set(role.settings) - set(PROPERTIES)
    if unknown:
        raise UsageError(
            found=f"setting {sorted(unknown)[0]!r} of role {role.role}",
            expected=f"one of {', '.join(sorted(PROPERTIES))}",
            next_step="correct the deployment in the notebook or on the command line",
        )
    properties = {
        "refstack.role": role.role,
        "server.address": "127.0.0.1",
        "server.port": str(port),
        "management.server.address": "127.0.0.1",
        "management.server.port": str(management_port),
    }
    if role.role == "app" and "backend" in targets:
        properties["refstack.backend.url"] = targets["backend"]
    for name, value in role.settings.items():
        text = str(value).lower() if isinstance(value, bool) else str(value)
        properties[PROPERTIES[name]] = text
    return properties
