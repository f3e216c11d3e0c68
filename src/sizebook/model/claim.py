"""A claim as data: what is asserted, what was compared, and what came of it.

A claim compares one metric of two treatments: ``metric(left) / metric(right)`` is its effect.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from sizebook.model.records import Scalar
from sizebook.model.reported import Relation, ReportedClaim

__all__ = [
    "CLAIM_VERDICTS",
    "OWN",
    "RELATIONS",
    "RELATION_WORDS",
    "Claim",
    "ClaimOutcome",
    "ClaimSize",
    "ClaimVerdict",
    "Comparison",
    "Relation",
    "own_claim",
]

ClaimVerdict = Literal["confirmed", "contradicted", "undetermined", "not run"]
ClaimSize = Literal["smaller", "larger", "within"]
"""A confirmed effect beside the report's: the 95 % interval lies short of the ratio that the report
prints, or beyond it, or holds it."""

RELATIONS: tuple[Relation, ...] = get_args(Relation)
CLAIM_VERDICTS: tuple[ClaimVerdict, ...] = get_args(ClaimVerdict)
RELATION_WORDS: Mapping[Relation, str] = {
    "gt": "greater",
    "lt": "less",
    "approx": "about the same",
    "increases": "increases",
    "decreases": "decreases",
    "stagnates": "does not improve",
    "level": "stays level",
    "fails": "fails",
    "recovers": "recovers",
}
"""What is asserted of left beside right; ``increases`` and ``decreases`` read from right to left,
``fails`` and ``recovers`` are events, and ``stagnates`` denies an improvement."""
OWN = "sizebook"
"""Source of the claims that a chapter makes itself; their ids begin with ``own-``."""


@dataclass(frozen=True)
class Claim:
    """What somebody asserts. ValueError for an unknown relation or an id that fits no source."""

    claim_id: str
    source: str
    statement: str
    relation: Relation
    scenario: str = ""
    metric: str = ""
    """As the report names it; a chapter tests one of its own."""
    reported_ratio: float | None = None
    """metric(left) / metric(right) as the report prints it; None where it prints none."""
    reported_basis: str = ""
    transferable: str = "yes"
    """``yes``, ``partly`` or ``no``, with the reason behind a colon."""

    def __post_init__(self) -> None:
        if self.relation not in RELATIONS:
            raise ValueError(f"claim {self.claim_id}: relation {self.relation!r}")
        if self.claim_id.startswith("own-") != (self.source == OWN):
            raise ValueError(f"claim {self.claim_id!r} of {self.source!r}: own-… is for our own")
        if self.transferable.partition(":")[0] not in ("yes", "partly", "no"):
            raise ValueError(f"claim {self.claim_id}: transferable is {self.transferable!r}")

    @classmethod
    def of(cls, printed: ReportedClaim) -> Claim:
        """Return a report's claim."""
        return cls(
            claim_id=printed.claim_id,
            source=printed.source,
            statement=printed.statement,
            relation=printed.relation,
            scenario=printed.scenario,
            metric=printed.metric,
            reported_ratio=printed.reported_ratio,
            reported_basis=printed.reported_basis,
            transferable=printed.transferable,
        )

    @property
    def is_transferable(self) -> bool:
        """Whether the claim can be put to the test on another machine at all."""
        return not self.transferable.startswith("no")

    @property
    def limits(self) -> str:
        """The reason that stands behind ``transferable``."""
        return self.transferable.partition(":")[2].strip()


def own_claim(name: str, statement: str, relation: Relation) -> Claim:
    """Return a claim that a chapter makes itself; its id is ``own-<name>``."""
    return Claim(f"own-{name}", OWN, statement, relation)


@dataclass(frozen=True)
class Comparison:
    """One pair of treatments with what its valid trials show."""

    left: Mapping[str, Scalar]
    right: Mapping[str, Scalar]
    """Empty for an event, which compares with nothing."""
    effect: float | None
    low: float | None
    high: float | None
    """95 % interval of the effect; None without one, and for events."""
    n: int
    """Replicates (the smaller number of both sides)."""
    verdict: ClaimVerdict
    reason: str


@dataclass(frozen=True)
class ClaimOutcome:
    """A claim with its verdict: all that the page, the ledger and the audit need."""

    claim_id: str
    source: str
    statement: str
    chapter: str
    metric: str
    relation: Relation
    """As it was tested."""
    verdict: ClaimVerdict
    reason: str
    effect: float | None
    low: float | None
    high: float | None
    n: int
    """Replicates behind the effect; without one, the smallest number of any comparison."""
    least: float | None
    """Least ratio that matters; None for an event."""
    least_basis: str
    """Where it comes from."""
    reported_ratio: float | None
    note: str
    """How the claim was read here; empty where that needs no words."""
    comparisons: tuple[Comparison, ...]
    p: float | None = None
    """The smallest level at which the verdict would be reached (``stats.decisions``); None for one
    that is undetermined or not run, and in results published before verdicts had one."""

    def __post_init__(self) -> None:
        if self.p is not None and not 0 <= self.p <= 1:
            raise ValueError(f"claim {self.claim_id}: p = {self.p}")
        if self.verdict not in CLAIM_VERDICTS or self.relation not in RELATIONS:
            raise ValueError(f"claim {self.claim_id}: {self.relation!r} is {self.verdict!r}")

    @property
    def size(self) -> ClaimSize | None:
        """How large a confirmed effect is beside the one that the report prints.

        A verdict is about the relation alone: "about three times" is confirmed by twice. None for
        what is not confirmed, has no ratio to be compared with, or is about no more or less; and
        where comparisons differ in it.
        """
        reported = self.reported_ratio
        way = {"gt": 1, "increases": 1, "lt": -1, "decreases": -1}.get(self.relation)
        if self.verdict != "confirmed" or reported is None or way is None:
            return None
        sizes = {_size(way, pair.low, pair.high, reported) for pair in self.comparisons}
        return sizes.pop() if len(sizes) == 1 else None

    def as_claim(self) -> Claim:
        """Return the claim as far as its outcome tells it: all there is of a chapter's own."""
        return Claim(
            claim_id=self.claim_id,
            source=self.source,
            statement=self.statement,
            relation=self.relation,
            metric=self.metric,
            reported_ratio=self.reported_ratio,
        )

    def as_record(self) -> dict[str, Any]:
        """Return plain JSON data: the field ``claim`` of a record."""
        fields = asdict(self)
        fields["comparisons"] = [asdict(each) for each in self.comparisons]
        return {name: _plain(value) for name, value in fields.items()}

    @classmethod
    def from_record(cls, fields: Mapping[str, Any]) -> ClaimOutcome:
        """Return the outcome that ``as_record`` wrote. ValueError for anything else."""
        try:
            pairs = tuple(Comparison(**each) for each in fields["comparisons"])
            return cls(**{**fields, "comparisons": pairs})
        except (KeyError, TypeError) as error:
            raise ValueError(f"not the record of a claim: {error}") from error


def _size(way: int, low: float | None, high: float | None, reported: float) -> ClaimSize | None:
    """Return on which side of the reported ratio an interval lies, seen from one on (``way``)."""
    if low is None or high is None:
        return None
    if low <= reported <= high:
        return "within"
    return "larger" if (low > reported) == (way > 0) else "smaller"


def _plain(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    return value
