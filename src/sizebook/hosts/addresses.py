"""The addresses of a host, and which of them is used: one answer for whoever connects to it.

A name may have several, such as ``localhost`` with ::1 and 127.0.0.1, and a server need not listen
at all of them. The check whether it is ready and the load try them in the same order, each for the
same time, so that one reaches what the other does.
"""

from __future__ import annotations

import socket
from collections.abc import Sequence
from typing import Any, NamedTuple

ATTEMPT_S = 2.0
"""How long an address may take to accept a connection where there are others to try."""


class Address(NamedTuple):
    """Where a socket connects to."""

    family: int
    where: tuple[Any, ...]
    """Address and port, of IPv6 two numbers more."""

    @property
    def ip(self) -> str:
        """The address alone."""
        return str(self.where[0])


def addresses_of(host: str, port: int) -> tuple[Address, ...]:
    """Return every address of a name, once each, in the resolver's order; at least one.

    Raises OSError where this machine's resolver knows none.
    """
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    known = (Address(int(family), where) for family, _, _, _, where in found)
    return tuple(dict.fromkeys(known))


def connect_to_first(addresses: Sequence[Address], timeout_s: float) -> socket.socket:
    """Return a connection to the first of these addresses that accepts one.

    ``timeout_s`` is what each may take, and stays with the socket. Raises the last one's OSError.
    """
    failed: OSError | None = None
    for address in addresses:
        connection = socket.socket(address.family, socket.SOCK_STREAM)
        try:
            connection.settimeout(timeout_s)
            connection.connect(address.where)
        except OSError as error:
            connection.close()
            failed = error
        else:
            return connection
    raise failed or OSError("no address")
