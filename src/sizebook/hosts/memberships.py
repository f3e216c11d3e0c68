"""The control groups that a process is in, and the limits that they set, at any level.

Version 1 (a hierarchy a controller) and version 2 (one for all), also both side by side, as
systemd mounts them in hybrid mode. Sources: Linux ``Documentation/admin-guide/cgroup-v2.rst``,
``cgroup-v1/memory.rst`` and ``scheduler/sched-bwc.rst``; mounts are found as proc(5) tells.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Version = Literal[1, 2]

_PROC = Path("/proc")
UNLIMITED_BYTES = 1 << 60
"""Version 1 says "no limit" as the largest whole page below 2^63."""
_ESCAPE = re.compile(r"\\([0-7]{3})")


@dataclass(frozen=True)
class GroupFolder:
    """One folder of a hierarchy, and the version whose file names it has."""

    version: Version
    folder: Path


@dataclass(frozen=True)
class Memberships:
    """Where the counters of a process's control group are; None: no such group."""

    cpu: GroupFolder | None = None
    accounting: GroupFolder | None = None
    memory: GroupFolder | None = None
    pressure: GroupFolder | None = None

    @property
    def exist(self) -> bool:
        """Whether CPU or memory can be limited for this process at all."""
        return self.cpu is not None or self.memory is not None


def find_groups(pid: int, proc: Path = _PROC) -> Memberships:
    """Return the control groups of a process, as far as they are mounted where we can read.

    The topmost group of a machine has no limits and is no group in this sense. Raises OSError where
    the process or the mounts cannot be read.
    """
    chains = find_chains(pid, proc)
    unified = chains.get("", ())
    own = GroupFolder(2, unified[0]) if unified else None
    return Memberships(
        cpu=_tightest(chains.get("cpu"), unified, "cpu.stat", "nr_periods", cpu_limit),
        accounting=_first(chains.get("cpuacct"), "cpuacct.usage", own),
        memory=_tightest(chains.get("memory"), unified, "memory.current", "", memory_limit),
        pressure=own,
    )


def cpu_limit(group: GroupFolder) -> float | None:
    """Return how many CPUs the group may use at most, or None without a limit."""
    if group.version == 1:
        quota = _whole(try_read(group.folder / "cpu.cfs_quota_us"))
        period = _whole(try_read(group.folder / "cpu.cfs_period_us"))
    else:
        text = try_read(group.folder / "cpu.max")  # "max 100000" or "50000 100000"
        words = text.split() if isinstance(text, str) else []
        quota, period = (_whole(words[0]), _whole(words[1])) if len(words) == 2 else (None, None)
    return quota / period if quota is not None and period else None


def memory_limit(group: GroupFolder) -> float | None:
    """Return the group's memory limit in bytes, or None without one."""
    name = "memory.limit_in_bytes" if group.version == 1 else "memory.max"
    limit = _whole(try_read(group.folder / name))
    return None if limit is None or limit >= UNLIMITED_BYTES else float(limit)


def find_chains(pid: int, proc: Path = _PROC) -> dict[str, tuple[Path, ...]]:
    """Return by controller (version 2: empty name) a process's group and those above it.

    Raises OSError where they cannot be read.
    """
    memberships = (proc / str(pid) / "cgroup").read_text(errors="replace")
    mounts = (proc / "self" / "mountinfo").read_text(errors="replace")
    return _chains(memberships, mounts)


def _tightest(
    chain: tuple[Path, ...] | None,
    unified: tuple[Path, ...],
    file: str,
    key: str,
    limit_of: Callable[[GroupFolder], float | None],
) -> GroupFolder | None:
    """Return the group with the least limit; the process's own one where there is no limit."""
    groups = [GroupFolder(1, folder) for folder in chain or ()]
    if not groups:
        texts = [(folder, try_read(folder / file)) for folder in unified]
        groups = [
            GroupFolder(2, folder)
            for folder, text in texts
            if isinstance(text, str) and (not key or key in keyed(text))
        ]
    limits = [(limit, group) for group in groups if (limit := limit_of(group)) is not None]
    if limits:
        return min(limits, key=lambda pair: pair[0])[1]
    return groups[0] if groups else None


def _first(
    chain: tuple[Path, ...] | None, file: str, otherwise: GroupFolder | None
) -> GroupFolder | None:
    if chain and (chain[0] / file).exists():
        return GroupFolder(1, chain[0])
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


def try_read(path: Path) -> str | OSError:
    """Return what a file of the kernel's says now, or why it cannot be read."""
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


def keyed(text: str) -> dict[str, str]:
    """Return ``name value`` lines as a mapping."""
    return {key: value for key, _, value in (ln.partition(" ") for ln in text.splitlines())}


def _whole(text: str | OSError) -> int | None:
    """Return a whole number, or None for ``max``, ``-1`` and what is not there."""
    return int(text) if isinstance(text, str) and text.strip().isdecimal() else None
