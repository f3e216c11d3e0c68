"""Floor 2: a deployment of the reference stack on hosts: build, start, wait, stop, clean up.

Names are loaded when first used: what runs a stack brings drivers, which its fingerprint does not
need.
"""

from typing import TYPE_CHECKING

from sizebook.model.later import later

if TYPE_CHECKING:
    from sizebook.stack.build import (
        StackBuild,
        ensure_built,
        find_build,
        has_stack,
        stack_fingerprint,
    )
    from sizebook.stack.nodes import Node
    from sizebook.stack.running import RunningStack, StackRunner

__all__ = [
    "Node",
    "RunningStack",
    "StackBuild",
    "StackRunner",
    "ensure_built",
    "find_build",
    "has_stack",
    "stack_fingerprint",
]

__getattr__ = later(
    __name__,
    {
        "Node": "nodes",
        "RunningStack": "running",
        "StackBuild": "build",
        "StackRunner": "running",
        "ensure_built": "build",
        "find_build": "build",
        "has_stack": "build",
        "stack_fingerprint": "build",
    },
)
