"""When a conditioning load may end: throughput has stopped rising, and compilers have done.

After a fresh start the JVM compiles what the load uses, and throughput climbs: for seconds where a
page does little, for a minute where there are many. How long depends on code and CPUs, so the load
that precedes the trials watches itself. It climbs in steps, each as long as a compiler is busy with
something large; so the longer it lasts already, the longer are the stretches that are compared.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

LOOK_BACK_S = 3.0
"""The last seconds, at least, are compared with as many before them."""
LOOK_BACK_SHARE = 1 / 3
"""The last third of a longer load is compared with the third before it."""
LEAST_REQUESTS = 100
"""In the seconds that are compared with; fewer scatter by more than what is looked for."""
STILL_RISING = 0.03
"""Rise between the two, above which the load goes on; three seconds scatter by about as much."""
STILL_COMPILING = 0.01
"""Share of all machine code that the last seconds made, above which the load goes on: a trial of
``TRIAL_S`` then finds less than the twentieth that SB602 leaves it."""
TRIAL_S = 10.0
"""Before a longer trial the share is as much smaller."""


@dataclass
class Settling:
    """Sees requests and machine code second by second and says when they no longer become more."""

    trial_s: float = TRIAL_S
    """Length of the measured phase that follows."""
    _seen: list[tuple[float, int, float]] = field(default_factory=lambda: [(0.0, 0, 0.0)])

    def settled(self, elapsed_s: float, requests: int, code_bytes: float | None) -> bool:
        """Note what there is so far and return whether the load has settled.

        ``code_bytes``: machine code that all JVMs have made, as far as they tell; None: none does.
        """
        self._seen.append((elapsed_s, requests, code_bytes or 0.0))
        if elapsed_s < 2 * LOOK_BACK_S:
            return False
        times, counts, code = (np.array(one, dtype=float) for one in zip(*self._seen, strict=True))
        look_back_s = max(LOOK_BACK_S, elapsed_s * LOOK_BACK_SHARE)
        ends = elapsed_s - np.array([2 * look_back_s, look_back_s, 0.0])
        before, after = np.diff(np.interp(ends, times, counts))
        made = code[-1] - np.interp(elapsed_s - LOOK_BACK_S, times, code)
        return bool(
            before >= LEAST_REQUESTS
            and after <= before * (1 + STILL_RISING)
            and made <= code[-1] * STILL_COMPILING * TRIAL_S / max(TRIAL_S, self.trial_s)
        )
