"""The jobs that a node does on its disk, and how large they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from sizebook.chapters.disk.node import disk_stack
from sizebook.lab import Setup, in_mode
from sizebook.lab.workplace import Workplace
from sizebook.model.design import Treatment
from sizebook.model.load import ClosedLoop, LoadProfile, Phases
from sizebook.model.modes import Mode
from sizebook.model.records import Scalar

SETS = ("small", "medium", "large")
"""Sets of files."""
NETWORK = "network"
FIO = ("seq-write", "seq-read", "rand-read", "rand-write", "log")
"""What fio does."""


@dataclass(frozen=True)
class Amounts:
    """How large the jobs of a profile are."""

    small: int
    """Files of the small set."""
    medium: int
    large_mib: int
    fio_mib: int
    fio_s: float
    """Seconds of fio's timed jobs."""
    measured_s: float
    """In these seconds jobs begin; the last one is done to its end."""


AMOUNTS: Mapping[str, Amounts] = {
    "smoke": Amounts(20, 20, 4, 4, 0.1, 0.3),
    "quick": Amounts(400, 400, 256, 256, 1.0, 4.0),
    "full": Amounts(3700, 7100, 1024, 1024, 5.0, 60.0),
}


@dataclass(frozen=True)
class DiskWork(Workplace):
    """What all trials of the chapter have in common."""

    heap_mib: int
    engine: str
    """Fio's way to the kernel."""
    has_fio: bool

    @property
    def amounts(self) -> Amounts:
        """The sizes of this profile."""
        return AMOUNTS[self.profile.name]

    @property
    def names(self) -> tuple[str, ...]:
        """The jobs that this machine can do."""
        return (*SETS, NETWORK, *(FIO if self.has_fio else ()))

    def setup(self, t: Treatment) -> Setup:
        """Return one job in a mode; a fresh start is warmed by all of them."""
        stack = disk_stack(self.here, heap_mib=self.heap_mib)
        host = in_mode(stack, cast("Mode", t["mode"]), self.here)
        return Setup(host, self._load(str(t["job"])), conditioning=self._load("all"))

    def _load(self, job: str) -> LoadProfile:
        settings: dict[str, Scalar] = {"job": job, **self._files(job)}
        if job in FIO:
            settings["mib"] = self.amounts.fio_mib
            settings["runtime_ms"] = round(1e3 * self.amounts.fio_s)
            settings["engine"] = self.engine
        if job == "all" and not self.has_fio:
            settings["without_fio"] = True
        phases = Phases(warmup_s=0.0, measured_s=self.amounts.measured_s, drain_s=120.0)
        return self.load("disk.py", ClosedLoop(users=1), settings, phases=phases)

    def _files(self, job: str) -> dict[str, int]:
        """Return how many files a set has, and of what size if it is fixed."""
        large_bytes = self.amounts.large_mib << 20
        return {
            "small": {"files": self.amounts.small},
            "medium": {"files": self.amounts.medium},
            "large": {"files": 1, "least": large_bytes, "most": large_bytes},
        }.get(job, {})
