"""Systems that run already: where they are, whether they answer, which process they are."""

from __future__ import annotations

import http.client
from collections.abc import Mapping
from dataclasses import dataclass

import psutil

from sizebook.hosts.addresses import ATTEMPT_S, addresses_of, connect_to_first
from sizebook.model.deployment import Deployment, GivenRole
from sizebook.model.errors import LostError, UsageError
from sizebook.model.inventory import Inventory
from sizebook.model.server import CounterSource
from sizebook.model.urls import read_url

_EVERYWHERE = ("0.0.0.0", "::")
"""Where a server listens that takes connections at every address of its machine."""


@dataclass(frozen=True)
class Given:
    """A system of a chapter's own that runs already."""

    name: str
    """Role and number, such as ``web-1``."""
    url: str
    host_name: str
    """Name of the host that it runs on; this machine's if none is named."""
    counters: CounterSource | None
    reached: str
    """Which of its host's addresses took the connection."""

    @property
    def address(self) -> str:
        """Address at which it is asked, and tells what it counts."""
        return read_url(self.url).host

    @property
    def counters_port(self) -> int:
        """Port at which it tells what it counts, if it does."""
        named = self.counters.port if self.counters is not None else None
        return named or read_url(self.url).port

    def pid(self) -> int | None:
        """Return the process that listens for it on this machine; None if that cannot be seen."""
        parts = read_url(self.url)
        return listening_pid(parts.port, self.reached) if parts.is_own else None


def given_urls(deployment: Deployment, inventory: Inventory | None) -> dict[str, str]:
    """Return role to URL of what runs already. Raises UsageError where nobody names one."""
    named = inventory.running() if inventory is not None else {}
    own = {role.role: role for role in deployment.own_roles() if isinstance(role, GivenRole)}
    known = named | {name: role.url for name, role in own.items() if role.url}
    for role in (*deployment.given, *own):
        if role not in known:
            raise UsageError(
                found=f"role {role}, which runs already, at no known address",
                expected="an inventory that names its URL in "
                + ("'systems'" if role in own else "'targets'"),
                next_step="give one with --inventory",
            )
    return {role: known[role] for role in (*deployment.given, *own)}


def find_given(deployment: Deployment, urls: Mapping[str, str]) -> list[Given]:
    """Return the systems that run already, each of which answers. Raises LostError if one doesn't.

    It may be gone for a while, or for good: its trials fail, and those of other systems go on. An
    address that is not this machine's stands in no message: messages go into bundles.
    """
    found = []
    for role in deployment.own_roles():
        if not isinstance(role, GivenRole):
            continue
        url = urls[role.role]
        reached, reason = _ask(url, role.ready, any_status=role.any_status)
        if reason is not None:
            where = url + role.ready if is_own_url(url) else f"{role.ready} of its URL"
            raise LostError(
                found=f"role {role.role}, which should run already: {reason} at {where}",
                expected="an answer in HTTP"
                if role.any_status
                else "an answer with a status below 300",
                next_step="start it, or correct its URL or 'ready'",
            )
        found.append(Given(f"{role.role}-1", url, role.host, role.counters, reached))
    return found


def is_own_url(url: str) -> bool:
    """Return whether a URL leads to this machine itself."""
    return read_url(url).is_own


def listening_pid(port: int, address: str = "") -> int | None:
    """Return the process that listens on a port of this machine: the parent, if it has several.

    Of several servers on one port it is the one at ``address``, if that is given. None if there is
    none, or it is another user's and cannot be seen.
    """
    try:
        connections = psutil.net_connections("tcp")
    except psutil.Error:
        return None
    listening = [
        (one.pid, one.laddr.ip.removeprefix("::ffff:"))
        for one in connections
        if one.pid and one.laddr and (one.status, one.laddr.port) == (psutil.CONN_LISTEN, port)
    ]
    wanted: tuple[str, ...] = ()
    if address:
        wanted = (address,) if any(ip == address for _, ip in listening) else _EVERYWHERE
    pids = {pid for pid, ip in listening if not wanted or ip in wanted}
    for pid in sorted(pids):
        try:
            if psutil.Process(pid).ppid() not in pids:
                return pid
        except psutil.Error:
            continue
    return None


def refusal(url: str, path: str, *, any_status: bool = False) -> str | None:
    """Return why there is no good answer at a path of a URL, in words; None if there is.

    With ``any_status`` each answer in HTTP is a good one.

    Raises UsageError for what is no URL.
    """
    return _ask(url, path, any_status=any_status)[1]


def _ask(url: str, path: str, *, any_status: bool = False) -> tuple[str, str | None]:
    """Return the address that was reached, and why there is no good answer there."""
    parts, reached = read_url(url), ""
    connection = http.client.HTTPConnection(parts.host, parts.port)
    try:
        sock = connect_to_first(addresses_of(parts.host, parts.port), ATTEMPT_S)
        connection.sock, reached = sock, str(sock.getpeername()[0])
        connection.request("GET", parts.path + path, headers={"Host": parts.authority})
        status = connection.getresponse().status
        return reached, None if status < 300 or any_status else f"status {status}"
    except OSError as error:
        return reached, error.strerror or str(error) or type(error).__name__
    except http.client.HTTPException as error:
        return reached, f"no answer in HTTP ({type(error).__name__})"
    finally:
        connection.close()
