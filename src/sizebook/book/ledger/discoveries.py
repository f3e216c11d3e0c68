"""Which of the chapters' verdicts count in the ledger, and how many of these may be wrong.

A chapter decides each of its claims at 95 %. The ledger holds all of them together: there a verdict
counts if it survives when false discoveries are kept at 5 % over the whole book
(``stats.discoveries``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sizebook.model.claim import ClaimOutcome
from sizebook.stats.decisions import ALWAYS, FEWEST, LEVEL, SHARE, error_rate
from sizebook.stats.discoveries import (
    FALSE_DISCOVERY_RATE,
    Discoveries,
    PutToTest,
    discover,
)

DECIDED = ("confirmed", "contradicted")
_SAME = ("approx", "level")


@dataclass(frozen=True)
class BookDiscoveries:
    """What is left of the verdicts of a book."""

    found: Discoveries
    withdrawn: Mapping[str, str]
    """The reason by the id of a claim whose verdict does not count in the ledger."""

    @property
    def sentence(self) -> str:
        """How many verdicts may be wrong, and what was done about it; empty without tests."""
        found = self.found
        if not found.tested and not self.withdrawn:
            return ""
        kept = "verdict is" if found.kept == 1 else "verdicts are"
        words = "No claim is decided."
        if found.kept:
            words = (
                f"At most {found.expected_wrong:.1f} of the {found.kept} {kept} expected to be "
                "wrong. That is the sum of the error rates (2.5 % or 5 %) of the "
                f"{found.tested} tests with enough blocks for a verdict."
            )
        number = len(self.withdrawn)
        fate = "every verdict survives" if found.kept else "no verdict is left"
        if number:
            count = (
                "1 verdict of a page counts" if number == 1 else f"{number} verdicts of pages count"
            )
            fate = f"{count} as undetermined here"
        limited = f"False discoveries are limited to {100 * FALSE_DISCOVERY_RATE:.0f} % over the"
        return f"{words} {limited} whole book (Benjamini-Hochberg): {fate}."

    def as_json(self) -> dict[str, Any]:
        """Return the numbers as ``sizebook claims --json`` prints them."""
        return {
            "false_discovery_rate": FALSE_DISCOVERY_RATE,
            "tested": self.found.tested,
            "decided": self.found.kept,
            "withdrawn": len(self.withdrawn),
            "largest_p": self.found.limit or None,
            "expected_wrong": round(self.found.expected_wrong, 3),
        }


def discover_claims(outcomes: Iterable[ClaimOutcome]) -> BookDiscoveries:
    """Return which verdicts count, from what the chapters of a book found.

    Claims without enough blocks for any verdict are no tests. Verdicts that were published by fewer
    blocks than are needed today do not count, either; one that has no p value counts with the error
    rate of its test.
    """
    listed = [each for each in outcomes if each.verdict != "not run"]
    tested = [each for each in listed if _has_enough(each)]
    found = discover([PutToTest(_p_value(each), _error_rate(each)) for each in tested])
    withdrawn = {
        each.claim_id: f"its page says {each.verdict}, by fewer than the {_needed(each)} blocks "
        "that a verdict needs"
        for each in listed
        if each.verdict in DECIDED and not _has_enough(each)
    }
    for each, counts in zip(tested, found.counts, strict=True):
        if each.verdict in DECIDED and not counts:
            withdrawn[each.claim_id] = (
                f"its page says {each.verdict} (p = {_p_value(each):.2g}), which is not clear "
                f"enough among {found.tested} claims: {100 * FALSE_DISCOVERY_RATE:.0f} % false "
                f"discoveries over the book allow p up to {found.limit:.2g}"
            )
    return BookDiscoveries(found, withdrawn)


def _is_event(outcome: ClaimOutcome) -> bool:
    return outcome.least is None


def _needed(outcome: ClaimOutcome) -> int:
    return ALWAYS if _is_event(outcome) else FEWEST


def _has_enough(outcome: ClaimOutcome) -> bool:
    """Return whether the blocks of a claim allow its verdict, or any if it has none."""
    enough = [pair.n >= _needed(outcome) for pair in outcome.comparisons]
    return all(enough) and bool(enough) if outcome.verdict == "confirmed" else any(enough)


def _error_rate(outcome: ClaimOutcome) -> float:
    if _is_event(outcome):
        return 1 - LEVEL
    return error_rate("same" if outcome.relation in _SAME else "greater")


def _p_value(outcome: ClaimOutcome) -> float | None:
    """Return the p value of a verdict, or the bound that one without it was reached at."""
    if outcome.p is not None or outcome.verdict not in DECIDED:
        return outcome.p
    if not _is_event(outcome):
        return _error_rate(outcome) if outcome.verdict == "contradicted" else (1 - LEVEL) / 2
    values = [SHARE**pair.n for pair in outcome.comparisons if pair.verdict == outcome.verdict]
    if outcome.verdict == "confirmed":
        return max(values)
    return min(1.0, len(outcome.comparisons) * min(values))
