"""Which CPUs are threads of one physical core: they share its units and slow each other.

Linux, ``Documentation/admin-guide/cputopology.rst``: ``core_cpus_list`` (since 5.3) and
``thread_siblings_list`` name the CPUs of a core, such as ``0,4`` or ``0-1``. A guest sees what its
hypervisor tells it, which may be less than there is.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sizebook.model.deployment import CpuSet

_SYSTEM = Path("/sys/devices/system/cpu")
_FILES = ("core_cpus_list", "thread_siblings_list")
_MOST_CPUS = 1 << 16


def physical_cores(cpus: Sequence[int], system: Path = _SYSTEM) -> tuple[CpuSet, ...]:
    """Return these CPUs by the core that they belong to, in the order of its first one.

    A CPU of which nothing is told is a core of its own.
    """
    known = {cpu: {cpu} for cpu in cpus}
    for cpu in cpus:
        for sibling in _told(system / f"cpu{cpu}" / "topology"):
            if sibling in known and known[sibling] is not known[cpu]:
                known[cpu] |= known[sibling]
                for each in known[cpu]:
                    known[each] = known[cpu]
    cores = dict.fromkeys(tuple(sorted(known[cpu])) for cpu in sorted(cpus))
    return tuple(cores)


def read_cpu_list(text: str) -> CpuSet:
    """Return the numbers of a list such as ``0-3,8``. Raises ValueError for anything else."""
    found: list[int] = []
    for part in filter(None, text.strip().split(",")):
        first, dash, last = part.partition("-")
        begin, end = int(first), int(last) if dash else int(first)
        if not 0 <= begin <= end < _MOST_CPUS:
            raise ValueError(f"CPU list {text[:100]!r}")
        found += range(begin, end + 1)
    return tuple(found)


def write_cpu_list(cpus: Sequence[int]) -> str:
    """Return numbers in words: ``0–3, 8``."""
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and cpu == runs[-1][-1] + 1:
            runs[-1].append(cpu)
        else:
            runs.append([cpu])
    words = [[str(one) for one in run] if len(run) < 3 else [f"{run[0]}–{run[-1]}"] for run in runs]
    return ", ".join(word for run in words for word in run)


def _told(folder: Path) -> CpuSet:
    for name in _FILES:
        try:
            return read_cpu_list((folder / name).read_text())
        except (OSError, ValueError):
            continue
    return ()
