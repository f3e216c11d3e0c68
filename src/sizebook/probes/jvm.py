"""The JVM's own counters: garbage collection, safepoints, threads, classes, compiler."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from sizebook.probes.base import CounterSample, QuietProbe, Unavailable
from sizebook.probes.hsperfdata import FREQUENCY, Layout, PerfDataError, read_layout
from sizebook.probes.process import PidSource

NUMBERS = {
    "jvm_threads_live": "java.threads.live",
    "jvm_threads_started": "java.threads.started",
    "classes_loaded": "java.cls.loadedClasses",
    "classes_shared_loaded": "java.cls.sharedLoadedClasses",
    "safepoints": "sun.rt.safepoints",
    "jit_compilations": "sun.ci.totalCompiles",
    "jit_invalidations": "sun.ci.totalInvalidates",
    "jit_code_bytes": "sun.ci.nmethodCodeSize",
    "metaspace_used_bytes": "sun.gc.metaspace.used",
    "monitor_contentions": "sun.rt._sync_ContendedLockAttempts",
}
"""Our metric and the JVM's counter of plain numbers."""

SECONDS = {
    "safepoint_s": "sun.rt.safepointTime",
    "safepoint_sync_s": "sun.rt.safepointSyncTime",
    "jit_s": "java.ci.totalTime",
}
"""Our metric and the JVM's counter of ticks."""

_COLLECTOR = re.compile(r"sun\.gc\.collector\.(\d+)\.name")
_SPACE = re.compile(r"(sun\.gc\.generation\.\d+\.space\.\d+)\.name")
_TEMPORARY = "tmp"


class JvmProbe(QuietProbe):
    """Counters of one HotSpot JVM from its hsperfdata file; Java 17 and 25 are tested.

    Labels are the JVM's own names in short: ``gc_s/young``, ``space_used_bytes/eden``. G1 updates
    the use of its spaces at collections only; the live heap is ``heap_used_bytes`` of the
    Prometheus probe. The monitor and compiler counters are missing where a JVM lacks them.
    """

    def __init__(
        self,
        source: str,
        pid: PidSource,
        *,
        host: str = "local",
        interval_s: float = 1.0,
        proc: Path = Path("/proc"),
    ) -> None:
        self.name = f"jvm:{source}"
        self.host = host
        self.interval_s = interval_s
        self._source = source
        self._pid = pid
        self._proc = proc
        self._file: tuple[int, Path] | None = None
        self._layout: Layout | None = None
        self._counters: tuple[Counter, ...] = ()

    def detach(self) -> None:
        self._file = self._layout = None

    def sample(self) -> list[CounterSample]:
        pid = self._pid()
        if pid is None:
            raise Unavailable(f"no process {self._source}")
        if self._file is None or self._file[0] != pid:
            self._file, self._layout = (pid, find_perf_data(pid, self._proc)), None
        try:
            data = self._file[1].read_bytes()
        except OSError as error:
            self._file = None
            raise Unavailable(f"the JVM {self._source} has ended") from error
        try:
            if self._layout is None or not self._layout.fits(data):
                self._layout = read_layout(data)
                self._counters = tuple(find_counters(self._layout, data))
        except PerfDataError as error:
            raise Unavailable(f"counters of {self._source}: {error}") from error
        return [CounterSample(self._source, *one) for one in read_counters(self._counters, data)]


def find_perf_data(pid: int, proc: Path = Path("/proc")) -> Path:
    """Return the hsperfdata file of a JVM, also of one in a container; Unavailable if none.

    HotSpot writes to ``/tmp`` whatever ``java.io.tmpdir`` says, under the process id of its own
    namespace: see ``temporary_of``.
    """
    folder, inner = temporary_of(pid, read_status(pid, proc), proc)
    try:
        for path in folder.glob(f"hsperfdata_*/{inner}"):
            return path
    except PermissionError as error:
        raise Unavailable(f"process {pid} is another user's") from error
    raise Unavailable(f"process {pid} has no hsperfdata file (no JVM, or -XX:-UsePerfData)")


def read_status(pid: int, proc: Path = Path("/proc")) -> str:
    """Return what the kernel says of a process in its ``status``; Unavailable if it is gone."""
    try:
        return (proc / str(pid) / "status").read_text(errors="replace")
    except OSError as error:
        raise Unavailable(f"no process {pid}") from error


def temporary_of(pid: int, status: str, proc: Path = Path("/proc")) -> tuple[Path, str]:
    """Return the folder in which a JVM leaves its files, and the process id it knows itself by.

    Both are those of its own namespaces, as a JVM in a container sees them.
    """
    found = re.search(r"^NSpid:\t(?:\d+\t)*(\d+)$", status, re.MULTILINE)
    return proc / str(pid) / "root" / _TEMPORARY, found[1] if found else str(pid)


class Counter(NamedTuple):
    """Where the value of one of our metrics lies in the JVM's file."""

    metric: str
    place: struct.Struct
    offset: int
    """-1: this JVM does not count it."""
    ticks_per_s: int
    """1 for what is not a time."""


def read_counters(counters: Iterable[Counter], data: bytes) -> Iterator[tuple[str, float | None]]:
    """Yield (metric, value) for all counters that are registered; None for what is not there."""
    for metric, place, offset, ticks_per_s in counters:
        if offset < 0:
            yield metric, None
        else:
            (value,) = place.unpack_from(data, offset)
            yield metric, value if ticks_per_s == 1 else value / ticks_per_s


def find_counters(layout: Layout, data: bytes) -> Iterator[Counter]:
    """Yield where the counters that are registered lie, once for each layout."""
    place = struct.Struct(f"{layout.order}q")
    frequency = layout.number(data, FREQUENCY) or 0
    for metric, name, is_time in _wanted(layout, data):
        entry = layout.entries.get(name)
        there = entry is not None and not entry.length and (frequency > 0 or not is_time)
        offset = entry.offset if there and entry is not None else -1
        yield Counter(metric, place, offset, frequency if is_time else 1)


def _wanted(layout: Layout, data: bytes) -> Iterator[tuple[str, str, bool]]:
    """Yield our metric, the JVM's counter, and whether it is in ticks."""
    for metric, counter in NUMBERS.items():
        yield metric, counter, False
    for metric, counter in SECONDS.items():
        yield metric, counter, True
    for name in layout.entries:
        if match := _COLLECTOR.fullmatch(name):
            label = _collector_label(layout.text(data, name) or match[1])
            prefix = name.removesuffix(".name")
            yield f"gc_count/{label}", f"{prefix}.invocations", False
            yield f"gc_s/{label}", f"{prefix}.time", True
        elif match := _SPACE.fullmatch(name):
            label = (layout.text(data, name) or "unknown").lower()
            label = "old" if label == "space" else label
            yield f"space_used_bytes/{label}", f"{match[1]}.used", False
            yield f"space_capacity_bytes/{label}", f"{match[1]}.capacity", False


def _collector_label(name: str) -> str:
    """Return ``young`` for ``G1 young collection pauses``, ``serial-full`` and so on."""
    words = [
        word
        for word in re.findall(r"[a-z0-9]+", name.lower())
        if word not in {"g1", "collection", "pauses", "pause", "gc", "collector"}
    ]
    return "-".join(words) or "unknown"
