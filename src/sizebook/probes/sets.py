"""Which probes watch a running stack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol
from urllib.parse import urlsplit

from sizebook.hosts import Host, HostProcess, LinkEnd
from sizebook.hosts.memberships import Memberships, find_groups
from sizebook.model.deployment import LOCAL, CpuSet
from sizebook.model.errors import UsageError
from sizebook.model.server import CounterSource
from sizebook.probes.balancer import BalancerProbe
from sizebook.probes.base import Probe
from sizebook.probes.cgroup import CgroupProbe
from sizebook.probes.external_counters import told_probe
from sizebook.probes.forwarders import PassedOnProbe, passes_on
from sizebook.probes.host import HostProbe
from sizebook.probes.hosted import InnerPids, InsideProbe, OutsideProbe
from sizebook.probes.jvm import JvmProbe
from sizebook.probes.links import LinkProbe
from sizebook.probes.native_memory import NativeMemoryProbe, is_tracked
from sizebook.probes.postgres import PostgresProbe
from sizebook.probes.process import ProcessDetailProbe, ProcessProbe
from sizebook.probes.prometheus import PrometheusProbe
from sizebook.probes.rows import RowsProbe
from sizebook.probes.speed import SpeedProbe
from sizebook.stats.gaps import SHORTEST_S, source_interval_s

GENERATOR = "generator"
DATABASE = "database-1"
BALANCER = "balancer-1"
_DETAILS = 20
"""Intervals between two readings of a process's details, which take a file a thread."""
_DATABASE_GENERATIONS, _DEEP = 1, 10
"""How far down a family is followed: PostgreSQL's back ends have no children of their own."""


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


class WatchedServer(Protocol):
    """A server that is not the reference stack's (``stack.servers.Server`` and ``Given`` are)."""

    @property
    def name(self) -> str: ...
    @property
    def host_name(self) -> str: ...
    @property
    def address(self) -> str: ...
    @property
    def counters(self) -> CounterSource | None: ...
    @property
    def counters_port(self) -> int: ...
    def pid(self) -> int | None: ...


class WatchedCluster(Protocol):
    """A database cluster, as far as probes need to know it (``stack.postgres.Cluster`` is one)."""

    @property
    def admin_dsn(self) -> str: ...


class WatchedBalancer(Protocol):
    """A balancer, as far as probes need to know it (``stack.balancer.Balancer`` is one)."""

    @property
    def process(self) -> HostProcess: ...

    def counters(self) -> Mapping[str, Mapping[str, str]]: ...


class WatchedStack(Protocol):
    """A running deployment (``stack.RunningStack`` is one)."""

    @property
    def nodes(self) -> Sequence[WatchedNode]: ...
    @property
    def servers(self) -> Sequence[WatchedServer]: ...
    @property
    def watched(self) -> Sequence[WatchedServer]: ...
    @property
    def cluster(self) -> WatchedCluster | None: ...
    @property
    def database(self) -> HostProcess | None: ...
    @property
    def balancer(self) -> WatchedBalancer | None: ...
    @property
    def hosts(self) -> Mapping[str, Host]: ...
    @property
    def links(self) -> Mapping[str, Mapping[str, LinkEnd]]: ...
    def on_host(self, host: Host) -> Mapping[str, HostProcess]: ...


class WatchedCallers(Protocol):
    """What runs on hosts of its own (``load.workers.Workers`` is one)."""

    @property
    def hosts(self) -> Mapping[str, Host]: ...
    def on_host(self, host: Host) -> Mapping[str, HostProcess]: ...


def stack_probes(
    stack: WatchedStack,
    generators: Sequence[HostProcess] = (),
    *,
    interval_s: float = 1.0,
    tables: Iterable[str] = (),
    callers: WatchedCallers | None = None,
    cpus: CpuSet = (),
) -> list[Probe]:
    """Return the probes for a machine, a stack and the workers of its load generator.

    Sources: ``host``; ``process/<name>`` for CPU and memory of ``app-1``, ``database-1``,
    ``generator-1`` (one a worker); ``jvm/<name>`` for the JVM's own counters, and its account of
    native memory where it keeps one; ``speed`` for how quick ``cpus`` are, those of the stack;
    ``server/<name>`` for what a node says on its management port, or another server where its role
    says so; ``inside`` for what a host of the deployment's own says of itself, ``cgroup/<host>``
    for what it costs this machine and ``link/<host>`` for what its links carry; ``database``;
    ``rows`` for what stands in ``tables``, counted before and after a trial; ``balancer``;
    ``cgroup/all`` (or ``cgroup/<name>``) for a control group that limits CPU or memory.

    ``interval_s`` may be as short as 0.1 (10 Hz); nodes and database are asked once a second at
    most, and several nodes less often each (``stats.gaps``), the details of processes twenty times
    less often than the rest. ``callers`` are workers on other machines, which are watched as hosts
    are. Raises UsageError for a shorter one.
    """
    if not interval_s >= SHORTEST_S:
        raise UsageError(
            found=f"a probe interval of {interval_s:g} s",
            expected=f"at least {SHORTEST_S:g} s",
            next_step=f"ask for {SHORTEST_S:g} s (10 Hz) or for the default of 1 s",
        )
    probes: list[Probe] = [HostProbe(interval_s=interval_s)]
    if cpus:
        probes.append(SpeedProbe(cpus, interval_s=interval_s))
    for watched in (stack, callers) if callers is not None else (stack,):
        for host in watched.hosts.values():
            probes.append(InsideProbe(host, _inner_pids(watched, host), interval_s=interval_s))
            probes.append(OutsideProbe(host, interval_s=interval_s))
    for name, ends in stack.links.items():
        probes.append(LinkProbe(name, ends, interval_s=interval_s))
    families: dict[str, tuple[HostProcess, int]] = {}
    if stack.database is not None and stack.database.pid is not None:
        families[DATABASE] = (stack.database, _DATABASE_GENERATIONS)
    for number, process in enumerate(generators, start=1):
        if process.pid is None:  # on another machine, which tells what can be told
            continue
        families[f"{GENERATOR}-{number}"] = (process, _DEEP)
    for name, (process, deep) in families.items():
        source, pid = f"process/{name}", _pid_of(process)
        probes += [
            kind(source, pid, family=True, generations=deep, interval_s=every_s)
            for kind, every_s in (
                (ProcessProbe, interval_s),
                (ProcessDetailProbe, _DETAILS * interval_s),
            )
        ]
    own = [*stack.servers, *stack.watched]
    asked = sum(node.management_port is not None for node in stack.nodes)
    asked += sum(server.counters is not None for server in own)
    probes += [one for node in stack.nodes for one in _node_probes(node, interval_s, asked)]
    probes += [one for server in own for one in _server_probes(server, interval_s, asked)]
    if stack.cluster is not None:
        every_s = source_interval_s("database", interval_s)
        probes.append(PostgresProbe("database", stack.cluster.admin_dsn, interval_s=every_s))
        if tables:
            probes.append(RowsProbe("rows", stack.cluster.admin_dsn, sorted(tables)))
    if stack.balancer is not None:
        balancer = stack.balancer
        pid = _pid_of(balancer.process)
        probes.append(ProcessProbe(f"process/{BALANCER}", pid, interval_s=interval_s))
        every_s = source_interval_s("server", interval_s)
        probes.append(BalancerProbe("balancer", balancer.counters, interval_s=every_s))
    named = {name: process for name, (process, _) in families.items()}
    named |= {node.name: node.process for node in stack.nodes if node.host.name == LOCAL}
    return probes + _cgroup_probes(named, interval_s)


def _cgroup_probes(processes: Mapping[str, HostProcess], interval_s: float) -> list[Probe]:
    """Return a probe a control group: ``cgroup/all`` if all processes are in one.

    Otherwise a group is called after its first process.
    """
    members: dict[Memberships, list[str]] = {}
    for name, process in processes.items():
        if process.pid is None:  # inside a guest
            continue
        try:
            groups = find_groups(process.pid or 0)
        except OSError:
            continue  # no control groups on this system, or the process has just ended
        if groups.exist:
            members.setdefault(groups, []).append(name)
    return [
        CgroupProbe(
            f"cgroup/{'all' if len(names) == len(processes) else names[0]}",
            groups,
            interval_s=interval_s,
        )
        for groups, names in members.items()
    ]


def _node_probes(node: WatchedNode, interval_s: float, asked: int) -> list[Probe]:
    host = node.host.name

    def pid() -> int | None:
        process = node.process  # another one after a restart
        return process.pid if process.exit_code is None else None

    probes: list[Probe] = []
    if node.process.pid is not None:  # else its host tells what can be told
        probes += [
            ProcessProbe(f"process/{node.name}", pid, host=host, interval_s=interval_s),
            ProcessDetailProbe(
                f"process/{node.name}", pid, host=host, interval_s=_DETAILS * interval_s
            ),
            JvmProbe(f"jvm/{node.name}", pid, host=host, interval_s=interval_s),
        ]
        if is_tracked(node.process.command):
            probes.append(NativeMemoryProbe(f"jvm/{node.name}", pid, host=host))
    if node.management_port is not None:
        probes.append(
            PrometheusProbe(
                f"server/{node.name}",
                address=node.host.address,
                management_port=node.management_port,
                service_port=urlsplit(node.url).port or 80,
                host=host,
                interval_s=source_interval_s("server", interval_s, asked),
            )
        )
    return probes


def _server_probes(server: WatchedServer, interval_s: float, asked: int) -> list[Probe]:
    probes: list[Probe] = []
    source, host = f"process/{server.name}", server.host_name
    if name := passes_on(server.pid):
        probes.append(PassedOnProbe(source, name, host=host, interval_s=interval_s))
    elif server.pid() is not None:  # else nobody here sees its process
        probes += [
            kind(source, server.pid, family=True, generations=_DEEP, host=host, interval_s=every_s)
            for kind, every_s in (
                (ProcessProbe, interval_s),
                (ProcessDetailProbe, _DETAILS * interval_s),
            )
        ]
    if server.counters is not None:
        probes.append(
            told_probe(
                f"server/{server.name}",
                server.counters,
                address=server.address,
                port=server.counters_port,
                host=server.host_name,
                interval_s=source_interval_s("server", interval_s, asked),
            )
        )
    return probes


def _inner_pids(stack: WatchedCallers, host: Host) -> InnerPids:
    """Return what names the processes that run on a host and cannot be watched from here."""
    return lambda: {
        name: process.inner_pid
        for name, process in stack.on_host(host).items()
        if process.pid is None and process.exit_code is None
    }


def _pid_of(process: HostProcess) -> Callable[[], int | None]:
    return lambda: process.pid if process.exit_code is None else None
