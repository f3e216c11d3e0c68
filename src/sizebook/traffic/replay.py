"""The arrivals of a recording: as they came, faster, or as rates that were fitted to them."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sizebook.load.csv_rows import read_rows
from sizebook.model.errors import UsageError
from sizebook.model.given_times import MOST_TIMES
from sizebook.model.load import ReplayedArrivals, StaircaseArrivals, Step

USERS = 100
MOST_STEPS = 20
LEAST_IN_STEP = 20
"""Arrivals that a fitted step rests on, or more: its rate is then known to some 40 %."""


class RecordedArrivals:
    """When the requests of a recording came.

    What is longer than the recording goes on with its beginning.
    """

    def __init__(self, times_s: NDArray[np.float64]) -> None:
        self.times_s = times_s
        """Seconds from the first one on, ascending; one at least."""
        gap_s = float(times_s[-1]) / max(1, times_s.size - 1)
        self.length_s = float(times_s[-1]) + max(gap_s, 1e-3)
        """From the first arrival to where the next would come."""

    @classmethod
    def read(cls, path: Path) -> RecordedArrivals:
        """Return the arrivals of an ``arrivals.csv``. Raises UsageError for what is none."""
        try:
            times_s = np.sort(np.array([float(row["at_s"]) for row in read_rows(path)]))
        except (OSError, KeyError, ValueError) as error:
            raise UsageError(
                found=f"{path.name} that cannot be read ({error})",
                expected="a CSV with the columns at_s and request",
                next_step="write it anew: sizebook new chapter NAME --from FILE",
            ) from error
        if not times_s.size or not np.isfinite(times_s).all():
            raise UsageError(
                found=f"{path.name} without an arrival, or with one at no time",
                expected="a time in seconds in each row",
                next_step="write it anew: sizebook new chapter NAME --from FILE",
            )
        return cls(times_s - times_s[0])

    @property
    def rate_per_s(self) -> float:
        """Mean arrivals per second."""
        return self.times_s.size / self.length_s

    def busiest_s(self, stretch_s: float) -> float:
        """Return where the stretch of this length with the most arrivals begins."""
        ends = np.searchsorted(self.times_s, self.times_s + stretch_s)
        return float(self.times_s[int(np.argmax(ends - np.arange(self.times_s.size)))])

    def replayed(
        self, over_s: float, speed: float = 1.0, begin_s: float | None = None, users: int = USERS
    ) -> ReplayedArrivals:
        """Return arrivals for ``over_s`` seconds, ``speed`` times as fast as recorded.

        They begin with what was recorded at ``begin_s``; None: with the busiest stretch.
        """
        first, times_s = self._stretch(over_s, speed, begin_s)
        last_us = math.ceil(over_s * 1e6) - 1
        times_us = np.minimum(np.rint(times_s * 1e6), last_us).astype(np.int64)
        return ReplayedArrivals(
            times_us=tuple(times_us.tolist()), over_s=over_s, first=first, users=users
        )

    def fitted(
        self, over_s: float, speed: float = 1.0, begin_s: float | None = None, users: int = USERS
    ) -> StaircaseArrivals:
        """Return Poisson arrivals at the recorded rates, in up to ``MOST_STEPS`` equal steps.

        They differ from seed to seed as arrivals of independent users do.
        """
        _, times_s = self._stretch(over_s, speed, begin_s)
        pieces = max(1, min(MOST_STEPS, times_s.size // LEAST_IN_STEP))
        counts, _ = np.histogram(times_s, bins=pieces, range=(0.0, over_s))
        each_s = over_s / pieces
        steps = tuple(Step(rate_per_s=int(n) / each_s, length_s=each_s) for n in counts)
        return StaircaseArrivals(steps=steps, poisson=True, users=users)

    def _stretch(
        self, over_s: float, speed: float, begin_s: float | None
    ) -> tuple[int, NDArray[np.float64]]:
        """Return the number of the first arrival of a stretch, and its times on the new clock."""
        if not (over_s > 0 and speed > 0):
            raise UsageError(
                found=f"{over_s:g} s at {speed:g} times the recorded speed",
                expected="a length and a speed above 0",
                next_step="correct the notebook's parameters",
            )
        stretch_s = over_s * speed
        begin_s = self.busiest_s(stretch_s) if begin_s is None else begin_s % self.length_s
        first = int(np.searchsorted(self.times_s, begin_s))
        rounds = int(np.ceil((begin_s + stretch_s) / self.length_s)) + 1
        if rounds * self.times_s.size > 50 * MOST_TIMES:
            raise _too_many(self.rate_per_s * stretch_s)
        every = (self.times_s + np.arange(rounds)[:, None] * self.length_s).ravel()
        found: NDArray[np.float64] = every[(every >= begin_s) & (every < begin_s + stretch_s)]
        if found.size > MOST_TIMES:
            raise _too_many(found.size)
        found = np.minimum((found - begin_s) / speed, np.nextafter(over_s, 0.0))
        if not found.size:
            raise UsageError(
                found=f"no arrival within {stretch_s:g} s of the recording from {begin_s:g} s on",
                expected="one at least",
                next_step="replay it faster, or a longer stretch",
            )
        return first % self.times_s.size, found


def _too_many(number: float) -> UsageError:
    return UsageError(
        found=f"about {number:.0f} arrivals to be replayed",
        expected=f"{MOST_TIMES} at most",
        next_step="replay a shorter stretch, or use fitted() for rates instead of times",
    )
