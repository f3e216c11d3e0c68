"""When a conditioning load may end: throughput has stopped rising.

After a fresh start the JVM compiles what the load uses, and throughput climbs for seconds. How
long depends on code and CPUs, so the load that precedes the trials watches itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

LOOK_BACK_S = 3.0
"""The last seconds are compared with as many before them."""
LEAST_REQUESTS = 100
"""In the seconds that are compared with; fewer scatter by more than what is looked for."""
STILL_RISING = 0.03
"""Rise between the two, above which the load goes on; seconds scatter by about as much."""


@dataclass
class Settling:
    """Sees the requests completed second by second and says when they no longer become more."""

    _seen: list[tuple[float, int]] = field(default_factory=lambda: [(0.0, 0)])

    def settled(self, elapsed_s: float, requests: int) -> bool:
        """Note the requests completed so far and return whether the rate has settled."""
        self._seen.append((elapsed_s, requests))
        if elapsed_s < 2 * LOOK_BACK_S:
            return False
        times, counts = (np.array(column, dtype=float) for column in zip(*self._seen, strict=True))
        ends = elapsed_s - np.array([2 * LOOK_BACK_S, LOOK_BACK_S, 0.0])
        before, after = np.diff(np.interp(ends, times, counts))
        return bool(before >= LEAST_REQUESTS and after <= before * (1 + STILL_RISING))
