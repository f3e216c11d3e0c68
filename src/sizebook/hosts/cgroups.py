"""A control group of our own on this machine: limits around all processes of a host.

What is written and read is in ``inside.groups``; here are the guard's promise and the messages. Run
as a program with a group's name this module removes it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

from sizebook.hosts.base import HostUsage
from sizebook.hosts.guard import Guard
from sizebook.hosts.inside.groups import (
    MOUNTS,
    Group,
    Hierarchy,
    RefusedError,
    find_hierarchies,
    remove_group,
)
from sizebook.model.deployment import CpuSet
from sizebook.model.errors import HostLacksError, TrialError

_JOIN = (
    'while [ "$1" != -- ]; do echo $$ > "$1" || exit 125; shift; done; shift; unset PWD; exec "$@"'
)
"""A shell that enters the groups whose files are named, then becomes the command after ``--``; the
variable is its own doing."""


def look_for_root() -> None:
    """Raise HostLacksError unless this is Linux, and this user may make control groups."""
    if sys.platform != "linux":
        raise HostLacksError(
            found=f"a system of kind {sys.platform}",
            expected="Linux, whose control groups limit processes",
            next_step="use a Linux machine",
        )
    if os.geteuid() != 0:
        raise HostLacksError(
            found="a user who may not make control groups",
            expected="root",
            next_step="run as root, for chapters with limited hosts",
        )


class ControlGroup:
    """One group, made in every hierarchy that is needed; ended and removed by ``remove``."""

    def __init__(
        self, name: str, guard: Guard, hierarchies: Mapping[str, Hierarchy] | None = None
    ) -> None:
        """Make it, empty and without limits; raises HostLacksError if that is not possible here."""
        if hierarchies is None:
            hierarchies = find_hierarchies(MOUNTS.read_text())
        try:
            self._group = Group(name, hierarchies)
        except LookupError as error:
            raise _lacks(str(error.args[0])) from error
        self.name = name
        self._guard = guard
        self._promise = guard.promise([sys.executable, "-m", "sizebook.hosts.cgroups", name])
        try:
            self._group.make()
        except OSError as error:
            self.remove()
            raise _lacks(f"control group {error.filename}: {error.strerror}") from error

    def command(self, words: Sequence[str]) -> list[str]:
        """Return the command line that runs a command, from its first moment, in this group."""
        return ["/bin/sh", "-c", _JOIN, "sh", *map(str, self._group.members()), "--", *words]

    def limit_cpu(self, limit: float | None, weight: int | None, cpus: CpuSet) -> None:
        """Limit CPU time (CPUs' worth), share under contention, and CPUs; None or empty: not.

        Raises TrialError if this machine does not let it.
        """
        try:
            self._group.limit_cpu(limit, weight, cpus)
        except RefusedError as error:
            raise refused_limit(self.name, error) from error

    def limit_memory(self, mib: int) -> None:
        """Limit memory, page cache and all; raises TrialError if more is in use and stays."""
        try:
            self._group.limit_memory(mib)
        except RefusedError as error:
            raise refused_limit(self.name, error) from error

    def killed_for_memory(self) -> int:
        """Return how many of its processes the system has killed at the memory limit."""
        return self._group.killed_for_memory()

    def usage(self) -> HostUsage:
        """Return what its processes, also those that have ended, have used.

        Memory is what they hold themselves, files that are cached for them left out.
        """
        try:
            return HostUsage(**self._group.usage())  # type: ignore[arg-type]
        except OSError as error:
            raise TrialError(
                found=f"control group {self.name} cannot be read: {error.strerror}",
                expected="a host that still runs",
                next_step="look at the host's own log",
            ) from error

    def remove(self) -> None:
        """Kill what is left in it and remove it; nothing if it is gone.

        Raises TrialError if something in it does not end.
        """
        try:
            self._group.remove()
        except TimeoutError as error:
            raise TrialError(
                found=f"control group {error} is still in use",
                expected="processes that end when they are killed",
                next_step="look at what its file cgroup.procs names",
            ) from error
        self._guard.keep(self._promise)


def refused_limit(group: str, error: RefusedError) -> TrialError:
    """Return what tells that a limit was not taken."""
    file, value, reason = error.args
    return TrialError(
        found=f"{file} of control group {group} cannot be {value}: {reason}",
        expected="a limit that this machine can keep",
        next_step="choose CPUs of this machine, and no less memory than is in use",
    )


def _lacks(what: str) -> HostLacksError:
    return HostLacksError(
        found=what,
        expected="control groups in which this user can limit CPU time and memory",
        next_step="run as root on a Linux that mounts them writable below /sys/fs/cgroup",
    )


if __name__ == "__main__":
    remove_group(sys.argv[1])
