"""A deployment that runs: started in order, waited for, stopped in reverse, nothing left."""

from __future__ import annotations

import contextlib
import http.client
import secrets
import shutil
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from sizebook.hosts import Host, HostProcess
from sizebook.model.deployment import CpuSet, DatabaseRole, Deployment, JvmRole
from sizebook.model.errors import HostLacksError, TrialError
from sizebook.stack import postgres
from sizebook.stack.archive import class_data_archive
from sizebook.stack.build import StackBuild
from sizebook.stack.jvms import Jvm, choose_jvm
from sizebook.stack.settings import node_properties

_NATIVE_MIB = 220
"""What a node takes beside its heap (code, metaspace, threads), measured on the reference stack."""
_DATABASE_MIB = 400
_READY_TIMEOUT_S = 120.0


@dataclass
class Node:
    """One started JVM."""

    name: str
    """Role and number, such as ``app-1``."""
    role: str
    process: HostProcess
    url: str
    management_port: int | None
    gc_log: Path
    jvm: Jvm
    host: Host
    cpus: CpuSet
    ready_s: float = 0.0
    """Seconds from start to readiness."""


@dataclass
class RunningStack:
    """A started deployment and what others need to know of it."""

    nodes: list[Node] = field(default_factory=list)
    cluster: postgres.Cluster | None = None
    database: HostProcess | None = None
    versions: dict[str, str] = field(default_factory=dict)
    folder: Path = Path()
    """Logs and data of this start."""

    def url(self, role: str) -> str:
        """Return the base URL at which a role is reached; KeyError if it does not run."""
        for node in self.nodes:
            if node.role == role:
                return node.url
        raise KeyError(role)

    def targets(self) -> dict[str, str]:
        """Return role name to base URL."""
        return {node.role: node.url for node in reversed(self.nodes)}

    def processes(self) -> dict[str, HostProcess]:
        """Return name to process, in start order."""
        found = {"database-1": self.database} if self.database else {}
        return found | {node.name: node.process for node in self.nodes}

    def pin(self) -> None:
        """Move the nodes to the CPUs of the deployment; until then they may use all.

        Before it comes what is not measured, start and conditioning: with the compiler's threads
        on CPUs of their own a JVM is up and warm in half the time.
        """
        for node in self.nodes:
            if node.cpus:
                node.host.set_cpus(node.process, node.cpus)

    def died(self) -> str | None:
        """Return one line on the first process that ended by itself, or None."""
        for name, process in self.processes().items():
            if process.exit_code is not None:
                last = process.log_tail(1)
                return f"{name} ended with {process.exit_code}: {last}"
        return None


class StackRunner:
    """Starts and stops deployments of one build on given hosts."""

    def __init__(self, build: StackBuild, hosts: Mapping[str, Host], state: Path) -> None:
        self._build = build
        self._hosts = hosts
        self._state = state

    @contextlib.contextmanager
    def running(self, deployment: Deployment, session: str) -> Iterator[RunningStack]:
        """Start a deployment, yield it when every role is ready, stop it in every case.

        Raises HostLacksError if the host is too small for it or lacks a program, TrialError if a
        role does not come up.
        """
        check_memory(deployment)
        folder = self._state / "run" / session
        stack = RunningStack(folder=folder)
        with contextlib.ExitStack() as undo:
            undo.callback(shutil.rmtree, folder, ignore_errors=True)
            folder.mkdir(parents=True)
            if (role := deployment.database()) is not None:
                self._start_database(role, stack, undo)
            for jvm_role in deployment.jvm_roles():
                self._start_nodes(jvm_role, stack, undo)
            yield stack

    def _start_database(
        self, role: DatabaseRole, stack: RunningStack, undo: contextlib.ExitStack
    ) -> None:
        host = self._hosts[role.host]
        binaries = postgres.find_binaries(self._build, self._state)
        template = self._template(role, host, binaries)
        data = stack.folder / "postgres"
        postgres.copy_cluster(template, data)
        stack.cluster, stack.database = self._serve(data, role, host, binaries, undo)
        stack.cluster.set_password()
        stack.versions["postgresql"] = f"{binaries.version} ({binaries.origin})"

    def _serve(
        self,
        data: Path,
        role: DatabaseRole,
        host: Host,
        binaries: postgres.PostgresBinaries,
        undo: contextlib.ExitStack,
    ) -> tuple[postgres.Cluster, HostProcess]:
        sockets = postgres.socket_folder(binaries)
        undo.callback(shutil.rmtree, sockets, ignore_errors=True)
        cluster = postgres.Cluster(data, sockets, host.free_port(), secrets.token_urlsafe(18))
        process = host.start(
            "database-1",
            postgres.server_command(binaries, data, sockets, cluster.port, role),
            log=data.parent / "logs" / "database-1.log",
            cpus=role.cpus,
            cwd=Path("/"),
            stop_signal=signal.SIGINT,  # "fast": ends sessions, writes a checkpoint
        )
        undo.callback(host.stop, process)
        cluster.wait_ready(lambda: process.log_tail(3) if process.exit_code is not None else None)
        return cluster, process

    def _template(
        self, role: DatabaseRole, host: Host, binaries: postgres.PostgresBinaries
    ) -> Path:
        """Return a stopped cluster with the data loaded, made once a build and data set."""
        name = f"{binaries.version}-{self._build.fingerprint[:12]}-{role.flights}-{role.data_seed}"
        template = self._state / "clusters" / name
        if template.is_dir():
            return template
        work = template.with_name(f"{name}.{secrets.token_hex(4)}")
        with contextlib.ExitStack() as undo:
            undo.callback(shutil.rmtree, work, ignore_errors=True)
            postgres.init_cluster(binaries, work / "data")
            with contextlib.ExitStack() as server:
                cluster, _ = self._serve(work / "data", role, host, binaries, server)
                postgres.create_database(cluster)
                cluster.set_password()
                self._load(role, cluster, host, work)
            (work / "data").rename(template)
        return template

    def _load(self, role: DatabaseRole, cluster: postgres.Cluster, host: Host, work: Path) -> None:
        command = [str(choose_jvm("").java), "-cp", self._build.class_path]
        command += ["refstack.load.LoadMain", "--flights", str(role.flights)]
        command += ["--seed", str(role.data_seed)]
        loader = host.start(
            "loader", command, log=work / "logs" / "loader.log", env=cluster.environment()
        )
        try:
            code = loader.wait(120.0)
        finally:
            host.stop(loader)
        if code != 0:
            raise TrialError(
                found=f"the data loader ended with {code}: {loader.log_tail(1)}",
                expected=f"{role.flights} flights in the database",
                next_step="run 'sizebook stack up' and see its log",
            )

    def _start_nodes(self, role: JvmRole, stack: RunningStack, undo: contextlib.ExitStack) -> None:
        """Start the nodes of a role and wait until they are ready; ``pin`` comes later.

        A node is told from the beginning how many CPUs it will have (-XX:ActiveProcessorCount),
        so that its collector and pools are those of a JVM that was pinned from the start.
        """
        host = self._hosts[role.host]
        jvm = choose_jvm(role.jvm)
        started = time.monotonic()
        nodes: list[Node] = []
        undo.callback(_stop_together, nodes)
        for number in range(1, role.nodes + 1):
            nodes.append(self._start_node(f"{role.role}-{number}", role, jvm, host, stack))
        for node in nodes:
            _wait_ready(node, _READY_TIMEOUT_S)
            node.ready_s = time.monotonic() - started
        stack.nodes += nodes
        stack.versions[f"jvm {role.role}"] = jvm.title

    def _start_node(
        self, name: str, role: JvmRole, jvm: Jvm, host: Host, stack: RunningStack
    ) -> Node:
        port, management = host.free_port(), host.free_port()
        gc_log = stack.folder / "gc" / f"{name}.log"
        gc_log.parent.mkdir(exist_ok=True)
        environment = {"LC_ALL": "C.UTF-8", "TZ": "UTC"}
        if stack.cluster and "backend" not in stack.targets():  # who holds the data talks to it
            environment |= stack.cluster.environment()
        command = [str(jvm.java), f"-Xms{role.heap_mib}m", f"-Xmx{role.heap_mib}m", *role.flags]
        if role.cpus:
            command.append(f"-XX:ActiveProcessorCount={len(role.cpus)}")
        command += [f"-Xlog:gc*,safepoint:file={gc_log}:uptime,level,tags:filecount=0"]
        if role.role == "nullserver":
            management = 0
            command += ["-cp", self._build.class_path, "refstack.nullserver.NullServer"]
            command += ["--port", str(port)]
            for key, value in role.settings.items():
                command += [f"--{key}", str(value)]
        else:
            if (archive := class_data_archive(self._build, jvm, self._state)) is not None:
                command.append(f"-XX:SharedArchiveFile={archive}")
            properties = node_properties(role, stack.targets(), port, management)
            command += ["-jar", self._build.class_path]
            command += [f"--{key}={value}" for key, value in properties.items()]
        process = host.start(
            name,
            command,
            log=stack.folder / "logs" / f"{name}.log",
            env=environment,
            cwd=stack.folder,
        )
        url = f"http://{host.address}:{port}"
        return Node(name, role.role, process, url, management or None, gc_log, jvm, host, role.cpus)


def _stop_together(nodes: Sequence[Node]) -> None:
    """Stop the nodes of a role side by side: each takes a second to end in good order."""
    with ThreadPoolExecutor(max(1, len(nodes))) as pool:
        list(pool.map(lambda node: node.host.stop(node.process), nodes))


def check_memory(deployment: Deployment, available_mib: int | None = None) -> None:
    """Raise HostLacksError if the host has not the memory that the layout needs."""
    if available_mib is None:
        available_mib = psutil.virtual_memory().available // 2**20
    needed = sum(role.nodes * (role.heap_mib + _NATIVE_MIB) for role in deployment.jvm_roles())
    needed += _DATABASE_MIB if deployment.database() else 0
    if needed > available_mib:
        raise HostLacksError(
            found=f"{available_mib} MiB of free memory",
            expected=f"{needed} MiB for the heaps and what the processes take beside them",
            next_step="end other programs, or choose fewer nodes or smaller heaps",
        )


def _wait_ready(node: Node, timeout_s: float) -> None:
    """Wait until a node says it is ready; raise TrialError if it ends or takes too long."""
    deadline = time.monotonic() + timeout_s
    port = node.management_port or int(node.url.rsplit(":", 1)[1])
    path = "/actuator/health/readiness" if node.management_port else "/"
    while not _answers(node.host.address, port, path):
        ended = node.process.exit_code
        if ended is not None or time.monotonic() > deadline:
            what = f"ended with {ended}" if ended is not None else f"not ready in {timeout_s:g} s"
            raise TrialError(
                found=f"node {node.name} {what}: {node.process.log_tail(3)}",
                expected="a node that becomes ready",
                next_step="try the same deployment by hand with 'sizebook stack up'",
            )
        time.sleep(0.05)


def _answers(address: str, port: int, path: str) -> bool:
    connection = http.client.HTTPConnection(address, port, timeout=2)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
