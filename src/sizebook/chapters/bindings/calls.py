"""Calls over a binding: ways, sizes, and the loads that make them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sizebook.lab import Placement, Setup, binding_stack
from sizebook.lab.profiles import Profile
from sizebook.model.design import Design, Factor, Treatment
from sizebook.model.load import Arrivals, ClosedLoop, LoadProfile, Phases
from sizebook.model.records import Scalar

WAYS = ("direct", "copy", "queue", "jms", "http", "soap", "rpc")
SIZES: Mapping[str, int] = {"1 KB": 1 << 10, "100 KB": 100 << 10, "1 MB": 1 << 20}
"""Payload to its bytes."""
EVERY = "all"
"""Every way and size in turn: what the JVMs are warmed with."""
ONE = ClosedLoop(users=1, think_s=0.001)
"""One client; the pause keeps its own work out of its rate."""
_SLOW = ("jms", "soap")  # measured for longer, to have enough calls
_OPENING_S = 7.5  # the pauses of the first and the second run


@dataclass(frozen=True)
class Lengths:
    """How long the trials of a profile are, in seconds."""

    measured_s: float
    conditioning_s: float
    """At most: there are many paths in two JVMs."""
    settle_s: float
    """Full load before what follows the first run counts."""


LENGTHS: Mapping[str, Lengths] = {
    "smoke": Lengths(0.3, 0.3, 0.3),
    "quick": Lengths(5.0, 36.0, 5.0),
    "full": Lengths(30.0, 90.0, 30.0),
}


def at(way: str, size: str = "100 KB", jvms: int = 2) -> dict[str, Scalar]:
    """Return the treatment of a way and size, with the receiver in one or another JVM."""
    return {"way": way, "size": size, "jvms": jvms}


@dataclass(frozen=True)
class Calls:
    """What all trials of the chapter have in common."""

    here: Placement
    profile: Profile
    seed: int
    heap_mib: int

    @property
    def lengths(self) -> Lengths:
        """The durations of this profile."""
        return LENGTHS[self.profile.name]

    def designs(self) -> tuple[Design, Design, Design]:
        """Return the designs of two JVMs, of one JVM, and of the first run.

        Every way has every size; all of both in turn is a treatment, too.
        """
        ways, sizes = Factor("way", (*WAYS, EVERY), "sub"), Factor("size", (*SIZES, EVERY), "sub")
        unlike: list[Treatment] = [{"way": way, "size": EVERY} for way in WAYS]
        unlike += [{"way": EVERY, "size": size} for size in SIZES]
        rpc = Factor("way", ("rpc",)), Factor("size", tuple(SIZES), "sub")
        blocks = self.profile.replicates
        return (
            Design("two JVMs", (ways, sizes), blocks, self.seed, tuple(unlike)),
            Design("one JVM", rpc, blocks, self.seed),
            Design("first run", (Factor("way", ("direct",)),), blocks, self.seed),
        )

    def two(self, t: Treatment) -> Setup:
        """Return a way and size over two JVMs; ``jms`` and ``soap`` take twice as long.

        With 1 MB they take three times as long.
        """
        way, size = str(t["way"]), str(t["size"])
        long = 1 if way not in _SLOW else 3 if size == "1 MB" else 2
        arrivals = ClosedLoop(users=2) if way == EVERY else ONE
        phases = self._lasting(measured_s=long * self.lengths.measured_s)
        return Setup(
            binding_stack(self.here, heap_mib=self.heap_mib),
            self._load(way, size, phases, arrivals),
        )

    def alone(self, t: Treatment) -> Setup:
        """Return a way and size with the receiver in the sender's JVM."""
        return self._in_one(self._load(str(t["way"]), str(t["size"]), self._lasting()))

    def first(self, t: Treatment) -> Setup:
        """Return the first calls after a start, and a second run of as many."""
        phases = self._lasting(warmup_s=_OPENING_S + self.lengths.settle_s)
        return self._in_one(self._load(str(t["way"]), "1 KB", phases, opening=True))

    def _in_one(self, load: LoadProfile) -> Setup:
        stack = binding_stack(self.here, apart=False, broker=False, heap_mib=self.heap_mib)
        return Setup(stack, load)

    def _lasting(self, **seconds: float) -> Phases:
        update = {"measured_s": self.lengths.measured_s} | seconds
        return self.profile.phases.model_copy(update=update)

    def _load(
        self, way: str, size: str, phases: Phases, arrivals: Arrivals = ONE, **options: Scalar
    ) -> LoadProfile:
        return LoadProfile(
            locustfile="bindings.py",
            arrivals=arrivals,
            phases=phases,
            settings={"way": way, "bytes": SIZES.get(size, 1024), **options},
            seed=self.seed,
            cpus=self.here.generator,
        )
