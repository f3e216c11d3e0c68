"""The whole book as a PDF: text and charts, contents with pages, links that lead within it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pypdf import PdfReader
from pypdf.generic import Destination
from typer.testing import CliRunner

from sizebook.book.paper import PrintedBook, find_chromium, print_book
from sizebook.book.print_html import bind_pages
from sizebook.cli.main import app
from sizebook.model.errors import HostLacksError, UserError


@pytest.fixture(scope="module")
def printed(whole_root: Path) -> PrintedBook:
    """Give the book of every kind of page, printed once."""
    return print_book(whole_root)


@pytest.fixture(scope="module")
def reader(printed: PrintedBook) -> PdfReader:
    """Give what a reader of PDFs sees."""
    return PdfReader(printed.path)


def text_of(reader: PdfReader) -> str:
    """Return all text of a PDF with single spaces."""
    return " ".join(" ".join(page.extract_text() for page in reader.pages).split())


def titles(outline: list[Destination | list[Destination]]) -> list[str]:
    """Return the titles of an outline, deeper ones included."""
    found: list[str] = []
    for each in outline:
        found += titles(each) if isinstance(each, list) else [str(each.title)]  # type: ignore[arg-type]
    return found


def test_text_and_charts_are_there(printed: PrintedBook, reader: PdfReader) -> None:
    """Captions, tables, claims, numbers in prose, and the words within the charts."""
    text = text_of(reader)
    assert printed.pages == len(reader.pages) > 8
    assert printed.bytes == printed.path.stat().st_size
    for words in (
        "Total time (synthetic).",
        "total time (s)",  # an axis: the chart is text and lines, not dots
        "is 3.1 times the JSON detail",
        "by part of the book and verdict, and this book",
        "Sam Sample",
        "users, thinking",  # the calculator's table, in place of its form
        "Evidence: alpha#times",
    ):
        assert words in text, words
    assert "Save this chart" not in text


def test_charts_are_not_dots(reader: PdfReader) -> None:
    """No page holds a picture made of pixels."""
    assert [page.page_number for page in reader.pages if len(page.images)] == []


def test_the_contents_name_the_right_pages(reader: PdfReader) -> None:
    """The number behind a chapter is that of the page with its title."""
    contents = " ".join(reader.pages[0].extract_text().split())
    for title in ("Notes", "Protocols (synthetic)", "Claims (synthetic)"):
        number = int(contents.partition(title)[2].split()[0])
        assert title in reader.pages[number - 1].extract_text()
    found = titles(reader.outline)  # type: ignore[arg-type]
    assert any("Protocols (synthetic)" in title for title in found)
    assert "Chapters" in found


def test_links_lead_within_the_book_or_out_of_it(reader: PdfReader) -> None:
    """None leads to a file of the machine that printed it, and there are some."""
    links = [each.get_object() for page in reader.pages for each in page.get("/Annots", [])]
    addresses = [link["/A"]["/URI"] for link in links if "/URI" in link.get("/A", {})]
    assert [each for each in addresses if not each.startswith(("http:", "https:", "mailto:"))] == []
    assert sum("/Dest" in link or "/D" in link.get("/A", {}) for link in links) > 10


def test_nothing_is_left_of_the_printing(printed: PrintedBook) -> None:
    """The bound page is gone; site and PDF are there."""
    assert [each.name for each in printed.path.parent.glob("*.html")] == []


def test_ids_are_unique_and_links_inside_lead_somewhere(whole_root: Path) -> None:
    """Chapters have sections of the same name; bound they are told apart."""
    from bs4 import BeautifulSoup

    page = BeautifulSoup(bind_pages(whole_root / "_build" / "html", whole_root), "html.parser")
    ids = [str(each["id"]) for each in page.find_all(id=True)]
    assert len(ids) == len(set(ids))
    inside = [str(each["href"])[1:] for each in page.find_all("a", href=True)
              if str(each["href"]).startswith("#")]  # fmt: skip
    assert len(inside) > 10
    assert set(inside) <= set(ids)
    assert not page.find_all(["form", "button"])


def test_a_missing_browser_is_said_so(
    monkeypatch: pytest.MonkeyPatch, whole_root: Path, tmp_path: Path
) -> None:
    """Without Chromium there is one line with what to install, before anything is built."""
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HostLacksError, match="install the package chromium"):
        find_chromium()
    done = CliRunner().invoke(app, ["build", "--pdf"], env={"SIZEBOOK_ROOT": str(whole_root)})
    assert done.exit_code != 0
    assert isinstance(done.exception, HostLacksError)


def test_a_site_that_lacks_a_page_is_refused(whole_root: Path, tmp_path: Path) -> None:
    """The missing page is named."""
    site = tmp_path / "html"
    site.mkdir()
    with pytest.raises(UserError, match=r"no page index\.html"):
        bind_pages(site, whole_root)
