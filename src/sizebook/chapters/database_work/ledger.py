"""Pieces of work over a ledger: what they are called, and the loads that ask for them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from sizebook.lab import SOFT_CPU, Setup, in_mode, work_stack
from sizebook.lab.workplace import Workplace
from sizebook.model.design import Treatment
from sizebook.model.load import ClosedLoop, LoadProfile, PacedGroup, PacedUsers
from sizebook.model.modes import Mode
from sizebook.model.records import Scalar

SYSTEMS: Mapping[str, tuple[str, Mode]] = {
    "erp": ("bare metal", "bare"),
    "erc": ("paravirtualized guest", "paravirtual-kernel"),
    "erm": ("fully virtualized guest, emulated devices", "emulated-vm"),
    "bis": ("paravirtualized guest, a smaller system", "paravirtual-kernel"),
}
"""System of the report to what it ran on, and the mode that stands for it here."""
STAGES = ("summary", "items", "all")
"""The stages of the report."""
PAIRS = {
    "select-aggregates": "aggregates",
    "select-with-view": "view",
    "using-subqueries": "subqueries",
    "comparing-internal-tables": "tables",
    "supply-demand-vs-select": "context",
}
"""Test of the report to the pair of naive and better code that stands for it."""
JOBS = ("generation", "statistics", "closing")
MIX = "mix"
"""Dialogues and jobs together."""
WORKS = (
    "count",
    *STAGES,
    *(f"{p}-{way}" for p in PAIRS.values() for way in ("naive", "better")),
    *JOBS,
)
"""Pieces of work, each a trial of its own."""


@dataclass(frozen=True)
class Lengths:
    """How long the trials of a profile are, in seconds, and how large a generation job is."""

    warmup_s: float
    measured_s: float
    mix_s: float
    conditioning_s: float
    programs: int


LENGTHS: Mapping[str, Lengths] = {
    "smoke": Lengths(0.05, 0.2, 1.0, 0.5, 2),
    "quick": Lengths(0.5, 2.5, 24.0, 40.0, 20),
    "full": Lengths(2.0, 20.0, 300.0, 90.0, 50),
}


def at(work: str, mode: str = "bare") -> dict[str, Scalar]:
    """Return the treatment of a piece of work in a mode."""
    return {"mode": mode, "work": work}


def in_system(work: str, system: str) -> dict[str, Scalar]:
    """Return the treatment of a piece of work in the mode that stands for a report's system."""
    return at(work, SYSTEMS[system][1])


@dataclass(frozen=True)
class Ledger(Workplace):
    """What all trials of the chapter have in common."""

    rows: int
    """Items of the ledger; a smoke run has a tenth."""
    heap_mib: int
    users: int
    """Users in dialogues beside the jobs."""

    @property
    def lengths(self) -> Lengths:
        """The durations of this profile."""
        return LENGTHS[self.profile.name]

    @property
    def groups(self) -> int:
        """Whole groups of accounts."""
        return max(50, self.rows // 520) // 25

    def setup(self, t: Treatment) -> Setup:
        """Return a piece of work in a mode; a fresh start is warmed by every one in turn."""
        work, mode = str(t["work"]), cast("Mode", t["mode"])
        stack = work_stack(self.here, heap_mib=self.heap_mib, ledger_rows=self.rows)
        return Setup(
            in_mode(stack, mode, self.here),
            self._load(work, mode),
            conditioning=self._load("every", mode),
            probe_interval_s=6.0 if mode in SOFT_CPU else 1.0,
        )

    def _load(self, work: str, mode: Mode) -> LoadProfile:
        """Return the load; where the CPU is software it is patient."""
        soft, mix_s = mode in SOFT_CPU, self.lengths.mix_s
        lengths = {
            "warmup_s": 0.0 if soft else self.lengths.warmup_s,
            "measured_s": (2 if soft else 1) * self.lengths.measured_s,
            "drain_s": 185.0 if soft else 35.0,
        }
        lengths |= {"warmup_s": mix_s / 6, "measured_s": mix_s} if work == MIX else {}
        options: dict[str, Any] = {"request_timeout_s": 180.0} if soft else {}
        asked = self._mixed() if work == MIX else self._alone(work)
        return self.load(**asked, **options, phases=lengths)

    def _alone(self, work: str) -> dict[str, Any]:
        settings = {"work": work, "rows": self.rows, "groups": self.groups}
        return {
            "locustfile": "work.py",
            "arrivals": ClosedLoop(users=1),
            "settings": settings | {"programs": self.lengths.programs},
        }

    def _mixed(self) -> dict[str, Any]:
        every_s, job_s = (0.25, 0.4) if self.smoke else (1.0, 6.0)
        dialogue = PacedGroup(name="dialogue", users=self.users, period_s=every_s)
        background = PacedGroup(name="background", users=1, period_s=job_s)
        return {
            "locustfile": "work_mix.py",
            "arrivals": PacedUsers(groups=(dialogue, background)),
            "settings": {"accounts": 50, "groups": self.groups},
        }
