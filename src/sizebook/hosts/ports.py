"""TCP ports for servers that are started a moment later, out of the way of outgoing connections."""

from __future__ import annotations

import errno
import random
import socket
from collections import deque
from collections.abc import Callable
from pathlib import Path

LOWEST, HIGHEST = 15_000, 49_151
"""Ports below those that the registry leaves to outgoing connections (RFC 6335)."""
_OUTGOING = Path("/proc/sys/net/ipv4/ip_local_port_range")
_OUTGOING_ELSEWHERE = (32_768, 65_535)
_TRIES = 200
_CLAIMS = 64
"""So many ports that were given last are claimed: more than any deployment starts at a time."""


class Ports:
    """Hands out ports of one address, each once.

    A port that the system chooses (bind to port 0) comes from the range of outgoing connections:
    until a JVM listens, seconds later, any client may get it. These come from outside that range,
    and until then no other process of this machine that asks here gets them either.
    """

    def __init__(
        self,
        address: str,
        outgoing: tuple[int, int] | None = None,
        try_port: Callable[[str, int], int] | None = None,
    ) -> None:
        """``outgoing`` is the system's range of ports of outgoing connections.

        ``try_port`` returns a port of an address if it is free on another host (for 0 the system's
        choice there), else 0.
        """
        self._address = address
        self._try_port = try_port or bind_port
        low, high = outgoing or outgoing_range()
        self._left = [port for port in range(LOWEST, HIGHEST + 1) if not low <= port <= high]
        random.SystemRandom().shuffle(self._left)
        self._claims: deque[socket.socket] = deque(maxlen=_CLAIMS)

    def take(self) -> int:
        """Return a port that is free now; the system's choice if none outside its range is."""
        for _ in range(min(_TRIES, len(self._left))):
            port = self._left.pop()
            if self._claim(port) and self._try_port(self._address, port):
                return port
        return self._try_port(self._address, 0)

    def _claim(self, port: int) -> bool:
        """Return whether nobody else on this machine has just been given the port.

        The claim is a name that the kernel gives once and takes back when its socket goes, at the
        latest with this process (unix(7), abstract sockets); a system without such has none.
        """
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind(f"\0sizebook port {self._address} {port}")
        except OSError as error:
            claim.close()
            return error.errno != errno.EADDRINUSE
        if len(self._claims) == self._claims.maxlen:
            self._claims.popleft().close()
        self._claims.append(claim)
        return True


def outgoing_range() -> tuple[int, int]:
    """Return lowest and highest port of outgoing connections, as the system states them."""
    try:
        low, high = map(int, _OUTGOING.read_text().split())
    except (OSError, ValueError):
        return _OUTGOING_ELSEWHERE
    return low, high


def bind_port(address: str, port: int) -> int:
    """Return the port at which a socket could be bound, 0 if it could not.

    Port 0 is the system's choice; raises OSError if there is none, such as for an address that is
    not here.
    """
    with socket.socket() as probe:
        try:
            probe.bind((address, port))
        except OSError:
            if port == 0:
                raise
            return 0
        found: int = probe.getsockname()[1]
        return found
