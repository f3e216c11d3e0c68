"""A chapter measured here beside the published one and the report, as HTML.

Every text from data is escaped.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from sizebook.book.compared.comparison import (
    AGREEMENTS,
    JUDGED,
    ClaimPair,
    ClaimSide,
    ComparedEstimate,
    ConditionDifference,
    MetricPair,
    Refusal,
    RunComparison,
    SideFacts,
)
from sizebook.model.plain_text import escape_html as escape
from sizebook.report.claim_card import effect_words, render_badge
from sizebook.report.reported import reported_claims
from sizebook.stats.decisions import ratio_words

_FOLDED = "absolute"
"""Kind of metrics that carries over worst: it is shown on demand."""


def render_beside(found: RunComparison, chapter: str) -> str:
    """Return what is compared of a chapter; empty if nothing of it is in the comparison."""
    refused = [each for each in found.refused if each.chapter == chapter]
    pair = next((each for each in found.chapters if each.chapter == chapter), None)
    if pair is None or pair.same_trials:
        return "".join(map(_refusal, refused)) if pair is None else ""
    claims = [each for each in found.claims if each.chapter == chapter]
    metrics = [each for each in found.metrics if each.chapter == chapter]
    shown = [each for each in metrics if each.kind != _FOLDED]
    folded = [each for each in metrics if each.kind == _FOLDED]
    apart = [each for each in found.differences if not each.chapters or chapter in each.chapters]
    return "".join(
        (
            f"<p>{_sides(found.a, found.b)} {_tolerance(pair.closeness, pair.tolerance)}</p>",
            f"<p>{_counts(claims, metrics)}</p>",
            *map(_refusal, refused),
            _claims(claims),
            _metrics(shown, "Ratios of treatments, and processor time by request"),
            _fold(_metrics(folded, "Throughput and latency"), "Throughput and latency"),
            _fold(_differences(apart), "What differs between the two runs"),
        )
    )


def _sides(a: SideFacts, b: SideFacts) -> str:
    return f"Published: {_side(a)}. Here: {_side(b)}."


def _side(side: SideFacts) -> str:
    days = " to ".join(dict.fromkeys(side.dates)) or "on a day that is not known"
    machines = "; ".join(side.machines) or "a machine that is not known"
    return escape(f"{side.name}, measured {days} on {machines}")


def _tolerance(closeness: str, tolerance: float | None) -> str:
    words = {
        "same host": "Both machines are the same by all that is known of them",
        "same class": "Both machines are of one class",
        "other class": "The machines are of two classes",
        "unknown": "One of the machines is not known",
    }[closeness]
    if tolerance is None:
        return f"{words}: verdicts of claims are compared, ratios are not judged."
    return f"{words}: ratios are to agree within {100 * (tolerance - 1):.3g} %."


def _counts(claims: Sequence[ClaimPair], metrics: Sequence[MetricPair]) -> str:
    agreements = [each.agreement for each in claims]
    judged = [each.judged for each in metrics]
    of_claims = [(name, agreements.count(name)) for name in AGREEMENTS]
    of_metrics = [(name, judged.count(name)) for name in JUDGED]
    return f"Claims: {_numbers(of_claims)}. Ratios: {_numbers(of_metrics)}."


def _numbers(counts: Iterable[tuple[str, int]]) -> str:
    words = [f"<strong>{number}</strong> {escape(name)}" for name, number in counts if number]
    return ", ".join(words) or "none that both have"


def _claims(claims: Sequence[ClaimPair]) -> str:
    heads = ("Claim", "Reported", "Published", "Here", "Together")
    return _table("Claims: reported, published and measured here", heads, map(_claim, claims))


def _claim(pair: ClaimPair) -> str:
    registry = reported_claims()
    ratio = registry[pair.claim_id].reported_ratio if pair.claim_id in registry else None
    reported = "" if ratio is None else escape(ratio_words(ratio))
    return (
        f"<tr data-agreement='{escape(pair.agreement)}'>"
        f"<th scope='row'>{escape(pair.statement)}"
        f"<span class='sb-ledger-id'>{escape(pair.claim_id)}</span></th>"
        f"<td>{reported}</td><td>{_claim_side(pair.a)}</td><td>{_claim_side(pair.b)}</td>"
        f"<td>{escape(pair.agreement)}<span class='sb-ledger-why'>{escape(pair.why)}</span></td>"
        "</tr>"
    )


def _claim_side(side: ClaimSide | None) -> str:
    return "" if side is None else f"{render_badge(side.verdict)} {_estimate(side.effect)}"


def _metrics(metrics: Sequence[MetricPair], caption: str) -> str:
    heads = ("Metric", "Published", "Here", "Here / published", "Tolerance")
    return _table(caption, heads, map(_metric, metrics))


def _metric(pair: MetricPair) -> str:
    unit = f" {escape(pair.unit)}" if pair.unit else ""
    where = " ".join(word for word in (pair.claim_id, pair.experiment, pair.treatment) if word)
    return (
        f"<tr data-judged='{escape(pair.judged)}'><th scope='row'>{escape(pair.metric)}"
        f"<span class='sb-ledger-id'>{escape(where)}</span></th>"
        f"<td>{_mean(pair.a)}{unit}</td><td>{_mean(pair.b)}{unit}</td>"
        f"<td>{_estimate(pair.ratio)}</td><td>{escape(pair.judged)}</td></tr>"
    )


def _mean(found: ComparedEstimate) -> str:
    return "none" if found.estimate is None else f"{found.estimate:,.4g}"


def _estimate(found: ComparedEstimate) -> str:
    if found.estimate is None:
        return ""
    return escape(effect_words(found.estimate, found.low, found.high, found.n))


def _differences(differences: Sequence[ConditionDifference]) -> str:
    rows = (
        f"<tr><th scope='row'>{escape(each.what)}</th><td>{escape(each.a)}</td>"
        f"<td>{escape(each.b)}</td><td>{escape(each.meaning)}</td></tr>"
        for each in differences
    )
    return _table("What differs", ("What", "Published", "Here", "Which means"), rows)


def _refusal(refused: Refusal) -> str:
    return (
        f"<p>Not compared: {escape(refused.found)}. Expected: {escape(refused.expected)}. "
        f"Next: {escape(refused.next_step)}.</p>"
    )


def _fold(inner: str, title: str) -> str:
    return f"<details><summary>{escape(title)}</summary>{inner}</details>" if inner else ""


def _table(caption: str, heads: Sequence[str], rows: Iterable[str]) -> str:
    body = "".join(rows)
    if not body:
        return ""
    head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in heads)
    return (
        f"<div class='sb-side-by-side' role='region' tabindex='0' aria-label='{escape(caption)}'>"
        f"<table><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{body}</tbody></table></div>"
    )
