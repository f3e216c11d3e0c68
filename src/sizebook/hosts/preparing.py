"""What virtualization modes need beside installed packages, brought into the state folder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sizebook.hosts.kernels import fetch_kernel, find_kernel
from sizebook.hosts.qemu import find_qemu
from sizebook.hosts.runsc import build_runsc, find_runsc
from sizebook.model.errors import HostLacksError


@dataclass(frozen=True)
class SetupStep:
    """One thing that was brought, or could not be."""

    outcome: str
    was_done: bool


def prepare_hosts(state: Path, *, with_gvisor: bool) -> Iterator[SetupStep]:
    """Bring what is missing, and yield a step for each thing that was; none for what is there.

    Nothing is raised for what this machine cannot bring: it is a step that says why.
    """
    try:
        find_qemu()
        try:
            find_kernel(state)
        except HostLacksError:
            yield SetupStep(
                f"kernel {fetch_kernel(state).version} unpacked for virtual machines", True
            )
    except HostLacksError as error:
        yield SetupStep(f"no virtual machines: {error}", False)
    if not with_gvisor:
        return
    try:
        try:
            find_runsc(state)
        except HostLacksError:
            yield SetupStep(f"gVisor {build_runsc(state).version} built", True)
    except HostLacksError as error:
        yield SetupStep(f"no user-space kernel: {error}", False)
