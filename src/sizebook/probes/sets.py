"""Which probes watch a running stack."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol
from urllib.parse import urlsplit

from sizebook.hosts import Host, HostProcess
from sizebook.probes.base import Probe
from sizebook.probes.host import HostProbe
from sizebook.probes.jvm import JvmProbe
from sizebook.probes.postgres import PostgresProbe
from sizebook.probes.process import ProcessDetailProbe, ProcessProbe
from sizebook.probes.prometheus import PrometheusProbe

GENERATOR = "generator-1"
DATABASE = "database-1"


class WatchedNode(Protocol):
    """A JVM of the stack, as far as probes need to know it (``stack.Node`` is one)."""

    @property
    def name(self) -> str: ...
    @property
    def role(self) -> str: ...
    @property
    def process(self) -> HostProcess: ...
    @property
    def url(self) -> str: ...
    @property
    def management_port(self) -> int | None: ...
    @property
    def host(self) -> Host: ...


class WatchedCluster(Protocol):
    """A database cluster, as far as probes need to know it (``stack.postgres.Cluster`` is one)."""

    @property
    def admin_dsn(self) -> str: ...


class WatchedStack(Protocol):
    """A running deployment (``stack.RunningStack`` is one)."""

    @property
    def nodes(self) -> Sequence[WatchedNode]: ...
    @property
    def cluster(self) -> WatchedCluster | None: ...
    @property
    def database(self) -> HostProcess | None: ...


def stack_probes(
    stack: WatchedStack, generator: HostProcess | None = None, *, interval_s: float = 1.0
) -> list[Probe]:
    """Return the probes for a machine, a stack and its load generator.

    Sources: ``host``; ``process/<name>`` for CPU and memory of ``app-1``, ``database-1``,
    ``generator-1``; ``jvm/<name>`` for the JVM's own counters; ``server/<name>`` for what a node
    says on its management port; ``database``.
    """
    probes: list[Probe] = [HostProbe(interval_s=interval_s)]
    families = {DATABASE: stack.database, GENERATOR: generator}
    for name, process in families.items():
        if process is not None:
            source, pid = f"process/{name}", _pid_of(process)
            probes += [
                ProcessProbe(source, pid, family=True, interval_s=interval_s),
                ProcessDetailProbe(source, pid, family=True, interval_s=10 * interval_s),
            ]
    for node in stack.nodes:
        probes += _node_probes(node, interval_s)
    if stack.cluster is not None:
        probes.append(PostgresProbe("database", stack.cluster.admin_dsn, interval_s=interval_s))
    return probes


def _node_probes(node: WatchedNode, interval_s: float) -> list[Probe]:
    pid, host = _pid_of(node.process), node.host.name
    probes: list[Probe] = [
        ProcessProbe(f"process/{node.name}", pid, host=host, interval_s=interval_s),
        ProcessDetailProbe(f"process/{node.name}", pid, host=host, interval_s=10 * interval_s),
        JvmProbe(f"jvm/{node.name}", pid, host=host, interval_s=interval_s),
    ]
    if node.management_port is not None:
        probes.append(
            PrometheusProbe(
                f"server/{node.name}",
                address=node.host.address,
                management_port=node.management_port,
                service_port=urlsplit(node.url).port or 80,
                host=host,
                interval_s=max(1.0, interval_s),
            )
        )
    return probes


def _pid_of(process: HostProcess) -> Callable[[], int | None]:
    return lambda: process.pid if process.exit_code is None else None
