"""What became of a schedule of arrivals: which ones were never started."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sizebook.stats.groups import blocks, is_ascending


def unstarted(
    offsets_ns: NDArray[np.int64], intended_ns: NDArray[np.int64], begin_ns: int, end_ns: int
) -> NDArray[np.int64]:
    """Return the due times (CLOCK_MONOTONIC ns, ascending) for which there is no request.

    ``offsets_ns`` is the schedule in ns from ``begin_ns``, when the trial started, ascending;
    arrivals at or after ``end_ns`` (of the measured phase) never fell due. ``intended_ns`` are the
    intended starts of all requests in any order: the first request of a pass carries the due time
    of its arrival, later ones their own start. Of several arrivals due in the same nanosecond, each
    request starts one.
    """
    offsets_ns = offsets_ns[: np.searchsorted(offsets_ns, end_ns - begin_ns)]
    started = intended_ns if is_ascending(intended_ns) else np.sort(intended_ns)
    left = []
    for at in blocks(offsets_ns.size):
        due = offsets_ns[at] + begin_ns
        copies = np.searchsorted(started, due, side="right") - np.searchsorted(started, due)
        rank = np.arange(at.start, at.stop) - np.searchsorted(offsets_ns, offsets_ns[at])
        left.append(due[rank >= copies])
    return np.concatenate(left) if left else np.zeros(0, dtype=np.int64)
