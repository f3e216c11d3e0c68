"""The machine: CPUs, memory, disks, network, pressure."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil

from sizebook.probes.base import QuietProbe, Sample, Unavailable, give_way

SOURCE = "host"
_PAGE_FAULT = "pgmajfault "
"""Line of /proc/vmstat: ``pgmajfault 2426``."""
_IDLE_DISKS = ("loop", "ram", "zram")
_PRESSURE = ("cpu", "io", "memory")


class HostProbe(QuietProbe):
    """Counters of the machine as a whole, in the network namespace of the harness.

    Cumulative since boot; differences are left to the reader. Parts that a kernel does not have
    (pressure stall information before Linux 4.20 or where it is switched off, /proc on other
    systems) are left out, not filled with zeros. CPU time comes in ticks of 10 ms.
    """

    def __init__(
        self, *, host: str = "local", interval_s: float = 1.0, proc: Path = Path("/proc")
    ) -> None:
        self.name = f"host:{host}"
        self.host = host
        self.interval_s = interval_s
        self._proc = proc
        self._disks: frozenset[str] = frozenset()

    def attach(self) -> None:
        """Choose the disks: whole ones, so that partitions are not counted twice."""
        counters = psutil.disk_io_counters(perdisk=True, nowrap=False) or {}
        self._disks = frozenset(name for name in counters if _is_disk(name))

    def sample(self) -> list[Sample]:
        samples: list[Sample] = []
        for part in (_cpus, self._load, _memory, self._disk, _network, self._vm, self._pressure):
            give_way()
            samples += [Sample(SOURCE, metric, value) for metric, value in part()]
        return samples

    def _load(self) -> Iterator[tuple[str, float]]:
        try:
            text = (self._proc / "loadavg").read_text()  # "0.52 0.40 0.31 2/866 9006"
        except OSError:
            return
        minute, _, _, running, _ = text.split()
        yield "load_1min", float(minute)
        # The reading thread is running, too, and does not count itself.
        yield "runnable_threads", max(0, int(running.partition("/")[0]) - 1)

    def _disk(self) -> Iterator[tuple[str, float]]:
        counters = psutil.disk_io_counters(perdisk=True, nowrap=False) or {}
        for name in sorted(self._disks & counters.keys()):
            disk = counters[name]
            yield f"disk_read_bytes/{name}", disk.read_bytes
            yield f"disk_written_bytes/{name}", disk.write_bytes
            yield f"disk_reads/{name}", disk.read_count
            yield f"disk_writes/{name}", disk.write_count
            if hasattr(disk, "busy_time"):
                yield f"disk_busy_s/{name}", disk.busy_time / 1e3
                yield f"disk_wait_s/{name}", (disk.read_time + disk.write_time) / 1e3

    def _vm(self) -> Iterator[tuple[str, float]]:
        try:
            text = (self._proc / "vmstat").read_text()
        except OSError:
            return
        for line in text.splitlines():
            if line.startswith(_PAGE_FAULT):
                yield "major_faults", float(line[len(_PAGE_FAULT) :])

    def _pressure(self) -> Iterator[tuple[str, float]]:
        for resource in _PRESSURE:
            try:
                text = (self._proc / "pressure" / resource).read_text()
            except OSError:
                continue
            yield from parse_pressure(resource, text)


def parse_pressure(resource: str, text: str) -> Iterator[tuple[str, float]]:
    """Yield the cumulative stall seconds of one resource, from /proc/pressure/<resource>.

    Lines: ``some avg10=0.29 avg60=0.46 avg300=0.65 total=9155980`` and the same with ``full``;
    the total is in microseconds. Raises Unavailable for text of another form.
    """
    for line in text.splitlines():
        kind, *fields = line.split()
        total = dict(field.partition("=")[::2] for field in fields).get("total", "")
        if kind not in ("some", "full") or not total.isdecimal():
            raise Unavailable(f"pressure line {line!r}")
        yield f"pressure_{kind}_s/{resource}", int(total) / 1e6


def _is_disk(name: str) -> bool:
    if name.startswith(_IDLE_DISKS):
        return False
    block = Path("/sys/block")
    return (block / name).exists() if block.exists() else True


def _cpus() -> Iterator[tuple[str, float]]:
    for number, times in enumerate(psutil.cpu_times(percpu=True)):
        yield f"core_user_s/{number}", times.user + getattr(times, "nice", 0.0)
        yield f"core_system_s/{number}", times.system
        yield f"core_idle_s/{number}", times.idle
        if hasattr(times, "iowait"):
            yield f"core_iowait_s/{number}", times.iowait
            yield f"core_irq_s/{number}", times.irq + times.softirq
        if hasattr(times, "steal"):
            yield f"core_steal_s/{number}", times.steal
    counts = psutil.cpu_stats()
    yield "context_switches", counts.ctx_switches
    yield "interrupts", counts.interrupts


def _memory() -> Iterator[tuple[str, float]]:
    yield "memory_available_bytes", psutil.virtual_memory().available
    swap = psutil.swap_memory()
    yield "swap_in_bytes", swap.sin
    yield "swap_out_bytes", swap.sout


def _network() -> Iterator[tuple[str, float]]:
    sums = {"loopback": [0, 0, 0, 0], "other": [0, 0, 0, 0]}
    for name, card in psutil.net_io_counters(pernic=True, nowrap=False).items():
        into = sums["loopback" if name in ("lo", "lo0") else "other"]
        numbers = (card.bytes_sent, card.bytes_recv, card.packets_sent, card.packets_recv)
        into[:] = [old + new for old, new in zip(into, numbers, strict=True)]
    names = ("sent_bytes", "received_bytes", "sent_packets", "received_packets")
    for kind, numbers_ in sums.items():
        for metric, number in zip(names, numbers_, strict=True):
            yield f"network_{metric}/{kind}", number
