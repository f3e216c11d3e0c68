"""The site works from disk in a real browser that reaches nothing outside."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from browser import Browser
from site_check import Problem, check_links, check_search, check_site, wait_for_charts


def open_page(browser: Browser, site: Path, page: str, query: str = "?charts=all") -> None:
    browser.set_media("")
    browser.set_size(1400)
    browser.open((site / page).as_uri() + query)


def test_every_page_is_sound(browser: Browser, sample_site: Path) -> None:
    """No outside request, no complaint, all charts drawn, folds open, links lead somewhere."""
    assert check_site(sample_site, browser) == []
    assert check_search(browser, sample_site) == []


def test_the_check_finds_what_is_wrong(browser: Browser, tmp_path: Path) -> None:
    """A site with a dead link, an outside picture, a script error and no chart is told so."""
    (tmp_path / "index.html").write_text(
        "<h1>Bad</h1><a href='gone.html'>x</a><a href='#nowhere'>y</a>"
        "<img src='https://outside.invalid/x.png'><script>undefined.x</script>"
        "<details class='sb-evidence'><summary>Evidence</summary></details>"
    )
    found = [problem.what for problem in check_site(tmp_path, browser)]
    assert found[:2] == ["leads nowhere: gone.html", "leads nowhere: #nowhere"]
    assert "asks for https://outside.invalid/x.png" in found
    assert any(re.match("complains: TypeError", each) for each in found)
    empty = tmp_path / "empty"
    empty.mkdir()
    expected = [Problem(str(empty.resolve()), "holds no page; was the site built?")]
    assert expected == check_site(empty, browser)


def test_charts_follow_the_theme(browser: Browser, sample_site: Path) -> None:
    """A chart is drawn once more, in light ink, when the page turns dark."""
    open_page(browser, sample_site, "chapters/alpha.html")
    assert wait_for_charts(browser) == 2
    browser.run("document.documentElement.dataset.theme = 'dark'")
    wait_for_charts(browser, "dark")
    ink = browser.run("document.querySelector('.sb-canvas .role-axis-title text').style.fill")
    ink = ink or browser.run(
        "document.querySelector('.sb-canvas .role-axis-title text').getAttribute('fill')"
    )
    assert ink == "#e4e8ec"


def test_code_is_shown_by_one_switch(browser: Browser, sample_site: Path) -> None:
    """Nobody who reads sees code, or the room of cells without results; a link to it opens it."""
    open_page(browser, sample_site, "chapters/alpha.html")
    folds = "Array.from(document.querySelectorAll('details.hide.above-input'))"
    shown = f"{folds}.filter(each => each.checkVisibility()).length"
    count = browser.run(f"{folds}.length")
    assert count > 0 == browser.run(shown)
    switch = "document.querySelector('.sb-code-switch')"
    for words, visible in (("Hide code", count), ("Show code", 0)):
        browser.run(f"{switch}.click()")
        assert browser.run(f"{switch}.textContent") == words
        assert browser.run(shown) == visible == browser.run(f"{folds}.filter(e => e.open).length")


def test_charts_wait_until_they_are_seen(browser: Browser, sample_site: Path) -> None:
    """Without the query for all charts, the visible one draws and fits its column."""
    open_page(browser, sample_site, "chapters/alpha.html", query="")
    browser.wait_for("document.querySelector('.sb-canvas svg.marks') !== null")
    widths = "[document.querySelector('.sb-canvas svg.marks'), document.querySelector('.sb-chart')]"
    drawn, column = browser.run(f"{widths}.map(each => each.getBoundingClientRect().width)")
    assert column == pytest.approx(drawn, abs=2)


def test_paper_shows_the_static_picture(browser: Browser, sample_site: Path) -> None:
    """In print the SVG stands in for the live chart, and the folds are left out."""
    open_page(browser, sample_site, "chapters/alpha.html")
    wait_for_charts(browser)
    shown = (
        "['.sb-static', '.sb-live', '.sb-evidence'].map(each =>"
        "getComputedStyle(document.querySelector(each)).display !== 'none')"
    )
    assert browser.run(shown) == [False, True, True]
    browser.set_media("print")
    assert browser.run(shown) == [True, False, False]
    assert browser.run("document.querySelector('.sb-static').naturalWidth > 500")


def test_without_script_the_picture_stays(browser: Browser, sample_site: Path) -> None:
    """A reader without JavaScript sees each chart as a picture with its description."""
    browser.command("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open((sample_site / "chapters/alpha.html").as_uri())
    finally:
        browser.command("Emulation.setScriptExecutionDisabled", value=False)
    picture = "document.querySelector('.sb-static')"
    display, words = browser.run(f"[getComputedStyle({picture}).display, {picture}.alt]")
    assert display == "block"
    assert words == (
        "Two rising lines. \u26a0 2 of 12 trials noisy. x axis: concurrency, 1 to 20; "
        "y axis: total time (s), 1.33 to 14.3; colours: treatment, odata-atom, rest-json."
    )


def test_a_number_leads_to_its_evidence(browser: Browser, sample_site: Path) -> None:
    """A click on a quoted number opens the chapter's fold at that number."""
    open_page(browser, sample_site, "index.html")
    browser.follow("document.querySelector('.sb-number a').click()")
    assert browser.run("location.pathname").endswith("/chapters/alpha.html")
    browser.wait_for("document.querySelector('#number-total-time').closest('details').open")
    assert "12.345\u202fs" in browser.run("document.querySelector(':target').innerText")


def test_hostile_text_runs_nothing(browser: Browser, sample_site: Path) -> None:
    """Nothing that data hold was executed, and the charts show it as text."""
    open_page(browser, sample_site, "chapters/beta.html")
    wait_for_charts(browser)
    assert browser.run("window.stolen === undefined")
    assert "<script>window.stolen" in browser.run(
        "document.querySelector('.sb-chart').innerHTML"
        ".replaceAll('&lt;', '<').replaceAll('&gt;', '>')"
    )


def test_links_of_the_sample_lead_somewhere(sample_site: Path) -> None:
    """Every internal link and anchor of every page exists."""
    assert check_links(sample_site) == []
