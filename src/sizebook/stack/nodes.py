"""JVM nodes: how one is started, told what it is there for, and started again."""

from __future__ import annotations

import http.client
import itertools
import os
import re
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sizebook.hosts import Host, HostProcess
from sizebook.model.deployment import LOCAL, CpuSet, JvmRole
from sizebook.stack.build import StackBuild
from sizebook.stack.endings import LAST_RESORT
from sizebook.stack.jvms import Jvm, choose_jvm
from sizebook.stack.settings import node_properties

_LOGGED = "gc*,safepoint"
_LINES = "uptime,timenanos,level,tags:filecount=0"
_UNSAFE = "--sun-misc-unsafe-memory-access=allow"
"""From Java 24 on; without it Netty cannot free what Artemis allocates when it loads a journal
("Cannot clean arbitrary ByteBuffer instances"), and no broker comes back on its own data."""
_UNSAFE_FROM = 24
_PRINTED = re.compile(r"\bready role=.*\bjava=(\S+)")
"""In a line of a node: ``ready role=app port=8080 management=8081 seconds=2.9 java=17.0.15+6``."""
_READY_LINES = 50
MAINS = {"nullserver": "refstack.nullserver.NullServer", "broker": "refstack.broker.BrokerMain"}
"""Roles with a small main of their own, which takes ``--name value``; others are Spring nodes."""


@dataclass
class Node:
    """One JVM of a deployment."""

    name: str
    """Role and number, such as ``app-1``."""
    role: str
    process: HostProcess
    url: str
    management_port: int | None
    jvm: Jvm
    host: Host
    cpus: CpuSet
    role_heap_mib: int
    """Heap that the deployment says."""
    start: Callable[[int], HostProcess]
    """Starts it with a heap of so many MiB, at the same ports and with the same data."""
    is_told_cpus: bool = False
    """Whether it was told how many CPUs it will have, and does not count those that it has now."""
    rpc_address: str = ""
    """Host and port of its binary remote procedure calls, if its role has them."""
    started_s: float = field(default_factory=time.monotonic)
    ready_s: float = 0.0
    """Seconds from start to readiness."""
    heap_mib: int = field(init=False)
    """Heap that it runs with."""

    def __post_init__(self) -> None:
        self.heap_mib = self.role_heap_mib

    def printed_java(self) -> str:
        """Return the version of Java that the node itself printed when it was ready, or ""."""
        found = _PRINTED.search(self.process.log_tail(_READY_LINES))
        return found[1] if found else ""

    def answers(self) -> bool:
        """Return whether the node says that it is ready."""
        port = self.management_port or int(self.url.rsplit(":", 1)[1])
        path = "/actuator/health/readiness" if self.management_port else "/"
        connection = http.client.HTTPConnection(self.host.address, port, timeout=2)
        try:
            connection.request("GET", path)
            return connection.getresponse().status == 200
        except (OSError, http.client.HTTPException):
            return False
        finally:
            connection.close()


Archives = Callable[[Jvm], Path | None]
"""Gives the class-data archive that this build's nodes use on a JVM."""


class NodeStarter:
    """Starts the nodes of one deployment."""

    def __init__(
        self, build: StackBuild, archives: Archives, folder: Path, database: Mapping[str, str]
    ) -> None:
        """``archives`` gives a JVM's class-data archive, or None; ``database`` is what a node needs
        in its environment to reach the data."""
        self._build = build
        self._archives = archives
        self._folder = folder
        self._database = database
        self._secret = secrets.token_hex(16)
        """Password of the technical users between the nodes of this deployment."""

    def start(
        self,
        name: str,
        role: JvmRole,
        host: Host,
        targets: Mapping[str, str],
        addresses: Mapping[str, str],
    ) -> Node:
        """Start one node, without waiting for it; pinning it comes later.

        It is told from the beginning how many CPUs it will have (-XX:ActiveProcessorCount), so
        that its collector and pools are those of a JVM that was pinned from the start. ``targets``
        are the URLs of roles that run already, ``addresses`` those of their remote procedures.
        """
        jvm = choose_jvm(role.jvm)
        port, management = host.free_port(), host.free_port()
        gc_logs = self._folder / "gc"
        environment = {"LC_ALL": "C.UTF-8", "TZ": "UTC"}
        environment |= {"PATH": os.environ.get("PATH", os.defpath)}  # a node may start programs
        environment |= {"REFSTACK_CONNECTOR_PASSWORD": self._secret}
        if "backend" not in targets:  # who holds the data talks to it
            environment |= self._database
        data, temporary = self._folder / "data" / name, self._folder / "tmp" / name
        for own in (gc_logs, data, temporary):
            own.mkdir(parents=True, exist_ok=True)
            host.put(own, own)
        # Tomcat leaves its folder of temporary files behind, however it ends.
        command = [LAST_RESORT, f"-Djava.io.tmpdir={temporary}", *role.flags]
        command += [_UNSAFE] if int(jvm.feature) >= _UNSAFE_FROM else []
        if role.cpus:
            command.append(f"-XX:ActiveProcessorCount={len(role.cpus)}")
        rpc = host.free_port() if role.role == "backend" else 0
        if role.role in MAINS:
            management = management if role.role == "broker" else 0
            command += ["-cp", self._build.class_path, MAINS[role.role]]
            command += ["--address", host.address, "--port", str(port)]
            if role.role == "broker":
                command += ["--management-port", str(management), "--data", str(data)]
            command += [w for key, value in role.settings.items() for w in (f"--{key}", str(value))]
        else:
            archive = self._archives(jvm)
            command += [f"-XX:SharedArchiveFile={archive}"] if archive is not None else []
            properties = node_properties(role, targets, addresses, host.address, port, management)
            properties |= {"refstack.node.name": name, "refstack.node.data": str(data)}
            properties |= {"refstack.rpc.port": str(rpc)} if rpc else {}
            command += ["-jar", self._build.class_path]
            command += [f"--{key}={value}" for key, value in properties.items()]

        starts = itertools.count(1)

        def start(heap_mib: int) -> HostProcess:
            number = next(starts)  # a JVM empties the log that it is given
            log = gc_logs / (f"{name}.log" if number == 1 else f"{name}.{number}.log")
            sizes = [f"-Xms{heap_mib}m", f"-Xmx{heap_mib}m", f"-Xlog:{_LOGGED}:file={log}:{_LINES}"]
            return host.start(
                name,
                [str(jvm.java), *sizes, *command],
                log=self._folder / "logs" / f"{name}.log",
                env=environment,
                cwd=self._folder,
            )

        scheme = "tcp" if role.role == "broker" else "http"
        return Node(
            name,
            role.role,
            start(role.heap_mib),
            f"{scheme}://{host.address}:{port}",
            management or None,
            jvm,
            host,
            role.cpus if host.name == LOCAL else (),
            role.heap_mib,
            start,
            is_told_cpus=bool(role.cpus),
            rpc_address=f"{host.address}:{rpc}" if rpc else "",
        )
