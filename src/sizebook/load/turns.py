"""When a trial's load runs that takes turns with others, and its own time, which stands still else.

Own time is counted in ns from the trial's start and runs in its turns alone, so that pauses of its
users and its schedule go on where they stopped when the load comes back to it.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from sizebook.model.load import Phases
from sizebook.model.records import Record


class TurnOrder(Record):
    """When a trial's turns begin, those of the warm-up first: ns from the common start."""

    begins_ns: tuple[int, ...]


class Turn(NamedTuple):
    """One turn on CLOCK_MONOTONIC."""

    begin_ns: int
    from_ns: int
    """From here on it counts."""
    end_ns: int


class TurnTimes:
    """The turns of a trial that has started."""

    def __init__(self, order: TurnOrder, phases: Phases, start_ns: int) -> None:
        """Raises ValueError unless there are as many turns, apart, as the phases say."""
        turns = phases.turns
        count = phases.warm_turns + phases.rounds
        if turns is None or len(order.begins_ns) != count:
            raise ValueError(f"{len(order.begins_ns)} turns for a load of {count}")
        self.length_ns = round(turns.turn_s * 1e9)
        self._settle_ns = round(turns.settle_s * 1e9)
        self._start_ns = start_ns
        self._begins = [start_ns + begin for begin in order.begins_ns]
        gaps = zip(self._begins, self._begins[1:], strict=False)
        if any(after - before < self.length_ns for before, after in gaps):
            raise ValueError("turns of one trial that overlap")
        self._warm = phases.warm_turns

    @property
    def all(self) -> list[Turn]:
        """Every turn in order, those of the warm-up first."""
        settle_ns, length_ns = self._settle_ns, self.length_ns
        return [Turn(at, at + settle_ns, at + length_ns) for at in self._begins]

    @property
    def counted(self) -> list[Turn]:
        """The turns of the measured phase."""
        return self.all[self._warm :]

    def at(self, now_ns: int) -> Turn | None:
        """Return the turn in which a time lies, or the next one after it; None: they are over."""
        at = bisect_right(self._begins, now_ns) - 1
        if at < 0 or now_ns >= self._begins[at] + self.length_ns:
            at += 1
        if at >= len(self._begins):
            return None
        begin_ns = self._begins[at]
        return Turn(begin_ns, begin_ns + self._settle_ns, begin_ns + self.length_ns)

    def wall_ns(self, own_ns: int) -> int:
        """Return the time at which so much of the trial's own time has passed.

        Where one turn ends and the next begins it is the begin; after the last one time goes on.
        """
        at, rest = divmod(own_ns, self.length_ns)
        last = len(self._begins) - 1
        return self._begins[min(at, last)] + rest + max(0, at - last) * self.length_ns

    def own_ns(self, wall_ns: int) -> int:
        """Return how much of the trial's own time has passed."""
        at = bisect_right(self._begins, wall_ns) - 1
        if at < 0:
            return 0
        return at * self.length_ns + min(wall_ns - self._begins[at], self.length_ns)
