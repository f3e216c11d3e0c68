"""The hosts' own network on this machine: a bridge with a private address, a link for each host.

All hosts and the load generator reach each other there; nothing of it leads anywhere else, so no
packet is forwarded or translated. Everything is undone, by the guard if need be.
"""

from __future__ import annotations

import ipaddress
import itertools
import json
import secrets
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sizebook.hosts.guard import Guard
from sizebook.model.errors import HostLacksError

_POOL = ipaddress.ip_network("10.77.0.0/16")
"""Cut into networks of 256 addresses; one that no route of this machine touches is taken."""
_NAMESPACES = Path("/run/netns")
INNER = "eth0"
"""Name of a host's interface in its own name space."""


@dataclass(frozen=True)
class Link:
    """One host's end of the network."""

    address: str
    prefix: int
    """Length of the network's prefix in bits."""
    hardware_address: str
    interface: str
    """On this machine: a tap for a guest, the outer end of a pair for a name space."""
    namespace: Path | None = None
    """Name space in which ``eth0`` is the other end; None for a tap."""


class Network:
    """One bridge, and the links that were made at it."""

    def __init__(self, guard: Guard) -> None:
        """Make the bridge. Raises HostLacksError, with the system's words, if it cannot be made."""
        self._guard = guard
        self._tag = secrets.token_hex(2)
        self._bridge = f"sb-{self._tag}"
        self._numbers = itertools.count(2)
        self._undo: list[tuple[int, tuple[str, ...]]] = []
        self._net = next(free_networks(_taken()), None) or _no_network()
        try:
            self._make(
                ("link", "add", self._bridge, "type", "bridge", "forward_delay", "0"),
                ("link", "del", self._bridge),
            )
            own = f"{self._net[1]}/{self._net.prefixlen}"
            _ip("addr", "add", own, "dev", self._bridge)
            _ip("link", "set", self._bridge, "up")
        except BaseException:
            self.close()
            raise

    def add_namespace(self, host: str) -> Link:
        """Return a link into a name space of the network that is made for this host."""
        number, interface = self._next()
        space = f"sb-{self._tag}-{host}"
        self._make(("netns", "add", space), ("netns", "del", space))
        self._make(
            ("link", "add", interface, "type", "veth", "peer", "name", INNER, "netns", space),
            ("link", "del", interface),
        )
        link = self._link(number, interface, _NAMESPACES / space)
        _ip("-n", space, "link", "set", INNER, "address", link.hardware_address)
        _ip("-n", space, "addr", "add", f"{link.address}/{link.prefix}", "dev", INNER)
        for each in ("lo", INNER):
            _ip("-n", space, "link", "set", each, "up")
        self._attach(interface)
        return link

    def add_tap(self) -> Link:
        """Return a link whose other end is a guest's network card."""
        number, interface = self._next()
        self._make(("tuntap", "add", "dev", interface, "mode", "tap"), ("link", "del", interface))
        self._attach(interface)
        return self._link(number, interface, None)

    def close(self) -> None:
        """Remove all of it, newest first; what is gone already is no error."""
        while self._undo:
            number, words = self._undo.pop()
            _try_ip(*words)
            self._guard.keep(number)

    def _next(self) -> tuple[int, str]:
        number = next(self._numbers)
        return number, f"{self._bridge}-{number}"

    def _link(self, number: int, interface: str, namespace: Path | None) -> Link:
        tail = bytes.fromhex(self._tag) + bytes([number])
        hardware = ":".join(f"{byte:02x}" for byte in b"\x02\x5b\x00" + tail)
        return Link(str(self._net[number]), self._net.prefixlen, hardware, interface, namespace)

    def _attach(self, interface: str) -> None:
        _ip("link", "set", interface, "master", self._bridge)
        _ip("link", "set", interface, "up")

    def _make(self, make: tuple[str, ...], undo: tuple[str, ...]) -> None:
        self._undo.append((self._guard.promise([_program(), *undo]), undo))
        _ip(*make)


def free_networks(taken: Iterable[str]) -> Iterator[ipaddress.IPv4Network]:
    """Yield the pool's networks that overlap none of the taken ones, such as ``10.0.0.0/8``."""
    used = [ipaddress.ip_network(each, strict=False) for each in taken]
    for net in _POOL.subnets(new_prefix=24):
        if isinstance(net, ipaddress.IPv4Network) and not any(net.overlaps(one) for one in used):
            yield net


def _taken() -> list[str]:
    """Return the networks to which this machine has a route, the default one left out."""
    routes = json.loads(_ip("-j", "-4", "route", "show", "table", "all") or "[]")
    return [each["dst"] for each in routes if each["dst"] != "default"]


def _no_network() -> ipaddress.IPv4Network:
    raise HostLacksError(
        found=f"routes of this machine that cover all of {_POOL}",
        expected="a network of 256 addresses in it for the hosts",
        next_step="remove a route that is not needed",
    )


def _program() -> str:
    found = shutil.which("ip")
    if found is None:
        raise HostLacksError(
            found="no ip on the path",
            expected="iproute2, for networks between hosts",
            next_step="run 'make setup', or install it (Debian: apt-get install iproute2)",
        )
    return found


def _ip(*words: str) -> str:
    done = _try_ip(*words)
    if done.returncode != 0:
        raise HostLacksError(
            found=f"ip {' '.join(words)}: {done.stderr.strip() or done.returncode}",
            expected="a system that lets this user make interfaces and name spaces",
            next_step="run as root (in a container: with CAP_NET_ADMIN and CAP_SYS_ADMIN)",
        )
    return done.stdout


def _try_ip(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([_program(), *words], capture_output=True, text=True, check=False)
