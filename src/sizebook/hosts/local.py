"""This machine, processes as they are."""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import IO

import psutil

from sizebook.hosts import priority
from sizebook.hosts.base import ClockReading, HostProcess, HostUsage, HostView, LinkEnd
from sizebook.hosts.cgroups import ControlGroup
from sizebook.hosts.guard import Guard
from sizebook.hosts.machine import local_facts, view_machine, view_process
from sizebook.hosts.ports import Ports
from sizebook.hosts.spaces import command_in, try_port_in
from sizebook.model.bundle import MachineFacts
from sizebook.model.deployment import LOCAL, CpuSet
from sizebook.model.errors import HostLacksError, TrialError
from sizebook.model.modes import AS_IT_IS, Mode

_REFLINK = ["--reflink=auto"] if sys.platform == "linux" else []
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
    def inner_pid(self) -> int:
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

    def signal(self, number: int) -> None:
        self._popen.send_signal(number)

    def terminate(self, grace_s: float) -> int:
        """Ask it to end, then kill it after ``grace_s`` seconds; return the exit code.

        What is left of its group of processes is killed with it.
        """
        code = self._popen.poll()
        if code is None and grace_s > 0:
            self.signal(self._stop_signal)
            self.signal(signal.SIGCONT)  # one that is suspended does not hear the first
            code = self.wait(grace_s)
        if code is None:
            self._popen.kill()
            code = self._popen.wait()
        with contextlib.suppress(OSError):  # a server's workers may live on without their parent
            os.killpg(self._popen.pid, signal.SIGKILL)
        for pipe in (self._popen.stdin, self._popen.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        return code


class LocalHost:
    """The machine the harness runs on; servers bind to loopback.

    With a control group it is a host of its own name on this machine, and what runs there has the
    group's limits together; with a name space of the network it has an address of its own, too.
    """

    shares_files = True
    boot_s: Mapping[str, float] = MappingProxyType({})

    def __init__(
        self,
        guard: Guard,
        name: str = LOCAL,
        group: ControlGroup | None = None,
        address: str = "127.0.0.1",
        cpus: CpuSet = (),
        space: Path | None = None,
        mode: Mode = AS_IT_IS,
    ) -> None:
        """``cpus`` are all that its processes may use; empty: those that the harness may now.

        ``space`` is the name space of the network that has ``address``; None: this machine's own.
        """
        self.name = name
        self.mode = mode
        self.address = address
        self._guard = guard
        self._group = group
        self._processes: list[LocalProcess] = []
        self._changing = threading.Lock()
        self._space = space
        self.links: Mapping[str, LinkEnd] = {}
        self._ports = Ports(self.address, try_port=None if space is None else try_port_in(space))
        self._cpus = cpus or usable_cpus()  # asked before the harness pins itself

    @property
    def guard(self) -> Guard:
        """What ends this host's processes when the harness is gone."""
        return self._guard

    @property
    def cpus(self) -> CpuSet:
        """The CPUs that its processes may use, whatever those of the harness are meanwhile."""
        return self._cpus

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
    ) -> LocalProcess:
        if not _is_there(command[0], (env or os.environ).get("PATH")):
            raise HostLacksError(
                found=f"no program {command[0]!r} to start {name}",
                expected="an executable file",
                next_step="run 'sizebook doctor' to see what is missing and what would bring it",
            )
        full = [*_pin(cpus or self._cpus, self._cpus), *_become(user, name), *command]
        if self._space is not None:
            full = command_in(self._space, full)
        if self._group is not None:
            full = self._group.command(full)
        for folder in (log.parent, cwd or log.parent):
            folder.mkdir(parents=True, exist_ok=True)
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
        process = LocalProcess(name, command, popen, log, stop_signal)
        with self._changing:
            self._processes.append(process)
        return process

    def stop(self, process: HostProcess, grace_s: float = 10.0) -> int:
        assert isinstance(process, LocalProcess)
        code = process.terminate(grace_s)
        self._guard.forget(process.inner_pid)
        with self._changing, contextlib.suppress(ValueError):
            self._processes.remove(process)
        return code

    def set_cpus(self, process: HostProcess, cpus: CpuSet) -> None:
        try:
            moved: set[int] = set()
            while rest := {t.id for t in psutil.Process(process.inner_pid).threads()} - moved:
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
        return priority.change(process.inner_pid, threads, priority.LAST)

    def prefer(self, process: HostProcess, threads: str) -> bool:
        return priority.change(process.inner_pid, threads, priority.FIRST)

    def let_go(self, process: HostProcess) -> None:
        priority.restore(process.inner_pid)

    def facts(self) -> MachineFacts:
        return local_facts()

    def free_port(self) -> int:
        return self._ports.take()

    def put(self, source: Path, target: Path, owner: int | None = None) -> None:
        try:
            if source.resolve() != target.resolve():
                target.parent.mkdir(parents=True, exist_ok=True)
                command = ["cp", "-a", *_REFLINK, "-T", str(source), str(target)]
                copy = subprocess.run(command, capture_output=True, text=True, check=False)
                if copy.returncode != 0:
                    raise OSError(0, copy.stderr.strip()[-200:])
            if owner is not None:
                for path in (target, *target.rglob("*")):
                    os.chown(path, owner, owner, follow_symlinks=False)
        except OSError as error:
            raise TrialError(
                found=f"{source} cannot be copied to {target}: {error.strerror}",
                expected="a file or folder that can be read, and a place for it",
                next_step="look at owners and modes, and whether the disk has room",
            ) from error

    def bring(self, folder: Path) -> None:
        """Nothing to do: what is written here is here."""

    def outside(self) -> HostUsage:
        """Return what the group has used; without one the sums of the processes that run now."""
        if self._group is not None:
            return self._group.usage()
        with self._changing:
            running = [process.pid for process in self._processes]
        views = [view for pid in running if (view := view_process(pid)) is not None]
        return HostUsage(
            cpu_user_s=sum(view.cpu_user_s for view in views),
            cpu_system_s=sum(view.cpu_system_s for view in views),
            memory_bytes=sum(view.rss_bytes for view in views),
        )

    def inside(self, pids: Mapping[str, int]) -> HostView:
        return view_machine(pids)

    def clock(self) -> ClockReading:
        return ClockReading(0, 0, 0)

    def set_limits(self, cpu_limit: float | None, cpu_weight: int | None, cpus: CpuSet) -> None:
        if self._group is None:
            raise _without_limits(f"CPU limit {cpu_limit}, weight {cpu_weight}, CPUs {list(cpus)}")
        self._group.limit_cpu(cpu_limit, cpu_weight, cpus)

    def set_memory(self, memory_mib: int) -> None:
        if self._group is None:
            raise _without_limits(f"memory limit {memory_mib} MiB")
        self._group.limit_memory(memory_mib)

    def close(self) -> None:
        with self._changing:
            running = list(self._processes)
        for process in running:
            self.stop(process)


def _without_limits(limit: str) -> HostLacksError:
    return HostLacksError(
        found=f"{limit} for this machine as it is",
        expected="a host that can be limited, such as a container",
        next_step="give the deployment a host of another mode",
    )


def _become(user: int | None, name: str) -> list[str]:
    """Return the command that goes on as another user; nothing where it is the present one.

    Only a command can do it last: by then the process is in its control group.
    """
    if user is None or user == os.geteuid():
        return []
    program = shutil.which("setpriv")
    if os.geteuid() != 0 or program is None:
        raise HostLacksError(
            found=f"user {user} to run {name}",
            expected=f"root and the program setpriv, or the present user, {os.geteuid()}",
            next_step="run as root, with Debian's util-linux; or leave the user out",
        )
    return [program, f"--reuid={user}", f"--regid={user}", "--clear-groups"]


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


def _is_there(program: str, path: str | None) -> bool:
    """Return whether there is such a program, by its path or on ``path``."""
    if os.sep in program:
        return Path(program).is_file()
    return shutil.which(program, path=path) is not None


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
