"""Where requests go: a base URL taken apart and resolved once."""

from __future__ import annotations

import socket
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from sizebook.model.errors import TrialError

Headers = tuple[tuple[str, str], ...]
"""Names and values of a request's own headers, in their order."""


@dataclass(frozen=True, slots=True)
class Target:
    """A server to send to, its name resolved once."""

    family: int
    address: tuple[Any, ...]
    host: str
    """Value of the Host header."""
    prefix: str
    """Path of the base URL, put before each request's path; no trailing slash."""
    built: dict[tuple[str, str, Headers], bytes] = field(default_factory=dict, compare=False)
    """Requests without body, ready to send; shared by all clients of the target."""


def resolve(base_url: str) -> Target:
    """Return the target of a base URL such as ``http://127.0.0.1:8101``; asks the resolver once."""
    parts = urlsplit(base_url)
    try:
        port = parts.port or 80
    except ValueError:
        port = 0
    if parts.scheme != "http" or not parts.hostname or not port or parts.username:
        raise TrialError(
            found=f"target {base_url!r}",
            expected="a URL such as http://127.0.0.1:8101 (http, no user name)",
            next_step="correct the target, or use Locust's own FastHttpUser for other schemes",
        )
    try:
        found = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise TrialError(
            found=f"no address for {parts.hostname!r}: {error}",
            expected="a name or address that this machine can resolve",
            next_step="correct the target's host name",
        ) from error
    family, _, _, _, address = found[0]
    return Target(int(family), address, parts.netloc, parts.path.rstrip("/"))
