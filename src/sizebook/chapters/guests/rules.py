"""Guests under rules: the set-ups of the chapter's experiments, and what runs in which mode."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, cast

from sizebook.lab import (
    SOFT_CPU,
    Setup,
    app_stack,
    in_mode,
    memory_can_change,
    null_server,
)
from sizebook.lab.modes import ChosenModes
from sizebook.lab.profiles import Profile
from sizebook.lab.workplace import Workplace
from sizebook.model.deployment import HostSpec
from sizebook.model.design import Design, Factor, Treatment
from sizebook.model.load import Arrivals, ClosedLoop, LoadProfile, OpenArrivals
from sizebook.model.modes import Mode
from sizebook.model.records import Scalar
from sizebook.model.trial import Allowance, Disturbance, HostLimits
from sizebook.report.sides import Pair

NULL, APP = "nullserver-1", "app-1"
WEIGHTS = ("alone", "256:256", "512:256", "1024:256")
"""Weights of the host that is asked and of the other; alone: the other one is idle."""
_NULL_RATE, _WEIGHED_RATE = 60.0, 200.0
_REST: Mapping[str, Scalar] = {"parts": "rest", "pool": 5}


@dataclass(frozen=True)
class Lengths:
    """How long the trials of a profile are: seconds, and the least number of requests."""

    warmup_s: float
    measured_s: float
    enough: int
    """Requests at random times that are due at least: fewer change by a quarter by chance."""
    short_s: float
    """Conditioning of a null server."""
    long_s: float
    """Conditioning of an app node."""
    crowd_s: float
    """Measured with several guests."""
    crowd_enough: int


LENGTHS: Mapping[str, Lengths] = {
    "smoke": Lengths(0.1, 0.8, 0, 0.2, 0.2, 0.5, 0),
    "quick": Lengths(0.5, 20.0, 2400, 6.0, 40.0, 20.0, 1200),
    "full": Lengths(2.0, 30.0, 4000, 30.0, 60.0, 30.0, 2000),
}


def modes_by_experiment(present: Sequence[Mode], profile: Profile) -> dict[str, tuple[Mode, ...]]:
    """Return in which of the modes present each experiment runs.

    Full runs all in all. Else modes without a processor of their own take part in the rules only,
    and those that start for minutes in nothing else; a smoke run proves the plumbing in few.
    """
    full, smoke = profile.name == "full", not profile.publishable
    quick = tuple(mode for mode in present if full or mode not in SOFT_CPU)
    cheap = tuple(mode for mode in quick if not smoke or mode in ("bare", "container"))
    few = tuple(mode for mode in cheap if not smoke or mode == "container")
    soon = tuple(mode for mode in few if full or mode != "user-space-kernel")
    return {"rules": tuple(present), "weights": cheap, "memory": few, "density": soon}


@dataclass(frozen=True)
class Guests(Workplace):
    """What all trials of the chapter have in common."""

    memory_mib: int
    """Memory of a host with app node and database, of which half is taken away."""
    rate_per_s: float
    """Requests due per second and guest, where guests are counted."""

    @property
    def lengths(self) -> Lengths:
        """The durations of this profile."""
        return LENGTHS[self.profile.name]

    @property
    def every_cpu(self) -> tuple[int, ...]:
        """The CPUs of the stack and of the generator."""
        return tuple(sorted({*self.here.stack, *self.here.generator}))

    def ruled(self, t: Treatment) -> Setup:
        """Return a null server in a host that is pinned, floats, or has half a CPU."""
        half = t["rule"] == "half"
        load = self._random("null.py", _NULL_RATE, 40)
        limits = {
            "pinned": HostLimits(cpus=self.here.stack),
            "floating": HostLimits(cpus=self.every_cpu),
            "half": HostLimits(cpus=self.here.stack[:1], cpu_limit=0.5),
        }[str(t["rule"])]
        spike = [_during("spike", NULL, for_s=load.phases.measured_s)] if half else []
        return Setup(
            in_mode(null_server(self.here), _mode(t), self.here, memory_mib=512, cpu_weight=100),
            load,
            conditioning=self._warm,
            allowance=Allowance(throttled_share=1.0 if half else 0.01),
            probe_interval_s=0.2,
            disturbances=(_during("resize", NULL, limits=limits), *spike),
        )

    def weighted(self, t: Treatment) -> Setup:
        """Return two hosts on one CPU, each busy, of which the left one is asked."""
        one_cpu, sides = self.here.stack[:1], ("left", "right")
        hosts = [_host(name, t, one_cpu, 512) for name in sides]
        servers = null_server(self.here).changed("nullserver", nodes=2, cpus=one_cpu)
        alone = t["weights"] == "alone"
        weights = [256, 256] if alone else [int(word) for word in str(t["weights"]).split(":")]
        nodes = ("nullserver-1", "nullserver-2")
        resized = [
            _during("resize", node, limits=HostLimits(cpus=one_cpu, cpu_weight=weight))
            for node, weight in zip(nodes, weights, strict=True)
        ]
        load = self._random("null.py", _WEIGHED_RATE, 100)
        busy = [
            _during("spike", node, for_s=load.phases.measured_s)
            for node in (nodes[:1] if alone else nodes)
        ]
        return Setup(
            servers.on(*hosts, nullserver=sides),
            load,
            conditioning=self._warm,
            probe_interval_s=0.2,
            disturbances=(*resized, *busy),
        )

    def remembered(self, t: Treatment) -> Setup:
        """Return app node and database in a host that keeps its memory or loses half of it."""
        shrunk, mode = t["memory"] == "shrunk", _mode(t)
        limits = HostLimits(memory_mib=self.memory_mib // 2 if shrunk else self.memory_mib)
        stack = app_stack(self.here, heap_mib=256, settings=_REST)
        resized = (_during("resize", APP, limits=limits),) if memory_can_change(mode) else ()
        return Setup(
            in_mode(stack, mode, self.here, memory_mib=self.memory_mib, cpu_weight=100),
            self._load("flight.py", ClosedLoop(users=4)),
            disturbances=resized,
        )

    def crowded(self, t: Treatment) -> Setup:
        """Return hosts with an app node each behind one balancer, asked at one rate a guest."""
        names = tuple(f"guest-{n}" for n in range(1, int(t["guests"]) + 1))
        hosts = [_host(name, t, self.here.stack, 640) for name in names]
        stack = app_stack(self.here, nodes=len(names), heap_mib=128, settings=_REST)
        return Setup(
            stack.on(*hosts, app=names),
            self._random(
                "flight.py",
                self.rate_per_s * len(names),
                200,
                self.lengths.crowd_s,
                self.lengths.crowd_enough,
            ),
            conditioning=self._load("flight.py", ClosedLoop(users=2 * len(names))),
        )

    @property
    def _warm(self) -> LoadProfile:
        """What warms a null server, which would compile for minutes at a low rate."""
        return self._load("null.py", ClosedLoop(users=2))

    def _random(
        self,
        file: str,
        rate_per_s: float,
        users: int,
        least_s: float | None = None,
        enough: int | None = None,
    ) -> LoadProfile:
        """Return requests at random times, so long that enough of them are due."""
        arrivals = OpenArrivals(kind="poisson", rate_per_s=rate_per_s, users=users)
        least_s = self.lengths.measured_s if least_s is None else least_s
        enough = self.lengths.enough if enough is None else enough
        return self._load(file, arrivals, max(least_s, enough / rate_per_s))

    def _load(self, file: str, arrivals: Arrivals, measured_s: float | None = None) -> LoadProfile:
        length_s = self.lengths.measured_s if measured_s is None else measured_s
        phases = {"warmup_s": self.lengths.warmup_s, "measured_s": length_s}
        return self.load(file, arrivals, phases=phases)


def make_designs(
    factors: Mapping[str, Factor], modes: Mapping[str, Sequence[Mode]], blocks: int, seed: int
) -> dict[str, Design]:
    """Return the design of each experiment: its modes, and the factor whose levels are compared.

    Memory is not taken from modes that cannot give it back.
    """
    fixed = [mode for mode in modes["memory"] if not memory_can_change(mode)]
    return {
        name: Design(
            name,
            (Factor("mode", tuple(modes[name]) or ("bare",)), factor),
            blocks,
            seed,
            without=tuple({"mode": mode, "memory": "shrunk"} for mode in fixed)
            if name == "memory"
            else (),
        )
        for name, factor in factors.items()
    }


def pairs_of(modes: Sequence[str], factor: str, left: str, right: str) -> list[Pair]:
    """Return the treatments to compare in each mode: those with two levels of a factor."""
    return [({"mode": mode, factor: left}, {"mode": mode, factor: right}) for mode in modes]


@dataclass(frozen=True)
class Choice:
    """Which modes were asked for and found, and where each was measured."""

    asked: Sequence[str]
    found: ChosenModes
    used: Mapping[str, Sequence[Mode]]
    """Modes by experiment."""
    profile: str

    def why_not(self, mode: Mode, experiment: str) -> str:
        """Return why a mode has no trials in an experiment; empty if it has."""
        if mode not in self.asked:
            return "not asked for"
        if why := self.found.missing.get(mode):
            return why
        if mode not in self.used[experiment]:
            return f"{experiment}: left out of the {self.profile} profile for its long starts"
        return ""

    def absent(self, experiment: str, *wanted: Mode) -> str:
        """Return why an experiment has not all of these modes; empty if it has."""
        missing = [mode for mode in wanted if mode not in self.used[experiment]]
        return "; ".join(
            f"mode {mode} was not run: {self.why_not(mode, experiment)}" for mode in missing
        )

    @property
    def none(self) -> str:
        """Why an experiment without any mode was not run."""
        return self.found.missing.get("bare", "no mode was measured")


def _host(name: str, t: Treatment, cpus: tuple[int, ...], memory_mib: int) -> HostSpec:
    return HostSpec(name=name, mode=_mode(t), cpus=cpus, memory_mib=memory_mib)


def _mode(t: Treatment) -> Mode:
    return cast("Mode", t["mode"])


def _during(action: Literal["resize", "spike"], node: str, **more: Any) -> Disturbance:
    return Disturbance(at_s=0, action=action, node=node, **more)
