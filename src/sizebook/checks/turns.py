"""Trials that take turns: what each turn gave, and whether their comparison is steady.

The level of such a trial is not judged: a machine that becomes slower takes all of a block along,
and that drops out of their ratio. What must hold still is the ratio.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sizebook.checks.facts import measured_mark
from sizebook.checks.rules import DoesNotApply
from sizebook.model.verdict import Finding, Verdict
from sizebook.stats.steady import ALPHA, TOLERANCE, holm
from sizebook.stats.trends import Shift, Trend, shift, trend
from sizebook.stats.windows import windows
from sizebook.store import Bundle
from sizebook.store.derived import derived

_Floats = NDArray[np.float64]
_SERIES = ("throughput", "latency")


@dataclass(frozen=True)
class TurnLevels:
    """What a trial gave in each of its turns, in their order."""

    throughput: tuple[float, ...]
    """Requests that ended, per second."""
    latency: tuple[float, ...]
    """Level of the latency in ns, geometric mean; not a number where no request ended."""


@derived("checks.turns", kind=TurnLevels)
def turn_levels(bundle: Bundle) -> TurnLevels:
    """Return what a trial gave in each of its turns. Raises DoesNotApply if it took none."""
    mark, phases = measured_mark(bundle), bundle.record.trial.load.phases
    if phases.turns is None:
        raise DoesNotApply("the load was its own throughout")
    rows = bundle.columns
    width_ns = round(phases.turns.counted_s * 1e9)
    throughput, level = windows(
        rows["start_ns"], rows["service_ns"], rows["latency_ns"], rows.codes("name"),
        mark.begin_ns, mark.end_ns, width_ns,
    )  # fmt: skip
    return TurnLevels(tuple(throughput.tolist()), tuple(level.tolist()))


def log_ratios(levels: Sequence[Sequence[float]]) -> _Floats:
    """Return how far each trial is from the middle of its block in each round, as logarithms.

    ``levels`` are one row a trial, one value a turn. Each trial counts from its own mean over the
    rounds; the middle is the median over the others, so that among four or more one that changes
    moves it hardly. Not a number where a trial, or all others, gave nothing in a round.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(np.asarray(levels, dtype=np.float64))
    logs[~np.isfinite(logs)] = np.nan
    answered = np.maximum(np.isfinite(logs).sum(axis=1, keepdims=True), 1)
    logs -= np.nansum(logs, axis=1, keepdims=True) / answered
    found = np.full_like(logs, np.nan)
    for trial in range(len(logs)):
        others = np.delete(logs, trial, axis=0)
        there = ~np.isnan(others).all(axis=0)
        if there.any():
            found[trial, there] = logs[trial, there] - np.nanmedian(others[:, there], axis=0)
    return found


def _held(throughput: _Floats, latency: _Floats) -> tuple[bool | None, str, dict[str, float]]:
    tests: list[tuple[str, Trend | Shift]] = []
    for name, ratio in zip(_SERIES, (throughput, latency), strict=True):
        tests += [(f"{name} drifts", trend(ratio)), (f"{name} shifts", shift(ratio))]
    if any(test.p is None for _, test in tests):
        return None, f"{throughput.size} rounds are too few to tell", {}
    adjusted = holm(np.array([test.p for _, test in tests], dtype=np.float64))
    numbers: dict[str, float] = {"rounds": float(throughput.size)}
    wrong = []
    for (name, test), p in zip(tests, adjusted, strict=True):
        change = test.change_share or 0.0
        numbers |= {f"{name.replace(' ', '_')}_p": float(p), name.replace(" ", "_"): change}
        if p <= ALPHA and abs(change) > TOLERANCE:
            wrong.append(f"{name} by {change:+.1%} against the others (p = {p:.2g})")
    text = "; ".join(wrong) or "no trend and no shift against the others"
    return not wrong, f"{text}, in {throughput.size} rounds", numbers


@dataclass(frozen=True)
class TurnRule:
    """A rule over the trials of one block that took turns; it judges each of them."""

    id: str
    title: str
    verdict: Verdict
    meaning: str
    remedy: str


RATIO = TurnRule(
    "SB604-ratio",
    "The comparison had reached a steady state",
    "no steady state",
    "Of trials that take turns: throughput and latency of each turn, over the median of the other "
    "treatments' in the same round, are tested for a trend and a shift as SB601 tests a level. A "
    f"trial is not steady if one is significant at {ALPHA:.0%} (the four together) and larger than "
    f"{TOLERANCE:.0%}: then one side still warms up, or fills, and the other does not. A drift "
    "that all share is the machine's, and disqualifies nothing.",
    "A longer conditioning load; more rounds.",
)
TURN_RULES = (RATIO,)


def judge_turns(bundles: Mapping[str, Bundle]) -> dict[str, Finding]:
    """Return the finding of each trial of a block that took turns, by the same names.

    Empty where one of them measured nothing, and as ``judge_levels`` does.
    """
    try:
        return judge_levels({name: turn_levels(bundle) for name, bundle in bundles.items()})
    except DoesNotApply:
        return {}


def judge_levels(levels: Mapping[str, TurnLevels]) -> dict[str, Finding]:
    """Return the finding of each trial by what all of a block gave in their turns.

    Empty for a single trial, and where not all have had as many turns.
    """
    if len(levels) < 2 or len({len(one.throughput) for one in levels.values()}) != 1:
        return {}
    ratios = [log_ratios([getattr(one, name) for one in levels.values()]) for name in _SERIES]
    found = {}
    for at, name in enumerate(levels):
        passed, words, numbers = _held(*(np.exp(each[at]) for each in ratios))
        verdict: Verdict = RATIO.verdict if passed is False else "valid"
        found[name] = Finding(RATIO.id, passed, words, numbers, verdict)
    return found
