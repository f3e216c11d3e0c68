"""The landing page says first what was found, chosen by the ledger, and how much is measured."""

from __future__ import annotations

from pathlib import Path

from browser import Browser
from site_check import wait_for_charts

from sizebook.book.ledger.counts_html import render_counts
from sizebook.book.ledger.findings import find_findings
from sizebook.book.ledger.rows import LedgerRow, read_ledger
from sizebook.model.claim import CLAIM_VERDICTS, Claim, ClaimOutcome
from sizebook.report.chart import prepare_chart, render_svg
from sizebook.report.chart_words import describe_chart
from sizebook.report.theme import VERDICT_COLOURS
from sizebook.report.verdict_chart import verdict_chart


def row(
    name: str,
    state: str,
    effect: tuple[float, float, float] | None = None,
    relation: str = "gt",
    *,
    chapter: str = "one",
    reported: float | None = None,
) -> LedgerRow:
    """Return a row of the ledger; ``effect`` is low, estimate and high."""
    claim = Claim(name, "gateway-2012", f"Words of {name}.", relation, reported_ratio=reported)  # type: ignore[arg-type]
    outcome = None
    if state != "not run":
        low, middle, high = effect or (None, None, None)
        outcome = ClaimOutcome(
            name, "gateway-2012", claim.statement, chapter, "m", relation, state, "why",  # type: ignore[arg-type]
            middle, low, high, 3, 1.1, "the chapter", reported, "", (),
        )  # fmt: skip
    return LedgerRow(claim, state, "why", chapter, chapter.title(), f"Part of {chapter}", outcome)


def test_counts_are_by_part_and_verdict() -> None:
    """A chapter counts as measured when a claim of it was put to the test."""
    found = find_findings(
        [row("a", "confirmed", (2, 3, 4)), row("b", "undetermined", (0.9, 1, 1.1)),
         row("c", "not run", chapter="two")]
    )  # fmt: skip
    assert found.reports == {
        "confirmed": 1, "contradicted": 0, "undetermined": 1, "not run": 1, "proxy": 0,
        "not testable here": 0, "late claim": 0,
    }  # fmt: skip
    assert found.parts["Part of one"]["no verdict"] == 0
    assert not any(found.own.values()) and "This book's own" not in found.parts
    assert found.parts["Part of two"]["not run"] == 1
    assert (found.measured, found.unmeasured) == (("One",), ("Two",))


def test_a_book_without_measurements_says_so() -> None:
    """Plainly, and so does one with few chapters."""
    nothing = render_counts(find_findings([row("a", "not run"), row("b", "not run", chapter="x")]))
    assert "Nothing is measured yet" in nothing
    few = render_counts(
        find_findings([row("a", "confirmed", (2, 3, 4)), row("b", "not run", chapter="two")])
    )
    assert "Only 1 of 2 chapters are measured." in few
    assert "Not yet: Two." in few
    whole = render_counts(find_findings([row("a", "confirmed", (2, 3, 4))]))
    assert "measured" not in whole


def test_the_chart_has_a_piece_for_each_verdict() -> None:
    """With its number; a verdict that no claim has is not in the legend."""
    spec, fluid = prepare_chart(verdict_chart({"I": {"confirmed": 3, "not run": 1}, "II": {}}))
    assert fluid
    svg = render_svg(spec)
    assert {">3<", ">1<", ">confirmed<"} <= {f">{text}<" for text in _texts(svg)}
    assert "contradicted" not in svg
    assert describe_chart(spec) == "x axis: claims, 0 to 4; y axis: I; colours: confirmed, not run."


def test_colours_of_verdicts_are_legible() -> None:
    """3:1 on paper and on the dark page, 4.5:1 for the white number in each piece."""
    for name, colour in VERDICT_COLOURS.items():
        own = _luminance(colour)
        assert 1.05 / (own + 0.05) >= 4.5, name
        assert (own + 0.05) / (_luminance("#14181e") + 0.05) >= 3, name


def test_the_landing_page_shows_what_the_ledger_says(browser: Browser, whole_root: Path) -> None:
    """Counts and chart come before everything else, within one screen."""
    site = whole_root / "_build" / "html"
    found = find_findings(read_ledger(whole_root, ["index", "chapters/gamma"]))
    browser.set_size(1400, 1000)
    browser.open(f"{(site / 'index.html').as_uri()}?charts=all")
    wait_for_charts(browser)
    text = browser.run("document.querySelector('.sb-counts').innerText")
    for counts in (found.reports, found.own):
        assert any(counts.values())
        for state, number in counts.items():
            if state in CLAIM_VERDICTS:
                shown = number > 0 or state != "not run"
                assert (f"{number} {state}" in text) == shown
    assert browser.run("document.querySelector('.sb-chart').getBoundingClientRect().top") < 800


def _texts(svg: str) -> list[str]:
    return [piece.partition("<")[0] for piece in svg.split(">")]


def _luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
