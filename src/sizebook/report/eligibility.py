"""Which trials count for a metric: those that no doubt touches about what it rests on.

Trials whose doubts say how far off they may be count as well, each within that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import polars as pl

from sizebook.checks.relevance import known_within
from sizebook.lab import Trial
from sizebook.model.load import ClosedLoop
from sizebook.model.metrics import Basis, Metric, find_metric

LIMITS = "within_limits"
"""Column of ``judge_limits``, and its metric."""
SPARED: Mapping[Basis, str] = {
    "server": "the server measured these times itself, so the load generator's lateness does not "
    "matter",
    "use": "timing warnings do not affect counters of CPU, memory and disk",
    "start": "the warning is about the load, and the start was over before it",
}
"""Why trials count that are doubted, by what a metric rests on."""


def tells_within(trial: Trial, metric: str) -> float | None:
    """Return the factor within which a trial tells a metric: 1 without a doubt, None if not at all.

    A metric without a registry entry rests on times. A trial that failed just because of what the
    metric tells is an answer, too: what a claim says never to happen must not be left out when it
    has happened.
    """
    known = find_metric(metric)
    arrivals = trial.bundle.record.trial.load.arrivals
    alone = isinstance(arrivals, ClosedLoop) and arrivals.users == 1
    within = known_within(trial.judgement, _basis(known), alone=alone)
    rule = known.rule if known is not None else ""
    if within is not None or not rule or trial.verdict != "failed":
        return within
    failed = [one.rule for one in trial.judgement.failed() if one.verdict == "failed"]
    return 1.0 if failed == [rule] else None


def judge_limits(
    frame: pl.DataFrame, limits: Mapping[str, float], trials: Iterable[Trial]
) -> pl.DataFrame:
    """Return the frame with a column ``within_limits``: whether a trial keeps all limits.

    ``frame`` has one row a trial of ``trials``, ``limits`` the most that each of its metrics may
    be. A trial that knows a metric within a factor keeps a limit if it does so at the far end, and
    breaks it if it does so at the near one; between, and where a trial does not know it, the column
    is null.
    """
    known = {trial.bundle.id: trial for trial in trials}

    def keeps(row: Mapping[str, Any], metric: str, limit: float) -> bool | None:
        within, value = tells_within(known[row["bundle"]], metric), row[metric]
        if within is None or value is None:
            return None
        if value * within <= limit:
            return True
        return False if value / within > limit else None

    def keeps_all(row: Mapping[str, Any]) -> bool | None:
        each = [keeps(row, metric, limit) for metric, limit in limits.items()]
        return False if False in each else None if None in each else True

    rows = frame.iter_rows(named=True)
    return frame.with_columns(pl.Series(LIMITS, [keeps_all(row) for row in rows], pl.Boolean))


def with_doubted(note: str, metric: str, counted: Sequence[Trial]) -> str:
    """Return a claim's note, and how many of the trials that count are doubted, and why they do."""
    doubted = [trial for trial in counted if trial.verdict != "valid"]
    if not doubted:
        return note
    some = f"{len(doubted)} of the {len(counted)} trials that count"
    off = [within - 1 for trial in doubted if (within := tells_within(trial, metric) or 1.0) > 1]
    if off:
        whose = "has a mean that is" if len(off) == 1 else "have means that are"
        ends = dict.fromkeys(f"{end:.0%}" for end in (min(off), max(off)))
        far = " to ".join(ends)
        words = f"{some} {whose} uncertain by {far}; the interval includes that"
    elif (why := SPARED.get(_basis(find_metric(metric)))) is not None:
        has = "has a warning that does" if len(doubted) == 1 else "have warnings that do"
        words = f"{some} {has} not matter here: {why}"
    else:
        return note
    return f"{note}; {words}" if note else words


def _basis(known: Metric | None) -> Basis:
    return known.basis if known is not None else "times"
