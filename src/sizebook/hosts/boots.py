"""What differs from mode to mode: how a host is made, limited and ended."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from sizebook.hosts.agents import Endpoint
from sizebook.hosts.base import HostUsage
from sizebook.hosts.cgroups import ControlGroup
from sizebook.hosts.guard import Guard
from sizebook.hosts.local import LocalHost
from sizebook.hosts.network import Network
from sizebook.model.deployment import CpuSet, HostSpec
from sizebook.model.errors import HostLacksError
from sizebook.model.modes import Mode

AGENT_PORT = 7070
"""Port of the agent at a host's own address."""


class Image(Protocol):
    """The application image, as far as a boot needs to know it."""

    @property
    def fingerprint(self) -> str:
        """SHA-256 over all that it holds."""

    @property
    def root(self) -> Path:
        """Folder with the files; nothing may write there."""

    @property
    def disk(self) -> Path:
        """Image of an ext4 disk with the same files; nothing may write there."""

    @property
    def python(self) -> Path:
        """The interpreter inside; started with ``-I -S``."""


@dataclass(frozen=True)
class Site:
    """What every boot is handed: for one host, made anew each time."""

    spec: HostSpec
    image: Image
    scratch: Path
    """Path at which the host has its writable disk: the session's folder on this machine."""
    folder: Path
    """Empty folder of this machine for the host's own files: disks, sockets, logs."""
    guard: Guard
    local: LocalHost
    """This machine: the outermost processes are started there, with ``group.command(...)``."""
    network: Network
    """The network of all hosts; the link of this one is made by its boot."""
    group: ControlGroup
    """Empty group for all processes of the host; removed after the boot was closed."""
    token: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)
    """The agent's secret, handed in as ``SIZEBOOK_TOKEN``."""


class Boot(Protocol):
    """A host of one mode, without what is the same in all modes (``GuestHost`` has that)."""

    mode: Mode
    own_clock: bool
    """Whether its kernel keeps a clock of its own, set by the machine's to the second."""

    def start(self) -> Endpoint:
        """Make the host and start it with its limits, without waiting for it.

        Whatever is made is registered with the guard first. Raises HostLacksError if this machine
        lacks something for it, TrialError if it cannot be made now.
        """

    def why_ended(self) -> str | None:
        """Return why the host has ended, with its last words; None while it runs."""

    def pieces_s(self) -> Mapping[str, float]:
        """Return pieces of the time from start to the agent's first answer, such as ``kernel``."""

    def usage(self) -> HostUsage:
        """Return what all of the host has cost this machine since it was started."""

    def set_limits(self, cpu_limit: float | None, cpu_weight: int | None, cpus: CpuSet) -> None:
        """Limit all of the host from now on."""

    def set_memory(self, memory_mib: int) -> None:
        """Give it so much memory from now on. Raises HostLacksError if the mode cannot."""

    def close(self) -> None:
        """End the host in any state, within seconds, and remove all that was made for it."""


class GroupedBoot:
    """What boots share: the control group around everything that the host is."""

    own_clock = False

    def __init__(self, site: Site) -> None:
        self.site = site

    def usage(self) -> HostUsage:
        """See ``Boot``."""
        return self.site.group.usage()

    def set_limits(self, cpu_limit: float | None, cpu_weight: int | None, cpus: CpuSet) -> None:
        """See ``Boot``; CPUs that the mode cannot use are left out."""
        self.site.group.limit_cpu(cpu_limit, cpu_weight, self.usable_cpus(cpus))

    def usable_cpus(self, cpus: CpuSet) -> CpuSet:
        """Return those of the CPUs that a host of this mode is to run on."""
        return cpus

    def set_memory(self, memory_mib: int) -> None:
        """See ``Boot``; a kernel of its own has the memory with which it was started."""
        raise HostLacksError(
            found=f"{memory_mib} MiB for host {self.site.spec.name} while it runs",
            expected=f"the {self.site.spec.memory_mib} MiB with which it was started",
            next_step="give the host another memory_mib in the deployment",
        )

    def limit_as_specified(self) -> None:
        """Set the CPU limits of the specification; to be called before anything is started."""
        spec = self.site.spec
        self.set_limits(spec.cpu_limit, spec.cpu_weight, spec.cpus)
