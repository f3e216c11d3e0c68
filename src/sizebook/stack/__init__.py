"""Floor 2: a deployment of the reference stack on hosts: build, start, wait, stop, clean up."""

from sizebook.stack.build import StackBuild, ensure_built, find_build, has_stack, stack_fingerprint
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
