"""The loads that the models are fitted to, and the configuration that checks them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from sizebook.lab import Setup, in_mode
from sizebook.lab.deployments import business_stack
from sizebook.lab.workplace import Workplace
from sizebook.model.deployment import Deployment
from sizebook.model.design import Design, Factor
from sizebook.model.load import Arrivals, ClosedLoop, OpenArrivals
from sizebook.model.trial import Allowance, Disturbance, HostLimits

Kind = Literal["think", "rate", "none"]
"""Users who think, requests at random at the rate of such users, users who do not think."""
KINDS: tuple[Kind, ...] = get_args(Kind)
_PHASES: Mapping[str, Mapping[str, float]] = {
    "smoke": {"ramp_s": 0.1, "warmup_s": 0.2, "measured_s": 0.6, "drain_s": 6.0},
    "quick": {"ramp_s": 2.0, "warmup_s": 2.0, "measured_s": 24.0, "drain_s": 6.0},
    "full": {"ramp_s": 5.0, "warmup_s": 5.0, "measured_s": 30.0, "drain_s": 10.0},
}


@dataclass(frozen=True)
class Workload(Workplace):
    """What all trials of the chapter have in common."""

    think_s: float
    data_users: int
    """Users for whom the data are made."""
    heap_mib: int
    threads: int
    pool: int

    @property
    def whole(self) -> float:
        """The stack's CPUs, of which limits are shares."""
        return float(len(self.here.stack))

    def setup(self, nodes: int, kind: Kind, share: float, count: float) -> Setup:
        """Return a load on nodes that have a share of the CPUs.

        ``count`` is users for each CPU of the share; of users who do not think it is all of them.
        The limit is set as the load begins, on a stack that goes on running.
        """
        seconds = _PHASES[self.profile.name]
        limits = HostLimits(cpus=self.here.stack, cpu_limit=share * self.whole)
        at_s = -seconds["ramp_s"] - seconds["warmup_s"]
        return Setup(
            self._stack(nodes),
            self.load("business.py", self._arrivals(kind, share, count), {}, phases=seconds),
            allowance=Allowance(throttled_share=10.0),
            probe_interval_s=0.5,
            disturbances=(Disturbance(at_s=at_s, action="resize", node="app-1", limits=limits),),
        )

    def _stack(self, nodes: int) -> Deployment:
        made = business_stack(
            self.here,
            users=self.data_users,
            nodes=nodes,
            heap_mib=self.heap_mib,
            threads=self.threads,
            pool=self.pool,
        )
        return in_mode(made, "bare", self.here, memory_mib=2048, cpu_weight=100)

    def _arrivals(self, kind: Kind, share: float, count: float) -> Arrivals:
        asked = max(1, round(count * share * self.whole))
        if kind == "rate":
            rate = asked / self.think_s
            return OpenArrivals(kind="poisson", rate_per_s=rate, users=max(200, asked))
        if kind == "none":
            return ClosedLoop(users=int(count))
        return ClosedLoop(users=asked, think_s=self.think_s, think_random=True)


def load_design(
    shares: Sequence[float], users: Sequence[int], alone: Sequence[int], blocks: int, seed: int
) -> Design:
    """Return the design of all kinds of load.

    Users who think are at each share of the CPUs; at the greatest one the two lowest numbers of
    them come as a rate as well, and ``alone`` are the numbers of users who do not think.
    """
    counts, top = tuple(sorted({*users, *alone})), max(shares)
    wanted: set[tuple[Kind, float, int]] = {("think", share, n) for share in shares for n in users}
    wanted |= {("rate", top, n) for n in users[:2]} | {("none", top, n) for n in alone}
    every = [(kind, share, n) for kind in KINDS for share in shares for n in counts]
    return Design(
        "load",
        (
            Factor("kind", KINDS, "sub"),
            Factor("cpus", tuple(shares), "sub"),
            Factor("users", counts, "sub"),
        ),
        blocks,
        seed,
        without=tuple(
            dict(zip(("kind", "cpus", "users"), one, strict=True))
            for one in every
            if one not in wanted
        ),
    )
