"""Where the tiers run, what users do there, and how the most users are searched for."""

from __future__ import annotations

import resource
from collections.abc import Mapping
from dataclasses import dataclass

from sizebook.lab import Setup, business_stack
from sizebook.lab.search import Search
from sizebook.lab.workplace import Workplace
from sizebook.model.criterion import Criterion
from sizebook.model.deployment import Deployment, HostSpec
from sizebook.model.design import Factor, Treatment
from sizebook.model.load import ClosedLoop, LoadProfile, Phases
from sizebook.model.network import LinkSpec, NetworkSpec
from sizebook.model.trial import Allowance, Disturbance, HostLimits

NODE_MIB, DATABASE_MIB, BALANCER_MIB = 512, 1536, 256
"""Memory of a host: of an application's beside its heap, of the database's, of the balancer's."""
JOIN_PER_S, CROWD_PER_S = 400, 150
"""Users who sign on in a second of the ramp: in a search, and of the headline."""
STEP = 1.3
"""From one level of a search to the next."""
KEPT = {"keep_alive_timeout": "10m"}
"""Longer than users think, or they connect anew."""
_PER_PROCESS = 19_000
"""Users of a generator's process, which may often open 20,000 files."""


@dataclass(frozen=True)
class Lengths:
    """How long the trials of a profile are, in seconds, and how many users one stands for."""

    scale: int
    """Users for whom one user of a search stands."""
    warmup_s: float
    measured_s: float
    headline_s: float
    """Measured phase of the headline."""
    conditioning_s: float


LENGTHS: Mapping[str, Lengths] = {
    "smoke": Lengths(100, 0.2, 0.8, 0.8, 0.3),
    "quick": Lengths(20, 2.0, 30.0, 60.0, 60.0),
    "full": Lengths(5, 20.0, 40.0, 300.0, 120.0),
}


@dataclass(frozen=True)
class Tiers(Workplace):
    """What all trials of the chapter have in common, and what follows from it."""

    think_s: float
    heap_mib: int
    share: float
    """CPUs' worth of time that an application host may use where hosts are counted."""
    criteria: tuple[Criterion, ...]
    replicates: int = 0
    """Blocks; 0: as many as the profile has, up to what each search takes."""
    open_files: int | None = None
    """Files that a process may open; None: no limit counts."""

    @property
    def lengths(self) -> Lengths:
        """The durations of this profile."""
        return LENGTHS[self.profile.name]

    @property
    def pace_s(self) -> float:
        """Think time of a user of a search, who stands for several."""
        return self.think_s / self.lengths.scale

    @property
    def first(self) -> int:
        """Index of the level that a search begins with."""
        return 0 if self.smoke else 6

    @property
    def grid(self) -> tuple[int, ...]:
        """Users that may be tried: the last should be past what a CPU serves in time."""
        per_s = 50 if self.smoke else 500
        levels = range(-self.first, 2 if self.smoke else 13)
        return tuple(round(round(per_s * self.pace_s) * STEP**level) for level in levels)

    @property
    def same(self) -> int:
        """Users with whom treatments are compared: the second level of each search."""
        return self.grid[self.first + 1]

    def blocks(self, most: int) -> int:
        """Return the number of blocks of an experiment that takes at most so many."""
        return self.replicates or min(most, self.profile.replicates)

    def search(self, name: str, factor: Factor, most_blocks: int) -> Search:
        """Return the search for the most users under each criterion, for each level of a factor."""
        files = self.open_files
        levels = (users for users in self.grid if files is None or users < files / 2 - 500)
        return Search(
            name,
            "users",
            tuple(levels),
            self.criteria,
            replicates=self.blocks(most_blocks),
            seed=self.seed,
            factors=(factor,),
            start=self.first,
            most=2 if self.smoke else 12 if self.profile.name == "full" else 6,
        )

    def clerks(
        self, users: int, *, pause_s: float, measured_s: float, join_per_s: int = JOIN_PER_S
    ) -> LoadProfile:
        """Return clerks who think so long on average, and sign on at this rate."""
        ramp_s = users / join_per_s
        return self.load(
            "business.py",
            ClosedLoop(users=users, think_s=pause_s, think_random=pause_s > 0),
            phases=Phases(
                ramp_s=ramp_s,
                warmup_s=self.lengths.warmup_s + ramp_s / 8,  # what queued in the ramp is done then
                measured_s=measured_s,
            ),
            workers=1 + users // _PER_PROCESS,
        )

    def searched(self, users: int) -> LoadProfile:
        """Return the load of a search's trial."""
        return self.clerks(users, pause_s=self.pace_s, measured_s=self.lengths.measured_s)

    def placed(self, t: Treatment) -> Setup:
        """Return application and database on one host, or on two with a link between them."""
        stack = business_stack(
            self.here, users=self.grid[-1], heap_mib=self.heap_mib, settings=KEPT
        )
        node_mib = self.heap_mib + NODE_MIB
        if t["tiers"] == "one host":
            host = self._host("host", node_mib + DATABASE_MIB)
            stack = stack.on(host, app="host", database="host")
        else:
            hosts = self._host("app", node_mib), self._host("data", DATABASE_MIB)
            link = LinkSpec(ends=("app", "data"), frame_bytes=8996)
            stack = stack.on(*hosts, app="app", database="data")
            stack = stack.connected(NetworkSpec(links=(link,)))
        return Setup(stack, self.searched(int(t["users"])))

    def limited(self, t: Treatment) -> Setup:
        """Return hosts that start on a whole CPU and have a limit from the measured phase on."""
        count = int(t["servers"])
        limits = HostLimits(cpus=self.here.stack, cpu_limit=self.share)
        return Setup(
            self._grown(count),
            self.searched(int(t["users"])),
            Allowance(throttled_share=float(count)),
            disturbances=tuple(
                Disturbance(at_s=0, action="resize", node=name, limits=limits)
                for name in _app_hosts(count)
            ),
        )

    def crowd(self, users: int, most: int, heap_mib: int) -> Setup:
        """Return the headline: users at the full think time, on this machine without hosts."""
        pause_s = self.pace_s if self.smoke else self.think_s
        load = self.clerks(
            users, pause_s=pause_s, measured_s=self.lengths.headline_s, join_per_s=CROWD_PER_S
        )
        return Setup(business_stack(self.here, users=most, heap_mib=heap_mib, settings=KEPT), load)

    def _grown(self, count: int) -> Deployment:
        """Return application hosts with a node each; several stand behind a balancer's host."""
        stack = business_stack(
            self.here, users=self.grid[-1], nodes=count, heap_mib=self.heap_mib, settings=KEPT
        )
        names = _app_hosts(count)
        hosts = [self._host(name, self.heap_mib + NODE_MIB) for name in names]
        hosts.append(self._host("data", DATABASE_MIB))
        if count == 1:
            return stack.on(*hosts, app=names, database="data")
        hosts.append(self._host("front", BALANCER_MIB))
        return stack.on(*hosts, app=names, database="data", balancer="front")

    def _host(self, name: str, memory_mib: int) -> HostSpec:
        return HostSpec(name=name, mode="namespace", cpus=self.here.stack, memory_mib=memory_mib)


def files_of_process() -> int | None:
    """Return how many files a process may open, of which a balancer needs two a user."""
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    return None if limit == resource.RLIM_INFINITY else limit


def _app_hosts(count: int) -> tuple[str, ...]:
    return tuple(f"app-{number}" for number in range(1, count + 1))
