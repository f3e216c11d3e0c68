"""Documents to transform: ways, layouts, and the loads that send them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sizebook.lab import Placement, Setup, xml_stack
from sizebook.lab.profiles import Profile
from sizebook.model.design import Treatment
from sizebook.model.load import ClosedLoop, LoadProfile
from sizebook.model.records import Scalar

JDK, SAXON, ACTIONS = WAYS = ("xslt-jdk", "xslt", "actions")


@dataclass(frozen=True)
class Lengths:
    """How long the trials of a profile are, in seconds."""

    alone_s: float
    """Conditioning of one node in the way that is measured."""
    shared_s: float
    """Conditioning of several nodes in all ways in turn."""
    measured_s: float


LENGTHS: Mapping[str, Lengths] = {
    "smoke": Lengths(0.4, 0.8, 1.0),
    "quick": Lengths(40.0, 60.0, 9.0),
    "full": Lengths(60.0, 120.0, 60.0),
}


def at(way: str, nodes: int = 1) -> dict[str, Scalar]:
    """Return the treatment of a way in a layout."""
    return {"way": way, "nodes": nodes}


def pairs_of(several: Sequence[int]) -> list[tuple[dict[str, Scalar], dict[str, Scalar]]]:
    """Return stylesheet and actions: both engines at one node, the JDK's in other layouts."""
    pairs = [(at(engine), at(ACTIONS)) for engine in (JDK, SAXON)]
    return pairs + [(at(JDK, count), at(ACTIONS, count)) for count in several]


@dataclass(frozen=True)
class Documents:
    """What all trials of the chapter have in common."""

    here: Placement
    profile: Profile
    seed: int
    users: int
    document_bytes: int
    total_heap_mib: int
    """Heap of all app nodes together; 0: what the machine can give."""

    @property
    def lengths(self) -> Lengths:
        """The durations of this profile."""
        return LENGTHS[self.profile.name]

    def several(self, nodes: Sequence[int]) -> tuple[int, ...]:
        """Return the layouts of more than one node; the quick profile has the largest alone."""
        many = max(1, *nodes)
        quick = self.profile.name == "quick"
        return tuple(count for count in nodes if count > 1 and (not quick or count == many))

    def setup(self, t: Treatment) -> Setup:
        """Return a way on one node, or on as many as the treatment says."""
        way, nodes = str(t["way"]), int(t.get("nodes", 1))
        return Setup(
            xml_stack(self.here, nodes=nodes, total_heap_mib=self.total_heap_mib),
            self._load(way),
            stores={"document": "transform"},
            probe_interval_s=0.25,
            conditioning=self._load("all" if nodes > 1 else way),
        )

    def _load(self, way: str) -> LoadProfile:
        measured_s = self.lengths.measured_s
        return LoadProfile(
            locustfile="xml_transform.py",
            arrivals=ClosedLoop(users=self.users),
            phases=self.profile.phases.model_copy(
                update={"warmup_s": measured_s / 5, "measured_s": measured_s}
            ),
            settings={"way": way, "bytes": self.document_bytes},
            seed=self.seed,
            cpus=self.here.generator,
        )
