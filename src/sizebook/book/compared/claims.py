"""Claims of two runs beside each other: agree, differ, or why that cannot be said."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sizebook.book.compared.comparison import Agreement, ClaimPair, ClaimSide, ComparedEstimate
from sizebook.model.claim import ClaimOutcome
from sizebook.report.sides import name_levels
from sizebook.stats.intervals import Interval

DECIDED = ("confirmed", "contradicted")


def compare_claims(
    a: Mapping[str, ClaimOutcome], b: Mapping[str, ClaimOutcome]
) -> Iterator[ClaimPair]:
    """Yield every claim of a chapter in either run, those of ``a`` first, in their order."""
    for claim_id in dict.fromkeys((*a, *b)):
        yield compare_claim(a.get(claim_id), b.get(claim_id))


def compare_claim(a: ClaimOutcome | None, b: ClaimOutcome | None) -> ClaimPair:
    """Return one claim beside itself. ValueError if neither run has it."""
    known = a or b
    if known is None:
        raise ValueError("a claim that neither run has")
    agreement, why = _judge(a, b)
    return ClaimPair(
        claim_id=known.claim_id,
        source=known.source,
        statement=known.statement,
        chapter=known.chapter,
        a=_side(a),
        b=_side(b),
        agreement=agreement,
        why=why,
    )


def tested_alike(a: ClaimOutcome, b: ClaimOutcome) -> str:
    """Return in what a claim was tested otherwise in the two runs; empty if in nothing.

    Metric, relation and treatments count. The least effect may differ: it can come from the
    machine's own noise floor.
    """
    if not a.comparisons or not b.comparisons:
        return ""
    if a.metric != b.metric:
        return f"by {a.metric} in A, by {b.metric} in B"
    if a.relation != b.relation:
        return f"as {a.relation!r} in A, as {b.relation!r} in B"
    treatments = [{(name_levels(p.left), name_levels(p.right)) for p in one.comparisons}
                  for one in (a, b)]  # fmt: skip
    return "" if treatments[0] == treatments[1] else "between other treatments"


def _judge(a: ClaimOutcome | None, b: ClaimOutcome | None) -> tuple[Agreement, str]:
    if a is None:
        return "only in B", "A does not have it: its chapter was another version then, or left out"
    if b is None:
        return "only in A", "B does not have it: its chapter was another version then, or left out"
    if otherwise := tested_alike(a, b):
        return "not comparable", f"tested {otherwise}"
    if a.verdict in DECIDED and b.verdict in DECIDED:
        if a.verdict == b.verdict:
            return "agree", f"both {a.verdict}"
        return "differ", f"A: {a.reason}; B: {b.reason}"
    open_ones = [(name, one) for name, one in (("A", a), ("B", b)) if one.verdict not in DECIDED]
    return "open", "; ".join(f"{name} is {one.verdict}: {one.reason}" for name, one in open_ones)


def effect_of(outcome: ClaimOutcome) -> Interval:
    """Return the effect of a claim with its interval."""
    return Interval(outcome.effect, outcome.low, outcome.high, 0.95, outcome.n, "published",
                    "" if outcome.low is not None else "no interval")  # fmt: skip


def _side(one: ClaimOutcome | None) -> ClaimSide | None:
    if one is None:
        return None
    return ClaimSide(
        verdict=one.verdict,
        reason=one.reason,
        metric=one.metric,
        relation=one.relation,
        effect=ComparedEstimate.of(effect_of(one)),
        least=one.least,
    )
