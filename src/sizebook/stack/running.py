"""A deployment that runs: started in order, waited for, stopped in reverse, nothing left."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from sizebook.hosts import Host, HostProcess, LinkEnd, LocalHost
from sizebook.model.deployment import (
    LOCAL,
    BalancerRole,
    CpuSet,
    Deployment,
    HostSpec,
    ServerRole,
)
from sizebook.model.errors import TrialError
from sizebook.model.inventory import Inventory
from sizebook.model.memory import NATIVE_MIB
from sizebook.model.urls import read_url
from sizebook.stack import balancer, postgres
from sizebook.stack.balancer import Balancer
from sizebook.stack.build import StackBuild, needed
from sizebook.stack.database import Databases
from sizebook.stack.endings import Ending, ending_of
from sizebook.stack.given import Given, find_given, given_urls
from sizebook.stack.hosting import Hosting
from sizebook.stack.nodes import Node, NodeStarter
from sizebook.stack.readiness import check_free, check_memory, wait_ready
from sizebook.stack.servers import Server, ServerStarter

_STOPPED_WITHIN_S = 20.0
"""A node's own patience with what it is working on is 15 s."""
_SOCKETS = "sizebook-ha-"
LOG_FOLDERS = ("gc", "logs")
COMPILERS = ("C1 Compiler", "C2 Compiler")
"""How the names of the threads begin in which a HotSpot JVM compiles."""
"""Folders of a session in which processes write what belongs into a trial's bundle."""


@dataclass
class RunningStack:
    """A started deployment and what others need to know of it."""

    nodes: list[Node] = field(default_factory=list)
    cluster: postgres.Cluster | None = None
    database: HostProcess | None = None
    database_host: Host | None = None
    balancer: Balancer | None = None
    servers: list[Server] = field(default_factory=list)
    """Systems of a chapter's own that were started."""
    given: dict[str, str] = field(default_factory=dict)
    """Role to URL of what runs already, and is not ours."""
    watched: list[Given] = field(default_factory=list)
    """Those of them that may tell something of themselves."""
    versions: dict[str, str] = field(default_factory=dict)
    folder: Path = Path()
    """Logs and data of this start."""
    hosts: dict[str, Host] = field(default_factory=dict)
    """Hosts that the deployment brought along, by name."""
    host_specs: tuple[HostSpec, ...] = ()
    """What these may use of this machine once the stack is pinned."""
    links: dict[str, Mapping[str, LinkEnd]] = field(default_factory=dict)
    """Host, this machine included, to its ends of links by what they lead to."""
    addresses_elsewhere: dict[str, str] = field(default_factory=dict)
    """Address to name of hosts that are other machines, and of this one as they reach it: what
    goes into no bundle."""
    missed: set[str] = field(default_factory=set)
    """Names of the nodes that ended as they were meant to, and do not run now."""
    hung: set[str] = field(default_factory=set)
    """Names of the nodes that did not run for a while; what they had to do then is done late."""

    def url(self, role: str) -> str:
        """Return the base URL at which a role is reached; KeyError if it does not run."""
        return self.targets()[role]

    def targets(self) -> dict[str, str]:
        """Return role name to base URL; that of ``app`` is the balancer's where there is one."""
        urls = self.given | {node.role: node.url for node in reversed(self.nodes)}
        urls |= {server.role.role: server.url for server in self.servers}
        return urls | ({"app": self.balancer.url} if self.balancer else {})

    def addresses(self) -> dict[str, str]:
        """Return role name to the address of its remote procedures, where a role has them."""
        return {node.role: node.rpc_address for node in self.nodes if node.rpc_address}

    def processes(self) -> dict[str, HostProcess]:
        """Return name to process, in start order."""
        found = {"database-1": self.database} if self.database else {}
        found |= {node.name: node.process for node in self.nodes}
        found |= {server.name: server.process for server in self.servers}
        return found | ({"balancer-1": self.balancer.process} if self.balancer else {})

    def know_hosts(
        self,
        hosts: Mapping[str, Host],
        specs: tuple[HostSpec, ...],
        callers: Sequence[HostSpec] = (),
    ) -> None:
        """Keep the deployment's own hosts, and what their kernels are, with the trial."""
        self.host_specs = specs
        self.hosts = {name: host for name, host in hosts.items() if name != LOCAL}
        self.links = {name: host.links for name, host in hosts.items() if host.links}
        for name, host in self.hosts.items():
            self.versions[f"host {name}"] = f"{host.mode}, kernel {host.facts().kernel}"
        if callers or any(spec.is_elsewhere for spec in specs):
            self.addresses_elsewhere = {host.address: name for name, host in hosts.items()}

    def know_targets(self, targets: Mapping[str, str]) -> None:
        """Keep the URLs of what runs already, and their names out of the bundle."""
        self.given = dict(targets)
        for role, url in targets.items():
            if not (parts := read_url(url)).is_own:
                self.addresses_elsewhere[parts.host] = f"target {role}"

    def on_host(self, host: Host) -> dict[str, HostProcess]:
        """Return name to process of what runs on a host."""
        placed = {node.name: node.host for node in self.nodes}
        placed |= {server.name: server.host for server in self.servers}
        if self.database_host is not None:
            placed["database-1"] = self.database_host
        return {
            name: process for name, process in self.processes().items() if placed.get(name) is host
        }

    def bring(self) -> None:
        """Have the logs that processes on other hosts wrote in ``folder`` on this machine."""
        for host in self.hosts.values():
            for kind in LOG_FOLDERS:
                host.bring(self.folder / kind)

    def node(self, name: str) -> Node:
        """Return the node of that name. Raises TrialError if there is none."""
        for node in self.nodes:
            if node.name == name:
                return node
        raise TrialError(
            found=f"no node {name!r} in this deployment",
            expected=f"one of {', '.join(node.name for node in self.nodes)}",
            next_step="correct the disturbance in the notebook",
        )

    def kill(self, name: str) -> None:
        """End a node at once, as a power cut would (SIGKILL)."""
        node = self.node(name)
        self.missed.add(name)
        node.host.stop(node.process, grace_s=0.0)

    def suspend(self, name: str) -> None:
        """Let a node hang (SIGSTOP): connections to it are accepted, and nobody answers."""
        node = self.node(name)
        self.hung.add(name)
        node.process.signal(signal.SIGSTOP)

    def resume(self, name: str) -> None:
        """Let a node that hangs go on."""
        self.node(name).process.signal(signal.SIGCONT)

    def stop(self, name: str) -> None:
        """Ask a node to end, which it does when it has answered what it is working on."""
        node = self.node(name)
        self.missed.add(name)
        node.host.stop(node.process, grace_s=_STOPPED_WITHIN_S)

    def start_again(self, name: str, heap_mib: int | None = None) -> float:
        """Start a node that has ended with its ports and data; return seconds until it is ready.

        ``heap_mib`` gives it another heap than the deployment says. Raises NodeEndedError if it
        ends before it is ready, TrialError if that takes too long, HostLacksError if the host has
        not the memory for it.
        """
        node = self.node(name)
        node.heap_mib = heap_mib or node.role_heap_mib
        if node.host.name == LOCAL:
            check_free(node.heap_mib + NATIVE_MIB)
        node.started_s = time.monotonic()
        node.process = node.start(node.heap_mib)
        self.missed.discard(name)  # now: whoever looks meanwhile must not take its end for another
        if node.cpus:  # at once: it starts while others are measured
            node.host.set_cpus(node.process, node.cpus)
        wait_ready([node])
        return node.ready_s

    @property
    def is_as_deployed(self) -> bool:
        """Whether every node runs, or should, with the heap that the deployment says.

        One that hung has work left over from then.
        """
        strange = self.missed or self.hung
        return not strange and all(node.heap_mib == node.role_heap_mib for node in self.nodes)

    def spread(self, cpus: CpuSet) -> None:
        """Let hosts of this machine run on all of these CPUs until ``pin``.

        A host keeps its own where a node on it would count these, since it was not told how many it
        will have.
        """
        for spec in self._pinned_hosts():
            nodes = [node for node in self.nodes if node.host.name == spec.name]
            if nodes and all(node.is_told_cpus for node in nodes):
                self.hosts[spec.name].set_limits(spec.cpu_limit, spec.cpu_weight, cpus)

    def favour_compilers(self) -> None:
        """Let the compilers that the JVMs have by now go before all else, until ``pin``."""
        for node in self.nodes:
            for compiler in COMPILERS:
                node.host.prefer(node.process, compiler)

    def pin(self) -> None:
        """Move hosts and nodes to the CPUs of the deployment; until then they may use all.

        No thread of a node goes before others from then on.

        Before it comes what is not measured, start and conditioning: with the compiler's threads
        on CPUs of their own a JVM is up and warm in half the time.
        """
        for spec in self._pinned_hosts():
            self.hosts[spec.name].set_limits(spec.cpu_limit, spec.cpu_weight, spec.cpus)
        for node in self.nodes:
            node.host.let_go(node.process)
            if node.cpus:
                node.host.set_cpus(node.process, node.cpus)

    def _pinned_hosts(self) -> Iterator[HostSpec]:
        return (spec for spec in self.host_specs if spec.cpus and not spec.is_elsewhere)

    def endings(self) -> tuple[Ending, ...]:
        """Return how processes ended that nobody misses, in start order."""
        heaps = {node.name: node.heap_mib for node in self.nodes}
        found = (
            ending_of(process, heaps.get(name))
            for name, process in self.processes().items()
            if name not in self.missed
        )
        return tuple(ending for ending in found if ending is not None)


class StackRunner:
    """Starts and stops deployments of one build, on this machine and the hosts they bring along."""

    def __init__(
        self,
        build: StackBuild | None,
        local: LocalHost,
        state: Path,
        inventory: Inventory | None = None,
    ) -> None:
        """``build`` is None where there is no reference stack, and none of its roles is started.

        ``state`` is the project's; ``inventory`` names the other machines that deployments may use.
        """
        self._build = build
        self._state = state
        self._inventory = inventory
        self._local = local
        self._hosting = Hosting(build, local, state, inventory)

    @contextlib.contextmanager
    def running(
        self, deployment: Deployment, session: str, callers: Sequence[HostSpec] = ()
    ) -> Iterator[RunningStack]:
        """Start a deployment, yield it when every role is ready, stop it in every case.

        ``callers`` are other machines from which its load comes.

        Roles start side by side: a node connects to database and broker only when it is asked
        whether it is ready. Raises HostLacksError if the host is too small for the deployment or
        lacks a program, TrialError if a role does not come up or does not run any more.
        """
        check_memory(deployment)
        folder = self._state / "run" / session
        stack = RunningStack(folder=folder)
        with contextlib.ExitStack() as undo:
            undo.callback(shutil.rmtree, folder, ignore_errors=True)
            folder.mkdir(parents=True)
            hosts = undo.enter_context(self._hosting.opened(deployment, callers))
            stack.know_hosts(hosts, deployment.hosts, callers)
            stack.know_targets(given_urls(deployment, self._inventory))
            stack.watched = find_given(deployment, stack.given)
            started: list[tuple[Host, HostProcess]] = []
            planned = None
            if (database := deployment.database()) is not None:
                host = hosts[database.host]
                planned = self._databases().plan(database, host, folder, undo)
                stack.cluster, stack.database_host = planned.cluster, host
                stack.versions["postgresql"] = planned.version
            undo.callback(_stop_together, stack, started)
            self._start_nodes(deployment, stack, hosts)
            if planned is not None:
                stack.database = planned.serve(lambda process: started.append((host, process)))
            wait_ready(stack.nodes)
            self._start_servers(deployment, stack, hosts)
            stack.versions |= {
                f"java {node.name}": java for node in stack.nodes if (java := node.printed_java())
            }
            if (role := deployment.balancer()) is not None:
                self._start_balancer(role, hosts[role.host], stack, started, undo)
            yield stack

    def remove_partial(self) -> None:
        """Remove the templates that killed runs left half-made."""
        if self._build is not None:
            self._databases().remove_partial()

    def _databases(self) -> Databases:
        return Databases(needed(self._build), self._local, self._state)

    def _start_nodes(
        self, deployment: Deployment, stack: RunningStack, hosts: Mapping[str, Host]
    ) -> None:
        """Start the nodes of all roles, without waiting for them; ``pin`` comes later."""
        environment = stack.cluster.environment() if stack.cluster else {}
        roles = deployment.jvm_roles()
        if not roles:
            return
        starter = NodeStarter(needed(self._build), self._hosting.archive, stack.folder, environment)
        for role in roles:
            targets, addresses = stack.targets(), stack.addresses()
            for number in range(1, role.nodes + 1):
                name = f"{role.role}-{number}"
                node = starter.start(name, role, hosts[role.host_of(number)], targets, addresses)
                stack.nodes.append(node)
                stack.versions[f"jvm {role.role}"] = node.jvm.title

    def _start_servers(
        self, deployment: Deployment, stack: RunningStack, hosts: Mapping[str, Host]
    ) -> None:
        """Start the systems of a chapter's own one after the other: each may call those before."""
        starter = ServerStarter(self._state.parent, self._state, stack.folder)
        for role in deployment.own_roles():
            if isinstance(role, ServerRole):
                server = starter.start(role, hosts[role.host], stack.targets(), stack.servers)
                if said := starter.version(server):
                    stack.versions[role.role] = said

    def _start_balancer(
        self,
        role: BalancerRole,
        host: Host,
        stack: RunningStack,
        started: list[tuple[Host, HostProcess]],
        undo: contextlib.ExitStack,
    ) -> None:
        program = balancer.find_program()
        sockets = Path(tempfile.mkdtemp(prefix=_SOCKETS))  # short enough for a UNIX socket
        undo.callback(shutil.rmtree, sockets, ignore_errors=True)
        admin, port = sockets / "admin", host.free_port()
        apps = [node for node in stack.nodes if node.role == "app"]
        file = stack.folder / "haproxy.cfg"
        file.write_text(balancer.configuration(role, apps, host.address, port, admin))
        process = host.start(
            "balancer-1",
            [program, "-db", "-f", str(file)],
            log=stack.folder / "logs" / "balancer-1.log",
            cpus=role.cpus,
            env={"PATH": os.environ.get("PATH", os.defpath)},
            stop_signal=signal.SIGUSR1,
        )
        started.append((host, process))
        stack.balancer = Balancer(process, f"http://{host.address}:{port}", admin)
        stack.balancer.wait_ready()
        stack.versions["haproxy"] = stack.balancer.version()


def _stop_together(stack: RunningStack, started: Sequence[tuple[Host, HostProcess]]) -> None:
    """Stop processes side by side: each takes a moment to end in good order."""
    every = [*started, *((node.host, node.process) for node in stack.nodes)]
    every += [(server.host, server.process) for server in stack.servers]
    with ThreadPoolExecutor(max(1, len(every))) as pool:
        list(pool.map(lambda one: one[0].stop(one[1]), every))
