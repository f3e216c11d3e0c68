"""A decided claim as a reader sees it: a card in the page, a line of text, words for prose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from sizebook.model.claim import (
    OWN,
    RELATION_WORDS,
    Claim,
    ClaimOutcome,
    ClaimSize,
    ClaimVerdict,
    Comparison,
)
from sizebook.model.metrics import find_metric
from sizebook.model.plain_text import escape_html as escape
from sizebook.report.sides import name_levels
from sizebook.report.wording import Scalar
from sizebook.stats.decisions import ratio_words

DEFAULTS: Mapping[ClaimVerdict, str] = {
    "undetermined": "Undetermined: {reason}.",
    "not run": "Not tested in this run: {reason}.",
}
"""What the prose about a claim says where the chapter gives no words of its own."""
SIZES: Mapping[ClaimSize, str] = {
    "smaller": "a smaller effect than reported",
    "larger": "a larger effect than reported",
    "within": "the reported size is possible",
}
"""How large a confirmed effect is beside the report's."""


def effect_words(effect: float | None, low: float | None, high: float | None, n: int) -> str:
    """Return a measured ratio in words: ``2.47 (2.31 to 2.64, n = 3)``."""
    if effect is None:
        return "none" if not n else f"n = {n}"
    if low is None or high is None:
        return f"{ratio_words(effect)} (n = {n}, no interval)"
    return f"{ratio_words(effect)} ({ratio_words(low)} to {ratio_words(high)}, n = {n})"


def size_words(size: ClaimSize | None) -> str:
    """Return how large a confirmed effect is beside the report's; empty where nothing is known."""
    return SIZES[size] if size is not None else ""


def claim_values(outcome: ClaimOutcome) -> dict[str, Scalar]:
    """Return the values that the prose about a claim can name without passing them."""
    return {
        "effect": outcome.effect,
        "low": outcome.low,
        "high": outcome.high,
        "n": outcome.n,
        "least": outcome.least,
        "reported": outcome.reported_ratio,
        "measured": effect_words(outcome.effect, outcome.low, outcome.high, outcome.n),
        "reason": outcome.reason,
        "each": each_in_words(outcome),
    }


def each_in_words(outcome: ClaimOutcome) -> str:
    """Return the effect of each comparison with the levels in which its left side differs."""
    said = []
    for pair in outcome.comparisons:
        own = {k: v for k, v in pair.left.items() if k not in pair.right or pair.right[k] != v}
        words = effect_words(pair.effect, pair.low, pair.high, pair.n)
        said.append(f"{words} with {name_levels(own or pair.left)}")
    return "; ".join(said) or "none"


def render_text(outcome: ClaimOutcome) -> str:
    """Return the claim in one line."""
    return (
        f"Claim {outcome.claim_id}: {outcome.verdict}. {outcome.statement} "
        f"Measured: {_measured(outcome)}; {outcome.reason}."
    )


def render_card(
    outcome: ClaimOutcome, claim: Claim, state: str = "", more: Iterable[tuple[str, str]] = ()
) -> str:
    """Return the claim as HTML; every text is escaped, and no style or script is inside.

    ``state`` stands in the place of the verdict where the ledger says something else, and ``more``
    are rows with their titles that come first.
    """
    state = state or outcome.verdict
    source = "this book" if outcome.source == OWN else outcome.source
    rows = [(title, escape(words)) for title, words in more]
    if outcome.source != OWN:
        rows.append(("Reported", _reported(claim)))
    rows += [
        ("Tested as", escape(_test(outcome))),
        ("Measured", escape(_measured(outcome))),
        ("Why", escape(outcome.reason)),
    ]
    if outcome.size is not None:
        rows.insert(-1, ("Its size", escape(SIZES[outcome.size])))
    if outcome.note:
        rows.append(("Read here as", escape(outcome.note)))
    if outcome.source != OWN and claim.limits:
        rows.append(("Transferable", escape(claim.transferable)))
    listed = "".join(f"<dt>{name}</dt><dd>{words}</dd>" for name, words in rows)
    name = f"Claim {outcome.claim_id}: {state}"
    return (
        f"<div class='sb-claim sb-is-{_class(state)}' role='group' "
        f"aria-label='{escape(name)}'>"
        f"<p class='sb-claim-head'>{render_badge(state)} "
        f"<code>{escape(outcome.claim_id)}</code> <span>{escape(source)}</span></p>"
        f"<p class='sb-claim-words'>{escape(outcome.statement)}</p>"
        f"<dl>{listed}</dl>{_pairs(outcome)}</div>"
    )


def render_badge(verdict: str) -> str:
    """Return a verdict as a badge that reads without colour."""
    return f"<span class='sb-badge sb-is-{_class(verdict)}'>{escape(verdict)}</span>"


def name_pair(pair: Comparison) -> str:
    """Return both treatments of a comparison in words, what they share said once."""
    if not pair.right:
        return name_levels(pair.left)
    shared = {k: v for k, v in pair.left.items() if k in pair.right and pair.right[k] == v}
    left = {k: v for k, v in pair.left.items() if k not in shared}
    right = {k: v for k, v in pair.right.items() if k not in shared}
    words = f"{name_levels(left)} beside {name_levels(right)}"
    return f"{words} ({name_levels(shared)})" if shared else words


def _class(verdict: str) -> str:
    return escape(verdict.replace(" ", "-"))


def _reported(claim: Claim) -> str:
    basis = f" ({escape(claim.reported_basis)})" if claim.reported_basis else ""
    if claim.reported_ratio is None:
        return f"no ratio{basis}"
    return f"{ratio_words(claim.reported_ratio)} times{basis}"


def _test(outcome: ClaimOutcome) -> str:
    known = find_metric(outcome.metric)
    metric = known.title if known is not None else outcome.metric
    relation = RELATION_WORDS[outcome.relation]
    if not outcome.comparisons:
        return "not tested"
    first = outcome.comparisons[0]
    where = name_pair(first)
    if len(outcome.comparisons) > 1:
        where = f"{len(outcome.comparisons)} comparisons, all of which must show it"
    if outcome.least is None:
        return f"{metric or 'event'}: {relation}; {where}"
    least = f"least ratio that matters {ratio_words(outcome.least)}, {outcome.least_basis}"
    return f"{metric}: {relation}; {where}; {least}"


def _measured(outcome: ClaimOutcome) -> str:
    if outcome.effect is None:
        return f"no ratio (n = {outcome.n})"
    times = effect_words(outcome.effect, outcome.low, outcome.high, outcome.n)
    return times.replace(" (", " times (", 1)


def _pairs(outcome: ClaimOutcome) -> str:
    """Return the single comparisons of a claim that has several, folded."""
    if len(outcome.comparisons) < 2:
        return ""
    heads = "".join(f"<th scope='col'>{name}</th>"
                    for name in ("Comparison", "Measured", "Verdict", "Why"))  # fmt: skip
    rows = "".join(
        f"<tr><td>{escape(name_pair(one))}</td>"
        f"<td>{escape(effect_words(one.effect, one.low, one.high, one.n))}</td>"
        f"<td>{escape(one.verdict)}</td><td>{escape(one.reason)}</td></tr>"
        for one in outcome.comparisons
    )
    return (
        f"<details><summary>The {len(outcome.comparisons)} comparisons</summary>"
        f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></details>"
    )
