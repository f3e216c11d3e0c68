"""Claims put to the test: what the trials say of them, and the verdict with its reason."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import polars as pl

from sizebook.lab import Trial, Trials
from sizebook.model.claim import Claim, ClaimOutcome, ClaimVerdict, Comparison, Relation
from sizebook.model.errors import UsageError
from sizebook.model.metrics import find_metric
from sizebook.report.eligibility import with_doubted
from sizebook.report.reported import reported_claim, reported_claims
from sizebook.report.sides import (
    Levels,
    Pair,
    Side,
    find_obstacle,
    read_pair,
    read_side,
    sample_of,
)
from sizebook.stats.decisions import (
    Assertion,
    Decision,
    Sample,
    decide_events,
    decide_pairs,
)
from sizebook.stats.noise import NoiseFloor
from sizebook.store import Project

LEAST = 1.05
"""Least ratio that matters where a chapter states none and the noise floor is not wider."""
_ASSERTIONS: Mapping[Relation, Assertion] = {
    "gt": "greater",
    "increases": "greater",
    "lt": "less",
    "decreases": "less",
    "approx": "same",
    "level": "same",
}


@dataclass(frozen=True)
class Decided:
    """A claim's outcome, and the trials of the treatments that it compares."""

    outcome: ClaimOutcome
    trials: tuple[Trial, ...]


@dataclass(frozen=True)
class _Weighed:
    """What trials say of a claim: the comparisons, and the verdict on all of them."""

    total: Decision
    comparisons: tuple[Comparison, ...]
    sides: Sequence[Side]
    is_blocked: bool
    """Whether a pair could not be compared."""
    verdict: ClaimVerdict
    reason: str
    least: float
    least_basis: str

    @classmethod
    def of(
        cls,
        pairs: Sequence[Pair],
        total: Decision,
        each: Sequence[Decision],
        blocked: Sequence[tuple[ClaimVerdict, str] | None],
        sides: Sequence[Side],
        least: float = math.nan,
        least_basis: str = "",
    ) -> _Weighed:
        """Put the decisions on pairs together."""
        comparisons = tuple(
            _comparison(pair, found, block)
            for pair, found, block in zip(pairs, each, blocked, strict=True)
        )
        verdict, reason = _overall(total, comparisons)
        return cls(total, comparisons, sides, any(blocked), verdict, reason, least, least_basis)

    def by_every(self, weigh: Callable[..., _Weighed]) -> tuple[ClaimVerdict, str]:
        """Return the verdict and its reason, if every completed trial gives the same one."""
        left_out = any({*side.bundles} - {*side.counted} for side in self.sides)
        if self.verdict not in ("confirmed", "contradicted") or not left_out:
            return self.verdict, self.reason
        other = weigh(every=True)
        if other.verdict == self.verdict:
            return self.verdict, self.reason
        return "undetermined", (
            f"{self.verdict} by the trials that count ({self.reason}); {other.verdict} with every "
            f"completed trial ({other.reason})"
        )


def read_claims(project: Project | None = None) -> dict[str, Claim]:
    """Return the claims of the five reports by their ids, in the reports' order."""
    return {name: Claim.of(each) for name, each in reported_claims(project).items()}


def find_claim(claim_id: str, project: Project | None = None) -> Claim:
    """Return a report's claim. UsageError for an unknown id, and for one that is not transferable.

    What a product of then did is not decided by one of today; a chapter that wants to say something
    alike makes a claim of its own.
    """
    claim = Claim.of(reported_claim(claim_id, project))
    if not claim.is_transferable:
        raise _misuse(
            claim, f"not transferable ({claim.limits})", "a transferable claim, or own_claim(...)"
        )
    return claim


def decide_claim(
    claim: Claim,
    frame: pl.DataFrame,
    metric: str,
    pairs: Sequence[Pair],
    *,
    chapter: str,
    trials: Iterable[Trial],
    least: float | None = None,
    floor: NoiseFloor | None = None,
    relation: Relation | None = None,
    note: str = "",
) -> Decided:
    """Return what valid trials say of a claim about ``metric(left) / metric(right)``.

    ``frame`` has one row a trial, as ``Trials.frame`` gives it; ``trials`` are those trials. All
    ``pairs`` must show what is claimed. A replicate counts if each of its trials that fit a side is
    valid, and stands for their mean; doubts that do not touch what the metric rests on do not
    matter (``checks.relevance``), and the note then says so. Replicates whose doubt says how far
    off they may be count as well, and the interval is wider by that, as if all were off the same
    way. Replicates are paired by block (``stats.pairing``). A verdict that all completed trials
    together do not give is none: what is left out must not decide. ``least`` is the least ratio
    that matters; without it, what the noise ``floor`` can see with so many replicates, and 1.05 at
    least. ``relation`` tests another relation than the claim's wording has, and needs a ``note``
    that says why. Raises UsageError for a relation that is no comparison, for a column that the
    frame does not have, and for trials that miss one of the frame's.
    """
    tested = relation or claim.relation
    if relation not in (None, claim.relation) and not note:
        raise _misuse(claim, f"relation {relation!r} in place of {claim.relation!r}", "a note")
    assertion = assertion_of(claim, tested, metric)
    known = {trial.bundle.id: trial for trial in trials}
    _check_columns(claim, frame, {metric, *(name for pair in pairs for s in pair for name in s)})

    def weigh(*, every: bool = False) -> _Weighed:
        sides = [read_pair(frame, metric, pair, known, every=every) for pair in pairs]
        blocked = [find_obstacle(a, b, known) for a, b in sides]
        samples = [Sample([], [], paired=False) if block else sample_of(a, b)
                   for (a, b), block in zip(sides, blocked, strict=True)]  # fmt: skip
        margin, basis = _least(least, floor, min((len(a) for a, *_ in samples), default=0))
        total, each = decide_pairs(assertion, samples, margin)
        both = [side for pair in sides for side in pair]
        return _Weighed.of(pairs, total, each, blocked, both, margin, basis)

    found = weigh()
    total, comparisons, margin = found.total, found.comparisons, found.least
    verdict, reason = found.by_every(weigh)
    ratio = total.ratio if found.verdict == "contradicted" or not found.is_blocked else None
    outcome = ClaimOutcome(
        claim_id=claim.claim_id,
        source=claim.source,
        statement=claim.statement,
        chapter=chapter,
        metric=metric,
        relation=tested,
        verdict=verdict,
        reason=reason,
        effect=ratio.estimate if ratio else None,
        low=ratio.low if ratio else None,
        high=ratio.high if ratio else None,
        n=ratio.n if ratio else _fewest(comparisons),
        least=margin,
        least_basis=found.least_basis,
        reported_ratio=claim.reported_ratio,
        note=with_doubted(note, metric, _counted(found.sides, known)),
        comparisons=comparisons,
        p=total.p if verdict == total.verdict else None,
    )
    return Decided(outcome, _used(found.sides, known))


def decide_event_claim(
    claim: Claim,
    frame: pl.DataFrame,
    event: str,
    treatments: Sequence[Levels],
    *,
    chapter: str,
    trials: Iterable[Trial],
    note: str = "",
) -> Decided:
    """Return what valid trials say of a claim that something happens (or that a count is right).

    Column ``event`` of the frame is true (or not zero) in a trial that shows what is claimed. A
    replicate shows it if each of its trials does, and the claim is confirmed if for all
    ``treatments`` enough replicates show it (``stats.decisions``: 5 of 5). Raises UsageError as
    ``decide_claim``.
    """
    known = {trial.bundle.id: trial for trial in trials}
    _check_columns(claim, frame, {event, *(name for levels in treatments for name in levels)})
    truth = frame.with_columns(pl.col(event).cast(pl.Boolean).cast(pl.Float64))

    def weigh(*, every: bool = False) -> _Weighed:
        sides = [read_side(truth, event, levels, known, every=every) for levels in treatments]
        blocked = [find_obstacle(side, side, known) for side in sides]
        total, each = decide_events([[value == 1.0 for value in side.values.values()]
                                     for side in sides])  # fmt: skip
        return _Weighed.of([(levels, {}) for levels in treatments], total, each, blocked, sides)

    found = weigh()
    verdict, reason = found.by_every(weigh)
    said = with_doubted(note, event, _counted(found.sides, known))
    outcome = _without_effect(claim, chapter, event, verdict, reason, said, found.comparisons)
    if verdict == found.total.verdict:
        outcome = replace(outcome, p=found.total.p)
    return Decided(outcome, _used(found.sides, known))


def leave_untested(claim: Claim, chapter: str, reason: str) -> Decided:
    """Return the outcome "not run" of a claim that a chapter could not put to the test."""
    if not reason.strip():
        raise _misuse(claim, "a claim left untested without a reason", "the reason")
    return Decided(_without_effect(claim, chapter, "", "not run", reason, "", ()), ())


def _without_effect(
    claim: Claim,
    chapter: str,
    metric: str,
    verdict: ClaimVerdict,
    reason: str,
    note: str,
    comparisons: tuple[Comparison, ...],
) -> ClaimOutcome:
    return ClaimOutcome(
        claim_id=claim.claim_id,
        source=claim.source,
        statement=claim.statement,
        chapter=chapter,
        metric=metric,
        relation=claim.relation,
        verdict=verdict,
        reason=reason,
        effect=None,
        low=None,
        high=None,
        n=_fewest(comparisons),
        least=None,
        least_basis="",
        reported_ratio=claim.reported_ratio,
        note=note,
        comparisons=comparisons,
    )


def assertion_of(claim: Claim, relation: Relation, metric: str) -> Assertion:
    """Return what a relation asserts of the ratio of a metric.

    Raises UsageError for an event, which asserts nothing of a ratio, and for "stagnates" of a
    metric of which nobody knows whether more or less is better.
    """
    if relation in _ASSERTIONS:
        return _ASSERTIONS[relation]
    if relation != "stagnates":
        raise _misuse(claim, f"{relation!r}, which is an event", "page.claim_event(...)")
    known = find_metric(metric)
    better = known.better if known is not None else "neither"
    if better == "neither":
        expected = "a metric of the registry that says whether more or less is better"
        raise _misuse(claim, f"'stagnates' of {metric!r}", expected)
    return "not greater" if better == "higher" else "not less"


def _check_columns(claim: Claim, frame: pl.DataFrame, names: Iterable[str]) -> None:
    missing = sorted({*names, "replicate", "verdict", "bundle"} - set(frame.columns))
    if missing:
        expected = f"columns of the frame: {', '.join(frame.columns)}"
        raise _misuse(claim, f"{', '.join(missing)}", expected)


def _least(given: float | None, floor: NoiseFloor | None, n: int) -> tuple[float, str]:
    """Return the least ratio that matters, and where it comes from."""
    if given is not None:
        return given, "set by the chapter"
    seen = floor.least_ratio(n, n) if floor is not None and n else None
    if seen is not None and seen > LEAST:
        return seen, f"noise floor of this machine for {n} replicates"
    return LEAST, "the book's default"


def _comparison(pair: Pair, found: Decision, block: tuple[ClaimVerdict, str] | None) -> Comparison:
    verdict, reason = block or (cast(ClaimVerdict, found.verdict), found.reason)
    ratio = None if block else found.ratio
    return Comparison(
        left=dict(pair[0]),
        right=dict(pair[1]),
        effect=ratio.estimate if ratio else None,
        low=ratio.low if ratio else None,
        high=ratio.high if ratio else None,
        n=0 if block else found.n,
        verdict=verdict,
        reason=reason,
    )


def _fewest(comparisons: Sequence[Comparison]) -> int:
    return min((one.n for one in comparisons), default=0)


def _overall(total: Decision, each: Sequence[Comparison]) -> tuple[ClaimVerdict, str]:
    """Return the verdict over all comparisons; what was not run decides only what is open."""
    open_ones = [one for one in each if one.effect is None and one.n == 0]
    if total.verdict == "contradicted" or not open_ones:
        return total.verdict, total.reason
    verdict: ClaimVerdict = "undetermined"
    if all(one.verdict == "not run" for one in each):
        verdict = "not run"
    first = open_ones[0].reason
    many = f"{len(open_ones)} of {len(each)} comparisons: {first}"
    return verdict, many if len(each) > 1 else first


def _counted(sides: Iterable[Side], known: Mapping[str, Trial]) -> list[Trial]:
    return [known[bundle] for bundle in dict.fromkeys(b for side in sides for b in side.counted)]


def _used(sides: Iterable[Side], known: Mapping[str, Trial]) -> tuple[Trial, ...]:
    names = dict.fromkeys(bundle for side in sides for bundle in side.bundles)
    return tuple(known[name] for name in names)


def gather(trials: Trials | Iterable[Trials]) -> list[Trial]:
    """Return the trials of one design or of several, each once."""
    groups = [trials] if isinstance(trials, Trials) else list(trials)
    return list({trial.bundle.id: trial for group in groups for trial in group}.values())


def _misuse(claim: Claim, found: str, expected: str) -> UsageError:
    return UsageError(
        found=f"claim {claim.claim_id}: {found}",
        expected=expected,
        next_step="see the page on writing a chapter",
    )
