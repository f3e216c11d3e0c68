"""The own time of a trial that took turns: a clock that puts what counted in one piece.

While the load is another trial's, a trial is not measured. In its bundle the parts of its turns
that counted follow each other without a gap, as its measured phase; all that lies between them,
from the first turn on, comes before, as the phase ``between``. Nothing is lost and nothing changes
its length, so that a trial that took turns is read and judged as any other.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sizebook.model.bundle import PhaseMark, TurnMark

Times = NDArray[np.int64]
"""ns."""


class TrialClock:
    """Moves times of CLOCK_MONOTONIC into the trial's own; outside of its turns they agree."""

    def __init__(self, turns: Sequence[TurnMark]) -> None:
        """Take the turns that counted, in order; without any all times stay what they are."""
        edges = [turns[0].begin_ns] if turns else []
        edges += [at for turn in turns for at in (turn.from_ns, turn.end_ns)]
        self._edges = np.array(edges, dtype=np.int64)
        """Ends of pieces: what is between and what counted take turns, the former first."""
        lengths = np.diff(self._edges)
        between, counted = lengths[0::2], lengths[1::2]
        begins = np.empty(lengths.size, dtype=np.int64)
        if turns:
            measured_ns = int(self._edges[0] + between.sum())
            begins[0::2] = self._edges[0] + np.cumsum(between) - between
            begins[1::2] = measured_ns + np.cumsum(counted) - counted
        self._begins = begins
        self._lengths = lengths

    def __bool__(self) -> bool:
        """Tell whether there are turns."""
        return bool(self._lengths.size)

    @property
    def from_ns(self) -> Times:
        """When each turn began to count, by CLOCK_MONOTONIC."""
        return self._edges[1::2]

    @property
    def end_ns(self) -> Times:
        """When each turn ended, by CLOCK_MONOTONIC."""
        return self._edges[2::2]

    @property
    def measured_ns(self) -> int:
        """Begin of the measured phase, in own time."""
        return int(self._begins[1])

    @property
    def ends_ns(self) -> Times:
        """End of each turn, in own time."""
        ends: Times = self._begins[1::2] + self._lengths[1::2]
        return ends

    def own(self, times: Times) -> Times:
        """Return times in the trial's own time."""
        if not self:
            return times
        piece = np.searchsorted(self._edges, times, side="right") - 1
        inside = (piece >= 0) & (piece < self._lengths.size)
        at = np.where(inside, piece, 0)
        return np.where(inside, times - self._edges[at] + self._begins[at], times)

    def wall(self, times: Times) -> Times:
        """Return the times of CLOCK_MONOTONIC that these of the trial's own time are."""
        if not self:
            return times
        order = np.argsort(self._begins, kind="stable")
        order = order[self._lengths[order] > 0]
        piece = order[np.maximum(np.searchsorted(self._begins[order], times, side="right") - 1, 0)]
        inside = (times >= self._edges[0]) & (times < self._edges[-1])
        return np.where(inside, times - self._begins[piece] + self._edges[piece], times)

    def phases(self, marks: Sequence[PhaseMark]) -> tuple[PhaseMark, ...]:
        """Return the phases of a trial in its own time."""
        if not self:
            return tuple(marks)
        first, last = int(self._edges[0]), int(self._edges[-1])
        measured_ns = self.measured_ns
        before = [mark for mark in marks if mark.name in ("ramp", "warm-up")]
        drain = [mark for mark in marks if mark.name == "drain"]
        return (
            *(mark.model_copy(update={"end_ns": min(mark.end_ns, first)}) for mark in before),
            PhaseMark(name="between", begin_ns=first, end_ns=measured_ns),
            PhaseMark(name="measured", begin_ns=measured_ns, end_ns=last),
            *(mark.model_copy(update={"begin_ns": last}) for mark in drain),
        )
