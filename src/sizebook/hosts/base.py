"""The contract of a host: start and stop processes, limit them, tell facts."""

from __future__ import annotations

import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Protocol

from sizebook.model.bundle import MachineFacts
from sizebook.model.deployment import CpuSet


class HostProcess(Protocol):
    """A process that a host runs for us."""

    name: str
    command: tuple[str, ...]

    @property
    def pid(self) -> int:
        """Process id as the harness's own machine sees it."""

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

    def log_tail(self, lines: int = 20) -> str:
        """Return the last lines of what the process printed, for error messages."""


class Host(Protocol):
    """A place where processes run."""

    name: str

    @property
    def address(self) -> str:
        """Address at which servers on this host are reached from the load generator."""

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
    ) -> HostProcess:
        """Start a command with exactly ``env`` (no shell), its output in ``log``.

        With ``talk`` standard input and output are text pipes and only errors go to the log.
        ``stop_signal`` is what asks this program to end in good order.
        Raises UserError if the command is not there or a limit cannot be set.
        """

    def stop(self, process: HostProcess, grace_s: float = 10.0) -> int:
        """End a process (ask, then kill after ``grace_s``) and return its exit code.

        Without any grace it is killed at once and unasked, as by a power cut.
        """

    def set_cpus(self, process: HostProcess, cpus: CpuSet) -> None:
        """Move a running process, with all its threads, to these CPUs."""

    def hold_back(self, process: HostProcess, threads: str) -> bool:
        """Let a process's threads whose names begin so wait for all others, until ``let_go``.

        Return whether there are such threads now; never where this user could not undo it.
        """

    def let_go(self, process: HostProcess) -> None:
        """Give all threads of a process the usual priority again."""

    def facts(self) -> MachineFacts:
        """Return what is known of the machine behind this host."""

    def free_port(self) -> int:
        """Return a TCP port that was free a moment ago at this host's address.

        No outgoing connection gets it and no second call returns it, as far as the host can tell.
        """
