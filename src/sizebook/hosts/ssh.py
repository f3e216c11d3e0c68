"""Another machine as a host: its processes there, in the application image.

One ssh connection carries all: the keeper comes through it and runs as long as it lasts, the image
follows unless it is there, and the agent's socket there is forwarded to one here.
"""

from __future__ import annotations

import contextlib
import secrets
import socket
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sizebook.hosts import keepers
from sizebook.hosts.agents import Endpoint, send_tree
from sizebook.hosts.base import HostUsage
from sizebook.hosts.boots import Image
from sizebook.hosts.guard import Guard
from sizebook.hosts.guest import GuestHost
from sizebook.hosts.inside import AGENT
from sizebook.hosts.keepers import KeeperConnection
from sizebook.hosts.local import LocalHost
from sizebook.hosts.mode_kind import ModeKind
from sizebook.model.deployment import CpuSet, HostSpec
from sizebook.model.errors import HostLacksError, TrialError
from sizebook.model.inventory import SshHost
from sizebook.model.modes import ELSEWHERE, Mode


@dataclass(frozen=True)
class SshSite:
    """What the boot of another machine is handed: for one host, made anew each time."""

    spec: HostSpec
    place: SshHost
    image: Image
    scratch: Path
    """Path at which the host has its writable disk: the session's folder on this machine."""
    guard: Guard
    local: LocalHost
    name: str = field(default_factory=lambda: f"sb-{secrets.token_hex(4)}")
    """What the host's folder and control group there are called."""
    token: str = field(default_factory=lambda: secrets.token_hex(16), repr=False)


class SshBoot:
    """Makes a host of another machine: its processes there, in the application image."""

    mode: Mode = ELSEWHERE
    own_clock = False

    def __init__(self, site: SshSite) -> None:
        self.site = site
        self._connection: KeeperConnection | None = None
        self._pieces_s: dict[str, float] = {}

    def start(self) -> Endpoint:
        site, spec = self.site, self.site.spec
        begin = time.monotonic()
        address = resolve(site.place.address)
        connection = KeeperConnection(site.place, spec.name, site.local, site.guard)
        self._connection = connection
        connection.tell(
            {
                "do": "open",
                "folder": site.place.folder,
                "name": f"{site.name}-{spec.name}",
                "image": site.image.fingerprint[:16],
                "token": site.token,
                "python": str(site.image.python),
                "agent": str(AGENT),
                "scratch": str(site.scratch),
                "cpus": list(spec.cpus),
                "address": address,
                "silence_s": keepers.SILENCE_S,
            }
        )
        wanted = connection.hear(keepers.ANSWER_S)["bring"]
        self._pieces_s["connect"] = round(time.monotonic() - begin, 3)
        if wanted:
            with contextlib.suppress(BrokenPipeError):  # the next line says why
                send_tree(connection.stream, site.image.root, Path(wanted))
                connection.tell({"end": True})
            self._pieces_s["image"] = round(time.monotonic() - begin, 3)
        opened = connection.hear(keepers.ANSWER_S)
        connection.keep_alive()
        limited = spec.cpu_limit is not None or spec.cpu_weight is not None
        if limited or (spec.cpus and not opened["no_groups"]):
            self.set_limits(spec.cpu_limit, spec.cpu_weight, spec.cpus)
        if not spec.whole:
            self.set_memory(spec.memory_mib)
        return Endpoint(address, 0, site.token, connection.forward(opened["line"]))

    def why_ended(self) -> str | None:
        return self._connection.why_ended() if self._connection else "it was closed"

    def pieces_s(self) -> Mapping[str, float]:
        return self._pieces_s

    def usage(self) -> HostUsage:
        return HostUsage(**self._there.ask("usage"))

    def set_limits(self, cpu_limit: float | None, cpu_weight: int | None, cpus: CpuSet) -> None:
        self._there.ask("limit_cpu", limit=cpu_limit, weight=cpu_weight, cpus=list(cpus))

    def set_memory(self, memory_mib: int) -> None:
        self._there.ask("limit_memory", mib=memory_mib)

    def lead_back(self, port: int) -> int:
        """See ``Machine``."""
        return self._there.forward_back(port)

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    @property
    def _there(self) -> KeeperConnection:
        if self._connection is None:
            raise TrialError(
                found=f"host {self.site.spec.name}, which was closed",
                expected="a host that is open",
                next_step="this is a bug worth reporting",
            )
        return self._connection


class Machine(GuestHost):
    """A host that is another machine."""

    def __init__(self, name: str, boot: SshBoot, ready_within_s: float = 60.0) -> None:
        super().__init__(name, boot, ready_within_s)
        self._there = boot

    def lead_back(self, port: int) -> int:
        """Return a port of the loopback address there that leads to one of this machine's.

        It does as long as the host is open. Raises HostLacksError where the ssh server forwards no
        ports.
        """
        return self._there.lead_back(port)


def look_at(
    place: SshHost, name: str, local: LocalHost, guard: Guard, image: str = ""
) -> dict[str, Any]:
    """Return what another machine tells of itself, changing nothing there.

    Keys as of ``inside.senses.facts``, and ``python``, ``free_bytes``, ``image`` (whether the one
    of this fingerprint is there), ``spaces``, ``groups``, ``address`` (why there are none, or no
    server can listen there; empty if all is well). Raises TrialError or HostLacksError if it cannot
    be reached.
    """
    connection = KeeperConnection(place, name, local, guard)
    try:
        connection.tell(
            {
                "do": "look",
                "folder": place.folder,
                "image": image[:16],
                "address": resolve(place.address),
            }
        )
        found: dict[str, Any] = connection.hear(keepers.ANSWER_S)["ok"]
    finally:
        connection.close()
    return found


def own_address(towards: SshHost) -> str:
    """Return the address of this machine at which another one reaches it."""
    there = resolve(towards.address)
    family = socket.AF_INET6 if ":" in there else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((there, 9))  # which sends nothing
        return str(probe.getsockname()[0])


def resolve(address: str) -> str:
    """Return the numbers of an address or name. Raises HostLacksError."""
    try:
        found = socket.getaddrinfo(address, 0, type=socket.SOCK_STREAM)
    except OSError as error:
        raise HostLacksError(
            found=f"no machine of that address ({error.strerror or error})",
            expected="an address, or a name that this machine can resolve",
            next_step="correct the host's address in the inventory",
        ) from error
    return str(found[0][4][0])


SSH = ModeKind(
    SshBoot.mode,
    "another machine (ssh)",
    lambda _: keepers.find_ssh(),
    start_s=5.0,
    programs=(keepers.PROGRAM,),
    virtualization=False,
    own_network=False,
)
