"""What a claim says, against its own numbers, the page's tables, and the sentences about it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from sizebook.book.audit.agreement.claimed import ClaimedComparison, outcomes_of
from sizebook.book.audit.agreement.disagreement import Disagreement, Disagreements, digits
from sizebook.book.audit.agreement.shown import (
    EXACT,
    ShownNumber,
    ShownRatio,
    leading_number,
    measure_name,
)
from sizebook.book.audit.outputs import ExecutedPage, Output
from sizebook.book.flat_data import read_columns
from sizebook.model.claim import ClaimOutcome
from sizebook.report.claim_card import claim_values
from sizebook.report.claims import assertion_of
from sizebook.stats.decisions import FEWEST, decide
from sizebook.stats.intervals import Interval

RULE = "AU802-claim-disagrees"
_RATIO = re.compile(r"([0-9][0-9,]*(?:\.([0-9]+))?) \([0-9.,]+ to [0-9.,]+(?:, n = \d+)?\)")


def check_verdicts(comparisons: Iterable[ClaimedComparison]) -> Disagreements:
    """Yield comparisons whose verdict is not the one that their interval gives."""
    for one in comparisons:
        pair, outcome = one.pair, one.outcome
        if pair.verdict not in ("confirmed", "contradicted") or outcome.least is None:
            continue
        try:
            assertion = assertion_of(outcome.as_claim(), outcome.relation, outcome.metric)
            ratio = Interval(pair.effect, pair.low, pair.high, 0.95, max(pair.n, FEWEST), "stored")
            decided = decide(assertion, ratio, outcome.least)
        except ValueError:  # told by the audit of its contents
            continue
        if decided.verdict != pair.verdict:
            yield Disagreement(
                RULE, one.place, f"it is {pair.verdict}, its numbers say: {decided.reason}",
                pair.verdict, decided.verdict,
            )  # fmt: skip


def check_tables(
    comparisons: Iterable[ClaimedComparison], numbers: Iterable[ShownNumber]
) -> Disagreements:
    """Yield comparisons beside a table or chart whose ratio lies outside of their interval.

    A claim is decided by valid trials and by means of logarithms; what is shown is made of all
    usable trials. Both fit into the interval, beyond the rounding of what is shown.
    """
    known: dict[tuple[str, frozenset[str]], list[ShownNumber]] = defaultdict(list)
    for number in numbers:
        for name in number.measures:
            known[name, number.trials].append(number)
    for one in comparisons:
        low, high = one.pair.low, one.pair.high
        if not one.known or low is None or high is None:
            continue
        name = measure_name(one.outcome.metric)
        for left in known[name, one.left]:
            for right in known[name, one.right]:
                if left.place == right.place:
                    yield from _outside(one, left, right, low, high)


def check_ratios(
    comparisons: Sequence[ClaimedComparison], ratios: Iterable[ShownRatio]
) -> Disagreements:
    """Yield ratios in prose that lie on the other side of 1 than a decided claim's interval."""
    for ratio in ratios:
        for one in comparisons:
            pair = one.pair
            if not one.known or one.outcome.metric != ratio.measure or pair.low is None:
                continue
            same_way = (one.left, one.right) == (ratio.left, ratio.right)
            if not same_way and (one.right, one.left) != (ratio.left, ratio.right):
                continue
            value = ratio.value if same_way else 1 / ratio.value if ratio.value else 0.0
            high = pair.high if pair.high is not None else pair.low
            if (pair.low > 1 > value + ratio.within) or (high < 1 < value - ratio.within):
                yield Disagreement(
                    RULE, ratio.place,
                    f"the ratio of {ratio.measure} is {digits(value)}, in {one.place} "
                    f"{digits(pair.low)} to {digits(high)}",
                    digits(value), f"{digits(pair.low)} to {digits(high)}", one.place,
                )  # fmt: skip


def check_sentences(page: ExecutedPage) -> Disagreements:
    """Yield paragraphs about a claim whose numbers are not the claim's, or only one of several.

    Where comparisons lie on both sides of 1, a sentence with one of them hides the other.
    """
    outcomes = {outcome.claim_id: outcome for _, _, outcome in outcomes_of(page)}
    for output in page.results:
        for claim_id in _claims_of(output):
            if claim_id in outcomes:
                yield from _sentence(output, outcomes[claim_id])


def check_rows(pages: Sequence[ExecutedPage]) -> Disagreements:
    """Yield rows of tables that name a claim and give a ratio that none of its comparisons has."""
    claims = {outcome.claim_id: (output, outcome) for page in pages
              for output, _, outcome in outcomes_of(page)}  # fmt: skip
    for output in (each for page in pages for each in page.results if each.kind == "table"):
        for row in read_columns(output.text("text/html"), output.name)[1]:
            named = [claims[cell] for cell in row if cell in claims]
            ratios = [found for cell in row if (found := _RATIO.fullmatch(cell))]
            if len(named) == len(ratios) == 1:
                yield from _row(output, ratios[0], *named[0])


def _outside(
    one: ClaimedComparison, left: ShownNumber, right: ShownNumber, low: float, high: float
) -> Disagreements:
    least = (left.value - left.within) / (right.value + right.within)
    most = (left.value + left.within) / max(right.value - right.within, 1e-300)
    if right.value <= 0 or left.value <= 0 or (least <= high * (1 + EXACT) and most >= low):
        return
    shown = left.value / right.value
    yield Disagreement(
        RULE, one.place,
        f"it is {one.pair.verdict} with {digits(low)} to {digits(high)} times; {left.place} shows "
        f"{digits(left.value)} against {digits(right.value)}, {digits(shown)} times",
        f"{digits(low)} to {digits(high)}", digits(shown), left.place,
    )  # fmt: skip


def _claims_of(output: Output) -> list[str]:
    named = (output.fields or {}).get("claims")
    return (
        [str(each) for each in named] if output.kind == "prose" and isinstance(named, list) else []
    )


def _sentence(output: Output, outcome: ClaimOutcome) -> Disagreements:
    prefix = f"{outcome.claim_id}-"
    numbers = _said(output, prefix)
    known = claim_values(outcome)
    for name, value in numbers.items():
        if name in known and value != known[name]:
            yield Disagreement(
                RULE, output.place,
                f"the sentence on {outcome.claim_id} has {name} {value}, the claim {known[name]}",
                str(value), str(known[name]), outcome.claim_id,
            )  # fmt: skip
    effects = [pair.effect for pair in outcome.comparisons if pair.effect is not None]
    hidden = len(effects) > 1 and min(effects) < 1 < max(effects)
    if hidden and numbers.keys() & {"measured", "effect"}:
        both = f"{digits(min(effects))} and {digits(max(effects))}"
        yield Disagreement(
            RULE, output.place,
            f"the sentence gives one comparison of {outcome.claim_id}; its effects are {both}",
            digits(outcome.effect) if outcome.effect is not None else "one effect", both,
        )  # fmt: skip


def _said(output: Output, prefix: str) -> Mapping[str, object]:
    """Return the numbers of a paragraph that bear a claim's id, by what follows it."""
    numbers = (output.fields or {}).get("numbers")
    listed = [one for one in numbers if isinstance(one, dict)] if isinstance(numbers, list) else []
    return {
        str(one.get("key")).removeprefix(prefix): one.get("value")
        for one in listed
        if str(one.get("key")).startswith(prefix)
    }


def _row(
    table: Output, ratio: re.Match[str], output: Output, outcome: ClaimOutcome
) -> Disagreements:
    value = leading_number(ratio[1])
    within = 0.5 * 10.0 ** -len(ratio[2] or "")
    effects = [pair.effect for pair in outcome.comparisons if pair.effect is not None]
    if value is None or not effects or any(abs(value - e) <= within + EXACT * e for e in effects):
        return
    near = ", ".join(map(digits, effects))
    yield Disagreement(
        RULE, table.place,
        f"the row of {outcome.claim_id} has {ratio[1]}, the claim has {near}",
        ratio[1], near, output.place,
    )  # fmt: skip
