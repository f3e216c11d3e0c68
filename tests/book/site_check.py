"""Look at a built site as a reader without network does: ``check_site(root)`` lists what is wrong.

``root`` is the folder of the HTML, such as ``_build/html``. Run it by hand with
``python tests/book/site_check.py _build/html``.
"""

from __future__ import annotations

import sys
import urllib.parse
from collections.abc import Collection, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from browser import Browser, BrowserError

_INSIDE = ("file:", "data:", "blob:", "about:")


@dataclass(frozen=True)
class Problem:
    """One thing wrong with one page."""

    page: str
    what: str

    def __str__(self) -> str:
        return f"{self.page}: {self.what}"


def check_site(
    root: Path, browser: Browser | None = None, *, unopened: Collection[str] = ()
) -> list[Problem]:
    """Give all problems of a site: links of every page, then what a browser sees on each.

    Pages in ``unopened``, by their addresses in the site, are not opened in a browser.
    """
    root = root.resolve()
    pages = list_pages(root)
    if not pages:
        return [Problem(str(root), "holds no page; was the site built?")]
    problems = check_links(root)
    pages = [page for page in pages if page.relative_to(root).as_posix() not in unopened]
    if browser is not None:
        return problems + check_pages(browser, root, pages)
    with Browser() as first, Browser() as second, ThreadPoolExecutor(1) as pool:
        half = len(pages) // 2
        later = pool.submit(check_pages, second, root, pages[half:])
        problems += check_pages(first, root, pages[:half])
        return problems + later.result() + check_search(first, root)


def list_pages(root: Path) -> list[Path]:
    """Give the pages of a site, without the pieces that its theme brings along."""
    found = sorted(root.rglob("*.html"))
    return [page for page in found if not page.relative_to(root).parts[0].startswith("_")]


def check_pages(browser: Browser, root: Path, pages: list[Path]) -> list[Problem]:
    """Open pages one after the other; give the problems of all."""
    return [problem for page in pages for problem in check_page(browser, root, page)]


def check_page(browser: Browser, root: Path, page: Path) -> list[Problem]:
    """Open one page: no outside request, no complaint, charts drawn whole, folds open on click."""
    name = page.relative_to(root).as_posix()
    browser.open(f"{page.as_uri()}?charts=all")
    found = []
    try:
        wait_for_charts(browser)
        wait_for_legends(browser)
        folds = "[...document.querySelectorAll('details.sb-evidence')]"
        browser.run(f"{folds}.forEach(fold => fold.querySelector('summary').click())")
        if not browser.run(f"{folds}.every(fold => fold.open && fold.lastChild.clientHeight > 0)"):
            found.append("an evidence fold does not open on click")
        for width in (420, 1400):
            browser.set_size(width)
            if browser.run("document.documentElement.scrollWidth > innerWidth + 1"):
                found.append(f"is wider than a window of {width} pixels")
    except BrowserError as error:
        found.append(str(error))
    found += [
        f"asks for {address}" for address in browser.requests if not address.startswith(_INSIDE)
    ]
    found += [f"complains: {text}" for text in browser.complaints]
    return [Problem(name, what) for what in found]


def wait_for_charts(browser: Browser, theme: str | None = None) -> int:
    """Return when every chart is drawn (in a theme, if given); give how many there are."""
    drawn = "chart.querySelectorAll('.sb-canvas svg.marks').length === 1"
    if theme:
        drawn += f" && chart.dataset.theme === '{theme}'"
    browser.wait_for(f"[...document.querySelectorAll('.sb-chart')].every(chart => {drawn})")
    return int(browser.run("document.querySelectorAll('.sb-chart').length"))


def wait_for_legends(browser: Browser) -> None:
    """Return when no chart cuts its legend off."""
    cut = "legend => right(legend) > right(legend.closest('svg')) + 1"
    browser.wait_for(
        "(right => ![...document.querySelectorAll('.sb-canvas .role-legend')].some("
        f"{cut}))(each => each.getBoundingClientRect().right)"
    )


def check_search(browser: Browser, root: Path, word: str | None = None) -> list[Problem]:
    """Search for a word (by default one of the first page's title) and expect a result."""
    if word is None:
        browser.open((root / "index.html").as_uri())
        word = str(browser.run("document.querySelector('h1').innerText.match(/\\w{4,}/)[0]"))
    browser.open(f"{(root / 'search.html').as_uri()}?q={urllib.parse.quote(word)}")
    try:
        browser.wait_for("document.querySelectorAll('#search-results li a').length > 0")
    except BrowserError:
        return [Problem("search.html", f"finds nothing for {word!r}")]
    return []


def check_links(root: Path) -> list[Problem]:
    """Give every internal address of every page that leads nowhere, anchors included."""
    pages = {page: _read(page) for page in list_pages(root)}
    return [
        Problem(page.relative_to(root).as_posix(), f"leads nowhere: {address}")
        for page, content in pages.items()
        for address in content.addresses
        if not _leads_somewhere(address, page, pages)
    ]


class _Content(HTMLParser):
    """The anchors of a page and the addresses it refers to."""

    def __init__(self) -> None:
        super().__init__()
        self.anchors: set[str] = {"", "top"}
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if value and name in ("id", "name"):
                self.anchors.add(value)
            elif value and name in ("href", "src"):
                self.addresses.append(value)


def _read(page: Path) -> _Content:
    content = _Content()
    content.feed(page.read_text(encoding="utf-8"))
    return content


def _leads_somewhere(address: str, page: Path, pages: dict[Path, _Content]) -> bool:
    parts = urllib.parse.urlsplit(address)
    if parts.scheme or parts.netloc:
        return True
    target = (page.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else page
    if target not in pages:
        return target.exists()
    return urllib.parse.unquote(parts.fragment) in pages[target].anchors


def _lines(problems: list[Problem]) -> Iterator[str]:
    yield from (str(problem) for problem in problems)
    yield f"{len(problems)} problems"


if __name__ == "__main__":
    result = check_site(Path(sys.argv[1]))
    print("\n".join(_lines(result)))
    sys.exit(bool(result))
