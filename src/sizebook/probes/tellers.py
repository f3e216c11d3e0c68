"""Whether one process tells what a server counts, or each of several what it did itself.

A server with several workers often counts in each of them: a scrape is answered by one, and tells
its part alone. On a connection that stays open it is always the same one, so counters look sound
and are too low. Several connections one after the other, when the load is over, show it: what only
grows has fallen, or another process has another start.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from sizebook.model.notes import SEVERAL_PROCESSES
from sizebook.probes.gathering import gather
from sizebook.probes.registry import COUNTERS
from sizebook.probes.series import Series

_TIMES = 8
"""Connections. Of two workers that share them evenly one answers all in 1 of 128 cases."""
_START = "process_start_time_seconds"
"""Every client library has it; of several processes added up it is the sum of none."""
_WITHIN_S = 2.0


class Tellers:
    """Compares what a server says over several connections."""

    def __init__(self, series: Mapping[str, list[Series]]) -> None:
        every = [one for some in series.values() for one in some]
        self._counters = [one.metric for one in every if _only_grows(one)]
        self._series = {**series, _START: [Series(_START, _START)]}
        self._reason = ""

    def ask(self, scrape: Callable[[], str]) -> None:
        """Look at some answers. ``scrape`` opens a connection for each, and may raise anything."""
        end_s = time.monotonic() + _WITHIN_S
        last = dict(gather(scrape(), self._series))
        for _ in range(_TIMES - 1):
            if self._reason or time.monotonic() > end_s:
                return
            now = dict(gather(scrape(), self._series))
            fell = [m for m in self._counters if _is_less(now.get(m), last.get(m))]
            if now.get(_START) != last.get(_START):
                self._reason = f"{SEVERAL_PROCESSES}: its start differs from answer to answer"
            elif fell:
                self._reason = f"{SEVERAL_PROCESSES}: {fell[0]} falls from answer to answer"
            last = now

    def told(self) -> dict[str, str]:
        """Return the counters that are one process's part, each with the reason."""
        return dict.fromkeys(self._counters, self._reason) if self._reason else {}


def _only_grows(one: Series) -> bool:
    """Return whether a value cannot fall; what merely ends in ``_count`` may be a gauge."""
    named = one.metric in COUNTERS and COUNTERS[one.metric].kind == "counter"
    return named or one.name.endswith("_total")


def _is_less(now: float | None, before: float | None) -> bool:
    return now is not None and before is not None and now < before
