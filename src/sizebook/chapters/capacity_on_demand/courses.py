"""Hosts whose CPUs are changed in a peak: courses, ways and JVMs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sizebook.lab import Setup, app_stack, xml_stack
from sizebook.lab.workplace import Workplace
from sizebook.model.deployment import Deployment, HostSpec
from sizebook.model.design import Design, Factor, Treatment
from sizebook.model.load import Arrivals, ClosedLoop, LoadProfile, StaircaseArrivals, Step
from sizebook.model.records import Scalar
from sizebook.model.trial import Allowance, Disturbance, HostLimits

SET, TIME, HALF = WAYS = ("CPU set", "CPU time", "half a CPU")
"""How CPUs are added."""
CPUS: Mapping[str, tuple[float, float]] = {SET: (1.0, 2.0), TIME: (1.0, 1.75), HALF: (0.5, 1.0)}
"""The CPUs' worth of time that a host has before and after, by way."""
JVMS: Mapping[str, tuple[str, ...]] = {
    "follows": (),
    "told one": ("-XX:ActiveProcessorCount=1",),
    "told two": ("-XX:ActiveProcessorCount=2",),
}
"""What a JVM is told of its CPUs at its start."""


@dataclass(frozen=True)
class Lengths:
    """How long the trials of a profile are, in seconds."""

    calm_s: float
    peak_s: float
    after_s: float
    """Calm again."""
    add_s: float
    """From the peak's begin until CPUs are added."""
    take_s: float
    """From its end until they are taken away."""
    warmup_s: float
    conditioning_s: float
    sizes_s: float
    """Measured where a host has more CPUs or more memory."""
    capacity_s: float
    """Measured where what one CPU serves is found out."""

    @property
    def added_s(self) -> float:
        """When CPUs are added."""
        return self.calm_s + self.add_s

    @property
    def over_s(self) -> float:
        """When the peak is over."""
        return self.calm_s + self.peak_s

    @property
    def late_s(self) -> float:
        """When the last third of the peak begins."""
        return self.over_s - self.peak_s / 3

    @property
    def taken_s(self) -> float:
        """When CPUs are taken away."""
        return self.over_s + self.take_s

    @property
    def length_s(self) -> float:
        """The whole trial."""
        return self.over_s + self.after_s


LENGTHS: Mapping[str, Lengths] = {
    "smoke": Lengths(0.3, 0.6, 0.5, 0.2, 0.2, 0.2, 0.2, 0.5, 0.5),
    "quick": Lengths(1.0, 5.0, 4.5, 1.0, 1.5, 0.3, 90.0, 6.0, 10.0),
    "full": Lengths(20.0, 60.0, 40.0, 10.0, 20.0, 5.0, 120.0, 30.0, 30.0),
}


@dataclass(frozen=True)
class Courses(Workplace):
    """What all trials of the chapter have in common."""

    calm_share: float
    """Documents due before and after the peak, by what one CPU serves."""
    peak_share: float
    half_share: float
    """Of these rates where half a CPU becomes one."""
    users: int
    """Users of the flight list."""

    @property
    def lengths(self) -> Lengths:
        """The durations of this profile."""
        return LENGTHS[self.profile.name]

    def designs(self) -> dict[str, Design]:
        """Return the design of each experiment; all courses and ways are compared in full only."""
        full = self.profile.name == "full"
        ways = (SET,) if self.smoke else WAYS
        courses = ("added",) if self.smoke else ("never", "added", "always")
        only = [{"way": way, "course": one} for way in ways[1:] for one in ("never", "always")]
        way, course = Factor("way", ways), Factor("course", courses)
        told = Factor("jvm", ("told one", "told two"))
        factors: dict[str, tuple[Factor, ...]] = {
            "capacity": (Factor("cpus", (1,)),),
            "courses": (way, course, Factor("jvm", ("follows",))),
            "jvms": (Factor("way", (SET,)), Factor("course", ("added",)), told),
            "sizes": (Factor("heap_mib", (256, 512)), Factor("cpus", (1, 2), "sub")),
        }
        return {
            name: Design(
                name,
                given,
                self.profile.replicates,
                self.seed,
                without=() if full or name != "courses" else tuple(only),
            )
            for name, given in factors.items()
        }

    def saturated(self) -> Setup:
        """Return users who do not pause, on one CPU: what it serves."""
        box = _in_box(self._xml, (), HostLimits(cpus=self._one))
        return Setup(box, self._documents(_BUSY, self.lengths.capacity_s))

    def grown(self, t: Treatment, one_cpu_per_s: float) -> Setup:
        """Return a peak on a host to which CPUs are added, never are, or always belonged.

        The peak is more than ``one_cpu_per_s``, which one CPU serves. With half a CPU the host
        begins large, so that the JVM sees one.
        """
        course, way = str(t["course"]), str(t["way"])
        small, large = self._limits(way)
        always = course == "always"
        begins_large = always or way == HALF
        changes = [] if begins_large == always else [_resize(0.0, small)]
        if course == "added":
            lengths = self.lengths
            changes += [_resize(lengths.added_s, large), _resize(lengths.taken_s, small)]
        return Setup(
            _in_box(self._xml, JVMS[str(t["jvm"])], large if begins_large else small),
            self._peak(one_cpu_per_s * (self.half_share if way == HALF else 1.0)),
            allowance=Allowance(throttled_share=2.0),
            probe_interval_s=0.1,
            disturbances=tuple(changes),
            conditioning=self._documents(_BUSY, self.lengths.capacity_s),
        )

    def sized(self, t: Treatment) -> Setup:
        """Return the flight list on a host with one CPU or two, and a heap."""
        stack = app_stack(self.here, heap_mib=int(t["heap_mib"]), settings={"parts": "odata"})
        limits = HostLimits(cpus=self._one if t["cpus"] == 1 else self._both)
        return Setup(
            _in_box(stack, (), HostLimits(cpus=self._one)),
            self.load(
                "odata_rest.py",
                ClosedLoop(users=self.users),
                {"representation": "odata-atom"},
                phases={"measured_s": max(self.lengths.sizes_s, 0.5)},
            ),
            disturbances=(_resize(0.0, limits),),
        )

    @property
    def _one(self) -> tuple[int, ...]:
        return self.here.stack[:1]

    @property
    def _both(self) -> tuple[int, ...]:
        """One CPU and another one, which may be the generator's."""
        others = [cpu for cpu in (*self.here.stack, *self.here.generator) if cpu not in self._one]
        return (*self._one, *others[:1])

    def _limits(self, way: str) -> tuple[HostLimits, HostLimits]:
        """Return the limits of a host before and after."""
        if way == SET:
            return HostLimits(cpus=self._one), HostLimits(cpus=self._both)
        cpus = self._one if way == HALF else self._both
        small, large = CPUS[way]
        return HostLimits(cpus=cpus, cpu_limit=small), HostLimits(cpus=cpus, cpu_limit=large)

    @property
    def _xml(self) -> Deployment:
        return xml_stack(self.here, total_heap_mib=1024, settings={"threads": 20, "pool": 10})

    def _peak(self, per_s: float) -> LoadProfile:
        lengths = self.lengths
        stairs = (
            (self.calm_share, lengths.calm_s),
            (self.peak_share, lengths.peak_s),
            (self.calm_share, lengths.after_s),
        )
        steps = tuple(Step(rate_per_s=per_s * share, length_s=length) for share, length in stairs)
        arrivals = StaircaseArrivals(steps=steps, poisson=True, users=2000)
        return self._documents(arrivals, lengths.length_s)

    def _documents(self, arrivals: Arrivals, length_s: float) -> LoadProfile:
        lengths = {"warmup_s": self.lengths.warmup_s, "measured_s": length_s, "drain_s": 20.0}
        settings: dict[str, Scalar] = {"bytes": 100_000, "way": "xslt-jdk"}
        return self.load("xml_transform.py", arrivals, settings, phases=lengths)


_BUSY = ClosedLoop(users=4)


def _in_box(stack: Deployment, flags: tuple[str, ...], limits: HostLimits) -> Deployment:
    """Put a stack into one host with limits; its JVM counts CPUs as it is told, or sees."""
    box = HostSpec(
        name="box", mode="bare", memory_mib=2048, **limits.model_dump(exclude={"memory_mib"})
    )
    return stack.changed("app", cpus=(), flags=flags).on(box, app="box", database="box")


def _resize(at_s: float, limits: HostLimits) -> Disturbance:
    return Disturbance(at_s=at_s, action="resize", node="app-1", limits=limits)
