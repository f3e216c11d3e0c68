"""A control group of our own: limits around all processes of a host, and what they have used.

Both versions, also side by side; files as in Linux ``Documentation/admin-guide/cgroup-v1`` and
``cgroup-v2.rst``, ``scheduler/sched-bwc.rst``. Groups are made at the top of what is mounted here,
as container engines do, under one name in every hierarchy. Run as a program with a group's name
this module removes it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from sizebook.hosts.base import HostUsage
from sizebook.hosts.guard import Guard
from sizebook.model.deployment import CpuSet
from sizebook.model.errors import HostLacksError, TrialError

CONTROLLERS = ("cpu", "cpuacct", "cpuset", "memory")
PERIOD_US = 100_000
_USUAL_SHARES = 1024
"""Version 1's shares that are version 2's weight of 100."""
_MOUNTS = Path("/proc/self/mountinfo")
_REMOVED_WITHIN_S = 10.0
_JOIN = (
    'while [ "$1" != -- ]; do echo $$ > "$1" || exit 125; shift; done; shift; unset PWD; exec "$@"'
)
"""A shell that enters the groups whose files are named, then becomes the command after ``--``; the
variable is its own doing."""


@dataclass(frozen=True)
class Hierarchy:
    """Where a controller is mounted, and by which version's file names."""

    version: int
    top: Path


def find_hierarchies(mounts: str) -> dict[str, Hierarchy]:
    """Return by controller where groups can be made, from the text of mountinfo.

    Lines: ``35 24 0:30 / /sys/fs/cgroup/cpu rw shared:10 - cgroup cgroup rw,cpu`` and, version 2,
    ``... - cgroup2 cgroup2 rw``.
    """
    found: dict[str, Hierarchy] = {}
    unified: list[Path] = []
    for line in mounts.splitlines():
        left, _, right = line.partition(" - ")
        kind, fields = right.split(), left.split()
        if len(kind) < 3 or len(fields) < 5:
            continue
        if kind[0] == "cgroup":
            for controller in kind[2].split(","):
                if controller in CONTROLLERS:
                    found.setdefault(controller, Hierarchy(1, Path(fields[4])))
        elif kind[0] == "cgroup2":
            unified.append(Path(fields[4]))
    for top in unified:
        with contextlib.suppress(OSError):
            have = (top / "cgroup.controllers").read_text().split()
            for controller in CONTROLLERS:
                if controller in have or (controller == "cpuacct" and "cpu" in have):
                    found.setdefault(controller, Hierarchy(2, top))
    return found


class ControlGroup:
    """One group, made in every hierarchy that is needed; ended and removed by ``remove``."""

    def __init__(
        self, name: str, guard: Guard, hierarchies: Mapping[str, Hierarchy] | None = None
    ) -> None:
        """Make it, empty and without limits; raises HostLacksError if that is not possible here."""
        if hierarchies is None:
            hierarchies = find_hierarchies(_MOUNTS.read_text())
        if missing := [each for each in CONTROLLERS if each not in hierarchies]:
            raise _lacks(f"no control group's controller {missing[0]} is mounted")
        self.name = name
        self._hierarchies = hierarchies
        self._guard = guard
        self._promise = guard.promise([sys.executable, "-m", "sizebook.hosts.cgroups", name])
        try:
            for controller, hierarchy in hierarchies.items():
                self._make(controller, hierarchy)
        except OSError as error:
            self.remove()
            raise _lacks(f"control group {error.filename}: {error.strerror}") from error

    def command(self, words: Sequence[str]) -> list[str]:
        """Return the command line that runs a command, from its first moment, in this group."""
        return ["/bin/sh", "-c", _JOIN, "sh", *map(str, self._members()), "--", *words]

    def limit_cpu(self, limit: float | None, weight: int | None, cpus: CpuSet) -> None:
        """Limit CPU time (CPUs' worth), share under contention, and CPUs; None or empty: not.

        Raises TrialError if this machine does not let it.
        """
        cpu, cpuset = self._folder("cpu"), self._folder("cpuset")
        top = self._hierarchies["cpuset"].top
        quota = None if limit is None else max(1000, round(limit * PERIOD_US))
        share = 100 if weight is None else weight
        if self._hierarchies["cpu"].version == 1:
            self._write(cpu / "cpu.cfs_period_us", PERIOD_US)
            self._write(cpu / "cpu.cfs_quota_us", -1 if quota is None else quota)
            self._write(cpu / "cpu.shares", max(2, share * _USUAL_SHARES // 100))
        else:
            self._write(cpu / "cpu.max", f"{'max' if quota is None else quota} {PERIOD_US}")
            self._write(cpu / "cpu.weight", share)
        if self._hierarchies["cpuset"].version == 1:
            every = (top / "cpuset.cpus").read_text().strip()
        else:
            every = (top / "cpuset.cpus.effective").read_text().strip()
        self._write(cpuset / "cpuset.cpus", ",".join(map(str, cpus)) or every)

    def limit_memory(self, mib: int) -> None:
        """Limit memory, page cache and all; raises TrialError if more is in use and stays."""
        memory = self._folder("memory")
        if self._hierarchies["memory"].version == 1:
            self._write(memory / "memory.limit_in_bytes", mib * 2**20)
        else:
            self._write(memory / "memory.max", mib * 2**20)

    def usage(self) -> HostUsage:
        """Return what its processes, also those that have ended, have used.

        Memory is what they hold themselves, files that are cached for them left out.
        """
        try:
            user_s, system_s = self._cpu_s()
            limits = _keyed(self._folder("cpu") / "cpu.stat")
            periods = limits.get("nr_periods")
            memory = _keyed(self._folder("memory") / "memory.stat")
        except OSError as error:
            raise TrialError(
                found=f"control group {self.name} cannot be read: {error.strerror}",
                expected="a host that still runs",
                next_step="look at the host's own log",
            ) from error
        held = ("total_rss", "total_shmem") if "total_rss" in memory else ("anon", "shmem")
        stopped_s = limits.get("throttled_time", 0) / 1e9 + limits.get("throttled_usec", 0) / 1e6
        return HostUsage(
            cpu_user_s=user_s,
            cpu_system_s=system_s,
            memory_bytes=sum(memory.get(key, 0) for key in held),
            periods=periods,
            throttled_periods=None if periods is None else limits["nr_throttled"],
            throttled_s=None if periods is None else stopped_s,
        )

    def remove(self) -> None:
        """Kill what is left in it and remove it; nothing if it is gone."""
        remove_group(self.name, self._hierarchies)
        self._guard.keep(self._promise)

    def _folder(self, controller: str) -> Path:
        return self._hierarchies[controller].top / self.name

    def _members(self) -> list[Path]:
        folders = dict.fromkeys(self._folder(controller) for controller in self._hierarchies)
        return [folder / "cgroup.procs" for folder in folders]

    def _make(self, controller: str, hierarchy: Hierarchy) -> None:
        folder = self._folder(controller)
        if hierarchy.version == 2:
            control = hierarchy.top / "cgroup.subtree_control"
            if controller != "cpuacct" and controller not in control.read_text().split():
                control.write_text(f"+{controller}")
        folder.mkdir(exist_ok=True)
        if hierarchy.version == 1 and controller == "cpuset":  # nothing can enter it without
            for name in ("cpuset.cpus", "cpuset.mems"):
                (folder / name).write_text((hierarchy.top / name).read_text())

    def _write(self, file: Path, value: object) -> None:
        try:
            file.write_text(str(value))
        except OSError as error:
            raise TrialError(
                found=f"{file.name} of control group {self.name} cannot be {value}: "
                f"{error.strerror}",
                expected="a limit that this machine can keep",
                next_step="choose CPUs of this machine, and no less memory than is in use",
            ) from error

    def _cpu_s(self) -> tuple[float, float]:
        folder = self._folder("cpuacct")
        if self._hierarchies["cpuacct"].version == 2:
            stat = _keyed(folder / "cpu.stat")
            return stat["user_usec"] / 1e6, stat["system_usec"] / 1e6
        names = ("usage", "usage_user", "usage_sys")
        total, user, system = (int((folder / f"cpuacct.{name}").read_text()) for name in names)
        # Only the total is exact: the two others are sampled by ticks, and a limit stops between.
        share = user / (user + system) if user + system else 0.0
        return share * total / 1e9, (1 - share) * total / 1e9


def remove_group(name: str, hierarchies: Mapping[str, Hierarchy] | None = None) -> None:
    """Kill what runs in a group and below it, and remove it from every hierarchy that has it.

    Raises TrialError if something in it does not end.
    """
    tops = {hierarchy.top for hierarchy in (hierarchies or {}).values()} or _all_tops()
    deadline = time.monotonic() + _REMOVED_WITHIN_S
    for folder in (top / name for top in tops):
        while folder.is_dir():
            for below, _, _ in os.walk(folder, topdown=False):
                _kill_members(Path(below))
                with contextlib.suppress(OSError):
                    Path(below).rmdir()
            if folder.is_dir() and time.monotonic() > deadline:
                raise TrialError(
                    found=f"control group {folder} is still in use",
                    expected="processes that end when they are killed",
                    next_step="look at what its file cgroup.procs names",
                )
            if folder.is_dir():
                time.sleep(0.01)


def _kill_members(folder: Path) -> None:
    with contextlib.suppress(OSError):
        for pid in (folder / "cgroup.procs").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)


def _all_tops() -> set[Path]:
    """Return where any hierarchy is mounted: a container engine makes groups in all of them."""
    lines = (line.partition(" - ") for line in _MOUNTS.read_text().splitlines())
    return {Path(left.split()[4]) for left, _, right in lines if right.startswith("cgroup")}


def _keyed(file: Path) -> dict[str, int]:
    pairs = (line.split() for line in file.read_text().splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2}


def _lacks(what: str) -> HostLacksError:
    return HostLacksError(
        found=what,
        expected="control groups in which this user can limit CPU time and memory",
        next_step="run as root on a Linux that mounts them writable below /sys/fs/cgroup",
    )


if __name__ == "__main__":
    remove_group(sys.argv[1])
