"""A deployment that runs: started in order, waited for, stopped in reverse, nothing left."""

from __future__ import annotations

import contextlib
import http.client
import os
import secrets
import shutil
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
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
_LAYOUT = 3
"""Of a template; a new number makes templates anew."""
_MAKING = ".making-"


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
    started_s: float = field(default_factory=time.monotonic)
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

        Roles start side by side: a node connects to the database only when it is asked whether it
        is ready. Raises HostLacksError if the host is too small for the deployment or lacks a
        program, TrialError if a role does not come up.
        """
        check_memory(deployment)
        folder = self._state / "run" / session
        stack = RunningStack(folder=folder)
        database = deployment.database()
        with contextlib.ExitStack() as undo:
            undo.callback(shutil.rmtree, folder, ignore_errors=True)
            folder.mkdir(parents=True)
            started: list[tuple[Host, HostProcess]] = []
            serve = None
            if database is not None:
                serve = self._plan_database(database, stack, started, undo)
            undo.callback(_stop_together, started)
            for jvm_role in deployment.jvm_roles():
                self._start_nodes(jvm_role, stack, started)
            if serve is not None:
                serve()
            _wait_ready(stack.nodes, _READY_TIMEOUT_S)
            yield stack

    def remove_partial(self) -> None:
        """Remove the templates that killed runs left half-made."""
        for folder in (self._state / "clusters").glob(f"{_MAKING}*"):
            shutil.rmtree(folder, ignore_errors=True)

    def _plan_database(
        self,
        role: DatabaseRole,
        stack: RunningStack,
        started: list[tuple[Host, HostProcess]],
        undo: contextlib.ExitStack,
    ) -> Callable[[], None]:
        """Settle where the database will be, so that nodes can be told; return what starts it."""
        host = self._hosts[role.host]
        binaries = postgres.find_binaries(self._build, self._state)
        template = self._template(role, host, binaries)
        cluster = _new_cluster(stack.folder / "postgres", host, binaries, undo)
        stack.cluster = cluster
        stack.versions["postgresql"] = f"{binaries.version} ({binaries.origin})"

        def serve() -> None:
            copy = host.start(
                "copy of the database",
                postgres.copy_command(template, cluster.folder),
                log=stack.folder / "logs" / "copy.log",
                env={"PATH": os.environ.get("PATH", os.defpath)},
            )
            try:
                _expect_success(copy, 120.0, "a copy of the database's template", "free disk space")
            finally:
                host.stop(copy)
            # Thrown away afterwards, so "immediate": no checkpoint, no waiting for sessions.
            stack.database = _serve(cluster, role, host, binaries, signal.SIGQUIT)
            started.append((host, stack.database))
            _wait_serving(cluster, stack.database)
            cluster.set_password()

        return serve

    def _template(
        self, role: DatabaseRole, host: Host, binaries: postgres.PostgresBinaries
    ) -> Path:
        """Return a stopped cluster with the data loaded, made once a build and data set."""
        name = f"{binaries.version}-{self._build.fingerprint[:12]}-{role.flights}-{role.data_seed}"
        template = self._state / "clusters" / f"{name}-{_LAYOUT}"
        if template.is_dir():
            return template
        work = template.with_name(f"{_MAKING}{secrets.token_hex(4)}")
        with contextlib.ExitStack() as undo:
            undo.callback(shutil.rmtree, work, ignore_errors=True)
            self._init_cluster(binaries, work / "data", host)
            with contextlib.ExitStack() as server:
                cluster = _new_cluster(work / "data", host, binaries, server)
                # SIGINT is "fast": ends sessions and writes a checkpoint.
                process = _serve(cluster, role, host, binaries, signal.SIGINT)
                server.callback(host.stop, process)
                _wait_serving(cluster, process)
                postgres.create_database(cluster)
                cluster.set_password()
                self._load(role, cluster, host, work)
                postgres.drop_spare_databases(cluster)
            (work / "data").rename(template)
        return template

    def _init_cluster(self, binaries: postgres.PostgresBinaries, data: Path, host: Host) -> None:
        """Create an empty cluster; raises TrialError with initdb's last words."""
        init = host.start(
            "initdb",
            postgres.init_command(binaries, data),
            log=data.parent / "logs" / "initdb.log",
            env=dict(os.environ),
            cwd=Path("/"),
        )
        try:
            see = "see 'sizebook doctor' for PostgreSQL, and whether the disk has room"
            _expect_success(init, 120.0, "a new database cluster", see)
        finally:
            host.stop(init)

    def _load(self, role: DatabaseRole, cluster: postgres.Cluster, host: Host, work: Path) -> None:
        command = [str(choose_jvm("").java), "-cp", self._build.class_path]
        command += ["refstack.load.LoadMain", "--flights", str(role.flights)]
        command += ["--seed", str(role.data_seed)]
        loader = host.start(
            "loader", command, log=work / "logs" / "loader.log", env=cluster.environment()
        )
        try:
            see = "run 'sizebook stack up' and see its log"
            _expect_success(loader, 120.0, f"{role.flights} flights in the database", see)
        finally:
            host.stop(loader)

    def _start_nodes(
        self, role: JvmRole, stack: RunningStack, started: list[tuple[Host, HostProcess]]
    ) -> None:
        """Start the nodes of a role, without waiting for them; ``pin`` comes later.

        A node is told from the beginning how many CPUs it will have (-XX:ActiveProcessorCount),
        so that its collector and pools are those of a JVM that was pinned from the start.
        """
        host = self._hosts[role.host]
        jvm = choose_jvm(role.jvm)
        nodes: list[Node] = []
        for number in range(1, role.nodes + 1):
            nodes.append(self._start_node(f"{role.role}-{number}", role, jvm, host, stack))
            started.append((host, nodes[-1].process))
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
            if (archive := class_data_archive(self._build, jvm, host, self._state)) is not None:
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


def _stop_together(started: Sequence[tuple[Host, HostProcess]]) -> None:
    """Stop processes side by side: each takes a moment to end in good order."""
    with ThreadPoolExecutor(max(1, len(started))) as pool:
        list(pool.map(lambda one: one[0].stop(one[1]), started))


def _new_cluster(
    data: Path, host: Host, binaries: postgres.PostgresBinaries, undo: contextlib.ExitStack
) -> postgres.Cluster:
    """Return a cluster that does not run yet, with a port and a password of its own."""
    sockets = postgres.socket_folder(binaries)
    undo.callback(shutil.rmtree, sockets, ignore_errors=True)
    return postgres.Cluster(data, sockets, host.free_port(), secrets.token_urlsafe(18))


def _serve(
    cluster: postgres.Cluster,
    role: DatabaseRole,
    host: Host,
    binaries: postgres.PostgresBinaries,
    stop_signal: int,
) -> HostProcess:
    """Start a server on a cluster, without waiting for it."""
    return host.start(
        "database-1",
        postgres.server_command(binaries, cluster.folder, cluster.sockets, cluster.port, role),
        log=cluster.folder.parent / "logs" / "database-1.log",
        cpus=role.cpus,
        cwd=Path("/"),
        stop_signal=stop_signal,
    )


def _wait_serving(cluster: postgres.Cluster, process: HostProcess) -> None:
    cluster.wait_ready(lambda: process.log_tail(3) if process.exit_code is not None else None)


def _expect_success(process: HostProcess, timeout_s: float, expected: str, see: str) -> None:
    """Wait until a process has ended well; raise TrialError with its last words otherwise."""
    code = process.wait(timeout_s)
    if code != 0:
        what = f"{process.name}: " + (f"ended with {code}" if code is not None else "does not end")
        raise TrialError(found=f"{what}: {process.log_tail(1)}", expected=expected, next_step=see)


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


def _wait_ready(nodes: Sequence[Node], timeout_s: float) -> None:
    """Wait until all nodes say they are ready; raise TrialError if one ends or takes too long.

    Until then a JVM's optimising compiler (thread "C2 CompilerThre") waits for everybody else:
    of a start's CPU time it takes half, for code that hardly any request runs.
    """
    waiting, unheld = list(nodes), list(nodes)
    while waiting:
        unheld = [n for n in unheld if not n.host.hold_back(n.process, "C2 Compiler")]
        for node in tuple(waiting):
            seconds = time.monotonic() - node.started_s
            if _answers(node):
                node.ready_s = seconds
                waiting.remove(node)
            elif (ended := node.process.exit_code) is not None or seconds > timeout_s:
                what = f"not ready in {timeout_s:g} s" if ended is None else f"ended with {ended}"
                raise TrialError(
                    found=f"node {node.name} {what}: {node.process.log_tail(3)}",
                    expected="a node that becomes ready",
                    next_step="try the same deployment by hand with 'sizebook stack up'",
                )
        time.sleep(0.02 if waiting else 0.0)
    for node in nodes:
        node.host.let_go(node.process)


def _answers(node: Node) -> bool:
    port = node.management_port or int(node.url.rsplit(":", 1)[1])
    path = "/actuator/health/readiness" if node.management_port else "/"
    connection = http.client.HTTPConnection(node.host.address, port, timeout=2)
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
