"""Metrics of two runs beside each other: ratio B / A with its interval, within tolerance or not.

Three kinds, what carries over best first. *Ratios of treatments* are those that claims are decided
by, quotients of published intervals (``stats.quotients``). *Processor time by request* and
*absolute* throughput and latency are computed from the valid trials of both runs in the same way,
and compared by Welch's t on logs (``stats.intervals.ratio_interval``).

A ratio is *within* the tolerance if its whole 95 % interval is, *beyond* it if its whole interval
is outside, *open* otherwise (two one-sided tests: Schuirmann 1987, see ``stats.decisions``). Among
a hundred ratios of equal runs some intervals lie askew by chance; that one lies wholly beyond the
tolerance is far less likely, since the tolerance has to be passed as well.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import fmean

from sizebook.book.compared.comparison import ComparedEstimate, Judged, MetricKind, MetricPair
from sizebook.book.compared.trials import ReadTrial, absolute
from sizebook.model.claim import ClaimOutcome, Comparison
from sizebook.model.metrics import METRICS
from sizebook.report.claim_card import name_pair
from sizebook.report.sides import name_levels
from sizebook.stats.decisions import decide
from sizebook.stats.intervals import Interval, positive_interval, ratio_interval
from sizebook.stats.quotients import quotient_interval

Values = Mapping[str, float]
_Key = tuple[str, str]
"""Experiment and treatment in words."""
_WITHOUT_TOLERANCE = "no tolerance between such machines: claims alone are compared"
_VERDICTS: Mapping[str, Judged] = {
    "confirmed": "within", "contradicted": "beyond", "undetermined": "open"
}  # fmt: skip


def judge_ratio(ratio: Interval, tolerance: float | None) -> tuple[Judged, str]:
    """Return whether a ratio is within a tolerance such as 1.05, and why; None: not judged."""
    if tolerance is None:
        return "not judged", _WITHOUT_TOLERANCE
    found = decide("same", ratio, tolerance)
    return _VERDICTS[found.verdict], found.reason


def compare_treatment_ratios(
    chapter: str, a: ClaimOutcome, b: ClaimOutcome, tolerance: float | None
) -> Iterator[MetricPair]:
    """Yield the ratios of treatments behind a claim that both runs have, where both have one."""
    known = {_name(pair): pair for pair in b.comparisons}
    for pair in a.comparisons:
        other = known.get(_name(pair))
        if other is None or pair.effect is None or other.effect is None:
            continue
        one, two = _effect(pair), _effect(other)
        ratio = quotient_interval(two, one)
        judged, reason = judge_ratio(ratio, tolerance)
        yield MetricPair(
            chapter=chapter,
            kind="treatment ratio",
            metric=a.metric,
            unit="",
            claim_id=a.claim_id,
            experiment="",
            treatment=name_pair(pair),
            a=ComparedEstimate.of(one),
            b=ComparedEstimate.of(two),
            ratio=ComparedEstimate.of(ratio),
            method=ratio.method,
            judged=judged,
            reason=reason,
        )


def compare_trials(
    chapter: str, a: Sequence[ReadTrial], b: Sequence[ReadTrial], tolerance: float | None
) -> Iterator[MetricPair]:
    """Yield processor times, then absolute metrics, of the treatments with valid trials on both
    sides. Absolute ones only where both had the same load."""
    sides = [_by_treatment(side) for side in (a, b)]
    common = [key for key in sides[0] if key in sides[1]]
    for key in common:
        both = [_replicates(side[key], ReadTrial.processor_ms) for side in sides]
        for role in both[0]:
            if role in both[1]:
                yield _pair(chapter, "processor time", f"CPU per request, {role}", "ms", key,
                            both[0][role], both[1][role], tolerance)  # fmt: skip
    for key in common:
        if _loads(sides[0][key]) != _loads(sides[1][key]):
            continue
        both = [_replicates(side[key], lambda trial: absolute(trial.bundle)) for side in sides]
        for name in both[0]:
            if name in both[1]:
                known = METRICS[name]
                yield _pair(chapter, "absolute", known.title, known.unit, key,
                            both[0][name], both[1][name], tolerance)  # fmt: skip


def other_loads(a: Sequence[ReadTrial], b: Sequence[ReadTrial]) -> list[str]:
    """Return the treatments, in words, that both runs have and that got another load in each."""
    sides = [_by_treatment(side) for side in (a, b)]
    return [
        f"{key[0]}: {key[1]}"
        for key in sides[0]
        if key in sides[1] and _loads(sides[0][key]) != _loads(sides[1][key])
    ]


def share_treatments(a: Iterable[ReadTrial], b: Iterable[ReadTrial]) -> bool:
    """Return whether any treatment is in both runs, valid or not."""
    sides = [{_key(each) for each in side} for side in (a, b)]
    return bool(sides[0] & sides[1])


def _pair(
    chapter: str,
    kind: MetricKind,
    metric: str,
    unit: str,
    key: _Key,
    a: Sequence[float],
    b: Sequence[float],
    tolerance: float | None,
) -> MetricPair:
    ratio = ratio_interval(b, a)
    judged, reason = judge_ratio(ratio, tolerance)
    return MetricPair(
        chapter=chapter,
        kind=kind,
        metric=metric,
        unit=unit,
        claim_id="",
        experiment=key[0],
        treatment=key[1],
        a=ComparedEstimate.of(positive_interval(a)),
        b=ComparedEstimate.of(positive_interval(b)),
        ratio=ComparedEstimate.of(ratio),
        method=ratio.method,
        judged=judged,
        reason=reason,
    )


def _by_treatment(trials: Iterable[ReadTrial]) -> dict[_Key, list[ReadTrial]]:
    found: dict[_Key, list[ReadTrial]] = defaultdict(list)
    for each in trials:
        if each.measures:
            found[_key(each)].append(each)
    return dict(found)


def _key(each: ReadTrial) -> _Key:
    trial = each.record.trial
    return trial.experiment, name_levels(trial.treatment)


def _replicates(
    trials: Sequence[ReadTrial], measure: Callable[[ReadTrial], Values]
) -> dict[str, list[float]]:
    """Return by name the value of each replicate: the mean, where a block has several trials."""
    found: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for each in trials:
        for name, value in measure(each).items():
            if math.isfinite(value):
                found[name][each.record.trial.replicate].append(value)
    return {name: [fmean(values) for _, values in sorted(blocks.items())]
            for name, blocks in found.items()}  # fmt: skip


def _loads(trials: Iterable[ReadTrial]) -> set[str]:
    """Return the loads without what replicates differ in, and without their durations."""
    loads = (each.record.trial.load for each in trials)
    return {
        f"{load.locustfile} {load.arrivals.canonical_json()} {sorted(load.settings.items())}"
        for load in loads
    }


def _name(pair: Comparison) -> tuple[str, str]:
    return name_levels(pair.left), name_levels(pair.right)


def _effect(pair: Comparison) -> Interval:
    return Interval(pair.effect, pair.low, pair.high, 0.95, pair.n, "published",
                    "" if pair.low is not None else "one side has no interval")  # fmt: skip
