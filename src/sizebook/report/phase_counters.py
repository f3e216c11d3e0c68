"""The counters of one trial's measured phase, ready to be asked for growth and means."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

from sizebook.model.bundle import PhaseMark
from sizebook.model.errors import BundleError
from sizebook.model.load import ClosedLoop
from sizebook.store import Bundle
from sizebook.store.derived import derived
from sizebook.store.readings import Rise

Key = tuple[str, str, str]
"""Host, source, metric."""


@dataclass(frozen=True)
class Use:
    """How much of one resource's capacity was used; what its kind makes words from."""

    kind: str
    """Name of a kind in ``limiter_kinds.KINDS``."""
    place: str
    """Which one of its kind: ``app``, ``CPU 0``, ``vda``."""
    share: float | None
    """Of its own capacity, 0 to 1; None: cannot be told, ``reason`` says why."""
    numbers: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """The evidence, by names that the kind's templates use."""
    readings: int = 0
    """Readings behind it: of a counter within the phase, or of the gauge; the fewest of all."""
    replicates: int = 1
    reason: str = ""


@dataclass(frozen=True)
class Level:
    """The mean of a gauge within the phase."""

    mean: float
    readings: int


class Window:
    """One bundle's measured phase."""

    def __init__(self, bundle: Bundle, mark: PhaseMark) -> None:
        self.bundle = bundle
        self.trial = bundle.record.trial
        self.begin_ns, self.end_ns = mark.begin_ns, mark.end_ns
        self.length_s = (mark.end_ns - mark.begin_ns) / 1e9

    def keys(self, source: str, metric: str) -> Iterator[Key]:
        """Yield the series of sources that begin so, of a metric with whatever label."""
        for one in self.bundle.readings.find(source, metric):
            yield one.host, one.source, one.metric

    def hosts(self, source: str) -> tuple[str, ...]:
        """Return the hosts that have this source, each once."""
        having = (one for one in self.bundle.readings if one.source == source and one.values.size)
        return tuple(dict.fromkeys(one.host for one in having))

    def growth(self, key: Key) -> Rise | None:
        """Return how a counter grew between the readings nearest to the phase's begin and end.

        None where there are no two readings, where they cover less than half of the phase, or
        where the counter began anew.
        """
        series = self.bundle.readings.get(*key)
        rise = None if series is None else series.rise_near(self.begin_ns, self.end_ns)
        if rise is None or rise.length_s < self.length_s / 2 or not rise.is_whole:
            return None
        return rise

    def total_growth(self, source: str, metric: str) -> Rise | None:
        """Return the growth of all matching series together; None if any cannot be told."""
        found = [self.growth(key) for key in self.keys(source, metric)]
        told = [one for one in found if one is not None]
        if not told or len(told) < len(found):
            return None
        rate = sum(one.per_s for one in told)
        length_s = max(one.length_s for one in told)
        return Rise(rate * length_s, length_s, min(one.readings for one in told), is_whole=True)

    def level(self, key: Key) -> Level | None:
        """Return the mean of a gauge over its readings in the phase; None without any."""
        if (series := self.bundle.readings.get(*key)) is None:
            return None
        inside = series.within(self.begin_ns, self.end_ns)
        return Level(float(inside.mean()), inside.size) if inside.size else None

    def total_level(self, source: str, metric: str) -> Level | None:
        """Return the sum of the means of all matching gauges; None if any has no reading."""
        found = [self.level(key) for key in self.keys(source, metric)]
        told = [one for one in found if one is not None]
        if not told or len(told) < len(found):
            return None
        return Level(sum(one.mean for one in told), min(one.readings for one in told))

    @cached_property
    def in_flight(self) -> float | None:
        """Mean number of requests under way at the client, by Little's law.

        Without the requests (published bundles) the users of a closed loop that does not think:
        each always has one under way. None if neither is known.
        """
        arrivals = self.trial.load.arrivals
        try:
            latency_ns = _measured_latency_ns(self.bundle)
        except BundleError:
            if isinstance(arrivals, ClosedLoop) and not (arrivals.think_s or arrivals.varies):
                return float(arrivals.users)
            return None
        return float(latency_ns) / 1e9 / self.length_s


@derived("limiter.measured_latency_ns")
def _measured_latency_ns(bundle: Bundle) -> int:
    return int(bundle.measured["latency_ns"].sum())


def open_window(bundle: Bundle) -> Window | None:
    """Return the measured phase of a bundle; None if the trial never came to it."""
    mark = bundle.record.execution.phase("measured")
    return None if mark is None or mark.end_ns <= mark.begin_ns else Window(bundle, mark)
