"""Claims as pages decide them, each comparison with the trials of both its sides."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sizebook.book.audit.agreement.shown import Treatments, trials_of
from sizebook.book.audit.outputs import ClaimResult, ExecutedPage, Output
from sizebook.model.claim import ClaimOutcome, Comparison


@dataclass(frozen=True)
class ClaimedComparison:
    """One comparison of a claim."""

    output: Output
    outcome: ClaimOutcome
    pair: Comparison
    left: frozenset[str]
    """Trials of each side, valid or not; empty where a level is of no treatment."""
    right: frozenset[str]
    all_valid: bool
    """Whether the comparison leaves none of them out."""

    @property
    def page(self) -> str:
        """File of the page."""
        return self.output.page

    @property
    def place(self) -> str:
        """How findings name the claim."""
        return self.output.place

    @property
    def known(self) -> bool:
        """Whether the trials of both sides can be told, and differ."""
        return bool(self.left and self.right) and self.left != self.right


def outcomes_of(page: ExecutedPage) -> Iterator[tuple[Output, ClaimResult, ClaimOutcome]]:
    """Yield the claims that a page decides, as far as their records can be read."""
    for output in page.results:
        if output.kind != "claim":
            continue
        try:
            result = output.read()
            outcome = ClaimOutcome.from_record(getattr(result, "claim", {}))
        except ValueError:  # told by the audit of its contents
            continue
        if isinstance(result, ClaimResult) and all(map(_is_sound, outcome.comparisons)):
            yield output, result, outcome


def comparisons_of(
    pages: Sequence[ExecutedPage], treatments: Treatments
) -> list[ClaimedComparison]:
    """Return the comparisons of all claims that have an effect."""
    found = []
    for page in pages:
        for output, result, outcome in outcomes_of(page):
            cited = {one.bundle: treatments.get(one.bundle, {}) for one in result.evidence.sources}
            verdicts = {one.bundle: one.verdict for one in result.evidence.sources}
            for pair in outcome.comparisons:
                if pair.effect is None:
                    continue
                sides = trials_of(pair.left, cited), trials_of(pair.right, cited)
                valid = all(verdicts[each] == "valid" for side in sides for each in side)
                found.append(ClaimedComparison(output, outcome, pair, *sides, all_valid=valid))
    return found


def _is_sound(pair: Comparison) -> bool:
    """Return whether a comparison from a record has values of the types that it should have."""
    numbers = (pair.effect, pair.low, pair.high)
    sides = (pair.left, pair.right)
    return (
        all(each is None or isinstance(each, int | float) for each in numbers)
        and all(isinstance(each, dict) for each in sides)
        and isinstance(pair.n, int)
    )
