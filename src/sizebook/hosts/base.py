"""The contract of a host: start and stop processes, limit them, tell facts."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Protocol

from sizebook.model.bundle import MachineFacts
from sizebook.model.deployment import CpuSet
from sizebook.model.modes import Mode


@dataclass(frozen=True)
class HostUsage:
    """What a host costs this machine: all its processes, its kernel and its devices together."""

    cpu_user_s: float
    cpu_system_s: float
    memory_bytes: int
    periods: int | None = None
    """Periods in which its CPU limit was watched; None: no such limit can be seen."""
    throttled_periods: int | None = None
    throttled_s: float | None = None
    """Seconds for which its CPUs together were stopped by the limit."""


@dataclass(frozen=True)
class ProcessView:
    """A process, with its descendants, as its host sees it."""

    cpu_user_s: float
    """With what ended descendants took, as far as they were waited for."""
    cpu_system_s: float
    rss_bytes: int
    threads: int
    voluntary_switches: int
    involuntary_switches: int
    """Switches of all its threads that live, as far as the host counts them."""


@dataclass(frozen=True)
class HostView:
    """What a host says of itself, read at one moment of its own clock."""

    monotonic_ns: int
    wall_ns: int
    cpu_s: Mapping[str, float]
    """CPU seconds by kind as the host counts them: user, system, idle, iowait, irq, steal."""
    memory_total_bytes: int
    memory_available_bytes: int
    processes: Mapping[str, ProcessView] = field(default_factory=dict)
    """By the names that were asked for; what has ended is missing."""


@dataclass(frozen=True)
class ClockReading:
    """How far a host's clocks are ahead of this machine's, in ns."""

    monotonic_ns: int
    wall_ns: int
    uncertainty_ns: int
    """Half of the round trip in which they were read."""


@dataclass(frozen=True)
class LinkUse:
    """What one end of a link has carried so far.

    A frame is what was handed over in one piece. With offloads that is up to 64 KB between name
    spaces of one machine; without, no more than the link's ``frame_bytes`` and its own 14 bytes.
    """

    sent_bytes: int
    """Headers of the link included."""
    received_bytes: int
    sent_frames: int
    received_frames: int
    lost_frames: int
    """Discarded or broken, both ways."""


class LinkEnd(Protocol):
    """A host's end of a link."""

    def use(self) -> LinkUse:
        """Return what it has carried so far. Raises OSError if that cannot be read."""

    def settings(self) -> Mapping[str, str]:
        """Return what the kernel says of it now: frames' size, offloads that are on, shaping."""


class HostProcess(Protocol):
    """A process that a host runs for us."""

    name: str
    command: tuple[str, ...]

    @property
    def pid(self) -> int | None:
        """Process id as the harness's own machine sees it; None inside a guest."""

    @property
    def inner_pid(self) -> int:
        """Process id as its host sees it."""

    @property
    def stdin(self) -> IO[str] | None:
        """Text pipe to the process, if it was started with ``talk=True``."""

    @property
    def stdout(self) -> IO[str] | None:
        """Text pipe from the process, if it was started with ``talk=True``."""

    @property
    def exit_code(self) -> int | None:
        """Exit code, negative for a signal, or None while it runs."""

    def wait(self, timeout_s: float) -> int | None:
        """Return the exit code as soon as it is there, None when the time is over."""

    def signal(self, number: int) -> None:
        """Send it a signal, such as SIGSTOP; nothing happens to one that has ended."""

    def log_tail(self, lines: int = 20) -> str:
        """Return the last lines of what the process printed, for error messages."""


class Host(Protocol):
    """A place where processes run."""

    name: str
    mode: Mode
    shares_files: bool
    """Whether its processes have this machine's files, sockets in the file system included."""
    boot_s: Mapping[str, float]
    """Seconds from its start to its first answer (``all``), and their parts; empty: was there."""
    links: Mapping[str, LinkEnd]
    """Its ends of links by what they lead to: ``shared``, or the host at the other end. Empty: it
    uses this machine's own network, or one that is not made for it."""

    @property
    def address(self) -> str:
        """Address at which servers on this host are reached, from this machine and other hosts."""

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
    ) -> HostProcess:
        """Start a command with exactly ``env`` (no shell), its output in ``log``.

        ``log`` and ``cwd`` are paths on the host; folders that are missing there are made. With
        ``talk`` standard input and output are text pipes and only errors go to the log.
        ``stop_signal`` is what asks this program to end in good order. ``user`` is the uid that
        runs it; None: the host's usual one. Raises HostLacksError if the command is not there or
        the host cannot do what is asked.
        """

    def stop(self, process: HostProcess, grace_s: float = 10.0) -> int:
        """End a process (ask, then kill after ``grace_s``) and return its exit code.

        Without any grace it is killed at once and unasked, as by a power cut.
        """

    def set_cpus(self, process: HostProcess, cpus: CpuSet) -> None:
        """Move a running process, with all its threads, to these CPUs of the host."""

    def hold_back(self, process: HostProcess, threads: str) -> bool:
        """Let a process's threads whose names begin so wait for all others, until ``let_go``.

        Return whether there are such threads now; never where this user could not undo it.
        """

    def prefer(self, process: HostProcess, threads: str) -> bool:
        """Let a process's threads whose names begin so go before all others, until ``let_go``.

        Return whether there are such threads now; never where this user could not undo it.
        """

    def let_go(self, process: HostProcess) -> None:
        """Give all threads of a process the usual priority again."""

    def facts(self) -> MachineFacts:
        """Return what processes on the host find out about the machine that they are on."""

    def free_port(self) -> int:
        """Return a TCP port that was free a moment ago at this host's address.

        No outgoing connection gets it and no second call returns it, as far as the host can tell.
        """

    def put(self, source: Path, target: Path, owner: int | None = None) -> None:
        """Bring a file or folder of this machine onto the host, with modes and times.

        What is there already is overwritten; folders on the way are made. ``owner`` is the uid
        that has it then; None: the host's usual one. Raises TrialError if it cannot be written.
        """

    def bring(self, folder: Path) -> None:
        """Have what processes on the host wrote below ``folder`` on this machine, at that path.

        Of a file that has grown only what was appended is brought. A folder that the host has not
        is no error. Raises TrialError if the host does not answer.
        """

    def outside(self) -> HostUsage:
        """Return what the host has cost this machine so far."""

    def inside(self, pids: Mapping[str, int]) -> HostView:
        """Return what the host says now of itself and of these processes (name to inner id)."""

    def clock(self) -> ClockReading:
        """Return how far the host's clocks are ahead of this machine's."""

    def set_limits(self, cpu_limit: float | None, cpu_weight: int | None, cpus: CpuSet) -> None:
        """Change at run time what the host may use; empty or None: no limit.

        Raises HostLacksError where the mode has no limits.
        """

    def set_memory(self, memory_mib: int) -> None:
        """Change at run time the memory that the host may use; HostLacksError if it cannot."""

    def close(self) -> None:
        """End everything on the host and the host itself; nothing of it is left afterwards."""
