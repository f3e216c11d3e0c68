"""One click under each result opens its evidence, in a real browser without network."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path

import pytest
from browser import Browser
from sample_book import HOSTILE

from sizebook.book.cited import ProjectBundles
from sizebook.book.directives import evidence_html
from sizebook.book.directives.evidence_html import Place, render_fold
from sizebook.book.records import PublishedResult

PAGES = ("index.html", "chapters/alpha.html", "chapters/beta.html")
RESULTS = "[...document.querySelectorAll('figure.sb-figure, figure.sb-table')]"
LINES = (
    "key",
    "chapter",
    "notebook",
    "cell",
    "parameters",
    "measured in",
    "machine",
    "commit",
    "harness",
    "make it again",
    "checksum",
    "download",
)
ALL_FOLDS = ["evidence-times", "evidence-sizes", "evidence-bytes", "sb-numbers", "sb-bundles"]


@pytest.fixture(scope="module")
def site(trials_root: Path) -> Path:
    """Give the folder of the HTML of the sample book with trials."""
    return trials_root / "_build" / "html"


def open_page(browser: Browser, site: Path, page: str, rest: str = "") -> None:
    browser.set_media("")
    browser.set_size(1400)
    browser.open((site / page).resolve().as_uri() + rest)


def test_every_figure_and_table_opens_its_evidence(browser: Browser, site: Path) -> None:
    """A click on the summary shows the whole record; nothing is asked of the network."""
    seen = 0
    for page in PAGES:
        open_page(browser, site, page)
        count = browser.run(f"{RESULTS}.length")
        for index in range(count):
            fold = f"{RESULTS}[{index}].querySelector('details.sb-evidence')"
            assert browser.run(f"{fold}.lastElementChild.checkVisibility()") is False
            browser.run(f"{fold}.querySelector('summary').click()")
            assert browser.run(f"{fold}.lastElementChild.checkVisibility()") is True
            rows = f"[...{fold}.querySelectorAll('.sb-record > tbody > tr > th')]"
            names = browser.run(f"{rows}.map(each => each.innerText)")
            assert [name for name in LINES if name not in names] == [], page
            links = browser.run(f"{fold}.querySelectorAll('a[download]').length")
            assert links >= 2
            seen += 1
        assert all(each.startswith(("file:", "data:")) for each in browser.requests)
        assert browser.complaints == []
    assert seen == 7


def test_a_fold_opens_by_keyboard(browser: Browser, site: Path) -> None:
    """The summary can be reached, and Enter opens it."""
    open_page(browser, site, "chapters/alpha.html")
    browser.run("document.querySelector('#evidence-times > summary').focus()")
    for kind in ("keyDown", "keyUp"):
        browser.command(
            "Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", text="\r",
            windowsVirtualKeyCode=13,
        )  # fmt: skip
    browser.wait_for("document.querySelector('#evidence-times').open")


@pytest.mark.parametrize(
    ("rest", "opened"),
    [
        ("", []),
        ("#result-times", []),
        ("#evidence-times", ["evidence-times"]),
        ("?evidence#result-times", ["evidence-times"]),
        ("#number-ratio", ["sb-numbers"]),
        ("#sb-bundles", ["sb-bundles"]),
        ("?evidence#nothing", ALL_FOLDS),
        ("?evidence", ALL_FOLDS),
        ("#%zz", []),
    ],
)
def test_an_address_opens_the_fold_it_asks_for(
    browser: Browser, site: Path, rest: str, opened: list[str]
) -> None:
    """By the fold's own anchor, by ``?evidence``, or by a number inside."""
    open_page(browser, site, "chapters/alpha.html", rest)
    folds = "[...document.querySelectorAll('details[open]')].map(each => each.id).filter(Boolean)"
    if opened:
        browser.wait_for(f"{folds}.length > 0")
    assert opened == browser.run(folds)


def test_the_cell_is_shown_as_text(browser: Browser, site: Path) -> None:
    """Number and source of the cell, folded again; nothing in the source works."""
    open_page(browser, site, "chapters/beta.html", "#evidence-bars")
    browser.wait_for("document.querySelector('#evidence-bars').open")
    cell = "document.querySelector('#evidence-bars .sb-cell')"
    assert browser.run(f"{cell}.open") is False
    assert re.match(r"code cell 2 \(\w+\)", browser.run(f"{cell}.firstElementChild.innerText"))
    browser.run(f"{cell}.open = true")
    expected = f"page.publish()  # {HOSTILE}"
    assert expected == browser.run(f"{cell}.querySelector('pre').innerText.trim()")
    assert browser.run(f"{cell}.querySelectorAll('pre a, pre script').length") == 0
    assert browser.run("window.stolen === undefined")


def test_the_key_leads_home(browser: Browser, site: Path) -> None:
    """From a page that quotes a figure, the fold leads to the figure in its chapter."""
    open_page(browser, site, "index.html")
    browser.run("document.querySelector('details.sb-evidence').open = true")
    browser.follow("document.querySelector('.sb-record a').click()")
    assert browser.run("location.pathname + location.hash").endswith("alpha.html#result-times")


def test_folds_are_legible_in_light_and_dark(browser: Browser, site: Path) -> None:
    """Text stands out from its ground by 4.5 to 1 at least (WCAG 2.2, 1.4.3), code included."""
    script = """
      (() => {
        const light = (css) => {
          const [r, g, b] = css.match(/[\\d.]+/g).map(Number).map((each) => {
            const part = each / 255;
            return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
          });
          return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        const ground = (element) => {
          for (let each = element; each; each = each.parentElement) {
            const css = getComputedStyle(each).backgroundColor;
            if (!/^rgba\\(.*, 0\\)$|transparent/.test(css)) return light(css);
          }
          return 1;
        };
        const weak = [];
        const walker = document.createTreeWalker(
          document.querySelector("#evidence-times"), NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
          const element = walker.currentNode.parentElement;
          if (!walker.currentNode.data.trim() || !element.getClientRects().length) continue;
          const pair = [light(getComputedStyle(element).color), ground(element)].sort();
          const [low, high] = [Math.min(...pair), Math.max(...pair)];
          const ratio = (high + 0.05) / (low + 0.05);
          if (ratio < 4.5) weak.push(ratio.toFixed(2) + " " + walker.currentNode.data.trim());
        }
        return weak;
      })()
    """
    open_page(browser, site, "chapters/alpha.html", "#evidence-times")
    browser.run("document.querySelectorAll('#evidence-times details').forEach(e => e.open = true)")
    for theme in ("light", "dark"):
        browser.run(f"document.documentElement.dataset.theme = '{theme}'")
        assert browser.run(script) == [], theme


def words_of(html: str) -> str:
    return re.sub(r"\s+", " ", unescape(re.sub(r"<[^>]+>", " ", html)))


def read_fold(site: Path, anchor: str) -> str:
    return (site / "chapters" / "alpha.html").read_text().split(f"id='{anchor}'")[1]


def test_machine_and_versions_stand_once_where_all_agree(site: Path) -> None:
    """One line for all trials, with how many of the bundles it was read from."""
    words = words_of(read_fold(site, "evidence-times"))
    assert "machine 4 of 8 bundles are on this machine: system" in words
    assert "trials) " not in words.split(" versions ")[1].split(" commit ")[0]


def test_bundles_stand_once_on_a_page(browser: Browser, site: Path) -> None:
    """All results of a page lead to one list, those quoted elsewhere too; it has each bundle."""
    open_page(browser, site, "chapters/alpha.html")
    items = "[...document.querySelectorAll('#sb-bundles li')]"
    listed = browser.run(f"{items}.map(each => each.querySelector('code').textContent)")
    folds = "[...document.querySelectorAll('[id^=evidence-]')]"
    cited = browser.run(f"{folds}.map(each => each.querySelectorAll('.sb-grid a').length)")
    assert len(listed) == len(set(listed)) == max(cited)
    ways = browser.run(f"{folds}.map(each => !!each.querySelector('a[href=\"#sb-bundles\"]'))")
    assert ways == [count > 0 for count in cited]
    assert browser.run(f"{items}.every(each => /sha256 [0-9a-f]{{64}}/.test(each.textContent))")
    open_page(browser, site, "index.html")
    there = "document.querySelector('details.sb-evidence a[href$=\"alpha.html#sb-bundles\"]')"
    assert browser.run(f"{there} !== null")


def test_trials_that_differ_are_counted() -> None:
    """Each value with its trials; a fact that some lack is said to be absent there."""
    html = evidence_html._compare(
        [{"cpu_model": "A<b>", "kernel": "1"}, {"cpu_model": "A<b>"}, {"cpu_model": "A<b>"}]
    )
    expected = "cpu model A<b> kernel 1 (1 of 3 trials), absent (2 of 3 trials)"
    assert words_of(html).strip() == expected
    assert "<b>" not in html


def make_record(**evidence: object) -> PublishedResult:
    base = {
        "chapter": "alpha", "parameters": {"note": HOSTILE}, "sources": [],
        "command": "sizebook run alpha", "commit": "unknown", "harness": "0", "sha256": "a" * 64,
    }  # fmt: skip
    fields = {"claim": {}, "evidence": base | evidence}
    return PublishedResult("claim", "c-1", fields, {}, 3, HOSTILE, f"x = '''{HOSTILE}'''")


def test_files_behind_a_result_are_listed(tmp_path: Path) -> None:
    """One that the site brings is a link; one that is not there, or is another, is named."""
    (tmp_path / "data" / "reported").mkdir(parents=True)
    (tmp_path / "data" / "reported" / "claims.csv").write_bytes(b"")
    empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    place = Place("claims", ProjectBundles(tmp_path))
    files = [
        {"file": "data/reported/claims.csv", "sha256": empty},
        {"file": f"data/{HOSTILE}", "sha256": "b" * 64},
    ]
    html = render_fold(make_record(files=files), "chapters/alpha", place)
    assert "<a href='downloads/data/reported/claims.csv' download>" in html
    assert f"made from data/reported/claims.csv sha256 {empty}" in words_of(html)
    assert "sha256 " + "b" * 64 in words_of(html)
    assert html.count("downloads/data/") == 1


def test_a_fold_without_trials_says_so(tmp_path: Path) -> None:
    """No bundle, no machine; hostile text in id, source and parameters is text."""
    place = Place("chapters/alpha", ProjectBundles(tmp_path))
    html = render_fold(make_record(), "chapters/alpha", place)
    assert "measured in no bundle: computed without a trial" in words_of(html)
    assert "machine" not in words_of(html)
    assert "<script" not in html
    assert html.startswith("<details class='sb-evidence' id='evidence-c-1'>")
    elsewhere = render_fold(make_record(), "chapters/alpha", Place("a/b/c", place.bundles))
    assert elsewhere.startswith("<details class='sb-evidence'><summary>")
    assert "href='../../chapters/alpha.html#result-c-1'" in elsewhere
