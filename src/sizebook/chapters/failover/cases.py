"""Clones that users work on, and the ways in which one of them is lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sizebook.lab import Setup, business_stack
from sizebook.lab.workplace import Workplace
from sizebook.model.design import Treatment
from sizebook.model.load import ClosedLoop, LoadProfile
from sizebook.model.trial import Allowance, Disturbance, Stored

TABLE = "business_document"
_WRITES = ("place-order", "ship", "receive", "journal", "pay")
_STORES: Mapping[str, str | Stored] = {TABLE: Stored(request=_WRITES[0], also=_WRITES[1:])}
TITLES = {
    "killed": "killed",
    "hung": "hung, the balancer watches closely",
    "hung, patient": "hung, the balancer is patient",
    "drained": "drained",
}
"""What becomes of a clone, and the words for it."""


@dataclass(frozen=True)
class Lengths:
    """How long the trials of a profile are, in seconds."""

    layouts: tuple[float, float, float]
    """Ramp, warm-up and measured phase where layouts are compared."""
    lost: tuple[float, float, float]
    """The same where a clone is lost."""
    at_s: float
    """After so much of the measured phase it is lost."""
    for_s: float
    """So long it hangs, or its sessions may go on."""
    conditioning_s: float
    layout_conditioning_s: float
    """Cold clones would drown while the users sign on."""


LENGTHS: Mapping[str, Lengths] = {
    "smoke": Lengths((0.5, 0.2, 1.0), (0.3, 0.2, 3.0), 0.5, 0.5, 0.3, 0.3),
    "quick": Lengths((25.0, 3.0, 20.0), (5.0, 3.0, 11.0), 1.5, 4.0, 15.0, 60.0),
    "full": Lengths((60.0, 20.0, 60.0), (10.0, 5.0, 60.0), 10.0, 30.0, 30.0, 90.0),
}


@dataclass(frozen=True)
class Clones(Workplace):
    """What all trials of the chapter have in common."""

    users: int
    """Users where layouts are compared."""
    think_s: float
    few_users: int
    """Users where a clone is lost."""
    few_think_s: float
    heap_mib: int
    """Heap of one process, which clones share out."""

    @property
    def lengths(self) -> Lengths:
        """The durations of this profile."""
        return LENGTHS[self.profile.name]

    def laid_out(self, t: Treatment) -> Setup:
        """Return the users on one process, or on clones that share its heap."""
        nodes = int(t["nodes"])
        load = self._clerks(self.users, self.think_s, *self.lengths.layouts)
        stack = business_stack(
            self.here, users=self.users, nodes=nodes, heap_mib=self.heap_mib // nodes
        )
        return Setup(stack, load, stores=_STORES, conditioning=_few(load))

    def lost(self, t: Treatment) -> Setup:
        """Return fewer users on two clones, of which the first is lost."""
        disturbance, watch = self._outage(str(t["outage"]))
        stack = business_stack(
            self.here,
            users=self.few_users,
            nodes=2,
            heap_mib=self.heap_mib // 2,
            sessions=str(t["sessions"]),
        )
        load = self._clerks(self.few_users, self.few_think_s, *self.lengths.lost)
        return Setup(
            stack.changed("balancer", **watch) if watch else stack,
            load,
            allowance=Allowance(failed_share=0.9),
            disturbances=(disturbance,),
            stores=_STORES,
            conditioning=_few(load),
        )

    def _outage(self, name: str) -> tuple[Disturbance, dict[str, Any]]:
        """Return what happens to the clone, and how the balancer watches it."""
        at_s, for_s = self.lengths.at_s, self.lengths.for_s
        careful = {"check_within_s": 0.5}
        watchful = {**careful, "ends_lost": True}
        hang = Disturbance(at_s=at_s, action="hang", node="app-1", for_s=for_s)
        drain = Disturbance(at_s=at_s, action="drain", node="app-1", for_s=for_s)
        return {
            "killed": (Disturbance(at_s=at_s, action="kill", node="app-1"), watchful),
            "hung": (hang, watchful),
            "hung, patient": (hang, {}),
            "drained": (drain, careful),
        }[name]

    def _clerks(
        self, users: int, think_s: float, ramp_s: float, warmup_s: float, measured_s: float
    ) -> LoadProfile:
        phases = {"ramp_s": ramp_s, "warmup_s": warmup_s, "measured_s": measured_s}
        arrivals = ClosedLoop(users=users, think_s=think_s, think_random=True)
        return self.load("business.py", arrivals, phases=phases)


def _few(load: LoadProfile) -> LoadProfile:
    """Return the load with a few users who do not pause."""
    return load.model_copy(update={"arrivals": ClosedLoop(users=8)})
