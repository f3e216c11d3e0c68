"""The modes that hosts can have, each as its own module tells it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path

from sizebook.hosts.bare import BARE
from sizebook.hosts.boots import Boot, Site
from sizebook.hosts.container import CONTAINER
from sizebook.hosts.gvisor import USER_SPACE_KERNEL
from sizebook.hosts.mode_kind import ModeKind
from sizebook.hosts.namespace import NAMESPACE
from sizebook.hosts.qemu import VIRTUAL_MACHINES
from sizebook.hosts.ssh import SSH
from sizebook.hosts.uml import PARAVIRTUAL_KERNEL
from sizebook.model.modes import Mode

KINDS: tuple[ModeKind, ...] = (
    BARE,
    NAMESPACE,
    CONTAINER,
    USER_SPACE_KERNEL,
    PARAVIRTUAL_KERNEL,
    *VIRTUAL_MACHINES,
    SSH,
)
"""All modes, the ones nearest to this machine first, and other machines last."""
KINDS_HERE = tuple(kind for kind in KINDS if not kind.is_elsewhere)
"""Modes whose hosts are made on this machine, which may lack something for them."""
KIND_OF: Mapping[Mode, ModeKind] = {kind.mode: kind for kind in KINDS}


def boots(kinds: Iterable[ModeKind], state: Path) -> dict[Mode, Callable[[Site], Boot]]:
    """Return by mode what makes its hosts, as ``opened_hosts`` wants it.

    ``state`` is the project's state folder, into which set-up has brought what some of them need.
    """
    return {kind.mode: partial(_make, kind.boot, state) for kind in kinds if kind.boot is not None}


def _make(boot: Callable[[Site, Path], Boot], state: Path, site: Site) -> Boot:
    return boot(site, state)
