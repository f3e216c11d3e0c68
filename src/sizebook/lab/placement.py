"""Which CPUs and how much heap: shares of what this machine has."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass

import psutil

from sizebook.hosts.local import usable_cpus
from sizebook.model.deployment import LOCAL, CpuSet, Deployment

_MAX_TOTAL_HEAP_MIB = 16 * 1024


@dataclass(frozen=True)
class Placement:
    """CPU sets for stack and generator, and the total heap that layouts share out."""

    stack: CpuSet
    generator: CpuSet
    total_heap_mib: int

    @property
    def separate(self) -> bool:
        """True if the generator has CPUs that the stack does not use."""
        return bool(self.generator) and not set(self.stack) & set(self.generator)


def place(cpus: CpuSet | None = None, memory_mib: int | None = None) -> Placement:
    """Return the placement for this machine (or one with these CPUs and this memory).

    The generator gets a quarter of the CPUs, at least one; the stack the rest. With one CPU both
    share it, and no trial can be valid: the generator checks will say so. The total heap is a
    quarter of the memory, at most 16 GiB.
    """
    cpus = usable_cpus() if cpus is None else cpus
    memory_mib = psutil.virtual_memory().total // 2**20 if memory_mib is None else memory_mib
    heap = min(memory_mib // 4, _MAX_TOTAL_HEAP_MIB) // 256 * 256
    if len(cpus) < 2:
        return Placement(cpus, cpus, heap)
    own = max(1, len(cpus) // 4)
    return Placement(cpus[:-own], cpus[-own:], heap)


def stack_cpus(deployment: Deployment) -> CpuSet:
    """Return the CPUs of this machine that are set for what a deployment starts on it.

    Empty where any of them may be used, and where nothing is started here.
    """
    sets = [host.cpus for host in deployment.hosts if not host.is_elsewhere]
    sets += [
        role.cpus
        for role in deployment.roles
        if role.host == LOCAL and role.kind != "given" and role.role not in deployment.given
    ]
    return tuple(sorted({cpu for cpus in sets for cpu in cpus}))


@contextlib.contextmanager
def pinned_to(cpus: tuple[int, ...]) -> Iterator[None]:
    """Keep the harness itself off the stack's CPUs while it measures."""
    if not cpus or not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cpus)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


@contextlib.contextmanager
def threads_on_all_cpus() -> Iterator[Executor]:
    """Give two threads that exist already, so that pinning the main one does not bind them."""
    with ThreadPoolExecutor(2) as pool:
        both = threading.Barrier(2)
        list(pool.map(lambda _: both.wait(), range(2)))
        yield pool
