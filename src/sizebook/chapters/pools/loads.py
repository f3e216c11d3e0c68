"""Nodes with pools of threads, and loads that set the pools' limits before they begin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sizebook.lab import Placement, Setup, binding_stack
from sizebook.lab.profiles import Profile
from sizebook.model.deployment import Deployment
from sizebook.model.load import ClosedLoop, LoadProfile, Phases
from sizebook.model.records import Scalar

Limits = Mapping[str, int | str | None]
"""Pool to its number of threads, further settings behind it; None leaves the pool as it is."""

RESET: Limits = {
    "web": 50,
    "bindings-queue": 10,
    "bindings-jms": 10,
    "bindings-jms-sessions": 10,
    "bindings-rpc": "10&grows=false&idle=0s",
}
"""What every load sets that says nothing else, so that none inherits the limits of another."""
SHARED_LIMITS: Limits = {
    "bindings-queue": None,
    "bindings-jms": None,
    "bindings-rpc": None,
    "bindings-jms-sessions": 40,
}
"""What is left to set where all work shares one pool."""


def jms(sessions: int, threads: int) -> Limits:
    """Return the limits of messages over the broker: taken off at once, and worked on at once."""
    return {"bindings-jms": threads, "bindings-jms-sessions": sessions}


def measured_phases(profile: Profile) -> tuple[Phases, Phases]:
    """Return the phases of a load, and of one whose backlog must be served soon after it."""
    phases = profile.phases
    if profile.name != "quick":
        return phases, phases
    # shorter ones cannot be told from a drift
    longer = phases.model_copy(update={"warmup_s": 3.0, "measured_s": 12.0})
    return longer, longer.model_copy(update={"warmup_s": 0.5, "measured_s": 4.5})


@dataclass(frozen=True)
class PoolNode:
    """A node that is sender and receiver, and the clients that load it."""

    here: Placement
    heap_mib: int
    connections: int
    clients: int
    phases: Phases
    seed: int

    def setup(self, load: Mapping[str, Any], shared_threads: int = 0) -> Setup:
        """Return a load on the node with pools of their own, or one pool of so many threads."""
        limits: dict[str, Any] = {"limits": SHARED_LIMITS} if shared_threads else {}
        pool = {"binding_shared_threads": shared_threads} if shared_threads else {}
        return Setup(
            self._stack(pool),
            self.load(**{**load, **limits}),
            stores={"binding_message": "one-way"},
            conditioning=self.load(users=8, way="all", work="rounds:20,row", **limits),
        )

    def load(
        self,
        *,
        users: int = 0,
        think_s: float = 0.0,
        limits: Limits | None = None,
        length: Phases | None = None,
        **settings: Scalar,
    ) -> LoadProfile:
        """Return a closed load that sets ``limits``; without ``users`` it has all clients."""
        changed = {**RESET, **(limits or {})}
        given = [f"{pool}?threads={n}" for pool, n in changed.items() if n is not None]
        own: dict[str, Scalar] = {"pools": ";".join(given), **settings}
        return self._closed(users or self.clients, length or self.phases, own, think_s)

    def many(self, users: int, phases: Phases, heap_mib: int, jvm: str, **threads: int) -> Setup:
        """Return clients whose calls wait, on a fresh JVM whose web threads are as told.

        Its heap is touched beforehand: what the process holds beyond it is native memory.
        """
        stack = binding_stack(
            self.here,
            apart=False,
            broker=False,
            heap_mib=heap_mib,
            jvm=jvm,
            settings={"pool": self.connections, **threads},
            flags=("-XX:+AlwaysPreTouch",),
        )
        return Setup(stack, self._closed(users, phases, {"work": "pause:50"}))

    def _stack(self, settings: Mapping[str, int]) -> Deployment:
        own: dict[str, Scalar] = {
            "threads": 50,
            "pool": self.connections,
            "jms_senders": 64,
            "jms_window": "1KB",
        }
        return binding_stack(
            self.here,
            apart=False,
            heap_mib=self.heap_mib,
            broker_heap_mib=128,
            settings={**own, **settings},
            broker_settings={"full-policy": "block", "queue-max-bytes": 131_072},
        )

    def _closed(
        self, users: int, phases: Phases, settings: dict[str, Scalar], think_s: float = 0.0
    ) -> LoadProfile:
        return LoadProfile(
            locustfile="pools.py",
            arrivals=ClosedLoop(users=users, think_s=think_s),
            phases=phases,
            settings=settings,
            seed=self.seed,
            cpus=self.here.generator,
        )
