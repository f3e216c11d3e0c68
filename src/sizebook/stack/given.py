"""Systems that run already: where they are, whether they answer, which process they are."""

from __future__ import annotations

import http.client
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlsplit

import psutil

from sizebook.model.deployment import Deployment, GivenRole
from sizebook.model.errors import UsageError
from sizebook.model.inventory import Inventory
from sizebook.model.server import CounterSource

_OWN_ADDRESSES = ("127.0.0.1", "localhost", "::1")


@dataclass(frozen=True)
class Given:
    """A system of a chapter's own that runs already."""

    name: str
    """Role and number, such as ``web-1``."""
    url: str
    host_name: str
    """Name of the host that it runs on; this machine's if none is named."""
    counters: CounterSource | None

    @property
    def address(self) -> str:
        """Address at which it is asked, and tells what it counts."""
        return urlsplit(self.url).hostname or ""

    @property
    def counters_port(self) -> int:
        """Port at which it tells what it counts, if it does."""
        named = self.counters.port if self.counters is not None else None
        return named or urlsplit(self.url).port or 80

    def pid(self) -> int | None:
        """Return the process that listens for it on this machine; None if that cannot be seen."""
        return listening_pid(urlsplit(self.url).port or 80) if is_own_url(self.url) else None


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
    """Return the systems that run already, each of which answers. Raises UsageError if one doesn't.

    An address that is not this machine's stands in no message: messages go into bundles.
    """
    found = []
    for role in deployment.own_roles():
        if not isinstance(role, GivenRole):
            continue
        url = urls[role.role]
        if (reason := refusal(url, role.ready)) is not None:
            where = url + role.ready if is_own_url(url) else f"{role.ready} of its URL"
            raise UsageError(
                found=f"role {role.role}, which should run already: {reason} at {where}",
                expected="an answer with a status below 300",
                next_step="start it, or correct its URL or 'ready'",
            )
        found.append(Given(f"{role.role}-1", url, role.host, role.counters))
    return found


def is_own_url(url: str) -> bool:
    """Return whether a URL leads to this machine itself."""
    return urlsplit(url).hostname in _OWN_ADDRESSES


def listening_pid(port: int) -> int | None:
    """Return the process that listens on a port of this machine: the parent, if it has several.

    None if there is none, or it is another user's and cannot be seen.
    """
    try:
        connections = psutil.net_connections("tcp")
    except psutil.Error:
        return None
    pids = {
        one.pid
        for one in connections
        if one.pid and one.laddr and (one.status, one.laddr.port) == (psutil.CONN_LISTEN, port)
    }
    for pid in sorted(pids):
        try:
            if psutil.Process(pid).ppid() not in pids:
                return pid
        except psutil.Error:
            continue
    return None


def refusal(url: str, path: str) -> str | None:
    """Return why there is no good answer at a path of a URL, in words; None if there is."""
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.hostname or "", parts.port or 80, timeout=2)
    try:
        connection.request("GET", parts.path.rstrip("/") + path)
        status = connection.getresponse().status
        return None if status < 300 else f"status {status}"
    except OSError as error:
        return error.strerror or str(error) or type(error).__name__
    except http.client.HTTPException as error:
        return f"no answer in HTTP ({type(error).__name__})"
    finally:
        connection.close()
