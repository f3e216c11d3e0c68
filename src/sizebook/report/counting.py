"""Which trials count for a metric: those that no doubt touches about what it rests on.

Where these are too few, trials count as well whose only doubt says how far off they may be.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sizebook.checks.basis import known_within
from sizebook.lab import Trial
from sizebook.model.metrics import Basis, Metric, find_metric

SPARED: Mapping[Basis, str] = {
    "use": "what was used is counted right however well the times of requests are known",
    "start": "the start was over before the load that is doubted",
}
"""Why trials count that are doubted, by what a metric rests on."""


def tells_within(trial: Trial, metric: str) -> float | None:
    """Return the factor within which a trial tells a metric: 1 without a doubt, None if not at all.

    A metric without a registry entry rests on times. A trial that failed just because of what the
    metric tells is an answer, too: what a claim says never to happen must not be left out when it
    has happened.
    """
    known = find_metric(metric)
    within = known_within(trial.judgement, _basis(known))
    rule = known.rule if known is not None else ""
    if within is not None or not rule or trial.verdict != "failed":
        return within
    failed = [one.rule for one in trial.judgement.failed() if one.verdict == "failed"]
    return 1.0 if failed == [rule] else None


def with_doubted(note: str, metric: str, counted: Sequence[Trial]) -> str:
    """Return a claim's note, and how many of the trials that count are doubted, and why they do."""
    doubted = [trial for trial in counted if trial.verdict != "valid"]
    if not doubted:
        return note
    some = f"{len(doubted)} of the {len(counted)} trials that count"
    off = [within - 1 for trial in doubted if (within := tells_within(trial, metric) or 1.0) > 1]
    if off:
        verb = "knows its" if len(off) == 1 else "know their"
        ends = dict.fromkeys(f"{end:.0%}" for end in (min(off), max(off)))
        far = " to ".join(ends)
        words = f"{some} {verb} level within {far} only, and the interval is wider for that"
    elif (why := SPARED.get(_basis(find_metric(metric)))) is not None:
        words = f"{some} {'is' if len(doubted) == 1 else 'are'} doubted otherwise: {why}"
    else:
        return note
    return f"{note}; {words}" if note else words


def _basis(known: Metric | None) -> Basis:
    return known.basis if known is not None else "times"
