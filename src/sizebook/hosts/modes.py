"""Virtualization modes: how a host of each is made."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from sizebook.hosts.boots import Boot, Site
from sizebook.hosts.container import ContainerBoot
from sizebook.hosts.uml import UserModeLinuxBoot
from sizebook.model.deployment import Mode


def boots(state: Path) -> Mapping[Mode, Callable[[Site], Boot]]:
    """Return what makes hosts of each mode but ``bare``."""
    return {
        "container": ContainerBoot,
        "paravirtual-kernel": lambda site: UserModeLinuxBoot(site, state),
    }
