"""Where requests go: a base URL taken apart and resolved once."""

from __future__ import annotations

import ipaddress
from typing import Any

from sizebook.hosts.addresses import Address, addresses_of
from sizebook.model.errors import TrialError
from sizebook.model.urls import read_url

Headers = tuple[tuple[str, str], ...]
"""Names and values of a request's own headers, in their order."""


class Target:
    """A server to send to, its name resolved once; shared by all its clients."""

    __slots__ = ("_first", "addresses", "built", "host", "name", "port", "prefix", "url")

    def __init__(self, url: str, addresses: tuple[Address, ...]) -> None:
        parts = read_url(url)
        self.url = url
        self.addresses = addresses
        """Every address of its name, in the resolver's order."""
        self.host = parts.authority
        """Value of the Host header."""
        self.name = parts.host
        self.port = parts.port
        self.prefix = parts.path
        """Path of the base URL, put before each request's path; no trailing slash."""
        self.built: dict[tuple[str, str, Headers], bytes] = {}
        """Requests without body, ready to send."""
        self._first = 0

    @property
    def family(self) -> int:
        """Family of the address in use."""
        return self.addresses[self._first].family

    @property
    def address(self) -> tuple[Any, ...]:
        """The address in use: the first one, or the one that accepted a connection last."""
        return self.addresses[self._first].where

    def in_order(self) -> tuple[Address, ...]:
        """Return the addresses as they are to be tried: the one in use, then the others."""
        first = self.addresses[self._first]
        return (first, *(one for one in self.addresses if one is not first))

    def accepted(self, address: Address) -> None:
        """Have this address tried first from now on."""
        self._first = self.addresses.index(address)

    def told(self) -> str:
        """Return in words which address is in use; empty where the URL leaves no choice.

        What is not of this machine itself is told by its kind: addresses go into no bundle.
        """
        if _is_address(self.name):
            return ""
        ip = ipaddress.ip_address(self.addresses[self._first].ip.partition("%")[0])
        which = str(ip) if ip.is_loopback else f"IPv{ip.version}"
        return f"{which}, address {self._first + 1} of {len(self.addresses)}"


def resolve(base_url: str) -> Target:
    """Return the target of a base URL such as ``http://127.0.0.1:8101``; asks the resolver once.

    Raises UsageError for what is no such URL, TrialError for a name without address.
    """
    parts = read_url(base_url)
    try:
        return Target(base_url, addresses_of(parts.host, parts.port))
    except OSError as error:
        raise TrialError(
            found=f"no address for {parts.host!r}: {error.strerror or error}",
            expected="a name or address that this machine can resolve",
            next_step="correct the target's host name",
        ) from error


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
