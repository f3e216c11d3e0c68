"""Everybody can read the site: axe-core finds nothing, keys reach all, narrow windows lose none."""

from __future__ import annotations

from pathlib import Path

import pytest
from accessibility import THEMES, WIDTHS, check_accessibility, open_in
from browser import Browser
from whole_book import PAGES

TABS = 70
_STYLE = """(each => { const style = getComputedStyle(each);
  return [style.outlineStyle, style.outlineWidth, style.boxShadow, style.borderColor,
          style.backgroundColor, style.textDecorationLine, style.textDecorationThickness];
})"""


def press(browser: Browser, key: str, code: int) -> None:
    """Press one key, as a keyboard does."""
    about = {"key": key, "code": key, "windowsVirtualKeyCode": code}
    text = {"text": "\r"} if key == "Enter" else {}
    browser.command("Input.dispatchKeyEvent", type="keyDown", **about, **text)
    browser.command("Input.dispatchKeyEvent", type="keyUp", **about)


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("page", PAGES)
def test_axe_finds_nothing(browser: Browser, whole_site: Path, page: str, theme: str) -> None:
    """No violation of WCAG 2.2 A and AA or of good practice, folds open and charts drawn."""
    open_in(browser, whole_site / page, theme)
    assert check_accessibility(browser) == []


@pytest.mark.parametrize("page", ["index.html", "chapters/alpha.html", "trials/whole-1.html"])
def test_axe_finds_nothing_in_a_narrow_window(
    browser: Browser, whole_site: Path, page: str
) -> None:
    """What scrolls there by itself can be reached by keys."""
    open_in(browser, whole_site / page, "light", WIDTHS[-1])
    assert check_accessibility(browser) == []


def test_axe_finds_what_is_wrong(browser: Browser, tmp_path: Path) -> None:
    """A picture without words, faint text, a field without label and no language are found."""
    page = tmp_path / "bad.html"
    page.write_text(
        "<title>Bad</title><main><h1>Bad</h1><img src='x.png'><input>"
        "<p style='color: #bbb; background: #fff'>Faint</p></main>"
    )
    browser.open(page.as_uri())
    found = {line.partition(":")[0] for line in check_accessibility(browser)}
    assert found >= {"image-alt", "label", "color-contrast", "html-has-lang"}


@pytest.mark.parametrize("page", PAGES)
def test_nothing_is_lost_at_twice_the_size(browser: Browser, whole_site: Path, page: str) -> None:
    """At 200 % and in 400 pixels the page scrolls one way only, and no text lies outside of it."""
    for width in WIDTHS[1:]:
        open_in(browser, whole_site / page, "light", width)
        assert browser.run("document.documentElement.scrollWidth <= innerWidth + 1"), width
        assert (
            browser.run(
                "[...document.querySelectorAll('main :is(h1, h2, h3, p, li, dd, figcaption)')]"
                ".filter(each => each.checkVisibility())"
                ".filter(each => !each.closest('[tabindex], pre, .bd-toc'))"
                ".filter(each => each.getBoundingClientRect().right > innerWidth + 1)"
                ".map(each => each.textContent.slice(0, 60))"
            )
            == []
        ), width


@pytest.mark.parametrize("page", PAGES)
def test_every_table_has_headers(browser: Browser, whole_site: Path, page: str) -> None:
    """Each has at least one, and each says whether it heads a column or a row."""
    open_in(browser, whole_site / page, "light")
    wrong = browser.run(
        "[...document.querySelectorAll('table')].filter(each => !each.closest('.highlighttable') &&"
        "(!each.querySelector('th') || each.querySelector('th:not([scope]):not(:empty)')))"
        ".map(each => each.outerHTML.slice(0, 200))"
    )
    assert wrong == []


def test_charts_say_what_they_show(browser: Browser, whole_site: Path) -> None:
    """Each picture has words computed from its data, drawn live or not."""
    open_in(browser, whole_site / "chapters/alpha.html", "light")
    live, still = browser.run(
        "['.sb-canvas svg.marks', 'img.sb-static'].map(each => document.querySelector(each))"
        ".map(each => each.getAttribute('aria-label') || each.alt)"
    )
    assert live == still
    assert "total time (s), 1.33 to 14.3" in live


@pytest.mark.parametrize("page", ["index.html", "chapters/sized.html", "trials/whole-1.html"])
def test_keys_reach_all_and_show_where(browser: Browser, whole_site: Path, page: str) -> None:
    """The first stop skips to the text; every stop looks otherwise than without the focus."""
    open_in(browser, whole_site / page, "light")
    stops = []
    for _ in range(TABS):
        press(browser, "Tab", 9)
        unseen = browser.run(
            "(() => { const stop = document.activeElement; if (stop === document.body) return '-';"
            f"const look = {_STYLE}; const there = look(stop); stop.blur();"
            "const gone = look(stop); stop.focus();"
            "return String(there) === String(gone) ? stop.outerHTML.slice(0, 150) : '' })()"
        )
        if unseen == "-":
            break
        stops.append(unseen)
    assert len(stops) > 5
    assert [each for each in stops if each] == []


@pytest.mark.parametrize("page", ["index.html", "chapters/alpha.html", "trials/whole-1.html"])
def test_the_first_key_skips_to_the_text(browser: Browser, whole_site: Path, page: str) -> None:
    """Tab and Enter lead past the menus."""
    open_in(browser, whole_site / page, "light")
    press(browser, "Tab", 9)
    assert "main" in browser.run("document.activeElement.textContent").lower()
    press(browser, "Enter", 13)
    browser.wait_for("location.hash === '#main-content'")
    assert browser.run("document.querySelector(':target').localName") == "main"


def test_a_fold_opens_by_keys(browser: Browser, whole_site: Path) -> None:
    """Enter on the evidence of a result opens and closes it."""
    browser.set_size(WIDTHS[0])
    browser.open((whole_site / "chapters/alpha.html").as_uri())
    fold = "document.querySelector('details.sb-evidence')"
    browser.run(f"{fold}.querySelector('summary').focus()")
    for expected in (True, False):
        press(browser, "Enter", 13)
        browser.wait_for(f"{fold}.open === {str(expected).lower()}")
