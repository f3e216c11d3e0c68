"""When a conditioning load may end: throughput has stopped rising, and compilers have done.

After a fresh start the JVM compiles what the load uses, and throughput climbs: for seconds where a
page does little, for a minute where there are many. How long depends on code and CPUs, so the load
that precedes the trials watches itself. It climbs in steps, each as long as a compiler is busy with
something large; so the longer it lasts already, the longer are the stretches that are compared. Nor
does such a compiler make any code until it is done: so its time is looked at as well.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from sizebook.lab.planning import SETTLES_AFTER_S
from sizebook.load.protocol import Tick
from sizebook.probes.sampler import Sampler
from sizebook.stack import RunningStack

LOOK_BACK_S = SETTLES_AFTER_S / 2
"""The last seconds, at least, are compared with as many before them."""
LOOK_BACK_SHARE = 1 / 3
"""The last third of a longer load is compared with the third before it, if it is the last one."""
LEAST_REQUESTS = 100
"""In the seconds that are compared with; fewer scatter by more than what is looked for."""
STILL_RISING = 0.03
"""Rise between the two, above which the load goes on; three seconds scatter by about as much."""
STILL_COMPILING = 0.01
"""Share of all machine code that the last seconds made, above which the load goes on: a trial of
``TRIAL_S`` then finds less than the twentieth that SB602 leaves it."""
STILL_BUSY = 0.1
"""CPUs' worth of time that compilers were at work in that stretch, and in the last six seconds at
least, above which the load goes on."""
TRIAL_S = 10.0
"""Before a longer trial the share is as much smaller."""


@dataclass
class Settling:
    """Sees requests and compilers second by second and says when these no longer become more."""

    trial_s: float = TRIAL_S
    """Length of the measured phase that follows."""
    is_last: bool = True
    """Whether trials follow at once. What only precedes another load need not have stopped for
    long: the other one will tell."""
    _seen: list[tuple[float, float, float, float]] = field(default_factory=lambda: [(0.0, 0, 0, 0)])

    def settled(
        self,
        elapsed_s: float,
        requests: int,
        code_bytes: float | None = None,
        compiling_s: float | None = None,
    ) -> bool:
        """Note what there is so far and return whether the load has settled.

        ``code_bytes``: machine code that all JVMs have made; ``compiling_s``: how long compilers of
        all JVMs were at work, each method told when it is done. None: no JVM tells.
        """
        self._seen.append((elapsed_s, requests, code_bytes or 0.0, compiling_s or 0.0))
        if elapsed_s < 2 * LOOK_BACK_S:
            return False
        times, counts, code, busy = np.array(self._seen, dtype=float).T
        share = LOOK_BACK_SHARE if self.is_last else 0.0
        look_back_s = max(LOOK_BACK_S, elapsed_s * share)
        ends = elapsed_s - np.array([2 * look_back_s, look_back_s, 0.0])
        before, after = np.diff(np.interp(ends, times, counts))
        made = code[-1] - np.interp(elapsed_s - LOOK_BACK_S, times, code)
        busy_for_s = max(2 * LOOK_BACK_S, look_back_s)  # one method may take several seconds
        busy_s = busy[-1] - np.interp(elapsed_s - busy_for_s, times, busy)
        return bool(
            before >= LEAST_REQUESTS
            and after <= before * (1 + STILL_RISING)
            and busy_s <= STILL_BUSY * busy_for_s
            and made <= code[-1] * STILL_COMPILING * TRIAL_S / max(TRIAL_S, self.trial_s)
        )


def await_settled(
    stack: RunningStack, sampler: Sampler, settling: Settling
) -> Callable[[Tick], bool]:
    """Return what looks at a conditioning load each second and tells whether it has settled.

    Until then it lets compilers go before all else, so that they have done as soon as may be.
    """

    def settled(tick: Tick) -> bool:
        stack.favour_compilers()
        compiled = (sampler.latest("jvm/", name) for name in ("jit_code_bytes", "jit_s"))
        return settling.settled(tick.elapsed_s, tick.requests, *compiled)

    return settled
