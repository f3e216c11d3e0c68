"""When each user of a closed loop is there, where users come and go: places, from their stages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Self

from sizebook.model.load import ClosedLoop, LoadProfile, UserStage

_HALF = 0.5
"""User k is there while there are k and a half users or more: as many as the number rounded."""
FOREVER_NS = 2**62
Stay = tuple[int, int]
"""Begin and end, in ns from the start of the trial."""


@dataclass(frozen=True)
class StagedUsers:
    """Users over time: piece by piece linear, from the start of the trial on."""

    before_s: float
    """Ramp and warm-up, in which there are as many as the first stage begins with."""
    stages: tuple[UserStage, ...]
    _known: dict[int, tuple[Stay, ...]] = field(default_factory=dict, compare=False)

    @classmethod
    def of(cls, load: LoadProfile) -> Self | None:
        """Return the stages of a load, None if its users do not come and go."""
        if not isinstance(load.arrivals, ClosedLoop) or not load.arrivals.stages:
            return None
        return cls(load.phases.ramp_s + load.phases.warmup_s, load.arrivals.stages)

    @property
    def first(self) -> int:
        """Users that are there from the start on."""
        return int(self.stages[0].begin_users + _HALF)

    def stays(self, user: int) -> tuple[Stay, ...]:
        """Return when a user is there; the last stay may have no end, which is ``FOREVER_NS``."""
        if user not in self._known:
            self._known[user] = tuple(self._find(user + _HALF))
        return self._known[user]

    def next_ns(self, user: int, now_ns: int) -> int | None:
        """Return when the stay begins that a user is in or has next; None if there is no more."""
        return next((begin for begin, end in self.stays(user) if now_ns < end), None)

    def _find(self, level: float) -> Iterator[Stay]:
        """Give the stretches in which there are so many users or more."""
        since_ns: int | None = None
        for (at_s, count), (then_s, after) in pairwise(self._points()):
            if since_ns is None and count >= level:
                since_ns = round(at_s * 1e9)
            if since_ns is None and after >= level:
                since_ns = _crossing_ns(at_s, count, then_s, after, level)
            elif since_ns is not None and after < level:
                yield since_ns, _crossing_ns(at_s, count, then_s, after, level)
                since_ns = None
        if since_ns is not None:
            yield since_ns, FOREVER_NS

    def _points(self) -> Iterator[tuple[float, float]]:
        """Give times and the users then; a jump is two points of one time."""
        at_s = self.before_s
        yield 0.0, self.stages[0].begin_users
        for stage in self.stages:
            yield at_s, stage.begin_users
            at_s += stage.length_s
            yield at_s, stage.end_users


def _crossing_ns(at_s: float, count: float, then_s: float, after: float, level: float) -> int:
    share = (level - count) / (after - count)
    return round((at_s + (then_s - at_s) * share) * 1e9)
