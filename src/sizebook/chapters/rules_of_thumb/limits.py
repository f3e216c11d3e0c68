"""The limits that rules are about, their levels, and the loads that meet them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sizebook.hosts.paging import HEAP_IN_FILE
from sizebook.lab import Setup, business_stack
from sizebook.lab.workplace import Workplace
from sizebook.model.deployment import Deployment, HostSpec
from sizebook.model.load import ClosedLoop, LoadProfile, Phases
from sizebook.stack.jvms import COLLECTORS

Limits = Mapping[str, int]
_LEVELS: Mapping[str, tuple[tuple[float, ...], ...]] = {
    # rule: levels of smoke, of quick, and those that full has besides; in the rule's own unit
    "threads": ((50, 100), (2, 10, 50, 100), (1, 5, 25, 75)),
    "kept": ((0, 100), (0, 90, 100), (50, 75, 95, 99)),
    "sessions": ((0, 100), (0, 90, 100), (25, 50, 75)),
    "connections": ((5, 100), (1, 10, 40, 100), (2, 5, 20, 70)),
    "workers": ((7.5, 100), (1, 7.5, 20, 100), (3, 12, 50, 200)),
}


def swept_levels(profile: str) -> dict[str, tuple[float, ...]]:
    """Return the levels of each rule in a profile."""
    return {
        rule: smoke if profile == "smoke" else quick + (more if profile == "full" else ())
        for rule, (smoke, quick, more) in _LEVELS.items()
    }


def ample_limits(users: int) -> dict[str, int]:
    """Return limits of which none can bind: one of everything for each user."""
    return {
        "threads": users,
        "pool": users,
        "business_workers": 0,
        "keep_alive_requests": -1,
        "sessions_in_memory": users,
    }


def limits_at(rule: str, level: float, users: int) -> dict[str, int]:
    """Return what a level of a rule makes of the node's limits, for so many users."""
    share = users * level / 100
    kept = {"keep_alive_requests": -1 if level == 100 else round(100 / (100 - level))}
    made: Mapping[str, Callable[[], dict[str, int]]] = {
        "threads": lambda: {"threads": max(1, round(share))},
        "kept": lambda: kept,
        "sessions": lambda: {"sessions_in_memory": round(share)},
        "connections": lambda: {"pool": max(1, round(share))},
        "workers": lambda: {"business_workers": max(1, round(users / level))},
    }
    return made[rule]()


def make_cases(swept: Mapping[str, Sequence[float]], users: int) -> dict[str, dict[str, int]]:
    """Return the limits of each case, such as ``threads/50``, and of ``ample`` at the end.

    What sets a limit to one for each user is the same treatment in every sweep: it is measured
    once, as ``ample``.
    """
    ample = ample_limits(users)
    enough = (ample, ample | {"business_workers": users})
    cases = {
        f"{rule}/{level:g}": limits
        for rule, levels in swept.items()
        for level in levels
        if (limits := ample | limits_at(rule, level, users)) not in enough
    }
    return cases | {"ample": ample}


def has_room(limits: Limits, users: int, *, at_work: float, held: float) -> bool:
    """Return whether threads, workers and connections suffice for what is at work on average.

    ``held`` are the connections in use.
    """
    workers = limits["business_workers"] or users
    return min(limits["threads"], workers) > at_work and limits["pool"] > held


@dataclass(frozen=True)
class Lengths:
    """How long the trials of a profile are, in seconds."""

    conditioning_s: float
    crowd_conditioning_s: float
    """What a crowd with sessions needs is not made ready by few users."""
    rush_s: float
    """Users hardly pause at first, so that what is measured is a node that has had its peak."""
    calm_s: float
    settle_s: float
    """Until sessions are old to the collector."""
    heap_s: float | None
    """For several collections of the whole heap; None: as long as any other trial."""


LENGTHS: Mapping[str, Lengths] = {
    "smoke": Lengths(0.5, 0.5, 0.1, 0.1, 0.2, None),
    "quick": Lengths(60.0, 90.0, 12.0, 2.0, 8.0, 60.0),
    "full": Lengths(120.0, 120.0, 20.0, 5.0, 30.0, 180.0),
}
_PHASES: Mapping[str, Mapping[str, float]] = {
    "smoke": {"measured_s": 0.8},
    # short and many, as the machine's speed drifts more than levels differ
    "quick": {"ramp_s": 0.5, "warmup_s": 2.0, "measured_s": 12.0},
    "full": {},
}


@dataclass(frozen=True)
class Rules(Workplace):
    """What all trials of the chapter have in common."""

    users: int
    """Users of the sweeps of limits."""
    think_s: float
    heap_mib: int
    heap_users: int
    """Users of the sweep of heaps, whose sessions are large."""
    heap_think_s: float
    session_kib: int
    host_mib: int
    """Memory of the host in which a heap is too large."""

    @property
    def lengths(self) -> Lengths:
        """The durations of this profile."""
        return LENGTHS[self.profile.name]

    @property
    def phases(self) -> Phases:
        """The phases of a load without a rush."""
        return self.profile.phases.model_copy(update=dict(_PHASES[self.profile.name]))

    @property
    def heap_s(self) -> float:
        """Seconds measured where heaps are compared."""
        return self.lengths.heap_s or self.phases.measured_s

    def limited(self, limits: Limits) -> Setup:
        """Return the users on a node whose limits are set while it runs, before the load."""
        node = business_stack(
            self.here,
            users=self.users,
            heap_mib=self.heap_mib,
            sessions="database",
            threads=self.users,
            pool=self.users,
            settings={"sessions_in_memory": self.users},
        )
        return Setup(
            node,
            self._load(self.users, self.think_s, limits, self.lengths.rush_s),
            conditioning=self._load(self.users, self.think_s / 10, ample_limits(self.users)),
        )

    def heap(self, mib_per_user: float) -> Setup:
        """Return fewer users with large sessions, and so much heap for each."""
        return self._heap(self._heap_stack(mib_per_user))

    def heap_in_host(self, mib_per_user: float) -> Setup:
        """Return the same in a host with little memory; the heap lies in a file."""
        host = HostSpec(name="web", mode="bare", cpus=self.here.stack, memory_mib=self.host_mib)
        return self._heap(self._heap_stack(mib_per_user, HEAP_IN_FILE).on(host, app="web"))

    def _heap(self, stack: Deployment) -> Setup:
        load = self._load(self.heap_users, self.heap_think_s)
        lengths = {"warmup_s": self.lengths.settle_s, "measured_s": self.heap_s}
        phases = self.phases.model_copy(update=lengths)
        return Setup(
            stack,
            load.model_copy(update={"phases": phases}),
            conditioning=self._load(4, 0.0),  # few sessions are left of them
        )

    def _heap_stack(self, mib_per_user: float, *flags: str) -> Deployment:
        return business_stack(
            self.here,
            users=self.users,
            heap_mib=round(mib_per_user * self.heap_users),
            threads=self.heap_users,
            settings={"session_bytes": f"{self.session_kib}KB"},
            flags=(COLLECTORS["Serial"], *flags),
        )

    def _load(
        self, users: int, think_s: float, limits: Limits | None = None, rush_s: float = 0.0
    ) -> LoadProfile:
        before = {"warmup_s": rush_s + self.lengths.calm_s} if rush_s else {}
        said = "&".join(f"{key}={value}" for key, value in (limits or {}).items())
        return self.load(
            "business.py",
            ClosedLoop(users=users, think_s=think_s, think_random=think_s > 0, rush_s=rush_s),
            {"limits": said},
            phases=self.phases.model_copy(update=before),
        )
