"""Requests that the servers count a moment after their answers went out: waited for."""

from __future__ import annotations

import time
from collections.abc import Callable

from sizebook.load.collect import Collected
from sizebook.model.deployment import Deployment
from sizebook.probes.sampler import Sampler

_WAIT_S = 1.0
_LOOK_EVERY_S = 0.02


def counting_source(deployment: Deployment) -> str:
    """Return the beginning of the sources that count a load's requests."""
    counting = deployment.counting()
    return f"server/{counting[0] if counting else 'app'}-"


def requests_counted(sampler: Sampler, source: str = "server/app-") -> float | None:
    """Return how many requests the servers had counted at the last reading; None: none counts.

    ``source`` is the beginning of the sources that count.
    """
    return sampler.latest(source, "requests_total")


def await_counted(
    sampler: Sampler,
    before: float | None,
    collected: Collected,
    source: str = "server/app-",
    sleep: Callable[[float], object] = time.sleep,
) -> None:
    """End sampling with a snapshot in which servers have counted what the client has answers for.

    ``before``: what they had counted when the load began. A server counts a request when its last
    byte has gone out, so the client may be ahead of it for as long as a thread waits for a CPU.
    Gives up after a second: a count that is still too low, or one that is too high, stays so for
    the checks to see (SB104).
    """
    sampler.stop()
    sampler.snapshot()
    if before is None:
        return
    wanted = before + int((collected.requests["status"] > 0).sum())
    end = time.monotonic() + _WAIT_S
    while (requests_counted(sampler, source) or 0.0) < wanted and time.monotonic() < end:
        sleep(_LOOK_EVERY_S)
        sampler.snapshot()
