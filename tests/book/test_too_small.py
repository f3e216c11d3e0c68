"""Claims that a plan will hardly decide are named before anything is measured (synthetic)."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from sizebook.book import too_small
from sizebook.book.too_small import compare_least, find_too_small
from sizebook.model.claim import ClaimOutcome, Comparison
from sizebook.stats.looks import level_after
from sizebook.stats.power import expected_width


def outcome(name: str, least: float | None, *intervals: tuple[float, float, int]) -> ClaimOutcome:
    """Return a claim with a comparison for each interval: low, high, blocks."""
    pairs = tuple(
        Comparison({}, {}, (low * high) ** 0.5, low, high, n, "undetermined", "")
        for low, high, n in intervals
    )
    return ClaimOutcome(
        f"own-{name}", "sizebook", "s", "tiny", "m", "gt", "undetermined", "why", None, None, None,
        3, least, "", None, "", pairs,
    )  # fmt: skip


def named(*outcomes: ClaimOutcome) -> dict[str, ClaimOutcome]:
    return {each.claim_id: each for each in outcomes}


def test_a_least_effect_below_the_width_is_named_with_the_blocks_that_would_do() -> None:
    """By the widest comparison; narrow ones, events and claims without an interval are not."""
    claims = named(
        outcome("wide", 1.1, (0.98, 1.02, 3), (0.8, 1.25, 3)),
        outcome("narrow", 1.1, (1.48, 1.52, 3)),
        outcome("event", None),
        outcome("few", 1.1),
    )
    [found] = compare_least(claims, 3, "2026-01-01")
    assert (found.claim_id, found.least, found.blocks) == ("own-wide", 1.1, 3)
    assert found.width == pytest.approx(expected_width(0.8, 1.25, 3, 3, level=level_after(3)))
    assert found.width > 1.25  # what decides is wider than the interval that is shown
    assert found.needed is not None
    assert compare_least(claims, found.needed, "2026-01-01") == ()
    assert len(compare_least(claims, found.needed - 1, "2026-01-01")) == 1
    assert found.sentence == (
        "claim own-wide: an effect of 1.1 is too small for 3 blocks; they show 1.42 or more by "
        f"the spread of round 2026-01-01, and {found.needed} blocks would do"
    )


def test_what_no_number_of_blocks_shows_is_said() -> None:
    """A thousand would not do."""
    [found] = compare_least(named(outcome("hopeless", 1.001, (0.01, 100.0, 3))), 3, "2026-01-01")
    assert found.needed is None
    assert found.sentence.endswith("and more than 1000 blocks would do")


@pytest.mark.parametrize(("profile", "asked"), [("smoke", False), ("quick", True)])
def test_a_profile_that_decides_nothing_is_not_compared(
    monkeypatch: pytest.MonkeyPatch, profile: str, asked: bool
) -> None:
    """Nor is a chapter that no round has."""
    looked: list[Any] = []
    monkeypatch.setattr(too_small, "find_rounds", lambda project: looked.append(project) or [])
    trial = SimpleNamespace(profile=profile)
    sessions = [SimpleNamespace(experiment="e", replicate=n, trials=[trial]) for n in range(3)]
    planned: Any = SimpleNamespace(chapter=SimpleNamespace(id="tiny"), sessions=sessions)
    project: Any = object()
    assert find_too_small(project, planned) == ()
    assert bool(looked) == asked
