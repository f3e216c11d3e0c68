"""What an interface lets through: size of frames, rate, delay, offloads."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sizebook.hosts.base import LinkUse
from sizebook.hosts.guard import Guard
from sizebook.hosts.interfaces import InterfaceTable
from sizebook.hosts.iproute import ethtool, find_ip, ip, tc, try_ip
from sizebook.model.errors import HostLacksError
from sizebook.model.network import Wire

OFFLOADS = ("tso", "gso", "gro", "tx", "rx")
"""Names that ``ethtool -K`` knows: cutting on sending, joining on receiving, sums both ways."""
_TOLD = {
    "tcp-segmentation-offload": "tso",
    "generic-segmentation-offload": "gso",
    "generic-receive-offload": "gro",
    "tx-checksumming": "tx",
    "rx-checksumming": "rx",
}
_LEAST_BURST_BYTES = 4_096
_BURST_S = 0.001
_QUEUE_MS = 50
"""What waits longer for a link of a given rate is thrown away, as by a switch with full buffers."""
_ROOT = ("qdisc", "replace", "dev", "{}", "root")
_TRIALS: Mapping[str, Sequence[str]] = {
    "rate": (*_ROOT, "tbf", "rate", "1mbit", "burst", "32kb", "latency", "50ms"),
    "delay": (*_ROOT, "netem", "delay", "1ms"),
    "offloads": ("-K", "{}", *(word for name in OFFLOADS for word in (name, "off"))),
}
"""What a machine may let us choose or not, and how that is tried."""


@dataclass(frozen=True)
class Interface:
    """An interface of this machine or of a name space."""

    name: str
    space: Path | None = None
    """None: this machine's own."""
    table: InterfaceTable | None = None
    """What counts; None: nobody asks."""

    def use(self) -> LinkUse:
        """See ``LinkEnd``."""
        found = self.table.read().get(self.name) if self.table is not None else None
        if found is None:
            raise OSError(f"no interface {self.name} any more")
        return found

    def settings(self) -> Mapping[str, str]:
        """See ``LinkEnd``."""
        told = {"frames of": self._frames, "offloads": self._offloads, "shaping": self._shaping}
        return {what: _said(ask) or "none" for what, ask in told.items()}

    def _frames(self) -> str:
        [link] = json.loads(ip(*self.within(), "-j", "link", "show", "dev", self.name))
        return f"{link['mtu']} bytes"

    def _offloads(self) -> str:
        return ", ".join(read_offloads(ethtool(self.space, "-k", self.name)))

    def _shaping(self) -> str:
        return "; ".join(_shapers(tc(*self.within(), "qdisc", "show", "dev", self.name)))

    def within(self) -> tuple[str, ...]:
        """Return the words with which ``ip`` and ``tc`` work in its name space."""
        return () if self.space is None else ("-n", self.space.name)

    def set_up(self, wire: Wire, *, offloads: bool) -> None:
        """Give it frames, rate and delay of a wire, for what it sends. Raises HostLacksError."""
        ip(*self.within(), "link", "set", self.name, "mtu", str(wire.frame_bytes))
        if not offloads:
            words = [word for name in OFFLOADS for word in (name, "off")]
            ethtool(self.space, "-K", self.name, *words)
        for words in shaping_words(wire):
            tc(*self.within(), "qdisc", "add", "dev", self.name, *words)


def _said(ask: Callable[[], str]) -> str:
    """Return what a program says; where there is none or the interface is gone, that."""
    try:
        return ask()
    except HostLacksError as error:
        return f"not known ({error.found})"


def shaping_words(wire: Wire) -> Iterator[list[str]]:
    """Yield the queues that make an interface send at a wire's rate, after its delay."""
    parent = ["root"]
    if wire.delay_ms is not None:
        yield [*parent, "handle", "1:", "netem", "delay", f"{wire.delay_ms:g}ms", "limit", "100000"]
        parent = ["parent", "1:"]
    if wire.rate_mbit_per_s is not None:
        per_s = wire.rate_mbit_per_s * 1e6 / 8
        burst = round(max(_LEAST_BURST_BYTES, 2 * wire.frame_bytes, _BURST_S * per_s))
        rate = ["tbf", "rate", f"{round(8 * per_s)}bit", "burst", str(burst)]
        yield [*parent, "handle", "2:", *rate, "latency", f"{_QUEUE_MS}ms"]


def _ethtool_here(*words: str) -> str:
    return ethtool(None, *words)


def missing_features(guard: Guard) -> dict[str, str]:
    """Return what of rate, delay and offloads this machine cannot choose for a link, with reasons.

    Tried on a pair of interfaces that is made for it; the reasons are the system's own words.
    """
    name = f"sb-{secrets.token_hex(3)}"
    undo = ("link", "del", name)
    try:
        promise = guard.promise([find_ip(), *undo])
        ip("link", "add", name, "type", "veth", "peer", "name", f"{name}-p")
    except HostLacksError as error:
        return dict.fromkeys(_TRIALS, error.found)
    try:
        return dict(refused(name))
    finally:
        try_ip(*undo)
        guard.keep(promise)


def refused(
    interface: str,
    shape: Callable[..., str] = tc,
    set_offloads: Callable[..., str] = _ethtool_here,
) -> Iterator[tuple[str, str]]:
    """Yield what an interface cannot be given, and why."""
    for what, words in _TRIALS.items():
        run = set_offloads if what == "offloads" else shape
        try:
            run(*(word.format(interface) for word in words))
        except HostLacksError as error:
            yield what, error.found.rpartition(": ")[2]


def read_offloads(said: str) -> list[str]:
    """Return which offloads are on, from lines such as ``tcp-segmentation-offload: on``."""
    lines = (line.partition(":") for line in said.splitlines())
    on = [name for name, _, value in lines if value.split()[:1] == ["on"]]
    return [_TOLD[name] for name in on if name in _TOLD]


def _shapers(said: str) -> Iterator[str]:
    """Yield what limits or delays, from lines as ``qdisc tbf 2: root refcnt 3 rate 1Mbit ...``."""
    for line in said.splitlines():
        words = line.split()
        if len(words) > 1 and words[1] in ("tbf", "netem", "htb"):
            yield " ".join(words[1:])
