"""A host with an agent, container or guest of any kind: all modes but bare are used through it."""

from __future__ import annotations

import contextlib
import itertools
import signal
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from sizebook.hosts.agents import AgentLine, AgentRefusedError, Endpoint, claim_agent
from sizebook.hosts.base import (
    ClockReading,
    HostProcess,
    HostUsage,
    HostView,
    LinkEnd,
    ProcessView,
)
from sizebook.hosts.boots import Boot
from sizebook.hosts.ports import Ports
from sizebook.hosts.priority import FIRST, LAST
from sizebook.model.bundle import MachineFacts
from sizebook.model.deployment import CpuSet
from sizebook.model.errors import HostLacksError, TrialError
from sizebook.model.modes import Mode

_CLOCK_READINGS = 8
_LINE_BYTES = 400
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C.UTF-8"}
"""Of a process that is started without one of its own."""
_USER, _SYSTEM, _IRQ = ("user", "nice"), ("system",), ("irq", "softirq")


class GuestProcess:
    """A process on a host with an agent."""

    stdin: IO[str] | None = None
    stdout: IO[str] | None = None
    pid: int | None = None

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        line: AgentLine,
        key: int,
        inner_pid: int,
        log: Path,
        stop_signal: int,
    ) -> None:
        self.name = name
        self.command = tuple(command)
        self.inner_pid = inner_pid
        self._line = line
        self._key = key
        self._log = log
        self._stop_signal = stop_signal

    @property
    def exit_code(self) -> int | None:
        return self._line.exit_code(self._key)

    def wait(self, timeout_s: float) -> int | None:
        return self._line.await_end(self._key, timeout_s)

    def log_tail(self, lines: int = 20) -> str:
        try:
            text = self._line.ask("tail", path=str(self._log), size=lines * _LINE_BYTES)
        except TrialError as error:
            return error.found
        return "\n".join(text.splitlines()[-lines:])

    def terminate(self, grace_s: float) -> int:
        """Ask it to end, then kill it with its group after ``grace_s``; return the exit code."""
        code = self.exit_code
        if code is None and grace_s > 0:
            self.signal(self._stop_signal)
            self.signal(signal.SIGCONT)  # one that is suspended does not hear the first
            code = self.wait(grace_s)
        if code is None:
            self.signal(signal.SIGKILL, group=True)
            code = self.wait(30.0)
        if code is None:
            raise TrialError(
                found=f"{self.name} does not end, killed as it is",
                expected="the end of a killed process within 30 s",
                next_step="look at the host's own log",
            )
        return code

    def signal(self, number: int, *, group: bool = False) -> None:
        """Signal it, or all of its group; nothing happens to one that has ended."""
        try:
            self._line.ask("signal", pid=self.inner_pid, number=int(number), group=group)
        except TrialError:
            if self.exit_code is None:
                raise


class GuestHost:
    """A host that was booted for us; everything on it ends with it."""

    shares_files = False

    def __init__(self, name: str, boot: Boot, ready_within_s: float = 60.0) -> None:
        """Boot it and wait for its agent.

        Raises HostLacksError if this machine cannot, TrialError if it does not come up; nothing is
        left of it then.
        """
        self.name = name
        self.mode: Mode = boot.mode
        self.links: Mapping[str, LinkEnd] = {}
        self._boot = boot
        self._keys = itertools.count(1)
        self._bringing = threading.Lock()
        self._brought: dict[Path, dict[str, list[int]]] = {}
        begin = time.monotonic()
        try:
            endpoint: Endpoint = boot.start()
            self._line = claim_agent(endpoint, name, boot.why_ended, ready_within_s)
        except BaseException:
            boot.close()
            raise
        self.address = endpoint.address
        self.boot_s: Mapping[str, float] = {**boot.pieces_s(), "all": time.monotonic() - begin}
        """Seconds from its start to the agent's first answer, and what is known of their parts."""
        if boot.own_clock:
            self._line.ask("shift_clock", by_ns=-self.clock().wall_ns)
        outgoing = self._line.facts["outgoing"]
        low_high = (outgoing[0], outgoing[1]) if len(outgoing) == 2 else None
        self._ports = Ports(self.address, low_high, self._try_port)

    def start(
        self,
        name: str,
        command: Sequence[str],
        *,
        log: Path,
        cpus: CpuSet = (),
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        talk: bool = False,
        stop_signal: int = signal.SIGTERM,
        user: int | None = None,
    ) -> GuestProcess:
        if talk:
            raise HostLacksError(
                found=f"{name}, which is to be talked to, on host {self.name}",
                expected="a process without pipes to the harness",
                next_step="start it on this machine",
            )
        self._check_cpus(cpus)
        key = next(self._keys)
        try:
            pid = self._line.ask(
                "start",
                key=key,
                command=list(command),
                log=str(log),
                env=dict(_ENVIRONMENT if env is None else env),
                cwd=str(cwd or "/"),
                cpus=list(cpus),
                user=user,
            )
        except AgentRefusedError as error:
            raise HostLacksError(
                found=f"{command[0]!r} does not start as {name} on host {self.name}: "
                f"{error.reason}",
                expected="a program of the application image, and a user who may run it",
                next_step="run 'sizebook doctor' to see what is missing and what would bring it",
            ) from error
        return GuestProcess(name, command, self._line, key, pid, log, stop_signal)

    def stop(self, process: HostProcess, grace_s: float = 10.0) -> int:
        assert isinstance(process, GuestProcess)
        return process.terminate(grace_s)

    def set_cpus(self, process: HostProcess, cpus: CpuSet) -> None:
        self._check_cpus(cpus)
        self._line.ask("pin", pid=process.inner_pid, cpus=list(cpus))

    def hold_back(self, process: HostProcess, threads: str) -> bool:
        return self._try_renice(process, threads, LAST)

    def prefer(self, process: HostProcess, threads: str) -> bool:
        return self._try_renice(process, threads, FIRST)

    def let_go(self, process: HostProcess) -> None:
        with contextlib.suppress(AgentRefusedError):
            self._renice(process, "", None)

    def facts(self) -> MachineFacts:
        told = self._line.ask("facts")
        return MachineFacts(
            system=told["system"],
            kernel=told["kernel"],
            architecture=told["architecture"],
            cpu_model=told["cpu_model"],
            logical_cpus=len(told["cpus"]),
            memory_mib=told["memory_bytes"] // 2**20,
            virtualization=self.mode,
        )

    def free_port(self) -> int:
        return self._ports.take()

    def put(self, source: Path, target: Path, owner: int | None = None) -> None:
        try:
            self._line.put(source, target, owner)
        except OSError as error:
            raise TrialError(
                found=f"{source} cannot be brought to host {self.name}: {error.strerror}",
                expected="a file or folder that can be read",
                next_step="look at its owner and mode, and whether it is still there",
            ) from error

    def bring(self, folder: Path) -> None:
        with self._bringing:
            self._line.bring(folder, folder, self._brought.setdefault(folder, {}))

    def outside(self) -> HostUsage:
        return self._boot.usage()

    def inside(self, pids: Mapping[str, int]) -> HostView:
        told = self._line.ask("view", pids=dict(pids))
        return HostView(
            monotonic_ns=told["monotonic_ns"],
            wall_ns=told["wall_ns"],
            cpu_s=_kinds(told["cpu_s"]),
            memory_total_bytes=told["total"],
            memory_available_bytes=told["available"],
            processes={name: ProcessView(*view) for name, view in told["processes"].items()},
        )

    def clock(self) -> ClockReading:
        return min((self._read_clock() for _ in range(_CLOCK_READINGS)), key=_uncertainty)

    def set_limits(self, cpu_limit: float | None, cpu_weight: int | None, cpus: CpuSet) -> None:
        self._boot.set_limits(cpu_limit, cpu_weight, cpus)

    def set_memory(self, memory_mib: int) -> None:
        self._boot.set_memory(memory_mib)

    def close(self) -> None:
        self._line.close()
        self._boot.close()

    def _try_port(self, address: str, port: int) -> int:
        free: int = self._line.ask("free", address=address, port=port)
        return free

    def _try_renice(self, process: HostProcess, threads: str, nice: int) -> bool:
        with contextlib.suppress(AgentRefusedError):
            return bool(self._renice(process, threads, nice))
        return False

    def _renice(self, process: HostProcess, threads: str, nice: int | None) -> Any:
        return self._line.ask("renice", pid=process.inner_pid, names=threads, nice=nice)

    def _check_cpus(self, cpus: CpuSet) -> None:
        have = self._line.ask("facts")["cpus"] if cpus else []
        if unknown := set(cpus) - set(have):
            raise HostLacksError(
                found=f"CPUs {sorted(unknown)} in a CPU set on host {self.name}",
                expected=f"CPUs out of {have}, as the host numbers them",
                next_step="give the host itself CPUs of this machine, and its roles none",
            )

    def _read_clock(self) -> ClockReading:
        begin, wall = time.monotonic_ns(), time.time_ns()
        monotonic_there, wall_there = self._line.ask("clock")
        half = (time.monotonic_ns() - begin) // 2
        return ClockReading(monotonic_there - begin - half, wall_there - wall - half, half)


def _uncertainty(reading: ClockReading) -> int:
    return reading.uncertainty_ns


def _kinds(cpu_s: Mapping[str, float]) -> dict[str, float]:
    """Return CPU seconds by the kinds of this house: nice is user time, softirq is irq."""
    rest = {kind: cpu_s.get(kind, 0.0) for kind in ("idle", "iowait", "steal")}
    sums = {"user": _USER, "system": _SYSTEM, "irq": _IRQ}
    return rest | {kind: sum(cpu_s.get(each, 0.0) for each in sums[kind]) for kind in sums}
