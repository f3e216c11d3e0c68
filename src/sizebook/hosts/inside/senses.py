"""What the kernel here tells: of the machine, of itself, of processes."""

from __future__ import annotations

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TICK = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")
KINDS = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
MOUNTS = "/proc/self/mountinfo"
LIMITS = ("memory.limit_in_bytes", "memory.max", "memory.high")


def view_all(pids: dict[str, int]) -> dict[str, Any]:
    """Return CPU seconds by kind, memory, and the numbers of these processes that run."""
    with open("/proc/stat") as stat:
        numbers = [int(number) / TICK for number in stat.readline().split()[1:]]
    memory = meminfo()
    processes = {}
    for name, pid in pids.items():
        try:
            processes[name] = view_family(pid)
        except OSError:
            continue
    return {
        "cpu_s": dict(zip(KINDS, numbers)),
        "total": memory["MemTotal"],
        "available": memory["MemAvailable"],
        "processes": processes,
    }


def threads(pid: int) -> list[int]:
    """Return the thread ids of a process; empty once it has ended."""
    try:
        return [int(name) for name in os.listdir(f"/proc/{pid}/task")]
    except FileNotFoundError:
        return []


def view_family(pid: int) -> list[float]:
    """Return the sums of ``view`` over a process and its descendants. Raises OSError."""
    sums = view(pid)
    for child in try_read(f"/proc/{pid}/task/{pid}/children").split():
        try:
            sums = [a + b for a, b in zip(sums, view_family(int(child)))]
        except OSError:
            continue
    return sums


def view(pid: int) -> list[float]:
    """Return CPU seconds, resident bytes, threads, switches of a process. Raises OSError.

    Its CPU seconds include those of children that ended and were waited for.
    """
    # "123 (a (b) c) S 1 ...": what follows the last bracket begins with field 3 of proc(5).
    fields = read(f"/proc/{pid}/stat").rpartition(")")[2].split()
    voluntary = involuntary = 0
    for thread in threads(pid):
        try:
            text = read(f"/proc/{pid}/task/{thread}/status")
        except OSError:
            continue
        found = text.rfind("\nvoluntary_ctxt_switches:")
        if found >= 0:
            words = text[found:].split()
            voluntary += int(words[1])
            involuntary += int(words[3])
    return [
        (int(fields[11]) + int(fields[13])) / TICK,
        (int(fields[12]) + int(fields[14])) / TICK,
        int(read(f"/proc/{pid}/statm").split()[1]) * PAGE,
        int(fields[17]),
        voluntary,
        involuntary,
    ]


def facts() -> dict[str, Any]:
    """Return what can be found out here about the machine."""
    name = os.uname()
    system: dict[str, str] = {}
    for line in try_read("/etc/os-release").splitlines():
        key, _, value = line.partition("=")
        system[key] = value.strip('"')
    models = [
        line.partition(":")[2].strip()
        for line in try_read("/proc/cpuinfo").splitlines()
        if line.startswith("model name")
    ]
    outgoing = try_read("/proc/sys/net/ipv4/ip_local_port_range").split()
    return {
        "system": system.get("PRETTY_NAME", name.sysname),
        "kernel": name.release,
        "architecture": name.machine,
        "cpu_model": models[0] if models else "unknown",
        "cpus": sorted(os.sched_getaffinity(0)),
        "memory_bytes": min([meminfo()["MemTotal"], *memory_limits()]),
        "outgoing": [int(port) for port in outgoing],
        "up_s": time.clock_gettime(time.CLOCK_BOOTTIME),
    }


def memory_limits(member: str = "/proc/self/cgroup", mounts: str = MOUNTS) -> list[int]:
    """Return the limits in bytes of the control groups that this process is in, at every level.

    Version 1 tells those above what is visible here, too (``hierarchical_memory_limit``).
    """
    own: dict[str, str] = {}
    for line in try_read(member).splitlines():  # "4:cpu,memory:/a/b", "0::/a/b"
        _, controllers, path = line.split(":", 2)
        own |= dict.fromkeys(controllers.split(","), path)
    found: list[str] = []
    for line in try_read(mounts).splitlines():
        left, _, right = line.partition(" - ")
        fields, kind = left.split(), right.split()
        is_one = kind[:1] == ["cgroup"] and "memory" in kind[-1].split(",")
        if not is_one and kind[:1] != ["cgroup2"]:
            continue
        for folder in _up(own.get("memory" if is_one else "", "/"), fields[3], fields[4]):
            found += [try_read(f"{folder}/{name}") for name in LIMITS]
            for entry in try_read(f"{folder}/memory.stat").splitlines():
                name, _, value = entry.partition(" ")
                found += [value] if name == "hierarchical_memory_limit" else []
    return [int(text) for text in found if text.strip().isdecimal()]


def _up(path: str, root: str, top: str) -> list[str]:
    """Return the folder of a group and those above it; ``root`` is the group mounted at ``top``."""
    if root != "/" and f"{path}/".startswith(f"{root}/"):
        path = path[len(root) :]
    folder = os.path.normpath(f"{top}/{path}")
    if not folder.startswith(f"{top}/") or not os.path.isdir(folder):
        return [top]
    folders = [folder]
    while folder != top:
        folder = os.path.dirname(folder)
        folders.append(folder)
    return folders


def meminfo() -> dict[str, int]:
    """Return /proc/meminfo in bytes."""
    lines = (line.split() for line in read("/proc/meminfo").splitlines())
    return {words[0].rstrip(":"): int(words[1]) * 1024 for words in lines if len(words) == 3}


def read(path: str) -> str:
    """Return a file's text."""
    with open(path, errors="replace") as file:
        return file.read()


def try_read(path: str) -> str:
    """Return a file's text; empty if it cannot be read."""
    try:
        return read(path)
    except OSError:
        return ""
