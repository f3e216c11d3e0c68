"""Processes: what each one, with the children it has, uses of the machine.

Read from /proc (Linux) rather than through psutil: one read of ``stat`` gives seven of the numbers,
so that a process costs 0.02 to 0.05 ms, and psutil's count of context switches is that of the main
thread alone, which in a JVM does nothing.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from sizebook.probes.base import CounterSample, QuietProbe, Unavailable, give_way

PidSource = Callable[[], int | None]
"""Gives the process id, or None while there is no such process (asked at each reading)."""

_PROC = Path("/proc")
_MAX_FAMILY = 4096
_PART_BYTES = 4096
_AT_A_TIME = 20


class ProcessStat(NamedTuple):
    """One line of ``/proc/PID/stat``, as far as it is used."""

    user_s: float
    system_s: float
    reaped_user_s: float
    """User CPU of children, and theirs, that ended and were waited for."""
    reaped_system_s: float
    major_faults: int
    reaped_major_faults: int
    threads: int
    start_ticks: int
    rss_bytes: int


class ProcessProbe(QuietProbe):
    """CPU, memory and threads of one process; with ``family`` of its descendants too.

    **CPU stays honest when children come and go** (PostgreSQL has one process a connection): when
    a process waits for an ended child, the kernel adds the child's CPU time to the parent's
    ``cutime`` and ``cstime``. The sum of own and reaped time over the living family is therefore
    the time of all members that ever were, as long as each was waited for by a member. Parents
    are read before their children, so that a child that ends between the two reads is missing
    for one reading and never counted twice; the sum shown never falls. A member that left the
    family (its parent died first) is no longer counted.

    ``generations`` bounds how far down the family is followed: 1 is enough for PostgreSQL, whose
    children have none, and halves the cost. One member costs 0.01 ms, one thread of a process
    that has others as much.

    CPU time comes in ticks of 10 ms. RSS of a family counts a shared page once a process.
    """

    kind = "process"

    def __init__(
        self,
        source: str,
        pid: PidSource,
        *,
        host: str = "local",
        family: bool = False,
        generations: int = _MAX_FAMILY,
        interval_s: float = 1.0,
        proc: Path = _PROC,
    ) -> None:
        self.name = f"{self.kind}:{source}"
        self.host = host
        self.interval_s = interval_s
        self._source = source
        self._pid = pid
        self._generations = generations if family else 0
        self._proc = proc
        self._root: tuple[int, int] | None = None
        self._highest: dict[str, float] = {}

    def sample(self) -> Iterator[CounterSample]:
        for metric, value in self._sums(self._members()).items():
            if metric in CUMULATIVE and value is not None:
                self._highest[metric] = max(value, self._highest.get(metric, 0.0))
                yield CounterSample(self._source, metric, self._highest[metric])
            else:
                yield CounterSample(self._source, metric, value)

    def _members(self) -> list[tuple[int, ProcessStat]]:
        """Return the process, first, and its descendants if the family is asked for."""
        root = self._pid()
        if root is None:
            raise Unavailable(f"no process {self._source}")
        try:
            stat = read_stat(f"{self._proc}/{root}")
        except OSError as error:
            raise Unavailable(f"process {self._source} has ended") from error
        if self._root != (root, stat.start_ticks):
            self._root, self._highest = (root, stat.start_ticks), {}
        members = youngest = [(root, stat)]
        if self._generations and not (self._proc / f"{root}/task/{root}/children").exists():
            raise Unavailable(f"no list of children of {self._source} in this kernel's /proc")
        for _ in range(self._generations):
            youngest = list(self._children_of(youngest))
            members = members + youngest
            if len(members) > _MAX_FAMILY:
                raise Unavailable(f"more than {_MAX_FAMILY} processes below {self._source}")
            if not youngest:
                break
        return members

    def _children_of(
        self, parents: list[tuple[int, ProcessStat]]
    ) -> Iterator[tuple[int, ProcessStat]]:
        for pid, parent in parents:
            for number, child in enumerate(_children(f"{self._proc}/{pid}", pid, parent.threads)):
                if number % _AT_A_TIME == 0:
                    give_way()
                with contextlib.suppress(OSError):
                    yield child, read_stat(f"{self._proc}/{child}")

    def _sums(self, members: list[tuple[int, ProcessStat]]) -> dict[str, float | None]:
        stats = [one for _, one in members]
        return {
            "cpu_user_s": sum(one.user_s + one.reaped_user_s for one in stats),
            "cpu_system_s": sum(one.system_s + one.reaped_system_s for one in stats),
            "process_major_faults": sum(o.major_faults + o.reaped_major_faults for o in stats),
            "rss_bytes": sum(one.rss_bytes for one in stats),
            "threads": sum(one.threads for one in stats),
            "processes": len(stats),
        }


class ProcessDetailProbe(ProcessProbe):
    """I/O, handles and context switches of one process; with ``family`` of its descendants too.

    These need two reads a process and one a thread (1 ms for 60 threads), hence a probe of its
    own with a long interval; sums over a trial are exact all the same, by its snapshots. Bytes of
    ended children are the parent's (as CPU time is, see ``ProcessProbe``). Switches are kept by
    thread: those of threads that have ended are lost, so that the sum may fall.
    """

    kind = "details"

    def _sums(self, members: list[tuple[int, ProcessStat]]) -> dict[str, float | None]:
        sums: dict[str, float | None] = dict.fromkeys(DETAILS)
        try:
            numbers = []
            for pid, _ in members:
                give_way()
                numbers.append(_details(f"{self._proc}/{pid}"))
        except (FileNotFoundError, ProcessLookupError):
            return sums  # a member has just ended; the next reading has all of them again
        except PermissionError as error:
            raise Unavailable(f"{self._source} is another user's") from error
        return dict(zip(DETAILS, map(sum, zip(*numbers, strict=True)), strict=True))


def read_stat(folder: str) -> ProcessStat:
    """Return what ``/proc/PID/stat`` says; OSError if the process is gone.

    The second field is the program's name in parentheses and may hold spaces and parentheses:
    ``4711 (tmux: (x) server) S 1 ...``; fields are counted from the last one (proc(5)).
    """
    text = _read(f"{folder}/stat")
    fields = text[text.rindex(b")") + 2 :].split(None, 22)
    ticks = _TICKS_PER_S
    return ProcessStat(
        user_s=int(fields[11]) / ticks,
        system_s=int(fields[12]) / ticks,
        reaped_user_s=int(fields[13]) / ticks,
        reaped_system_s=int(fields[14]) / ticks,
        major_faults=int(fields[9]),
        reaped_major_faults=int(fields[10]),
        threads=int(fields[17]),
        start_ticks=int(fields[19]),
        rss_bytes=int(fields[21]) * _PAGE_BYTES,
    )


def _children(folder: str, pid: int, threads: int) -> list[int]:
    """Return the children of a process: each thread has a file with those it started."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        names = [str(pid)] if threads == 1 else os.listdir(f"{folder}/task")  # noqa: PTH208
        for name in names:
            found += map(int, _read(f"{folder}/task/{name}/children").split())
    return found


def _details(folder: str) -> tuple[int, int, int, int, int]:
    """Return bytes read, bytes written, handles, voluntary and involuntary switches."""
    io = b"\n" + _read(f"{folder}/io")
    voluntary = forced = 0
    for thread in os.listdir(f"{folder}/task"):  # noqa: PTH208 - names only
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            status = _read(f"{folder}/task/{thread}/status")
            voluntary += _field(status, b"\nvoluntary_ctxt_switches:\t")
            forced += _field(status, b"\nnonvoluntary_ctxt_switches:\t")
    return (
        _field(io, b"\nread_bytes: "),
        _field(io, b"\nwrite_bytes: "),
        len(os.listdir(f"{folder}/fd")),  # noqa: PTH208 - counts only
        voluntary,
        forced,
    )


def _read(path: str) -> bytes:
    """Return a file of /proc, a third of the cost of ``Path.read_bytes``; raises OSError."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        text = b""
        while part := os.read(descriptor, _PART_BYTES):  # /proc gives whole records, a page at most
            text += part
        return text
    finally:
        os.close(descriptor)


def _field(text: bytes, name: bytes) -> int:
    at = text.index(name) + len(name)
    return int(text[at : text.index(b"\n", at)])


CUMULATIVE = frozenset(
    {"cpu_user_s", "cpu_system_s", "process_major_faults", "io_read_bytes", "io_written_bytes"}
)
DETAILS = (
    "io_read_bytes",
    "io_written_bytes",
    "handles",
    "switches_voluntary",
    "switches_involuntary",
)
_TICKS_PER_S: int = os.sysconf("SC_CLK_TCK")
_PAGE_BYTES: int = os.sysconf("SC_PAGE_SIZE")
