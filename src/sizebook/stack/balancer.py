"""HAProxy in front of the app nodes: its configuration, its counters, its last word."""

from __future__ import annotations

import csv
import io
import shutil
import socket
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sizebook.hosts import HostProcess
from sizebook.model.deployment import BalancerRole
from sizebook.model.errors import HostLacksError, TrialError
from sizebook.stack.nodes import Node

PROGRAM = "haproxy"

LOG_FORMAT = "request %tsc %ST retries=%rc node=%s ms=%Ta %HM"
"""Termination state (HAProxy configuration manual, section 8.5), status, retries with ``+`` before
them if it went to another node in the end, node, time from its first byte to the last of the
answer, method."""

_CONFIGURATION = """\
global
  stats socket {socket} mode 600 level admin
  log stdout format iso local0
defaults
  mode http
  log global
  option log-health-checks
  # Of requests only those are logged that failed or were tried again.
  option dontlog-normal
  log-format "{log_format}"
  timeout connect 2s
  timeout client 60s
  timeout server {answer_within_ms}
  timeout queue 10s
  timeout check {check_within_ms}
  # A request whose node was just lost goes to another one, unless it may have been done already.
  option redispatch 1
  retries 3
  retry-on conn-failure empty-response
frontend clients
  bind {address}:{port}
  http-request disable-l7-retry if METH_POST
  default_backend nodes
backend nodes
  balance {algorithm}
{cookie}  option httpchk GET /actuator/health/readiness
  http-check expect status 200
  default-server inter 1s fastinter 200ms downinter 500ms rise 2 fall 3 observe layer4 \
error-limit 3 on-error mark-down{lost}
"""

_NEEDED = ("pxname", "svname", "status", "scur")
"""Columns of HAProxy's counters without which they tell nothing."""


@dataclass
class Balancer:
    """A started balancer."""

    process: HostProcess
    url: str
    admin: Path
    """Its socket for questions and orders."""

    def wait_ready(self, timeout_s: float = 10.0) -> None:
        """Wait until it answers; raises TrialError with its last words."""
        deadline = time.monotonic() + timeout_s
        while True:
            try:
                self.counters()
                return
            except OSError as error:
                if self.process.exit_code is None and time.monotonic() < deadline:
                    time.sleep(0.01)
                    continue
                raise TrialError(
                    found=f"the balancer is not up: {self.process.log_tail(2) or error}",
                    expected=f"HAProxy within {timeout_s:g} s",
                    next_step="try the same deployment by hand with 'sizebook stack up'",
                ) from error

    def counters(self) -> dict[str, dict[str, str]]:
        """Return what the balancer counts, by server name, FRONTEND and BACKEND included.

        Columns as in HAProxy's management guide, section 9.1. Raises OSError if it does not answer,
        or with something else than that table.
        """
        lines = self.ask("show stat").removeprefix("# ")
        table = csv.DictReader(io.StringIO(lines), restval="")
        try:
            rows = list(table)
        except csv.Error as error:
            raise OSError(f"an answer that is no table ({error})") from error
        if lacking := [name for name in _NEEDED if name not in (table.fieldnames or ())]:
            raise OSError(f"a table of counters without {', '.join(lacking)}")
        return {row["svname"]: row for row in rows if row["pxname"] in ("nodes", "clients")}

    def drain(self, node: str) -> None:
        """Send a node no new sessions; those it has, and their next requests, may go on there."""
        self._order(f"set server nodes/{node} state drain")

    def take_out(self, node: str) -> None:
        """Send a node nothing more; requests under way there may end.

        Not so where requests at lost nodes are ended (``BalancerRole.ends_lost``): to HAProxy a
        node that is taken out is lost.
        """
        self._order(f"set server nodes/{node} state maint")

    def put_back(self, node: str) -> None:
        """Send a node requests again, as soon as it says that it is ready."""
        self._order(f"set server nodes/{node} state ready")

    def under_way(self, node: str) -> int:
        """Return how many requests a node has that it has not answered. OSError if nobody knows."""
        try:
            return int(self.counters()[node]["scur"])
        except (KeyError, ValueError) as error:
            raise OSError(f"a table of counters without sessions of {node}") from error

    def _order(self, words: str) -> None:
        """Give an order; TrialError if it is not taken."""
        try:
            said = self.ask(words).strip()
        except OSError as error:
            said = error.strerror or str(error)
        if said:
            raise TrialError(
                found=f"the balancer says to '{words}': {said}",
                expected="an order that it takes in silence",
                next_step="look at logs/balancer-1.log in the trial's bundle",
            )

    def version(self) -> str:
        """Return HAProxy's version, such as ``2.6.12-1+deb12u4``."""
        lines = dict(
            line.split(": ", 1) for line in self.ask("show info").splitlines() if ": " in line
        )
        return lines.get("Version", "unknown")

    def ask(self, words: str) -> str:
        """Return the answer to one command, such as ``set server nodes/app-1 state drain``."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(2.0)
            client.connect(str(self.admin))
            client.sendall(words.encode() + b"\n")
            return b"".join(iter(lambda: client.recv(65536), b"")).decode(errors="replace")


def find_program() -> str:
    """Return HAProxy's path. Raises HostLacksError."""
    found = shutil.which(PROGRAM)
    if found is None:
        raise HostLacksError(
            found="no HAProxy on the path",
            expected="HAProxy 2.4 or later, for deployments of several app nodes",
            next_step="run 'make setup', or install it (Debian: apt-get install haproxy; conda: "
            "haproxy)",
        )
    return found


def configuration(
    role: BalancerRole, nodes: Sequence[Node], address: str, port: int, admin: Path
) -> str:
    """Return HAProxy's configuration for these nodes."""
    cookie = "  cookie NODE insert indirect nocache\n" if role.sticky else ""
    head = _CONFIGURATION.format(
        socket=admin,
        log_format=LOG_FORMAT,
        address=address,
        port=port,
        algorithm=role.algorithm,
        cookie=cookie,
        check_within_ms=round(role.check_within_s * 1000),
        answer_within_ms=round(role.answer_within_s * 1000),
        lost=" on-marked-down shutdown-sessions" if role.ends_lost else "",
    )
    return head + "".join(
        f"  server {node.name} {node.url.removeprefix('http://')} check"
        f" port {node.management_port} cookie {node.name}\n"
        for node in nodes
    )
