"""Control groups of both versions, also side by side: made, limited, read, removed.

Files as in Linux ``Documentation/admin-guide/cgroup-v1`` and ``cgroup-v2.rst``,
``scheduler/sched-bwc.rst``. Groups are made at the top of what is mounted, as container engines
do, under one name in every hierarchy. Nothing but the standard library: it is used on this machine
and on machines that have no more than Python.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

CONTROLLERS = ("cpu", "cpuacct", "cpuset", "memory")
PERIOD_US = 100_000
MOUNTS = Path("/proc/self/mountinfo")
_USUAL_SHARES = 1024
"""Version 1's shares that are version 2's weight of 100."""
_REMOVED_WITHIN_S = 10.0


class Hierarchy:
    """Where a controller is mounted, and by which version's file names."""

    def __init__(self, version: int, top: Path) -> None:
        self.version = version
        self.top = top


class RefusedError(Exception):
    """A limit that the kernel does not take: file name, value, reason."""


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


class Group:
    """One group; nothing of it is there before ``make`` and after ``remove``."""

    def __init__(self, name: str, hierarchies: Mapping[str, Hierarchy]) -> None:
        """Raises LookupError if a controller is not mounted."""
        for each in CONTROLLERS:
            if each not in hierarchies:
                raise LookupError(f"no control group's controller {each} is mounted")
        self.name = name
        self._hierarchies = hierarchies

    def make(self) -> None:
        """Make it in every hierarchy, empty and without limits. Raises OSError."""
        for controller, hierarchy in self._hierarchies.items():
            folder = hierarchy.top / self.name
            if hierarchy.version == 2:
                control = hierarchy.top / "cgroup.subtree_control"
                if controller != "cpuacct" and controller not in control.read_text().split():
                    control.write_text(f"+{controller}")
            folder.mkdir(exist_ok=True)
            if hierarchy.version == 1 and controller == "cpuset":  # nothing can enter it without
                for name in ("cpuset.cpus", "cpuset.mems"):
                    (folder / name).write_text((hierarchy.top / name).read_text())

    def members(self) -> list[Path]:
        """Return the files that name its processes, and into which a new one writes its id."""
        folders = dict.fromkeys(self.folder(controller) for controller in self._hierarchies)
        return [folder / "cgroup.procs" for folder in folders]

    def folder(self, controller: str) -> Path:
        """Return where its files of a controller are."""
        return self._hierarchies[controller].top / self.name

    def limit_cpu(self, limit: float | None, weight: int | None, cpus: Sequence[int]) -> None:
        """Limit CPU time (CPUs' worth), share under contention, and CPUs; None or empty: not.

        Raises RefusedError if the kernel does not let it.
        """
        cpu, cpuset = self.folder("cpu"), self.folder("cpuset")
        top = self._hierarchies["cpuset"].top
        quota = None if limit is None else max(1000, round(limit * PERIOD_US))
        share = 100 if weight is None else weight
        if self._hierarchies["cpu"].version == 1:
            write(cpu / "cpu.cfs_period_us", PERIOD_US)
            write(cpu / "cpu.cfs_quota_us", -1 if quota is None else quota)
            write(cpu / "cpu.shares", max(2, share * _USUAL_SHARES // 100))
        else:
            write(cpu / "cpu.max", f"{'max' if quota is None else quota} {PERIOD_US}")
            write(cpu / "cpu.weight", share)
        if self._hierarchies["cpuset"].version == 1:
            every = (top / "cpuset.cpus").read_text().strip()
        else:
            every = (top / "cpuset.cpus.effective").read_text().strip()
        write(cpuset / "cpuset.cpus", ",".join(map(str, cpus)) or every)

    def limit_memory(self, mib: int) -> None:
        """Limit memory, page cache and all; raises RefusedError if more is in use and stays."""
        memory = self.folder("memory")
        if self._hierarchies["memory"].version == 1:
            write(memory / "memory.limit_in_bytes", mib * 2**20)
        else:
            write(memory / "memory.max", mib * 2**20)

    def killed_for_memory(self) -> int:
        """Return how many of its processes the system has killed at the memory limit."""
        version = self._hierarchies["memory"].version
        name = "memory.oom_control" if version == 1 else "memory.events"
        try:
            return keyed(self.folder("memory") / name).get("oom_kill", 0)
        except OSError:  # it is removed already
            return 0

    def usage(self) -> dict[str, float | int | None]:
        """Return what its processes have used, by the names of ``HostUsage``. Raises OSError.

        Memory is what they hold themselves, files that are cached for them left out.
        """
        user_s, system_s = self._cpu_s()
        limits = keyed(self.folder("cpu") / "cpu.stat")
        periods = limits.get("nr_periods")
        memory = keyed(self.folder("memory") / "memory.stat")
        held = ("total_rss", "total_shmem") if "total_rss" in memory else ("anon", "shmem")
        stopped_s = limits.get("throttled_time", 0) / 1e9 + limits.get("throttled_usec", 0) / 1e6
        return {
            "cpu_user_s": user_s,
            "cpu_system_s": system_s,
            "memory_bytes": sum(memory.get(key, 0) for key in held),
            "periods": periods,
            "throttled_periods": None if periods is None else limits["nr_throttled"],
            "throttled_s": None if periods is None else stopped_s,
        }

    def remove(self) -> None:
        """Kill what is left in it and remove it; TimeoutError if something does not end."""
        remove_group(self.name, {hierarchy.top for hierarchy in self._hierarchies.values()})

    def _cpu_s(self) -> tuple[float, float]:
        folder = self.folder("cpuacct")
        if self._hierarchies["cpuacct"].version == 2:
            stat = keyed(folder / "cpu.stat")
            return stat["user_usec"] / 1e6, stat["system_usec"] / 1e6
        names = ("usage", "usage_user", "usage_sys")
        total, user, system = (int((folder / f"cpuacct.{name}").read_text()) for name in names)
        # Only the total is exact: the two others are sampled by ticks, and a limit stops between.
        share = user / (user + system) if user + system else 0.0
        return share * total / 1e9, (1 - share) * total / 1e9


def remove_group(name: str, tops: Iterable[Path] = ()) -> None:
    """Kill what runs in a group and below it, and remove it from every hierarchy that has it.

    Without ``tops`` those are all that are mounted: a container engine makes groups in all of them.
    Raises TimeoutError, with the folder, if something in it does not end.
    """
    deadline = time.monotonic() + _REMOVED_WITHIN_S
    for folder in (top / name for top in set(tops) or _all_tops()):
        while folder.is_dir():
            for below, _, _ in os.walk(folder, topdown=False):
                _kill_members(Path(below))
                with contextlib.suppress(OSError):
                    Path(below).rmdir()
            if folder.is_dir() and time.monotonic() > deadline:
                raise TimeoutError(str(folder))
            if folder.is_dir():
                time.sleep(0.01)


def write(file: Path, value: object) -> None:
    """Write a limit. Raises RefusedError."""
    try:
        file.write_text(str(value))
    except OSError as error:
        raise RefusedError(file.name, value, error.strerror) from error


def keyed(file: Path) -> dict[str, int]:
    """Return a file of lines such as ``nr_periods 40``."""
    pairs = (line.split() for line in file.read_text().splitlines())
    return {pair[0]: int(pair[1]) for pair in pairs if len(pair) == 2}


def _kill_members(folder: Path) -> None:
    with contextlib.suppress(OSError):
        for pid in (folder / "cgroup.procs").read_text().split():
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)


def _all_tops() -> set[Path]:
    lines = (line.partition(" - ") for line in MOUNTS.read_text().splitlines())
    return {Path(left.split()[4]) for left, _, right in lines if right.startswith("cgroup")}
