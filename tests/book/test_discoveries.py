"""What the ledger keeps of the chapters' verdicts, and what it says of wrong ones (synthetic)."""

from __future__ import annotations

from typing import Any

import pytest

from sizebook.book.ledger.discoveries import discover_claims
from sizebook.model.claim import ClaimOutcome, Comparison


def outcome(name: str, verdict: Any, p: float | None = None, **changes: Any) -> ClaimOutcome:
    """Return a claim's outcome; ``blocks`` of each of its comparisons, ``least`` None: an event."""
    blocks = changes.pop("blocks", (5,))
    pairs = tuple(Comparison({}, {}, None, None, None, n, verdict, "") for n in blocks)
    fields: dict[str, Any] = {
        "source": "sizebook", "statement": "s", "chapter": "alpha", "metric": "m",
        "relation": "gt", "reason": "why", "effect": None, "low": None, "high": None,
        "n": min(blocks), "least": 1.1, "least_basis": "", "reported_ratio": None, "note": "",
    }  # fmt: skip
    return ClaimOutcome(f"own-{name}", verdict=verdict, comparisons=pairs, p=p, **fields | changes)


def test_a_verdict_that_is_not_clear_enough_for_the_book_is_withdrawn() -> None:
    """With its p value, the number of claims and the limit; clear ones stay."""
    clear = [outcome(f"clear-{n}", "confirmed", 0.0001) for n in range(8)]
    weak = outcome("weak", "contradicted", 0.024)
    open_ones = [outcome(f"open-{n}", "undetermined") for n in range(20)]
    found = discover_claims([*clear, weak, *open_ones])
    assert list(found.withdrawn) == ["own-weak"]
    assert found.withdrawn["own-weak"] == (
        "its page says contradicted (p = 0.024), which is not clear enough among 29 claims: 5 % "
        "false discoveries over the book allow p up to 0.014"
    )
    assert (found.found.tested, found.found.decided, found.found.kept) == (29, 9, 8)
    assert found.sentence == (
        "At most 0.7 of the 8 verdicts are expected to be wrong. That is the sum of the error "
        "rates (2.5 % or 5 %) of the 29 tests with enough blocks for a verdict. False discoveries "
        "are limited to 5 % over the whole book (Benjamini-Hochberg): 1 verdict of a page counts "
        "as undetermined here."
    )
    assert discover_claims([*clear, weak]).withdrawn == {}


def test_events_and_the_same_may_be_wrong_in_five_cases_of_a_hundred() -> None:
    """All others in 2.5: the sum says so."""
    mixed = [
        outcome("event", "confirmed", 1 / 32, least=None, relation="recovers"),
        outcome("same", "confirmed", 0.01, relation="approx"),
        outcome("more", "confirmed", 0.001),
    ]
    assert discover_claims(mixed).found.expected_wrong == pytest.approx(0.125)
    assert discover_claims(mixed).as_json() == {
        "false_discovery_rate": 0.05, "tested": 3, "decided": 3, "withdrawn": 0,
        "largest_p": 0.05, "expected_wrong": 0.125,
    }  # fmt: skip


def test_what_could_not_be_decided_was_no_test() -> None:
    """Three blocks of an event, two of a ratio, nothing run: they take nothing from others."""
    rows = [
        outcome("event", "undetermined", blocks=(3, 3), least=None, relation="fails"),
        outcome("two", "undetermined", blocks=(2,)),
        outcome("later", "not run", blocks=(0,)),
        outcome("one-enough", "undetermined", blocks=(2, 3)),
    ]
    assert discover_claims(rows).found.tested == 1
    assert discover_claims(rows[:3]).sentence == ""
    assert discover_claims([]).sentence == ""
    assert discover_claims(rows).sentence.startswith("No claim is decided.")


def test_verdicts_published_before_need_as_many_blocks_as_todays() -> None:
    """Those that have them count with the bound that they were reached at."""
    rows = [
        outcome("two", "confirmed", blocks=(2, 5)),
        outcome("three-of-three", "confirmed", blocks=(3,), least=None, relation="recovers"),
        outcome("five-of-five", "confirmed", blocks=(6, 5), least=None, relation="recovers"),
        outcome("never", "contradicted", blocks=(7, 3), least=None, relation="recovers"),
        outcome("ratio", "confirmed", blocks=(4,)),
    ]
    found = discover_claims(rows)
    assert list(found.withdrawn) == ["own-two", "own-three-of-three"]
    assert found.withdrawn["own-three-of-three"] == (
        "its page says confirmed, by fewer than the 5 blocks that a verdict needs"
    )
    assert found.found.kept == 3
    assert found.found.limit == 0.05
    clear = [outcome(f"open-{n}", "undetermined") for n in range(2)]
    assert "p = 0.031" in discover_claims([*rows, *clear]).withdrawn["own-five-of-five"]
