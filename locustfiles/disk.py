"""A client asks a node for one disk job after the other: the load of the chapter on disks.

One request is one job in the node's data folder. ``small``, ``medium`` and ``large`` are sets of
files that the node writes, forces to disk and reads back, each byte compared (``files``, ``least``
and ``most`` bytes; 0: the stack's own). ``seq-write``, ``seq-read``, ``rand-read``, ``rand-write``
and ``log`` are jobs of fio in a file of ``mib`` MiB, for ``runtime_ms`` or, one after the other, to
its end. ``network`` fetches ``mib`` MiB that come out of the node's memory. One job is one pass:
what it moved, and in which time, is in the node's counters.

``all`` asks for each job in turn, in small: the load that conditions a JVM for any of them;
``without_fio`` leaves fio's out.
"""

from __future__ import annotations

from typing import ClassVar

from sizebook.load.users import Expect, LeanHttpUser, Setting
from sizebook.model.errors import TrialError
from sizebook.model.load import ClosedLoop

SETS = ("small", "medium", "large")
FIO = ("seq-write", "seq-read", "rand-read", "rand-write", "log")
NETWORK, ALL = "network", "all"
IN_SMALL = "files=20&least=1000&most=200000"
"""What conditioning asks for of every set."""
MIB = 1 << 20


class Worker(LeanHttpUser):
    """Asks for the next job when the last one is done."""

    role = "app"
    results = "passes"
    settings: ClassVar[dict[str, Setting]] = {
        "job": Setting("small", (*SETS, *FIO, NETWORK, ALL)),
        "files": Setting(0),
        "least": Setting(0),
        "most": Setting(0),
        "mib": Setting(16),
        "runtime_ms": Setting(1000),
        "engine": Setting("libaio", ("libaio", "io_uring", "psync")),
        "direct": Setting(True),
        "without_fio": Setting(False),
    }

    def on_start(self) -> None:
        """Raise TrialError if there is another user: jobs are done one at a time."""
        arrivals = self.course.load.arrivals
        if not isinstance(arrivals, ClosedLoop) or arrivals.users != 1:
            raise TrialError(
                found=f"{arrivals.users} users ({arrivals.kind})",
                expected="one user in a closed loop: a disk does one job at a time",
                next_step="set the load profile's arrivals to ClosedLoop(users=1)",
            )

    def iteration(self) -> None:
        """Ask for one job."""
        job, number = str(self.setting("job")), self.iteration_number
        if job != ALL:
            self.ask(job, self.size(job), int(self.setting("mib")))
            return
        jobs = (*SETS, NETWORK, *(() if self.setting("without_fio") else FIO))
        job = jobs[number % len(jobs)]
        self.ask(job, IN_SMALL if job in SETS else "runtime-ms=100", 1)

    def size(self, job: str) -> str:
        """Return what the query says of sizes and times."""
        if job in SETS:
            asked = [(name, int(self.setting(name))) for name in ("files", "least", "most")]
            return "&".join(f"{name}={value}" for name, value in asked if value)
        return f"runtime-ms={self.setting('runtime_ms')}"

    def ask(self, job: str, size: str, mib: int) -> None:
        """Do a job, or have it done."""
        if job == NETWORK:
            whole = Expect(content_type=b"application/octet-stream", length=mib * MIB)
            self.get(f"/disk/network?bytes={mib * MIB}", name=job, check=whole)
        elif job in SETS:
            seed = self.course.load.seed + self.iteration_number
            good = Expect(contains=b'"intact":true')
            self.post(f"/disk/files/{job}?seed={seed}&{size}", b"", name=job, check=good)
        else:
            way = f"engine={self.setting('engine')}&direct={str(self.setting('direct')).lower()}"
            good = Expect(contains=f'"job":"{job}","bytes":{mib * MIB},"ran":'.encode())
            path = f"/disk/fio/{job}?bytes={mib * MIB}&{way}&{size}"
            self.post(path, b"", name=job, check=good)
