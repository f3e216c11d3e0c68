"""The site built again from the notebooks, and compared file by file."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from html import unescape
from pathlib import Path

from sizebook.book.audit.contents import first_difference
from sizebook.book.audit.findings import AuditedItem, AuditReport
from sizebook.book.site import build_site
from sizebook.model.errors import UserError
from sizebook.store import Project
from sizebook.store.plain_files import plain_size

_NOT_SOURCES = {"_build", "book", ".git", ".venv", ".sizebook"}
_STAMP = re.compile(rb'(<meta name="sizebook-stamp" content=")[0-9a-f]{64}(">)')
_NOT_WORDS = re.compile(r"<(script|style)\b.*?</\1>|<[^>]*>", re.DOTALL)
_AROUND = 4


def audit_site(project: Project, report: AuditReport, scratch: Path) -> None:
    """Build the site in an empty folder ``scratch`` and report how the one at hand differs."""
    if not (project.site / "index.html").is_file():
        report.add(
            "AU405-not-built", "_build/html", "the site is not built",
            found="no index.html", expected="a site",
        )  # fmt: skip
        return
    _copy_sources(project, scratch)
    try:
        built = build_site(scratch).parent
    except UserError as error:
        report.add(
            "AU404-no-build", "_build/html", error.found,
            found=error.found, expected=error.expected,
            spoils=report.counted("pages"),
        )  # fmt: skip
        return
    own, again = _list(project.site), _list(built)
    for name in sorted(own | again):
        spoils = [AuditedItem("pages", name.removesuffix(".html"))]
        place = f"_build/html/{name}"
        if name not in own:
            report.add(
                "AU402-page-missing", place, "the site lacks this file",
                found="nothing", expected="a file", spoils=spoils,
            )  # fmt: skip
        elif name not in again:
            report.add(
                "AU403-page-added", place, "no build makes this file",
                found="a file", expected="nothing",
            )  # fmt: skip
        elif plain_size(project.site, name) is None:
            report.add(
                "AU401-page-differs", place, "no plain file stands here",
                found="a link, a pipe or a device", expected="a file", spoils=spoils,
            )  # fmt: skip
        elif difference := _compare(project.site / name, built / name):
            shown, made = difference
            report.add(
                "AU401-page-differs", place, f"reads {shown!r}, the notebooks make {made!r}",
                found=shown, expected=made, spoils=spoils,
            )  # fmt: skip


def _copy_sources(project: Project, folder: Path) -> None:
    """Make a project of the same sources: links to all folders, a copy of the book."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in project.root.iterdir():
        if path.name not in _NOT_SOURCES:
            (folder / path.name).symlink_to(path)
    shutil.copytree(project.book, folder / "book")


def _list(site: Path) -> set[str]:
    """Return the files; a link to a folder is one thing, which no build makes."""
    return {
        path.relative_to(site).as_posix()
        for path in site.rglob("*")
        if path.is_symlink() or not path.is_dir()
    }


def _compare(shown: Path, made: Path) -> tuple[str, str] | None:
    """Return what two files of a site begin to differ in, None if they are the same."""
    one, other = shown.read_bytes(), made.read_bytes()
    if shown.suffix == ".html":
        one, other = (_STAMP.sub(rb"\1\2", content) for content in (one, other))
    if one == other:
        return None
    texts = [content.decode("utf-8", "replace") for content in (one, other)]
    if shown.suffix == ".html":
        words = first_words_apart(*(list(_words(text)) for text in texts))
        if words is not None:
            return words
    return first_difference(texts[0], texts[1])


def first_words_apart(one: list[str], other: list[str]) -> tuple[str, str] | None:
    """Return a few words from where two texts begin to differ, None if they do not."""
    if one == other:
        return None
    pairs = enumerate(zip(one, other, strict=False))
    at = next((n for n, (a, b) in pairs if a != b), min(len(one), len(other)))
    first, second = (" ".join(text[max(0, at - _AROUND) : at + _AROUND]) for text in (one, other))
    return first, second


def _words(page: str) -> Iterator[str]:
    yield from unescape(_NOT_WORDS.sub(" ", page)).split()
