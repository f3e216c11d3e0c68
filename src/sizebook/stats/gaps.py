"""How complete the readings of a time window are, source by source."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

_SAMPLER, _FAILED = "probes", "failed_reads/"
FLOORS_S = {
    "server": 1.0,
    "database": 1.0,
    "balancer": 1.0,
    "generator": 1.0,
    "probes": 1.0,
    "rows": 3600.0,
}
"""Shortest interval by kind of source, whatever interval a trial asks for: a scrape costs its node
some milliseconds, a query its database; rows are counted before and after a trial only."""

SERVERS_PER_S = 3
"""Scrapes of all nodes together in a second. More nodes are asked less often each, so that looking
costs each layout about the same, and the one thread that looks keeps up with nodes that are busy.
"""

SHORTEST_S = 0.1
"""Shortest interval of any probe: at 10 Hz the dearest ones would cost a tenth of a core."""

GAP_COLUMNS: dict[str, type[pl.DataType]] = {
    "source": pl.String,
    "due": pl.Int64,
    "read": pl.Int64,
    "missed": pl.Int64,
    "failed": pl.Int64,
    "longest_gap_s": pl.Float64,
}


def source_interval_s(source: str, interval_s: float, servers: int = 1) -> float:
    """Return how often a source is read when a trial asks for this interval, in seconds.

    ``servers`` is how many nodes have a ``server/...`` source.
    """
    kind = source.partition("/")[0]
    shared_s = servers / SERVERS_PER_S if kind == "server" else 0.0
    return max(interval_s, FLOORS_S.get(kind, 0.0), shared_s)


class Asked(Protocol):
    """One counter of one source, as it was asked and answered."""

    @property
    def source(self) -> str:
        """Who was asked."""

    @property
    def metric(self) -> str:
        """What for."""

    @property
    def asked_ns(self) -> NDArray[np.int64]:
        """When, ascending, CLOCK_MONOTONIC; the same array each time."""

    @property
    def times_ns(self) -> NDArray[np.int64]:
        """When it answered, ascending; the same array each time."""

    @property
    def values(self) -> NDArray[np.float64]:
        """What it answered."""


def sampling_gaps(
    readings: Iterable[Asked], begin_ns: int, end_ns: int, interval_s: float
) -> pl.DataFrame:
    """Return one row a source: readings due, read, missed, failed, and the longest gap.

    ``readings`` has one entry a series; ``interval_s`` is what the trial asked for
    (``probe_interval_s``). A source with several probes, such as a process with its seldom read
    details, is judged by its most often read metric.

    ``due`` is how many whole intervals the window has, so it may be one less than were read:
    deadlines do not begin with the window. ``missed`` is what is due and was not read: intervals
    that are missing between readings, and fewer readings than due by more than the one that may
    have slipped across an edge. ``failed`` is how often the source was asked and did not answer
    (null values).
    ``longest_gap_s`` is the longest time between readings one after the other that touches the
    window, its edges standing in where there is no reading before or after it; the whole window
    and more if there was none in it. A source that was never read has a row if the sampler
    counted its failures in the window. Columns: ``GAP_COLUMNS``, sorted by source.
    """
    if end_ns <= begin_ns or interval_s <= 0:
        raise ValueError(f"a window of {end_ns - begin_ns} ns, an interval of {interval_s} s")
    readings, window = list(readings), (begin_ns, end_ns)
    best: dict[str, _Look] = {}
    looked_at: set[tuple[object, ...]] = set()
    for (source, _), parts in _by_metric(readings).items():
        # most metrics of a source are read at the same times, most often the very same arrays
        same = source, *[(id(one.asked_ns), id(one.times_ns)) for one in parts]
        if same in looked_at:
            continue
        moments = source, *[(one.asked_ns.tobytes(), one.times_ns.tobytes()) for one in parts]
        is_new = moments not in looked_at
        looked_at |= {same, moments}
        if not is_new:
            continue
        asked = _look(parts, window)
        known = best.get(source)
        if known is None or (asked.read, -asked.failed) > (known.read, -known.failed):
            best[source] = asked
    for source, failed in _never_read(readings, window).items():
        if source not in best:
            best[source] = _Look(0, failed, np.empty(0, np.int64))
    servers = sum(source.startswith("server/") for source in best)
    rows = []
    for source, asked in sorted(best.items()):
        every_s = source_interval_s(source, interval_s, servers)
        due = int((end_ns - begin_ns) / 1e9 / every_s + 1e-9)
        missed = _missed(asked.around_ns, window, every_s, due, asked.read)
        longest_s = _longest_gap_ns(asked.around_ns, window) / 1e9
        rows.append((source, due, asked.read, missed, asked.failed, longest_s))
    return pl.DataFrame(rows, schema=GAP_COLUMNS, orient="row")


@dataclass(frozen=True)
class _Look:
    """How often a metric was read in a window, how often in vain, and when it answered."""

    read: int
    failed: int
    around_ns: NDArray[np.int64]
    """Answers in the window and the ones next to it."""


def _by_metric(readings: Iterable[Asked]) -> dict[tuple[str, str], list[Asked]]:
    """Return the series of each source and metric, but for what the sampler says of itself."""
    found: dict[tuple[str, str], list[Asked]] = {}
    for one in readings:
        if one.source != _SAMPLER:
            found.setdefault((one.source, one.metric), []).append(one)
    return found


def _look(parts: Sequence[Asked], window: tuple[int, int]) -> _Look:
    begin_ns, end_ns = window
    times = np.sort(np.concatenate([one.times_ns for one in parts]))
    asked = np.concatenate([one.asked_ns for one in parts])
    read = _inside(times, window)
    first = max(0, int(np.searchsorted(times, begin_ns, side="left")) - 1)
    last = int(np.searchsorted(times, end_ns, side="right")) + 1
    return _Look(read, _inside(asked, window) - read, times[first:last])


def _inside(times: NDArray[np.int64], window: tuple[int, int]) -> int:
    return int(np.count_nonzero((times >= window[0]) & (times <= window[1])))


def _longest_gap_ns(around_ns: NDArray[np.int64], window: tuple[int, int]) -> int:
    begin_ns, end_ns = window
    if not around_ns.size:
        return end_ns - begin_ns
    edges = int(around_ns[0]) - begin_ns, end_ns - int(around_ns[-1])
    return max(*edges, int(np.diff(around_ns).max(initial=0)))


def _missed(
    times: NDArray[np.int64], window: tuple[int, int], interval_s: float, due: int, read: int
) -> int:
    """Return how many readings are missing; ``times``: those in the window and next to it."""
    if read == 0:
        return due
    interval_ns = round(interval_s * 1e9)
    begin_ns, end_ns = window
    near = np.clip(times, begin_ns - interval_ns, end_ns + interval_ns)
    edges = [begin_ns] if near[0] > begin_ns else [], [end_ns] if near[-1] < end_ns else []
    steps = np.diff(np.concatenate([edges[0], near, edges[1]])) / interval_ns
    skipped = int(np.maximum(np.floor(steps + 0.5) - 1, 0).sum())
    return min(due, max(due - read - 1, skipped))


def _never_read(readings: Iterable[Asked], window: tuple[int, int]) -> dict[str, int]:
    """Return the sources whose probes failed around the window, by the sampler's own counters."""
    failures: dict[str, int] = {}
    for one in readings:
        if one.source != _SAMPLER or not one.metric.startswith(_FAILED) or not one.values.size:
            continue
        begin = int(np.searchsorted(one.times_ns, window[0], side="right"))
        end = min(int(np.searchsorted(one.times_ns, window[1])), one.values.size - 1)
        failed = one.values[end] - (one.values[begin - 1] if begin else 0.0)
        if failed > 0:
            probe = one.metric.removeprefix(_FAILED)
            source = "host" if probe.startswith("host:") else probe.partition(":")[2] or probe
            failures[source] = max(int(failed), failures.get(source, 0))
    return failures
