"""This machine, processes as they are."""

from __future__ import annotations

import contextlib
import os
import platform
import select
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path
from typing import IO

import psutil

from sizebook.hosts.base import HostProcess
from sizebook.hosts.guard import Guard
from sizebook.hosts.ports import Ports
from sizebook.model.bundle import MachineFacts
from sizebook.model.deployment import CpuSet
from sizebook.model.errors import HostLacksError, TrialError

_LAST = 19
"""Lowest priority: a seventieth of what others get."""
_PIDFD: Callable[[int], int] | None = getattr(os, "pidfd_open", None)


class LocalProcess:
    """A child process of the harness, in a process group of its own."""

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        popen: subprocess.Popen[str],
        log: Path,
        stop_signal: int,
    ) -> None:
        self.name = name
        self.command = tuple(command)
        self._popen = popen
        self._log = log
        self._stop_signal = stop_signal

    @property
    def pid(self) -> int:
        return self._popen.pid

    @property
    def stdin(self) -> IO[str] | None:
        return self._popen.stdin

    @property
    def stdout(self) -> IO[str] | None:
        return self._popen.stdout

    @property
    def exit_code(self) -> int | None:
        return self._popen.poll()

    def wait(self, timeout_s: float) -> int | None:
        try:
            if self._popen.poll() is None and _await_end(self._popen.pid, timeout_s):
                timeout_s = 0.01
            return self._popen.wait(timeout_s)
        except subprocess.TimeoutExpired:
            return None

    def log_tail(self, lines: int = 20) -> str:
        try:
            return "\n".join(self._log.read_text(errors="replace").splitlines()[-lines:])
        except OSError:
            return ""

    def terminate(self, grace_s: float) -> int:
        """Ask it to end, then kill it after ``grace_s`` seconds; return the exit code."""
        code = self._popen.poll()
        if code is None and grace_s > 0:
            self._popen.send_signal(self._stop_signal)
            code = self.wait(grace_s)
        if code is None:
            self._popen.kill()
            code = self._popen.wait()
        for pipe in (self._popen.stdin, self._popen.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        return code


class LocalHost:
    """The machine the harness runs on; servers bind to loopback."""

    name = "local"
    address = "127.0.0.1"

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self._ports = Ports(self.address)
        self._cpus = usable_cpus()  # asked before the harness pins itself

    def start(
        self,
        name: str,
        command: Sequence[str],
        *,
        log: Path,
        cpus: CpuSet = (),
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        memory_bytes: int | None = None,
        talk: bool = False,
        stop_signal: int = signal.SIGTERM,
    ) -> LocalProcess:
        if memory_bytes is not None:
            raise HostLacksError(
                found="a memory limit for a process on the bare local host",
                expected="a host that can limit memory, such as a container",
                next_step="leave the limit out, or choose a host of another mode",
            )
        if not _is_there(command[0], (env or os.environ).get("PATH")):
            raise HostLacksError(
                found=f"no program {command[0]!r} to start {name}",
                expected="an executable file",
                next_step="run 'sizebook doctor' to see what is missing and what would bring it",
            )
        full = [*_pin(cpus or self._cpus, self._cpus), *command]
        log.parent.mkdir(parents=True, exist_ok=True)
        with log.open("ab") as sink, self._guard.announced(full):
            popen = subprocess.Popen(
                full,
                stdin=subprocess.PIPE if talk else subprocess.DEVNULL,
                stdout=subprocess.PIPE if talk else sink,
                stderr=sink,
                env=dict(env) if env is not None else None,
                cwd=cwd,
                text=True,
                start_new_session=True,
            )
            self._guard.register(popen.pid)
        return LocalProcess(name, command, popen, log, stop_signal)

    def stop(self, process: HostProcess, grace_s: float = 10.0) -> int:
        assert isinstance(process, LocalProcess)
        code = process.terminate(grace_s)
        self._guard.forget(process.pid)
        return code

    def set_cpus(self, process: HostProcess, cpus: CpuSet) -> None:
        try:
            moved: set[int] = set()
            while rest := {t.id for t in psutil.Process(process.pid).threads()} - moved:
                for thread in rest:  # a thread may be started, or end, while others are moved
                    with contextlib.suppress(ProcessLookupError):
                        os.sched_setaffinity(thread, cpus)
                moved |= rest
        except (OSError, psutil.NoSuchProcess) as error:
            raise TrialError(
                found=f"{process.name} could not be moved to CPUs {cpus}: {error}",
                expected="a running process and CPUs that this machine has",
                next_step="look at the log of the process and at 'sizebook doctor'",
            ) from error

    def hold_back(self, process: HostProcess, threads: str) -> bool:
        if not _may_raise_priority():
            return False
        found = False
        for thread in _threads(process.pid):
            with contextlib.suppress(OSError):
                if Path(f"/proc/{process.pid}/task/{thread}/comm").read_text().startswith(threads):
                    os.setpriority(os.PRIO_PROCESS, thread, _LAST)
                    found = True
        return found

    def let_go(self, process: HostProcess) -> None:
        seen: set[int] = set()
        while rest := set(_threads(process.pid)) - seen:  # one may be started by one held back
            for thread in rest:
                with contextlib.suppress(ProcessLookupError):
                    if os.getpriority(os.PRIO_PROCESS, thread) > 0:
                        os.setpriority(os.PRIO_PROCESS, thread, 0)
            seen |= rest

    def facts(self) -> MachineFacts:
        return local_facts()

    def free_port(self) -> int:
        return self._ports.take()


def _await_end(pid: int, timeout_s: float) -> bool:
    """Return as soon as a child has ended or the time is over: ``Popen.wait`` looks seldom.

    False at once where the system cannot tell (no pidfd, or a container that forbids it).
    """
    if _PIDFD is None:
        return False
    try:
        descriptor = _PIDFD(pid)
    except OSError:
        return False
    try:
        poll = select.poll()
        poll.register(descriptor, select.POLLIN)
        poll.poll(timeout_s * 1e3)
    finally:
        os.close(descriptor)
    return True


def _threads(pid: int) -> list[int]:
    try:
        return [int(path.name) for path in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return []


@cache
def _may_raise_priority() -> bool:
    """Return whether a priority that was lowered can be raised again: tried in a thread."""
    if sys.platform != "linux":
        return False
    with ThreadPoolExecutor(1) as trial:
        return trial.submit(_lower_and_raise).result()


def _lower_and_raise() -> bool:
    own = threading.get_native_id()
    before = os.getpriority(os.PRIO_PROCESS, own)
    try:
        os.setpriority(os.PRIO_PROCESS, own, _LAST)
        os.setpriority(os.PRIO_PROCESS, own, before)
    except OSError:
        return False
    return before <= 0


def _is_there(program: str, path: str | None) -> bool:
    """Return whether there is such a program, by its path or on ``path``."""
    if os.sep in program:
        return Path(program).is_file()
    return shutil.which(program, path=path) is not None


def local_facts() -> MachineFacts:
    """Return what is known of this machine."""
    return MachineFacts(
        system=_system_name(),
        kernel=platform.release(),
        architecture=platform.machine(),
        cpu_model=_cpu_model(),
        logical_cpus=psutil.cpu_count(logical=True) or 0,
        memory_mib=psutil.virtual_memory().total // 2**20,
        virtualization=_virtualization(),
    )


def usable_cpus() -> CpuSet:
    """Return the CPUs that this process may use (all of them where the system cannot tell)."""
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(psutil.cpu_count() or 1))


def _pin(cpus: CpuSet, usable: CpuSet) -> list[str]:
    unknown = set(cpus) - set(usable)
    if unknown:
        raise HostLacksError(
            found=f"CPUs {sorted(unknown)} in a CPU set",
            expected=f"CPUs out of {list(usable)}",
            next_step="leave the CPU sets to the chapter's defaults, or name CPUs of this machine",
        )
    taskset = shutil.which("taskset")
    return [taskset, "-c", ",".join(map(str, cpus))] if taskset else []


def _system_name() -> str:
    try:
        facts = platform.freedesktop_os_release()
    except OSError:
        return f"{platform.system()} {platform.release()}"
    return facts.get("PRETTY_NAME") or facts["NAME"]


def _cpu_model() -> str:
    try:
        with Path("/proc/cpuinfo").open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                if line.startswith("model name"):  # "model name\t: AMD EPYC 9R45"
                    return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"


def _virtualization() -> str:
    detect = shutil.which("systemd-detect-virt")
    if detect is None:
        return "unknown"
    answer = subprocess.run([detect], capture_output=True, text=True, check=False)
    return answer.stdout.strip() or "unknown"
