"""Users who click at fixed times: their pace by profile, the states, and the loads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sizebook.chapters.user_mix.pages import pages_stack
from sizebook.lab import Placement, Setup
from sizebook.lab.profiles import Profile
from sizebook.model.design import Design, Factor, Treatment
from sizebook.model.load import LoadProfile, PacedGroup, PacedUsers, Phases
from sizebook.model.trial import Allowance, Disturbance

STATES = ("quiet", "spike")


@dataclass(frozen=True)
class ClickPace:
    """How long the trials of a profile are, and how much it shortens the users' periods."""

    phases: Phases
    scale: int
    """So many times fewer users, with periods as many times shorter."""
    every_s: float
    """Seconds between two readings."""
    conditioning_s: float


PACES: Mapping[str, ClickPace] = {
    "smoke": ClickPace(Phases(ramp_s=0.5, warmup_s=0.5, measured_s=3.0), 20, 0.2, 0.5),
    "quick": ClickPace(Phases(ramp_s=2.0, warmup_s=2.0, measured_s=30.0), 1, 1.0, 150.0),
    "full": ClickPace(Phases(ramp_s=10.0, warmup_s=50.0, measured_s=900.0), 1, 1.0, 240.0),
}


@dataclass(frozen=True)
class Clicks:
    """What all trials of the chapter have in common."""

    here: Placement
    profile: Profile
    seed: int
    total_heap_mib: int
    """Heap of all app nodes together; 0: what the machine can give."""

    @property
    def pace(self) -> ClickPace:
        """The durations of this profile."""
        return PACES[self.profile.name]

    @property
    def spike(self) -> Disturbance:
        """The process that computes on the stack's CPUs all through the measured phase."""
        for_s = self.pace.phases.measured_s
        return Disturbance(at_s=0, action="spike", node="app-1", for_s=for_s, cpu_share=0.55)

    def design(self, nodes: Sequence[int], users: Sequence[int]) -> Design:
        """Return the design: the first layout carries every mix, and the spike its fewest users.

        Other layouts carry the most users, in a full profile every mix.
        """
        first, few, most = nodes[0], min(users), max(users)
        left_out: list[Treatment] = [
            {"nodes": n, "users": u} for n in nodes for u in users if n != first and u != most
        ]
        never: list[Treatment] = [
            {"nodes": n, "users": u, "state": "spike"}
            for n in nodes
            for u in users
            if (n, u) != (first, few)
        ]
        return Design(
            "mix",
            (
                Factor("nodes", tuple(nodes)),
                Factor("users", tuple(users), "sub"),
                Factor("state", STATES, "sub"),
            ),
            self.profile.replicates,
            self.seed,
            without=tuple(never if self.profile.name == "full" else left_out + never),
        )

    def mix(self, users: int) -> PacedUsers:
        """Return the users, half of them clicking every 10 s and half every 30 s, and documents."""
        scale = self.pace.scale
        clerks = max(2, users // scale)
        return PacedUsers(
            groups=(
                PacedGroup(name="clerks", users=clerks - clerks // 2, period_s=10 / scale),
                PacedGroup(name="clerks", users=clerks // 2, period_s=30 / scale),
                PacedGroup(name="background", users=1, period_s=5),
            )
        )

    def clicks_per_s(self, users: int) -> float:
        """Return how often so many users click in a second, without the documents."""
        mix = self.mix(users)
        return mix.rate_per_s - mix.groups[-1].rate_per_s

    def setup(self, t: Treatment) -> Setup:
        """Return a mix on a layout, with or without the spike."""
        return Setup(
            pages_stack(self.here, nodes=int(t["nodes"]), total_heap_mib=self.total_heap_mib),
            LoadProfile(
                locustfile="user_mix.py",
                arrivals=self.mix(int(t["users"])),
                phases=self.pace.phases,
                seed=self.seed,
                cpus=self.here.generator,
            ),
            allowance=Allowance(failed_share=0.01),
            probe_interval_s=self.pace.every_s,
            stores={"document": "document"},
            disturbances=(self.spike,) if t["state"] == "spike" else (),
        )
