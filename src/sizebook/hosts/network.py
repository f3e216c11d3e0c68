"""The hosts' own network on this machine: a bridge with a private address, links beside it.

All hosts and the load generator reach each other there, each at one address. Where two of them have
a link of their own, or a router between them, a route to the other's address alone leads over it,
so that nobody need know. Nothing of the network leads anywhere else, and no packet is translated.
Everything is undone, by the guard if need be.
"""

from __future__ import annotations

import ipaddress
import itertools
import json
import secrets
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from sizebook.hosts.guard import Guard
from sizebook.hosts.interfaces import InterfaceTable
from sizebook.hosts.iproute import find_ip, ip, try_ip
from sizebook.hosts.spaces import run_in
from sizebook.hosts.wires import Interface
from sizebook.model.deployment import LOCAL
from sizebook.model.errors import HostLacksError
from sizebook.model.network import LinkSpec, NetworkSpec, Wire

_POOL = ipaddress.ip_network("10.77.0.0/16")
"""Cut into networks of 256 addresses; one that no route of this machine touches is taken."""
_NAMESPACES = Path("/run/netns")
INNER = "eth0"
"""Name of a host's interface in its own name space."""
SHARED = "shared"
"""What the link to the bridge leads to."""
_ROUTER = "ROUTER"
"""Name of the router among the hosts, which are written small."""
_SYSTEM = Path("/proc/sys/net/ipv4")
"""Settings of the name space that a thread is in."""


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
    """One bridge, and the links that were made at it and beside it."""

    def __init__(self, guard: Guard, spec: NetworkSpec | None = None) -> None:
        """Make the bridge. Raises HostLacksError, with the system's words, if it cannot be made."""
        self._guard = guard
        self._shared: Wire | None = spec
        """Of each host's link to the bridge; None: as the kernel makes it."""
        self._links_to_make = () if spec is None else spec.links
        self._router_mbit_per_s = None if spec is None else spec.router_mbit_per_s
        self._offloads = spec is None or spec.offloads
        self._tag = secrets.token_hex(2)
        self._bridge = f"sb-{self._tag}"
        self._numbers = itertools.count(2)
        self._undo: list[tuple[int, tuple[str, ...]]] = []
        self._tables: list[InterfaceTable] = []
        self._hosts: dict[str, Link] = {}
        self._ends: dict[str, dict[str, Interface]] = {}
        self._net, self._claim = claim_network(_taken)
        try:
            self._make(
                ("link", "add", self._bridge, "type", "bridge", "forward_delay", "0"),
                ("link", "del", self._bridge),
            )
            own = f"{self._net[1]}/{self._net.prefixlen}"
            ip("addr", "add", own, "dev", self._bridge)
            ip("link", "set", self._bridge, "up")
        except BaseException:
            self.close()
            raise

    @property
    def address(self) -> str:
        """Address of this machine in the network."""
        return str(self._net[1])

    def add_namespace(self, host: str) -> Link:
        """Return a link into a name space of the network that is made for this host."""
        link = self._add_namespace(host, self._shared)
        self._hosts[host] = link
        self._add_end(host, SHARED, Interface(INNER, link.namespace))
        return link

    def _add_namespace(self, host: str, wire: Wire | None) -> Link:
        number, interface = self._next()
        space = f"sb-{self._tag}-{host}"
        self._make(("netns", "add", space), ("netns", "del", space))
        self._make(
            ("link", "add", interface, "type", "veth", "peer", "name", INNER, "netns", space),
            ("link", "del", interface),
        )
        link = self._link(number, interface, _NAMESPACES / space)
        ip("-n", space, "link", "set", INNER, "address", link.hardware_address)
        ip("-n", space, "addr", "add", f"{link.address}/{link.prefix}", "dev", INNER)
        if wire is not None:
            for end in (Interface(interface), Interface(INNER, link.namespace)):
                end.set_up(wire, offloads=self._offloads)
        for each in ("lo", INNER):
            ip("-n", space, "link", "set", each, "up")
        self._attach(interface)
        return link

    def add_tap(self) -> Link:
        """Return a link whose other end is a guest's network card."""
        number, interface = self._next()
        self._make(("tuntap", "add", "dev", interface, "mode", "tap"), ("link", "del", interface))
        self._attach(interface)
        return self._link(number, interface, None)

    def connect(self) -> None:
        """Make the links beside the bridge, and the router, when all hosts have their name spaces.

        Raises HostLacksError, with the system's words, if that cannot be done.
        """
        own = Interface(self._bridge)
        self._add_end(LOCAL, SHARED, own)
        if self._shared is None:
            return
        own.set_up(Wire(frame_bytes=self._shared.frame_bytes), offloads=self._offloads)
        for link in self._links_to_make:
            self._add_link(link)
        if self._router_mbit_per_s is not None:
            frame_bytes = self._shared.frame_bytes
            self._add_router(Wire(frame_bytes=frame_bytes, rate_mbit_per_s=self._router_mbit_per_s))

    def ends(self, host: str) -> Mapping[str, Interface]:
        """Return a host's ends of links by what they lead to."""
        return self._ends.get(host, {})

    def close(self) -> None:
        """Remove all of it, newest first; what is gone already is no error."""
        while self._tables:
            self._tables.pop().close()
        while self._undo:
            number, words = self._undo.pop()
            try_ip(*words)
            self._guard.keep(number)
        self._claim.close()

    def _add_link(self, spec: LinkSpec) -> None:
        first, second = (self._end_to(*pair) for pair in (spec.ends, spec.ends[::-1]))
        words = ["link", "add", first.name, *_placed(first), "type", "veth"]
        self._make(
            (*words, "peer", "name", second.name, *_placed(second)),
            (*first.within(), "link", "del", first.name),
        )
        for end, (host, peer) in ((first, spec.ends), (second, spec.ends[::-1])):
            end.set_up(spec, offloads=self._offloads)
            ip(*end.within(), "link", "set", end.name, "up")
            self._route(end, host, peer, "dev", end.name)
            self._add_end(host, peer, end)

    def _end_to(self, host: str, peer: str) -> Interface:
        """Return the interface by which a host will reach another."""
        if host == LOCAL:
            return Interface(self._next()[1])
        return Interface(f"to-{peer}", self._hosts[host].namespace)

    def _add_router(self, wire: Wire) -> None:
        """Make a name space that forwards all packets between hosts, as many as its wire lets."""
        router = self._add_namespace(_ROUTER, wire)
        assert router.namespace is not None
        run_in(router.namespace, _forward)
        linked = {frozenset(link.ends) for link in self._links_to_make}
        for host, peer in itertools.permutations((LOCAL, *self._hosts), 2):
            if frozenset((host, peer)) not in linked:
                end = self._ends[host][SHARED]
                self._route(end, host, peer, "via", router.address, "dev", end.name)

    def _route(self, end: Interface, host: str, peer: str, *way: str) -> None:
        there, here = self._address_of(peer), self._address_of(host)
        ip(*end.within(), "route", "add", f"{there}/32", *way, "src", here)

    def _address_of(self, host: str) -> str:
        return self.address if host == LOCAL else self._hosts[host].address

    def _add_end(self, host: str, peer: str, end: Interface) -> None:
        """Keep a host's end, and a table that is read for all ends in its name space."""
        ends = self._ends.setdefault(host, {})
        if not ends:
            self._tables.append(InterfaceTable(end.space))
        table = next(iter(ends.values())).table if ends else self._tables[-1]
        ends[peer] = Interface(end.name, end.space, table)

    def _next(self) -> tuple[int, str]:
        number = next(self._numbers)
        return number, f"{self._bridge}-{number}"

    def _link(self, number: int, interface: str, namespace: Path | None) -> Link:
        tail = bytes.fromhex(self._tag) + bytes([number])
        hardware = ":".join(f"{byte:02x}" for byte in b"\x02\x5b\x00" + tail)
        return Link(str(self._net[number]), self._net.prefixlen, hardware, interface, namespace)

    def _attach(self, interface: str) -> None:
        ip("link", "set", interface, "master", self._bridge)
        ip("link", "set", interface, "up")

    def _make(self, make: tuple[str, ...], undo: tuple[str, ...]) -> None:
        self._undo.append((self._guard.promise([find_ip(), *undo]), undo))
        ip(*make)


def free_networks(taken: Iterable[str]) -> Iterator[ipaddress.IPv4Network]:
    """Yield the pool's networks that overlap none of the taken ones, such as ``10.0.0.0/8``."""
    used = [ipaddress.ip_network(each, strict=False) for each in taken]
    for net in _POOL.subnets(new_prefix=24):
        if isinstance(net, ipaddress.IPv4Network) and not any(net.overlaps(one) for one in used):
            yield net


def claim_network(
    taken: Callable[[], Iterable[str]],
) -> tuple[ipaddress.IPv4Network, socket.socket]:
    """Return a free network, and what keeps it from others who look for one at the same time.

    That is a socket whose name only one process can have, and which is gone with the process.
    ``taken`` tells the networks to which there are routes. Raises HostLacksError if none is free.
    """
    for net in free_networks(taken()):
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind(f"\0sizebook network {net}")
            if net in free_networks(taken()):  # nobody made it since, and is gone already
                return net, claim
        except OSError:
            pass
        claim.close()
    raise HostLacksError(
        found=f"routes of this machine that cover all of {_POOL}",
        expected="a network of 256 addresses in it for the hosts",
        next_step="remove a route that is not needed",
    )


def _placed(end: Interface) -> tuple[str, ...]:
    return () if end.space is None else ("netns", end.space.name)


def _forward() -> None:
    """Let this thread's name space forward packets, and not tell senders of a shorter way."""
    (_SYSTEM / "ip_forward").write_text("1")
    for name in ("all", INNER):
        (_SYSTEM / "conf" / name / "send_redirects").write_text("0")


def _taken() -> list[str]:
    """Return the networks to which this machine has a route, the default one left out."""
    routes = json.loads(ip("-j", "-4", "route", "show", "table", "all") or "[]")
    return [each["dst"] for each in routes if each["dst"] != "default"]
