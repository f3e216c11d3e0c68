"""The control group that processes run in: throttling, memory limit, pressure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sizebook.hosts.memberships import (
    UNLIMITED_BYTES,
    GroupFolder,
    Memberships,
    Version,
    cpu_limit,
    keyed,
    try_read,
)
from sizebook.probes.base import CounterSample, QuietProbe, Unavailable
from sizebook.probes.host import parse_pressure


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
        self, source: str, groups: Memberships, *, host: str = "local", interval_s: float = 1.0
    ) -> None:
        self.name = f"cgroup:{source}"
        self.host = host
        self.interval_s = interval_s
        self._source = source
        self._groups = groups
        self._lacking: dict[str, str] = {}

    def lacking(self) -> dict[str, str]:
        return dict(self._lacking)

    def sample(self) -> list[CounterSample]:
        groups = self._groups
        samples: list[CounterSample] = []
        if groups.cpu is not None:
            samples += self._numbers(groups.cpu, _CPU[groups.cpu.version])
            if (limit := cpu_limit(groups.cpu)) is not None:
                samples.append(CounterSample(self._source, "cgroup_cpu_limit", limit))
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

    def _numbers(self, group: GroupFolder, entries: tuple[_Entry, ...]) -> Iterator[CounterSample]:
        texts: dict[str, str | OSError] = {}
        for entry in entries:
            text = texts.get(entry.file)
            if text is None:
                text = texts[entry.file] = try_read(group.folder / entry.file)
            if isinstance(text, OSError):
                self._lacking[entry.metric] = f"{entry.file}: {text.strerror}"
                continue
            found = keyed(text).get(entry.key) if entry.key else text.strip()
            if found is None:
                self._lacking[entry.metric] = f"{entry.file} has no {entry.key}"
            elif not found.isdecimal() or int(found) >= UNLIMITED_BYTES:
                self._lacking[entry.metric] = f"{entry.file} says {found[:40]!r}"
            else:
                yield CounterSample(self._source, entry.metric, int(found) / entry.divisor)

    def _pressure(self) -> Iterator[CounterSample]:
        group = self._groups.pressure
        for resource in _PRESSURE if group is not None else ():
            assert group is not None
            text = try_read(group.folder / f"{resource}.pressure")
            if isinstance(text, OSError):
                self._lacking[f"cgroup_pressure_some_s/{resource}"] = (
                    f"{resource}.pressure: {text.strerror}"
                )
                continue
            for metric, value in parse_pressure(resource, text):
                yield CounterSample(self._source, f"cgroup_{metric}", value)
