"""A node that works on its disk."""

from __future__ import annotations

from collections.abc import Mapping

from sizebook.lab import Placement
from sizebook.lab.roles import of_part
from sizebook.model.deployment import Deployment, JvmRole
from sizebook.model.records import Scalar


def disk_stack(
    placement: Placement,
    *,
    heap_mib: int = 256,
    settings: Mapping[str, Scalar] | None = None,
    jvm: str = "",
) -> Deployment:
    """Return one app node that works on the disk of its host, and nothing else: no database.

    ``settings`` are the node's (disk_max_job, disk_spare, fio).
    """
    role = JvmRole(
        role="app",
        heap_mib=heap_mib,
        cpus=placement.stack,
        jvm=jvm,
        settings=of_part("disk", settings),
    )
    return Deployment(roles=(role,))
