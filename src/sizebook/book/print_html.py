"""The built site bound into one page for paper: all pages in reading order, links within it.

What works only on a screen is left out: scripts, forms, buttons, folds. Of a result's evidence one
line stays, which says where in the site the rest is.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import yaml
from bs4 import BeautifulSoup, Tag

from sizebook.model.errors import UserError
from sizebook.model.plain_text import escape_html as escape

_LEFT_OUT = (
    "script, style, noscript, form, button, iframe, .headerlink, .sb-live, .toggle-details, "
    "details.hide, .sb-cell, .prev-next-footer, .tableofcontents-wrapper"
)
_SCRIPT = re.compile(r"<script\b.*?</script\s*>", re.DOTALL | re.IGNORECASE)
_HEADING = re.compile(r"h[1-5]")
_POINTERS = ("for", "headers", "aria-labelledby", "aria-describedby", "aria-controls")
_STYLE = Path(__file__).parent / "templates" / "paper.css"
_FIT = """<script>
for (const table of document.querySelectorAll("table")) {
  const room = table.parentElement.clientWidth;
  if (table.scrollWidth > room + 1) {
    table.style.zoom = Math.max(0.4, room / table.scrollWidth);
  }
}
</script>"""


@dataclass(frozen=True)
class ContentsEntry:
    """A line of the contents: a part's name, or a page."""

    title: str
    anchor: str
    is_part: bool = False


def bind_pages(site: Path, root: Path, numbers: Mapping[str, int] | None = None) -> str:
    """Return the HTML of the whole book, to lie beside the folder ``site``.

    ``numbers`` are the pages of paper by anchor, for the contents. Raises UserError when a page of
    the table of contents is not in the site.
    """
    config = yaml.safe_load((root / "_config.yml").read_text(encoding="utf-8"))
    parts = _read_parts(root / "book" / "_toc.yml")
    pages = [page for _, listed in parts for page in listed]
    articles = {page: _read_article(site, page) for page in pages}
    places = {
        page: {str(each["id"]) for each in article.find_all(id=True)}
        for page, article in articles.items()
    }
    entries, bodies = [], []
    for number, (part, listed) in enumerate(parts):
        if part:
            anchor = f"part-{number}"
            entries.append(ContentsEntry(part, anchor, is_part=True))
            bodies.append(f'<h1 class="sb-part" id="{anchor}">{escape(part)}</h1>')
        for page in listed:
            article = articles[page]
            _bind(article, page, places, site.name, deeper=bool(part))
            heading = article.find(re.compile(r"h[12]"))
            entries.append(
                ContentsEntry(heading.get_text().strip() if heading else page, _slug(page))
            )
            bodies.append(str(article))
    title = escape(str(config.get("title", "Book")))
    head = _head(site, title)
    cover = f'<p class="sb-cover">{title}</p><p>{escape(str(config.get("author", "")))}</p>'
    return (
        f'<!DOCTYPE html><html lang="en" data-theme="light"><head>{head}</head>'
        f'<body class="sb-paper"><header>{cover}</header>{_contents(entries, numbers or {})}'
        f'<main class="bd-content">{"".join(bodies)}</main>{_FIT}</body></html>'
    )


def _read_parts(toc: Path) -> list[tuple[str, list[str]]]:
    """Return the parts with their pages; what stands before the first has no name."""
    told: Any = yaml.safe_load(toc.read_text(encoding="utf-8"))
    parts = [("", [str(told["root"])])]
    for part in told.get("parts", [{"chapters": told.get("chapters", [])}]):
        listed = [str(each["file"]) for each in part.get("chapters", []) if "file" in each]
        parts.append((str(part.get("caption", "")), listed))
    endings = re.compile(r"\.(md|ipynb)$")
    return [(name, [endings.sub("", page) for page in listed]) for name, listed in parts]


def _read_article(site: Path, page: str) -> Tag:
    file = site / f"{page}.html"
    if not file.is_file():
        raise UserError(
            found=f"no page {page}.html in the site",
            expected="a page for each entry of book/_toc.yml",
            next_step="sizebook build",
        )
    soup = BeautifulSoup(_SCRIPT.sub("", file.read_text(encoding="utf-8")), "html.parser")
    article = soup.select_one("article")
    if article is None:
        raise UserError(
            found=f"{page}.html without an article",
            expected="a page of the book's theme",
            next_step="sizebook build",
        )
    for fold in article.select("details.sb-evidence"):
        line = _evidence_line(fold)
        fold.replace_with(*([line] if line else []))
    for each in article.select(_LEFT_OUT):
        each.decompose()
    for fold in article.select("details"):
        fold["open"] = ""
    return article


def _evidence_line(fold: Tag) -> Tag | None:
    """Return one line for the evidence of a result; None for the fold of numbers."""
    found = {
        row.th.get_text().strip(): row.td.get_text(" ").strip()
        for row in fold.select("table.sb-record > tbody > tr")
        if row.th and row.td
    }
    if "key" not in found or "checksum" not in found:
        return None
    trials = found.get("measured in", "").partition("(")[0].strip()
    said = [f"{found.get('chapter', '')}#{found['key']}", trials, found["checksum"][:23]]
    line = BeautifulSoup("", "html.parser").new_tag("p", attrs={"class": "sb-paper-evidence"})
    line.string = "Evidence: " + ", ".join(words for words in said if words)
    return line


def _bind(
    article: Tag, page: str, places: Mapping[str, set[str]], folder: str, *, deeper: bool
) -> None:
    """Make ids unique within the book, links lead within it, and headings one deeper in a part."""
    slug = _slug(page)
    taken: set[str] = set()
    for each in article.find_all(id=True):
        name = f"{slug}--{each['id']}"
        if name in taken:  # tables of one page name their columns alike
            del each["id"]
        else:
            each["id"] = name
            taken.add(name)
    article["id"] = slug
    for name in _POINTERS:
        for each in article.select(f"[{name}]"):
            value = each[name]
            words = value if isinstance(value, list) else str(value).split()
            each[name] = " ".join(f"{slug}--{word}" for word in words)
    for picture in article.find_all("img", src=True):
        address = str(picture["src"])
        if not urlsplit(address).scheme:
            picture["src"] = posixpath.normpath(
                posixpath.join(folder, posixpath.dirname(page), address)
            )
    for link in article.find_all("a", href=True):
        target = _lead(str(link["href"]), page, places)
        if target is None:
            link.unwrap()
        else:
            link["href"] = target
    if deeper:
        for heading in article.find_all(_HEADING):
            heading.name = f"h{int(heading.name[1]) + 1}"


def _lead(address: str, page: str, places: Mapping[str, set[str]]) -> str | None:
    """Return where a link leads on paper; None for what is only in the site."""
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return address if parts.scheme in ("http", "https", "mailto") else None
    target = page
    if parts.path:
        path = posixpath.normpath(posixpath.join(posixpath.dirname(page), unquote(parts.path)))
        target = path.removesuffix(".html")
        if not path.endswith(".html") or target not in places:
            return None
    place = unquote(parts.fragment)
    if place in places[target]:
        return f"#{_slug(target)}--{place}"
    return None if target == page else f"#{_slug(target)}"


def _slug(page: str) -> str:
    return page.replace("/", "-")


def _head(site: Path, title: str) -> str:
    """Return the head: the site's own style sheets, then what paper wants."""
    soup = BeautifulSoup((site / "index.html").read_text(encoding="utf-8"), "html.parser")
    sheets = [
        posixpath.join(site.name, urlsplit(str(link["href"])).path)
        for link in soup.select("head link[rel=stylesheet]")
    ]
    links = "".join(f'<link rel="stylesheet" href="{escape(sheet)}">' for sheet in sheets)
    style = _STYLE.read_text(encoding="utf-8")
    return f'<meta charset="utf-8"><title>{title}</title>{links}<style>{style}</style>'


def _contents(entries: Sequence[ContentsEntry], numbers: Mapping[str, int]) -> str:
    lines = "".join(
        f'<li class="{"sb-in-part" if entry.is_part else ""}">'
        f'<a href="#{entry.anchor}"><span>{escape(entry.title)}</span>'
        f"<span>{numbers.get(entry.anchor, '')}</span></a></li>"
        for entry in entries
    )
    return f'<nav aria-label="Contents"><p class="sb-contents">Contents</p><ol>{lines}</ol></nav>'
