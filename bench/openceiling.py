"""The open ceiling: the highest rate of a schedule that the generator keeps up with.

A closed loop shows what a core completes when nothing has to be on time. A schedule needs spare
CPU: at the closed loop's rate it falls behind for good. So an open load's ceiling is searched, by
bisection over a fixed grid of rates, once a round.
"""

from __future__ import annotations

import numpy as np

from bench.records import OpenCeiling, Repeated
from bench.rig import BODY_BYTES, NullServer, Rig
from sizebook.load.control import GeneratorClient
from sizebook.model.errors import TrialError
from sizebook.model.load import LoadProfile, OpenArrivals, Phases
from sizebook.stats.search import boundary, next_level

LIMIT_MS, SHORT_LIMIT_MS = 1.0, 100.0
"""Of the 99th percentile from the intended start, as in the calibration. A short run proves that
it works, on a machine that others use, too."""
LOWEST, RATIO = 0.05, 1.04
"""The grid: from this share of the closed loop's ceiling up to all of it, each so much higher."""
START = 0.55
"""Share of the closed loop's ceiling that is tried first."""
MOST = 16
"""Trials of a round after which it is given up."""
ROUNDS, SECONDS = 3, 2.0
SHORT_ROUNDS, SHORT_SECONDS = 1, 0.5
WARMUP_S = 0.5


def find_open_ceiling(
    rig: Rig, generator: GeneratorClient, server: NullServer, closed_per_s: float, users: int
) -> OpenCeiling:
    """Return what was found in each round. Raises TrialError if no rate was kept in any."""
    rates = grid(closed_per_s)
    limit_ms = SHORT_LIMIT_MS if rig.short else LIMIT_MS
    start = int(np.searchsorted(rates, START * closed_per_s))
    keeps_up(rig, generator, server, rates[start], users)  # warms the server up
    kept: list[float] = []
    tried = 0
    for _ in range(SHORT_ROUNDS if rig.short else ROUNDS):
        seen: dict[int, list[bool]] = {}
        while len(seen) < MOST:
            index = next_level(seen, count=len(rates), start=start)
            if index is None:
                break
            rig.tell(f"open ceiling: {rates[index]:,.0f} req/s")
            seen[index] = [keeps_up(rig, generator, server, rates[index], users)]
        tried += len(seen)
        last = boundary(seen).last_pass
        if last is not None:
            kept.append(rates[last])
    if not kept:
        raise TrialError(
            found=f"no rate from {rates[0]:,.0f}/s on at which the generator was on time",
            expected=f"a 99th percentile of {limit_ms:g} ms on a server without delay",
            next_step="run the benchmark on a machine that does nothing else",
        )
    return OpenCeiling(
        arrivals="constant",
        connections=users,
        p99_limit_ms=limit_ms,
        per_s=Repeated(values=tuple(kept)),
        grid_ratio=RATIO,
        trials=tried,
    )


def grid(closed_per_s: float) -> list[float]:
    """Return the rates that may be tried, ascending, whole numbers."""
    count = int(np.log(1 / LOWEST) / np.log(RATIO)) + 1
    return [float(round(LOWEST * closed_per_s * RATIO**n)) for n in range(count)]


def keeps_up(
    rig: Rig, generator: GeneratorClient, server: NullServer, rate_per_s: float, users: int
) -> bool:
    """Return whether at this rate every arrival is answered, 99 of 100 within the limit."""
    load = LoadProfile(
        locustfile="null.py",
        arrivals=OpenArrivals(kind="constant", rate_per_s=rate_per_s, users=users),
        phases=Phases(
            warmup_s=WARMUP_S,
            measured_s=SHORT_SECONDS if rig.short else SECONDS,
            drain_s=15.0,
        ),
        settings={"expect_bytes": BODY_BYTES},
    )
    server.begin()
    collected, _ = rig.measure(generator, load, server)
    inside = collected.requests.filter(collected.requests["phase"] == "measured")
    latency = inside["latency_ns"].to_numpy()
    facts = collected.facts
    if facts.failed or facts.dropped or not latency.size:
        return False
    limit_ms = SHORT_LIMIT_MS if rig.short else LIMIT_MS
    return bool(np.quantile(latency, 0.99, method="higher") <= 1e6 * limit_ms)
