"""Virtualization modes in a design: the same deployment, put onto a host of each mode."""

from __future__ import annotations

from typing import Any

from sizebook.lab.placement import Placement
from sizebook.model.deployment import BalancerRole, Deployment, HostSpec, Mode

BOX = "box"
"""Name of the host that a deployment is put onto."""


def in_mode(
    deployment: Deployment, mode: Mode, here: Placement, *, memory_mib: int = 2048, **limits: Any
) -> Deployment:
    """Return a deployment with all of its roles on one host of a mode, on the CPUs of the stack.

    ``bare`` leaves it as it is, on this machine, unless ``limits`` are given. A balancer stays on
    this machine. ``limits`` are further fields of ``HostSpec``, such as ``cpu_limit`` or
    ``disk_mib``.
    """
    if mode == "bare" and not limits:
        return deployment
    box = HostSpec(name=BOX, mode=mode, cpus=here.stack, memory_mib=memory_mib, **limits)
    moved = [role.role for role in deployment.roles if not isinstance(role, BalancerRole)]
    return deployment.on(box, **dict.fromkeys(moved, BOX))
