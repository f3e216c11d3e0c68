"""The node that keeps messages in its heap, and what is asked of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sizebook.chapters.heap_gc.heaps import NODE
from sizebook.lab import Setup, messaging_stack
from sizebook.lab.workplace import Workplace
from sizebook.model.deployment import Deployment
from sizebook.model.design import Treatment
from sizebook.model.load import ClosedLoop, LoadProfile, Phases
from sizebook.model.records import Scalar
from sizebook.model.trial import Allowance, Exhaustion
from sizebook.stack.jvms import COLLECTORS, choose_jvm, find_collectors

CALLS = 10
"""Synchronous calls that a request of the baseline makes."""
SETTINGS: Mapping[str, Scalar] = {
    "parts": "messaging,bindings",
    "consumers": 0,
    "broker_large_bytes": 4 << 20,
    "broker_global_max_bytes": 1 << 40,
}
"""A queue that keeps in memory what it has, whatever that is."""
_SECONDS = {"smoke": (0.4, 1.0, 0.4), "quick": (4.0, 6.0, 2.5), "full": (30.0, 30.0, 30.0)}


def choose_collectors(
    platforms: Sequence[str], profile: str, first: str, *, measures: bool
) -> dict[str, list[str]]:
    """Return the collectors of a run by JVM generation; in a smoke run ``first`` and one more."""
    old, new = platforms[0], platforms[-1]
    if profile == "smoke":
        return {new: [first, "G1"]}
    known = {
        jvm: list(find_collectors(choose_jvm(jvm)) if measures else COLLECTORS) for jvm in platforms
    }
    return known | ({old: ["G1"]} if profile == "quick" and old != new else {})


def left_out(
    collectors: Mapping[str, Sequence[str]],
    heaps_mib: Sequence[int],
    *,
    side_by_side_mib: int,
    swept: tuple[str, str],
) -> list[dict[str, str | int]]:
    """Return the treatments that are not wanted of all collectors, generations and heaps.

    Wanted are all collectors at one heap, and the collector and generation that is ``swept`` at
    all of them.
    """
    return [
        {"collector": name, "jvm": jvm, "heap_mib": mib}
        for name in names_of(collectors)
        for jvm in collectors
        for mib in heaps_mib
        if (name, jvm) != swept and not (mib == side_by_side_mib and name in collectors[jvm])
    ]


def names_of(collectors: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the collectors of all generations, each once, in the order of ``COLLECTORS``."""
    return [name for name in COLLECTORS if any(name in known for known in collectors.values())]


@dataclass(frozen=True)
class Workload(Workplace):
    """What all trials of the chapter have in common."""

    jvm: str
    """JVM generation, where nothing else is said."""

    def baseline(self, heap_mib: int) -> Setup:
        """Return one caller who has copies received synchronously."""
        return Setup(self._stack(heap_mib), self._calls(1, self._seconds[0], calls=CALLS))

    def pile(self, heap_mib: int, messages: int, *, runs: int, restarts: Sequence[int]) -> Setup:
        """Return messages that pile up ``runs`` times in a node that may end.

        It is started again with one of the heaps ``restarts`` after the other, in MiB.
        """
        return Setup(
            self._stack(heap_mib),
            self._sending(messages, runs),
            Allowance(failed_share=0.9),
            stores={"messaging_row": "message"},
            disturbances=(Exhaustion(node=NODE, heaps_mib=tuple(restarts)),),
            conditioning=self._sending(10, 0),
        )

    def heaps(self, t: Treatment, held: int) -> Setup:
        """Return callers of copies beside messages that stay, with a collector and a heap."""
        flags = (COLLECTORS[str(t["collector"])],)
        return Setup(
            self._stack(int(t["heap_mib"]), jvm=t["jvm"], flags=flags),
            self._calls(4, self._seconds[2], held=held),
            Allowance(failed_share=1.0),
            disturbances=(Exhaustion(node=NODE, heaps_mib=()),),
        )

    @property
    def _seconds(self) -> tuple[float, float, float]:
        """Seconds measured: of the baseline; of a pile, whose sending goes on; of calls."""
        return _SECONDS[self.profile.name]

    def _stack(self, heap_mib: int, **fields: Any) -> Deployment:
        stack = messaging_stack(self.here, total_heap_mib=heap_mib, settings=SETTINGS)
        return stack.changed("app", **({"jvm": self.jvm} | fields))

    def _calls(self, users: int, measured_s: float, **settings: int) -> LoadProfile:
        phases = {"measured_s": measured_s}
        return self.load("heap_calls.py", ClosedLoop(users=users), settings, phases=phases)

    def _sending(self, count: int, runs: int) -> LoadProfile:
        settings = {"messages": count, "runs": runs}
        phases = Phases(warmup_s=0.0, measured_s=self._seconds[1], drain_s=150.0)
        return self.load("heap.py", ClosedLoop(users=1, think_s=0.05), settings, phases=phases)
