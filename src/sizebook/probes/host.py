"""The machine: CPUs, memory, disks, network, pressure."""

from __future__ import annotations

import os
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

import psutil

from sizebook.probes.base import CounterSample, QuietProbe, Unavailable, give_way

SOURCE = "host"
_TICKS_PER_S: int = os.sysconf("SC_CLK_TCK")
_CORES = ("core_user_s", "core_system_s", "core_idle_s")
_PAGE_BYTES: int = os.sysconf("SC_PAGE_SIZE")
_VM = (
    ("swap_in_bytes", "pswpin", _PAGE_BYTES),
    ("swap_out_bytes", "pswpout", _PAGE_BYTES),
    ("major_faults", "pgmajfault", 1),
)
"""Our metric, the word before the number in a line of /proc/vmstat (``pgmajfault 2426``), unit."""
_AVAILABLE = "\nMemAvailable:"
"""Line of /proc/meminfo, in kB whatever the unit says: ``MemAvailable:   23504160 kB``."""
_IDLE_DISKS = ("loop", "ram", "zram")
_PRESSURE = ("cpu", "io", "memory")
_SECTOR_BYTES = 512
_NETWORK = (
    "sent_bytes",
    "received_bytes",
    "sent_packets",
    "received_packets",
    "errors",
    "drops",
)
_TCP = (
    ("net/snmp", "Tcp:", "RetransSegs", "tcp_retransmits"),
    ("net/netstat", "TcpExt:", "ListenOverflows", "tcp_listen_overflows"),
)
"""File, the word its two lines (names, numbers) begin with, column, our metric."""


class HostProbe(QuietProbe):
    """Counters of the machine as a whole, in the network namespace of the harness.

    Cumulative since boot; differences are left to the reader. Parts that a kernel does not have
    (pressure stall information before Linux 4.20 or where it is switched off, /proc on other
    systems) are left out, not filled with zeros; ``lacking`` names them. CPU time comes in ticks
    of 10 ms. Costs 0.4 ms a reading.
    """

    def __init__(
        self, *, host: str = "local", interval_s: float = 1.0, proc: Path = Path("/proc")
    ) -> None:
        self.name = f"host:{host}"
        self.host = host
        self.interval_s = interval_s
        self._proc = proc
        self._disks: frozenset[str] = frozenset()
        self._lacking: dict[str, str] = {}
        self._linux = sys.platform == "linux"

    def lacking(self) -> dict[str, str]:
        return dict(self._lacking)

    def attach(self) -> None:
        """Choose the disks: whole ones, so that partitions are not counted twice."""
        lines = self._text("diskstats").splitlines()
        names = {fields[2] for line in lines if len(fields := line.split()) > 2}
        if not self._linux:
            names = {*(psutil.disk_io_counters(perdisk=True, nowrap=False) or {})}
        self._disks = frozenset(name for name in names if _is_disk(name))

    def sample(self) -> list[CounterSample]:
        samples: list[CounterSample] = []
        parts = (self._cpus, self._load, self._memory, self._disk, _network, self._tcp, self._vm)
        for part in (*parts, self._pressure):
            give_way()
            samples += [CounterSample(SOURCE, metric, value) for metric, value in part()]
        return samples

    def _text(self, file: str, *metrics: str) -> str:
        """Return a file below /proc; where it is missing, note what cannot be told, return ""."""
        try:
            return (self._proc / file).read_text()
        except OSError as error:
            for metric in metrics:
                self._lacking[metric] = f"/proc/{file}: {error.strerror}"
            return ""

    def _cpus(self) -> Iterator[tuple[str, float]]:
        yield from _cpus(self._text("stat", *_CORES) if self._linux else None)

    def _load(self) -> Iterator[tuple[str, float]]:
        text = self._text("loadavg", "load_1min", "runnable_threads")
        if not text:
            return
        minute, _, _, running, _ = text.split()  # "0.52 0.40 0.31 2/866 9006"
        yield "load_1min", float(minute)
        # The reading thread is running, too, and does not count itself.
        yield "runnable_threads", max(0, int(running.partition("/")[0]) - 1)

    def _disk(self) -> Iterator[tuple[str, float]]:
        if self._linux:
            yield from parse_disks(self._text("diskstats", "disk_queue"), self._disks)
            return
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
        text = self._text("vmstat", *(metric for metric, _, _ in _VM))
        if not text and not self._linux:
            swap = psutil.swap_memory()
            yield "swap_in_bytes", swap.sin
            yield "swap_out_bytes", swap.sout
        for metric, line, unit in _VM:
            if (at := text.find(f"\n{line} ")) >= 0:
                yield metric, float(text[at + len(line) + 2 :].split("\n", 1)[0]) * unit

    def _memory(self) -> Iterator[tuple[str, float]]:
        text = self._text("meminfo", "memory_available_bytes") if self._linux else ""
        if (at := text.find(_AVAILABLE)) >= 0:
            kib = text[at + len(_AVAILABLE) :].split(None, 1)[0]
            yield "memory_available_bytes", int(kib) * 1024
        elif not self._linux:
            yield "memory_available_bytes", psutil.virtual_memory().available

    def _tcp(self) -> Iterator[tuple[str, float]]:
        for file, part, column, metric in _TCP:
            text = self._text(file, metric)
            rows = [line.split() for line in text.splitlines() if line.startswith(part)]
            if len(rows) == 2 and column in rows[0]:
                yield metric, float(rows[1][rows[0].index(column)])
            elif text:
                self._lacking[metric] = f"/proc/{file} has no {column}"

    def _pressure(self) -> Iterator[tuple[str, float]]:
        for resource in _PRESSURE:
            if text := self._text(f"pressure/{resource}", f"pressure_some_s/{resource}"):
                yield from parse_pressure(resource, text)


def parse_disks(text: str, disks: Collection[str]) -> Iterator[tuple[str, float]]:
    """Yield the counters of these disks from /proc/diskstats.

    Fields after the name (``Documentation/admin-guide/iostats.rst``): reads, merged, sectors of
    512 bytes, ms; the same of writes; operations under way; ms busy; weighted ms; since Linux 4.18
    four of discards; since 5.5 flushes and their ms. Raises Unavailable for another form.
    """
    for line in text.splitlines():
        fields = line.split()
        if len(fields) < 3 or fields[2] not in disks:
            continue
        numbers = [int(field) for field in fields[3:]]
        if len(numbers) < 11:
            raise Unavailable(f"disk line {line[:200]!r}")
        name = fields[2]
        yield f"disk_read_bytes/{name}", numbers[2] * _SECTOR_BYTES
        yield f"disk_written_bytes/{name}", numbers[6] * _SECTOR_BYTES
        yield f"disk_reads/{name}", numbers[0]
        yield f"disk_writes/{name}", numbers[4]
        yield f"disk_busy_s/{name}", numbers[9] / 1e3
        yield f"disk_wait_s/{name}", (numbers[3] + numbers[7]) / 1e3
        yield f"disk_queue/{name}", numbers[8]
        if len(numbers) >= 17:
            yield f"disk_flushes/{name}", numbers[15]
            yield f"disk_flush_s/{name}", numbers[16] / 1e3


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


def parse_cpus(text: str) -> Iterator[tuple[str, float]]:
    """Yield the counters of each CPU, by the kernel's numbers, and of all, from /proc/stat.

    Lines (proc(5)): ``cpu2 user nice system idle iowait irq softirq steal …`` in ticks, steal since
    Linux 2.6.11; ``ctxt N`` and ``intr N …``. CPUs that are offline have none: numbers have holes.
    """
    for line in text.splitlines():
        name, *fields = line.split()
        if name.startswith("cpu") and name[3:].isdecimal():
            times = [int(field) / _TICKS_PER_S for field in fields[:8]]
            if len(times) < 7:
                raise Unavailable(f"CPU line {line[:200]!r}")
            user, nice, system, idle, iowait, irq, softirq, *steal = times
            number = name[3:]
            yield f"core_user_s/{number}", user + nice
            yield f"core_system_s/{number}", system
            yield f"core_idle_s/{number}", idle
            yield f"core_iowait_s/{number}", iowait
            yield f"core_irq_s/{number}", irq + softirq
            yield from ((f"core_steal_s/{number}", one) for one in steal)
        elif name == "ctxt":
            yield "context_switches", int(fields[0])
        elif name == "intr":
            yield "interrupts", int(fields[0])


def _cpus(text: str | None = None) -> Iterator[tuple[str, float]]:
    """Yield the counters of CPUs; without a text from psutil, which numbers those that are online.

    On Linux that gives a CPU's times to another one where some are offline, so that psutil is asked
    elsewhere only.
    """
    if text is None and sys.platform == "linux":
        text = (Path(psutil.PROCFS_PATH) / "stat").read_text()
    if text is not None:
        yield from parse_cpus(text)
        return
    for number, times in enumerate(psutil.cpu_times(percpu=True)):
        yield f"core_user_s/{number}", times.user + getattr(times, "nice", 0.0)
        yield f"core_system_s/{number}", times.system
        yield f"core_idle_s/{number}", times.idle
    counts = psutil.cpu_stats()
    yield "context_switches", counts.ctx_switches
    yield "interrupts", counts.interrupts


def _network() -> Iterator[tuple[str, float]]:
    sums = {"loopback": [0] * len(_NETWORK), "other": [0] * len(_NETWORK)}
    for name, card in psutil.net_io_counters(pernic=True, nowrap=False).items():
        into = sums["loopback" if name in ("lo", "lo0") else "other"]
        numbers = (card.bytes_sent, card.bytes_recv, card.packets_sent, card.packets_recv)
        lost = (card.errin + card.errout, card.dropin + card.dropout)
        into[:] = [old + new for old, new in zip(into, numbers + lost, strict=True)]
    for kind, numbers_ in sums.items():
        for metric, number in zip(_NETWORK, numbers_, strict=True):
            yield f"network_{metric}/{kind}", number
