"""A load stays at its target: no connection of a generator's process leads anywhere else.

Locust's clients send to any URL that a locustfile, a redirect, a proxy's variable or a user's
``host`` names. So every connection that Python opens in this process is looked at (an audit hook,
PEP 578, which no client can go around), from the import of the locustfile to the end of the trial;
what would lead elsewhere is refused before a byte is sent, and the trial fails with its address.
Locust's HTTP clients ask before they send (``clients``), since they know the URL. Programs that a
locustfile starts, and C libraries with sockets of their own, are not seen.
"""

from __future__ import annotations

import _socket
import contextlib
import ipaddress
import os
import sys
from collections.abc import Callable, Collection, Iterator
from typing import Any
from urllib.parse import urlsplit

from sizebook.hosts.addresses import addresses_of
from sizebook.load.target import Target
from sizebook.model.errors import TrialError

_EVENTS = frozenset(("socket.connect", "socket.sendto", "socket.sendmsg"))
_FAMILIES = frozenset((_socket.AF_INET, _socket.AF_INET6))
_PORTS = {"http": 80, "https": 443}
Place = tuple[str, int]
"""Address and port."""


class Fence:
    """What a trial may connect to: every address of its targets, at their ports."""

    def __init__(self, targets: Collection[Target]) -> None:
        self._targets = tuple(targets)
        self._allowed = {
            (_plain(address.ip), target.port) for target in targets for address in target.addresses
        }
        self._seen: dict[str, bool] = {}
        """Beginnings of URLs, and whether they lead to a target."""
        self.breach: TrialError | None = None
        """What was refused first."""
        self.on_breach: Callable[[TrialError], None] = lambda _: None
        self.where: Callable[[], str] = lambda: "the locustfile"

    def check(self, sock: Any, address: Any) -> None:
        """Raise TrialError for a socket that is about to lead elsewhere."""
        if sock.family not in _FAMILIES or not isinstance(address, tuple):
            return
        host, port = str(address[0]), int(address[1])
        if not self._leads_to_a_target(host, port):
            shown = f"[{host}]" if ":" in host else host
            raise self._refused(f"a connection to {shown}:{port}")

    def check_url(self, url: str, what: str = "") -> None:
        """Raise TrialError for a request whose URL, or whose proxy's, leads elsewhere."""
        begin = "/".join(url.split("/", 3)[:3])
        known = self._seen.get(begin)
        if known is None:
            known = self._seen[begin] = self._is_target(url)
        if not known:
            raise self._refused(f"{what or 'a request to'} {url[:500]}")

    def _is_target(self, url: str) -> bool:
        try:
            parts = urlsplit(url)
            port = parts.port or _PORTS[parts.scheme]
            return bool(parts.hostname) and self._leads_to_a_target(str(parts.hostname), port)
        except (KeyError, ValueError):
            return False

    def _leads_to_a_target(self, host: str, port: int) -> bool:
        ports = {target.port for target in self._targets}
        if port not in ports:
            return False
        places = _places(host, port)
        if places and places <= self._allowed:
            return True
        # The addresses of a name may have changed since it was resolved.
        for target in self._targets:
            self._allowed |= _places(target.name, target.port)
        return bool(places) and places <= self._allowed

    def _refused(self, what: str) -> TrialError:
        targets = ", ".join(dict.fromkeys(target.url for target in self._targets))
        error = TrialError(
            found=f"{what}, in {self.where()}",
            expected=f"a load that stays at its target, {targets}",
            next_step="ask for paths instead of whole URLs, do not follow redirects to elsewhere "
            "(allow_redirects=False), use no proxy",
        )
        if self.breach is None:
            self.breach = error
            self.on_breach(error)
        return error


@contextlib.contextmanager
def fenced(fence: Fence) -> Iterator[None]:
    """Have every connection of this process looked at by a fence; one stands at a time."""
    forget_proxies()
    _watch.put(fence)
    try:
        yield
    finally:
        _watch.put(None)


def forget_proxies() -> None:
    """Take the variables that name proxies out of this process's environment."""
    for name in [name for name in os.environ if name.lower().endswith("_proxy")]:
        del os.environ[name]


class _Watch:
    """The hook, which stays for the life of the process, and the fence that it asks."""

    def __init__(self) -> None:
        self._fence: Fence | None = None
        self._hooked = False

    def put(self, fence: Fence | None) -> None:
        if fence is not None and not self._hooked:
            self._hooked = True
            sys.addaudithook(self._look)
        self._fence = fence

    def _look(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self._fence is not None and event in _EVENTS and arguments[1] is not None:
            self._fence.check(*arguments)


_watch = _Watch()


def _places(host: str, port: int) -> set[Place]:
    """Return where a host is reached; empty where that is not known."""
    try:
        return {(_plain(host), port)}
    except ValueError:
        pass
    with contextlib.suppress(OSError, UnicodeError):
        return {(_plain(address.ip), port) for address in addresses_of(host, port)}
    return set()


def _plain(ip: str) -> str:
    """Return an address in one spelling: none for any, none for IPv4 within IPv6."""
    address = ipaddress.ip_address(ip.partition("%")[0])
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped:
        address = address.ipv4_mapped
    if address.is_unspecified:  # connecting to 0.0.0.0 is connecting to this machine
        return "127.0.0.1" if address.version == 4 else "::1"
    return str(address)
