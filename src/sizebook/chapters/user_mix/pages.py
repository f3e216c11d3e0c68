"""Nodes that serve pages to users, and documents in the background."""

from __future__ import annotations

from collections.abc import Mapping

from sizebook.lab import Placement
from sizebook.lab.deployments import plain_stack
from sizebook.model.deployment import Deployment
from sizebook.model.records import Scalar


def pages_stack(
    placement: Placement,
    *,
    nodes: int = 1,
    total_heap_mib: int = 0,
    settings: Mapping[str, Scalar] | None = None,
    jvm: str = "",
) -> Deployment:
    """Return app nodes with pages of interactive users, and documents in the background.

    As ``plain_stack``; a cookie keeps each session on its node. ``settings`` are each node's
    (threads, pool, pages, page_rows, session_timeout).
    """
    return plain_stack(
        "pages,xml",
        placement,
        nodes=nodes,
        total_heap_mib=total_heap_mib,
        settings=settings,
        jvm=jvm,
        sticky=True,
    )
