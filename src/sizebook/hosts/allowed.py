"""How much of this machine the harness may use: its own control group, and those above it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psutil

from sizebook.hosts.memberships import (
    UNLIMITED_BYTES,
    GroupFolder,
    cpu_limit,
    find_chains,
    keyed,
    memory_limit,
    try_read,
)

_PROC = Path("/proc")


@dataclass(frozen=True)
class GroupLimits:
    """The tightest limits at any level that is visible from here; None: none is set."""

    cpus: float | None = None
    """CPU seconds a second."""
    memory_bytes: int | None = None
    free_bytes: int | None = None
    """What may still be taken; files that are cached can be given back."""


def find_allowed(pid: int | None = None, proc: Path = _PROC) -> GroupLimits:
    """Return the limits of a process's control groups; of this one's unless one is named."""
    try:
        chains = find_chains(os.getpid() if pid is None else pid, proc)
    except OSError:
        return GroupLimits()
    unified = [GroupFolder(2, folder) for folder in chains.get("", ())]
    cpu = [*(GroupFolder(1, folder) for folder in chains.get("cpu", ())), *unified]
    memory = [*(GroupFolder(1, folder) for folder in chains.get("memory", ())), *unified]
    limited = [pair for group in memory for pair in _limits(group)]
    return GroupLimits(
        cpus=min((limit for group in cpu if (limit := cpu_limit(group)) is not None), default=None),
        memory_bytes=min((limit for limit, _ in limited), default=None),
        free_bytes=min((max(0, limit - held) for limit, held in limited), default=None),
    )


def _limits(group: GroupFolder) -> Iterator[tuple[int, int]]:
    """Yield a group's limits, each with what is held of it now.

    Version 1 tells the limits above what is visible, too (``hierarchical_memory_limit``); version 2
    slows what goes above ``memory.high``.
    """
    text = try_read(group.folder / "memory.stat")
    stat = keyed(text) if isinstance(text, str) else {}
    total = "total_" if group.version == 1 else ""
    cached = sum(int(stat.get(f"{total}{kind}_file", "0") or 0) for kind in ("active", "inactive"))
    name = "memory.usage_in_bytes" if group.version == 1 else "memory.current"
    used = try_read(group.folder / name)
    held = int(used) - cached if isinstance(used, str) and used.strip().isdecimal() else 0
    high = try_read(group.folder / "memory.high") if group.version == 2 else ""
    for text in (high, stat.get("hierarchical_memory_limit", "")):
        if isinstance(text, str) and text.strip().isdecimal() and int(text) < UNLIMITED_BYTES:
            yield int(text), max(0, held)
    if (limit := memory_limit(group)) is not None:
        yield int(limit), max(0, held)


def usable_memory_mib() -> int:
    """Return the machine's memory, or what a control group leaves of it, in MiB."""
    limit = find_allowed().memory_bytes
    total = psutil.virtual_memory().total
    return (total if limit is None else min(total, limit)) // 2**20


def free_memory_mib() -> int:
    """Return what can be taken now without swapping or being killed at a limit, in MiB."""
    free = find_allowed().free_bytes
    available = psutil.virtual_memory().available
    return (available if free is None else min(available, free)) // 2**20
