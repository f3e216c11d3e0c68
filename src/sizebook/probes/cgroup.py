"""The control group that processes run in: throttling, memory limit, pressure.

Version 1 (a hierarchy a controller) and version 2 (one for all), also both side by side, as
systemd mounts them in hybrid mode. Sources: Linux ``Documentation/admin-guide/cgroup-v2.rst``,
``cgroup-v1/memory.rst`` and ``scheduler/sched-bwc.rst``; mounts are found as proc(5) tells.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sizebook.probes.base import QuietProbe, Sample, Unavailable
from sizebook.probes.host import parse_pressure

Version = Literal[1, 2]

_PROC = Path("/proc")
_UNLIMITED_BYTES = 1 << 60
"""Version 1 says "no limit" as the largest whole page below 2^63."""
_ESCAPE = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True)
class Group:
    """One folder of a hierarchy, and the version whose file names it has."""

    version: Version
    folder: Path


@dataclass(frozen=True)
class Groups:
    """Where the counters of a process's control group are; None: no such group."""

    cpu: Group | None = None
    accounting: Group | None = None
    memory: Group | None = None
    pressure: Group | None = None

    @property
    def exist(self) -> bool:
        """Whether CPU or memory can be limited for this process at all."""
        return self.cpu is not None or self.memory is not None


@dataclass(frozen=True)
class _Entry:
    """One number: in which file, at which key (empty: the file is the number), in which unit."""

    metric: str
    file: str
    key: str = ""
    divisor: float = 1.0


_CPU: dict[Version, tuple[_Entry, ...]] = {
    1: (
        _Entry("cgroup_periods", "cpu.stat", "nr_periods"),
        _Entry("cgroup_throttled_periods", "cpu.stat", "nr_throttled"),
        _Entry("cgroup_throttled_s", "cpu.stat", "throttled_time", 1e9),
    ),
    2: (
        _Entry("cgroup_periods", "cpu.stat", "nr_periods"),
        _Entry("cgroup_throttled_periods", "cpu.stat", "nr_throttled"),
        _Entry("cgroup_throttled_s", "cpu.stat", "throttled_usec", 1e6),
    ),
}
_ACCOUNTING: dict[Version, tuple[_Entry, ...]] = {
    1: (_Entry("cgroup_cpu_s", "cpuacct.usage", "", 1e9),),
    2: (_Entry("cgroup_cpu_s", "cpu.stat", "usage_usec", 1e6),),
}
_MEMORY: dict[Version, tuple[_Entry, ...]] = {
    1: (
        _Entry("cgroup_memory_bytes", "memory.usage_in_bytes"),
        _Entry("cgroup_memory_peak_bytes", "memory.max_usage_in_bytes"),
        _Entry("cgroup_memory_limit_bytes", "memory.limit_in_bytes"),
        _Entry("cgroup_memory_limit_hits", "memory.failcnt"),
        _Entry("cgroup_oom_kills", "memory.oom_control", "oom_kill"),
    ),
    2: (
        _Entry("cgroup_memory_bytes", "memory.current"),
        _Entry("cgroup_memory_peak_bytes", "memory.peak"),
        _Entry("cgroup_memory_limit_bytes", "memory.max"),
        _Entry("cgroup_memory_limit_hits", "memory.events", "max"),
        _Entry("cgroup_ooms", "memory.events", "oom"),
        _Entry("cgroup_oom_kills", "memory.events", "oom_kill"),
    ),
}
_PRESSURE = ("cpu", "io", "memory")


class CgroupProbe(QuietProbe):
    """Counters of one control group.

    Where groups are nested, each may have a limit; the tightest one between the process's own
    group and the top that is visible from here is watched, for CPU and memory each. A limit
    above the visible top cannot be seen. What a kernel does not tell (``memory.peak`` came with
    Linux 5.19) is left out, and ``lacking`` says so. Costs 0.1 ms a reading.
    """

    def __init__(
        self, source: str, groups: Groups, *, host: str = "local", interval_s: float = 1.0
    ) -> None:
        self.name = f"cgroup:{source}"
        self.host = host
        self.interval_s = interval_s
        self._source = source
        self._groups = groups
        self._lacking: dict[str, str] = {}

    def lacking(self) -> dict[str, str]:
        return dict(self._lacking)

    def sample(self) -> list[Sample]:
        groups = self._groups
        samples: list[Sample] = []
        if groups.cpu is not None:
            samples += self._numbers(groups.cpu, _CPU[groups.cpu.version])
            if (limit := cpu_limit(groups.cpu)) is not None:
                samples.append(Sample(self._source, "cgroup_cpu_limit", limit))
            else:
                self._lacking["cgroup_cpu_limit"] = "no CPU limit is set"
        else:
            self._lacking["cgroup_periods"] = "the processes are in no CPU group that has limits"
        if groups.accounting is not None:
            samples += self._numbers(groups.accounting, _ACCOUNTING[groups.accounting.version])
        if groups.memory is not None:
            samples += self._numbers(groups.memory, _MEMORY[groups.memory.version])
        else:
            self._lacking["cgroup_memory_bytes"] = "the processes are in no memory group"
        samples += self._pressure()
        if not samples:
            raise Unavailable(f"{self._source}: none of the group's files can be read")
        return samples

    def _numbers(self, group: Group, entries: tuple[_Entry, ...]) -> Iterator[Sample]:
        texts: dict[str, str | OSError] = {}
        for entry in entries:
            text = texts.get(entry.file)
            if text is None:
                text = texts[entry.file] = _try_read(group.folder / entry.file)
            if isinstance(text, OSError):
                self._lacking[entry.metric] = f"{entry.file}: {text.strerror}"
                continue
            found = _keyed(text).get(entry.key) if entry.key else text.strip()
            if found is None:
                self._lacking[entry.metric] = f"{entry.file} has no {entry.key}"
            elif not found.isdecimal() or int(found) >= _UNLIMITED_BYTES:
                self._lacking[entry.metric] = f"{entry.file} says {found[:40]!r}"
            else:
                yield Sample(self._source, entry.metric, int(found) / entry.divisor)

    def _pressure(self) -> Iterator[Sample]:
        group = self._groups.pressure
        for resource in _PRESSURE if group is not None else ():
            assert group is not None
            text = _try_read(group.folder / f"{resource}.pressure")
            if isinstance(text, OSError):
                self._lacking[f"cgroup_pressure_some_s/{resource}"] = (
                    f"{resource}.pressure: {text.strerror}"
                )
                continue
            for metric, value in parse_pressure(resource, text):
                yield Sample(self._source, f"cgroup_{metric}", value)


def find_groups(pid: int, proc: Path = _PROC) -> Groups:
    """Return the control groups of a process, as far as they are mounted where we can read.

    The topmost group of a machine has no limits and is no group in this sense. Raises Unavailable
    where the process or the mounts cannot be read.
    """
    try:
        memberships = (proc / str(pid) / "cgroup").read_text(errors="replace")
        mounts = (proc / "self" / "mountinfo").read_text(errors="replace")
    except OSError as error:
        raise Unavailable(f"control groups of process {pid}: {error.strerror}") from error
    chains = _chains(memberships, mounts)
    unified = chains.get("", ())
    own = Group(2, unified[0]) if unified else None
    return Groups(
        cpu=_tightest(chains.get("cpu"), unified, "cpu.stat", "nr_periods", cpu_limit),
        accounting=_first(chains.get("cpuacct"), "cpuacct.usage", own),
        memory=_tightest(chains.get("memory"), unified, "memory.current", "", memory_limit),
        pressure=own,
    )


def cpu_limit(group: Group) -> float | None:
    """Return how many CPUs the group may use at most, or None without a limit."""
    if group.version == 1:
        quota = _whole(_try_read(group.folder / "cpu.cfs_quota_us"))
        period = _whole(_try_read(group.folder / "cpu.cfs_period_us"))
    else:
        text = _try_read(group.folder / "cpu.max")  # "max 100000" or "50000 100000"
        words = text.split() if isinstance(text, str) else []
        quota, period = (_whole(words[0]), _whole(words[1])) if len(words) == 2 else (None, None)
    return quota / period if quota is not None and period else None


def memory_limit(group: Group) -> float | None:
    """Return the group's memory limit in bytes, or None without one."""
    name = "memory.limit_in_bytes" if group.version == 1 else "memory.max"
    limit = _whole(_try_read(group.folder / name))
    return None if limit is None or limit >= _UNLIMITED_BYTES else float(limit)


def _tightest(
    chain: tuple[Path, ...] | None,
    unified: tuple[Path, ...],
    file: str,
    key: str,
    limit_of: Callable[[Group], float | None],
) -> Group | None:
    """Return the group with the least limit; the process's own one where there is no limit."""
    groups = [Group(1, folder) for folder in chain or ()]
    if not groups:
        texts = [(folder, _try_read(folder / file)) for folder in unified]
        groups = [
            Group(2, folder)
            for folder, text in texts
            if isinstance(text, str) and (not key or key in _keyed(text))
        ]
    limits = [(limit, group) for group in groups if (limit := limit_of(group)) is not None]
    if limits:
        return min(limits, key=lambda pair: pair[0])[1]
    return groups[0] if groups else None


def _first(chain: tuple[Path, ...] | None, file: str, otherwise: Group | None) -> Group | None:
    if chain and (chain[0] / file).exists():
        return Group(1, chain[0])
    return otherwise


def _chains(memberships: str, mounts: str) -> dict[str, tuple[Path, ...]]:
    """Return by controller (version 2: empty name) the group's folder and those above it.

    Lines of /proc/PID/cgroup: ``4:cpu,cpuacct:/a/b`` and, version 2, ``0::/a/b``.
    """
    found: dict[str, tuple[Path, ...]] = {}
    by_controller = _mounts(mounts)
    for line in memberships.splitlines():
        _, _, rest = line.partition(":")
        controllers, _, path = rest.partition(":")
        for controller in controllers.split(","):
            if (mount := by_controller.get(controller)) is not None and path.startswith("/"):
                root, top = mount
                if chain := _chain(path, root, top):
                    found[controller] = chain
    return found


def _mounts(text: str) -> dict[str, tuple[str, Path]]:
    """Return by controller the group that is mounted and where, from mountinfo.

    Line: ``35 24 0:30 / /sys/fs/cgroup/memory rw,nosuid shared:10 - cgroup cgroup rw,memory``.
    """
    found: dict[str, tuple[str, Path]] = {}
    for line in text.splitlines():
        left, dash, right = line.partition(" - ")
        fields, kind = left.split(), right.split()
        if not dash or len(fields) < 5 or len(kind) < 3:
            continue
        place = fields[3], Path(_ESCAPE.sub(lambda m: chr(int(m[1], 8)), fields[4]))
        if kind[0] == "cgroup2":
            found.setdefault("", place)
        elif kind[0] == "cgroup":
            for controller in kind[2].split(","):
                found.setdefault(controller, place)
    return found


def _chain(path: str, root: str, top: Path) -> tuple[Path, ...]:
    """Return a group's folder and the ones above it, without the machine's topmost group.

    A container often has its own group mounted as the top, with the whole path in
    /proc/PID/cgroup: then the path below the mounted group counts.
    """
    inside = posixpath.normpath(path)
    if root != "/" and (inside == root or inside.startswith(root + "/")):
        inside = inside[len(root) :] or "/"
    if "/.." in path:  # outside of our control group namespace
        return ()
    folder = top / inside.lstrip("/")
    if not folder.is_dir():
        folder = top
    chain = []
    while True:
        if folder != top or not _is_topmost(top):
            chain.append(folder)
        if folder == top:
            return tuple(chain)
        folder = folder.parent


def _is_topmost(folder: Path) -> bool:
    """Return whether a folder is the machine's topmost group, which has no limits.

    Version 1 has ``release_agent`` there alone; version 2 has ``cgroup.type`` everywhere else.
    """
    if (folder / "cgroup.controllers").exists():
        return not (folder / "cgroup.type").exists()
    return (folder / "release_agent").exists()


def _try_read(path: Path) -> str | OSError:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError as error:
        return error
    try:
        return os.read(descriptor, 65536).decode("ascii", errors="replace")
    except OSError as error:
        return error
    finally:
        os.close(descriptor)


def _keyed(text: str) -> dict[str, str]:
    """Return ``name value`` lines as a mapping."""
    return {key: value for key, _, value in (ln.partition(" ") for ln in text.splitlines())}


def _whole(text: str | OSError) -> int | None:
    """Return a whole number, or None for ``max``, ``-1`` and what is not there."""
    return int(text) if isinstance(text, str) and text.strip().isdecimal() else None
