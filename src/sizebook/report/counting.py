"""Which trials count for a metric: those that no doubt touches about what it rests on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sizebook.checks.basis import verdict_on
from sizebook.lab import Trial
from sizebook.model.metrics import METRICS, Basis

SPARED: Mapping[Basis, str] = {
    "use": "what was used is counted right however well the times of requests are known",
    "start": "the start was over before the load that is doubted",
}
"""Why trials count that are doubted, by what a metric rests on."""


def tells(trial: Trial, metric: str) -> bool:
    """Return whether a trial counts for a metric; one without a registry entry rests on times.

    A trial that failed just because of what the metric tells is an answer, too: what a claim says
    never to happen must not be left out when it has happened.
    """
    if verdict_on(trial.judgement, _basis(metric)) == "valid":
        return True
    rule = METRICS[metric].rule if metric in METRICS else ""
    if not rule or trial.verdict != "failed":
        return False
    return [one.rule for one in trial.judgement.failed() if one.verdict == "failed"] == [rule]


def with_spared(note: str, metric: str, counted: Sequence[Trial]) -> str:
    """Return a claim's note, and how many of the trials that count are doubted, and why they do."""
    why = SPARED.get(_basis(metric))
    spared = sum(trial.verdict != "valid" for trial in counted)
    if why is None or not spared:
        return note
    verb = "is" if spared == 1 else "are"
    words = f"{spared} of the {len(counted)} trials that count {verb} doubted otherwise: {why}"
    return f"{note}; {words}" if note else words


def _basis(metric: str) -> Basis:
    return METRICS[metric].basis if metric in METRICS else "times"
