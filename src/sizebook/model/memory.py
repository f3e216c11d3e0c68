"""How much of this machine's memory a deployment takes: an estimate, before it is started."""

from __future__ import annotations

from sizebook.model.deployment import LOCAL, Deployment, ServerRole

NATIVE_MIB = 220
"""What a node takes beside its heap (code, metaspace, threads), measured on the reference stack."""
DATABASE_MIB = 400


def needed_mib(deployment: Deployment) -> int:
    """Return what a deployment takes when it is full, in MiB.

    What runs on a host of the deployment's own has that host's memory; nothing counts that runs
    elsewhere.
    """
    hosts = sum(host.memory_mib for host in deployment.hosts if not host.is_elsewhere)
    jvms = sum(
        role.heap_mib + NATIVE_MIB
        for role in deployment.jvm_roles()
        for number in range(1, role.nodes + 1)
        if role.host_of(number) == LOCAL
    )
    database = deployment.database()
    own = DATABASE_MIB if database is not None and database.host == LOCAL else 0
    servers = sum(
        role.memory_mib
        for role in deployment.own_roles()
        if isinstance(role, ServerRole) and role.host == LOCAL
    )
    return hosts + jvms + own + servers
