"""What a comparison of two runs says, as records: strict, versioned, the same as JSON.

Ratios are B / A throughout. ``sizebook compare --schema`` prints the JSON schema of
:class:`Comparison`.
"""

from __future__ import annotations

from collections import Counter
from typing import Annotated, Literal

from pydantic import Field

from sizebook.model.claim import ClaimVerdict
from sizebook.model.records import Record
from sizebook.stats.intervals import Interval

FORMAT = "sizebook-comparison"
VERSION = 1

Agreement = Literal["agree", "differ", "open", "not comparable", "only in A", "only in B"]
"""``agree``: both confirmed or both contradicted; ``differ``: one each; ``open``: one of the two
decides nothing."""
Judged = Literal["within", "beyond", "open", "not judged"]
"""Of the interval of a ratio: wholly within the tolerance, wholly beyond it, neither; or there is
no tolerance for such a pair of machines."""
Closeness = Literal["same host", "same class", "other class", "unknown"]
MetricKind = Literal["treatment ratio", "processor time", "absolute"]

KINDS: tuple[MetricKind, ...] = ("treatment ratio", "processor time", "absolute")
"""What carries over to other machines best comes first."""
AGREEMENTS: tuple[Agreement, ...] = (
    "differ", "agree", "open", "not comparable", "only in A", "only in B"
)  # fmt: skip
JUDGED: tuple[Judged, ...] = ("within", "beyond", "open", "not judged")


class ComparedEstimate(Record):
    """A number with its 95 % interval, null where there is none, and the replicates behind it."""

    estimate: float | None
    low: float | None
    high: float | None
    n: Annotated[int, Field(ge=0)]

    @classmethod
    def of(cls, found: Interval) -> ComparedEstimate:
        """Return the estimate of an interval."""
        return cls(estimate=found.estimate, low=found.low, high=found.high, n=found.n)

    def interval(self) -> Interval:
        """Return it as the statistics take it."""
        reason = "" if self.low is not None else "no interval"
        return Interval(self.estimate, self.low, self.high, 0.95, self.n, "published", reason)


class ClaimSide(Record):
    """What one run found of a claim."""

    verdict: ClaimVerdict
    reason: str
    metric: str
    relation: str
    effect: ComparedEstimate
    """Ratio of the treatments; null for events."""
    least: float | None
    """Least ratio that matters."""


class ClaimPair(Record):
    """A claim in both runs; null where a run does not have it."""

    claim_id: str
    source: str
    statement: str
    chapter: str
    a: ClaimSide | None
    b: ClaimSide | None
    agreement: Agreement
    why: str


class MetricPair(Record):
    """One metric of one treatment, or one ratio of two treatments, in both runs."""

    chapter: str
    kind: MetricKind
    metric: str
    unit: str
    """Empty for a ratio of treatments."""
    claim_id: str
    """Claim whose treatments these are; empty for others."""
    experiment: str
    treatment: str
    """In words."""
    a: ComparedEstimate
    b: ComparedEstimate
    ratio: ComparedEstimate
    """B / A."""
    method: str
    judged: Judged
    reason: str


class ConditionDifference(Record):
    """Something that is not the same on both sides, in words."""

    what: str
    a: str
    b: str
    meaning: str
    chapters: tuple[str, ...]
    """Where it is so; empty: in all that are compared."""


class Refusal(Record):
    """What is not compared, and why."""

    chapter: str
    found: str
    expected: str
    next_step: str


class ChapterPair(Record):
    """A chapter that both runs have, and how closely it may be compared."""

    chapter: str
    closeness: Closeness
    tolerance: float | None
    """Ratio within which two runs are the same, such as 1.05; null: claims alone are compared."""
    same_trials: bool
    """Whether both sides show the very same trials: then they agree with themselves."""


class SideFacts(Record):
    """One of the two runs."""

    name: str
    dates: tuple[str, ...]
    """First and last day of its trials, as far as they are at hand."""
    machines: tuple[str, ...]
    chapters: tuple[str, ...]
    trials: Annotated[int, Field(ge=0)]
    """Trials that its results name and that are at hand."""
    missing: Annotated[int, Field(ge=0)]
    """Those that are not: without them only what the pages say can be compared."""


class RunComparison(Record):
    """The whole comparison; what differs comes before what was found."""

    format: Literal["sizebook-comparison"] = "sizebook-comparison"
    version: Literal[1] = 1
    a: SideFacts
    b: SideFacts
    differences: tuple[ConditionDifference, ...]
    chapters: tuple[ChapterPair, ...]
    refused: tuple[Refusal, ...]
    claims: tuple[ClaimPair, ...]
    metrics: tuple[MetricPair, ...]

    @property
    def beyond(self) -> bool:
        """Whether a claim has opposite verdicts or a metric is shown to be beyond tolerance."""
        differs = any(each.agreement == "differ" for each in self.claims)
        return differs or any(each.judged == "beyond" for each in self.metrics)

    def count_claims(self) -> dict[Agreement, int]:
        """Return how many claims have each agreement."""
        counts = Counter(each.agreement for each in self.claims)
        return {name: counts[name] for name in AGREEMENTS}

    def count_metrics(self) -> dict[MetricKind, dict[Judged, int]]:
        """Return how many ratios of each kind are judged how."""
        counts = Counter((each.kind, each.judged) for each in self.metrics)
        return {kind: {name: counts[kind, name] for name in JUDGED} for kind in KINDS}
