"""Which CPUs and how much heap: shares of what this machine has."""

from __future__ import annotations

import contextlib
import itertools
import json
import math
import os
import threading
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, replace

from sizebook.hosts.allowed import find_allowed, usable_memory_mib
from sizebook.hosts.local import usable_cpus
from sizebook.hosts.topology import physical_cores, write_cpu_list
from sizebook.model.bundle import SHARED_CORES, USABLE_MEMORY_MIB
from sizebook.model.deployment import LOCAL, CpuSet, Deployment
from sizebook.model.trial import TrialSpec

AS_PLACED = "SIZEBOOK_AS_PLACED"
"""Environment variable by which a replay places trials as on the machine that measured them, as
``Placement.as_words`` writes it."""
_MAX_TOTAL_HEAP_MIB = 16 * 1024


@dataclass(frozen=True)
class Placement:
    """CPU sets for stack and generator, and the total heap that layouts share out."""

    stack: CpuSet
    generator: CpuSet
    total_heap_mib: int
    cores: tuple[CpuSet, ...] = ()
    """Physical cores, as the CPUs that may be used of each; empty: not known."""
    cpu_limit: float | None = None
    """How many CPUs' worth of time the harness's control group allows; None: no limit."""

    @property
    def separate(self) -> bool:
        """True if the generator has CPUs that the stack does not use."""
        return bool(self.generator) and not set(self.stack) & set(self.generator)

    @property
    def shared_cores(self) -> tuple[CpuSet, ...]:
        """Return the physical cores of which stack and generator have a CPU each."""
        return find_shared(self.stack, self.generator, self.cores)

    def beside(self, stacks: int) -> Placement:
        """Return the placement of each of so many stacks that are up side by side.

        They use the same CPUs, in turns, and share the heap. Raises ValueError for fewer than one.
        """
        if stacks < 1:
            raise ValueError(f"{stacks} stacks side by side; expected 1 or more")
        return replace(self, total_heap_mib=self.total_heap_mib // stacks // 32 * 32)

    def as_words(self) -> str:
        """Return the placement as the value of ``AS_PLACED``."""
        return json.dumps([self.stack, self.generator, self.total_heap_mib])

    @classmethod
    def from_words(cls, words: str) -> Placement:
        """Return the placement of such a value."""
        stack, generator, heap = json.loads(words)
        return cls(tuple(stack), tuple(generator), heap)


def place(
    cpus: CpuSet | None = None,
    memory_mib: int | None = None,
    *,
    cores: Sequence[CpuSet] | None = None,
    cpu_limit: float | None = None,
) -> Placement:
    """Return the placement for this machine (or one with these CPUs, cores, limit and memory).

    The generator gets a quarter of the CPUs, at least one; the stack the rest. Both get whole
    physical cores where there are two: the last ones are the generator's, so a quarter is rounded
    up to a core. Of one core each gets a CPU, and ``shared_cores`` says so. With one CPU both share
    it, and no trial can be valid: the generator checks will say so. Where a control group limits
    CPU time no more CPUs are used than the limit, rounded up, each on a core of its own as long as
    there are enough. The total heap is a quarter of the memory that may be used, at most 16 GiB.
    """
    if cpus is None and memory_mib is None and (words := os.environ.get(AS_PLACED)):
        return Placement.from_words(words)
    if cpus is None:
        cpus, cpu_limit = usable_cpus(), find_allowed().cpus
        cores = physical_cores(cpus)
    known = tuple(cores) if cores is not None else tuple((cpu,) for cpu in cpus)
    if cpu_limit is not None and cpu_limit < len(cpus):
        cpus = _spread(known, math.ceil(cpu_limit))
        known = tuple(core for each in known if (core := tuple(c for c in each if c in cpus)))
    memory_mib = usable_memory_mib() if memory_mib is None else memory_mib
    heap = min(memory_mib // 4, _MAX_TOTAL_HEAP_MIB)
    heap = heap // 256 * 256 or heap // 32 * 32
    if len(cpus) < 2:
        return Placement(cpus, cpus, heap, known, cpu_limit)
    wanted = max(1, len(cpus) // 4)
    own = cpus[-wanted:] if len(known) < 2 else _last_cores(known, wanted)
    stack = tuple(cpu for cpu in cpus if cpu not in own)
    return Placement(stack, own, heap, known, cpu_limit)


def describe_cpus(here: Placement) -> str:
    """Return in words how many CPUs are used, which cores they are, and what stands in the way."""
    used = sorted({*here.stack, *here.generator})
    usable = len(usable_cpus())
    words = f"{usable} usable"
    if here.cpu_limit is not None:
        words += f", {len(used)} of them used: a control group allows the time of "
        words += f"{here.cpu_limit:g} CPUs"
    if len(here.cores) < len(used):
        words += f" on {len(here.cores)} physical core{'s' if len(here.cores) > 1 else ''}"
    if here.shared_cores:
        words += "; stack and generator share a core, and slow each other"
    return words


def describe_share(here: Placement, cpus: CpuSet) -> str:
    """Return in words which CPUs these are, and which of them are siblings of one core."""
    mine = [tuple(cpu for cpu in core if cpu in cpus) for core in here.cores]
    groups = [write_cpu_list(core) for core in mine if len(core) > 1]
    words = write_cpu_list(cpus)
    if groups:
        words += f" (siblings of one core: {' and '.join(groups)})"
    elif len(cpus) > 1:
        words += " (each on a core of its own)"
    return words


def find_shared(stack: CpuSet, generator: CpuSet, cores: Sequence[CpuSet]) -> tuple[CpuSet, ...]:
    """Return the cores of which stack and generator use different CPUs: each slows the other."""
    mine, theirs = set(generator) - set(stack), set(stack) - set(generator)
    return tuple(core for core in cores if mine & set(core) and theirs & set(core))


def _last_cores(cores: Sequence[CpuSet], wanted: int) -> CpuSet:
    """Return the CPUs of whole cores, from the last one on, at least so many and not of all.

    A core that has more CPUs than are missing is taken only where none has fewer.
    """
    left = sorted(cores, key=lambda core: core[-1])
    taken: list[int] = []
    while len(taken) < wanted and len(left) > 1:
        missing = wanted - len(taken)
        fitting = [core for core in left if len(core) <= missing]
        least = min(map(len, left))
        core = (fitting or [core for core in left if len(core) == least])[-1]
        left.remove(core)
        taken += core
    return tuple(sorted(taken))


def _spread(cores: Sequence[CpuSet], count: int) -> CpuSet:
    """Return so many CPUs on as many cores as can be."""
    turns = itertools.zip_longest(*cores)
    every = [cpu for turn in turns for cpu in turn if cpu is not None]
    return tuple(sorted(every[: max(1, count)]))


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


def core_facts(spec: TrialSpec, cores: Sequence[CpuSet] | None = None) -> dict[str, str]:
    """Return the fact of a trial that stack and generator share physical cores; empty: they do not.

    ``cores`` are this machine's unless they are given.
    """
    if spec.load.hosts:  # the load comes from other machines
        return {}
    stack = stack_cpus(spec.deployment)
    known = physical_cores((*stack, *spec.load.cpus)) if cores is None else cores
    shared = find_shared(stack, spec.load.cpus, known)
    return {SHARED_CORES: " and ".join(map(write_cpu_list, shared))} if shared else {}


def placement_facts(spec: TrialSpec, memory_mib: int) -> dict[str, str | int]:
    """Return the facts of a trial that tell what its placement had to do without; maybe none.

    Cores of their own for stack and generator, and the whole ``memory_mib`` of this machine.
    """
    usable = usable_memory_mib()
    less: dict[str, str | int] = {USABLE_MEMORY_MIB: usable} if usable < memory_mib else {}
    return {**core_facts(spec), **less}


def placed_as(specs: Iterable[TrialSpec], memory_mib: int) -> Placement | None:
    """Return the placement by which these trials were specified, None if they name no CPUs.

    ``memory_mib`` is what could be used of the machine which measured them.
    """
    stack: set[int] = set()
    generator: set[int] = set()
    for spec in specs:
        stack.update(stack_cpus(spec.deployment))
        generator.update(spec.load.cpus if not spec.load.hosts else ())
    if not stack and not generator:
        return None
    # Some trials lend the stack the generator's CPUs; only on a machine with one CPU do all.
    own = stack - generator or stack or generator
    heap = place((0, 1), memory_mib).total_heap_mib
    return Placement(tuple(sorted(own)), tuple(sorted(generator or stack)), heap)


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
