"""``sizebook build``: the site from pages and executed notebooks, and the book as a PDF."""

from __future__ import annotations

import time

import typer

from sizebook.store import find_project


def build(
    pdf: bool = typer.Option(
        False, "--pdf", help="Also print the whole book with Chromium: _build/sizebook.pdf."
    ),
    source: str = typer.Option(
        "", "--from", help="published: take every published page into the book before."
    ),
) -> None:
    """Build the site, warnings as errors, and print where it is."""
    from sizebook.book.paper import find_chromium, print_book
    from sizebook.book.site import build_site

    root = find_project().root
    if source:
        _take_pages(source)
    if pdf:
        find_chromium()  # what is missing is said before the site is built
    began = time.monotonic()
    index = build_site(root, partial=bool(source))
    print(f"built in {time.monotonic() - began:.0f} s: {index}")
    if pdf:
        began = time.monotonic()
        book = print_book(root)
        print(
            f"printed in {time.monotonic() - began:.0f} s: {book.path} "
            f"({book.pages} pages, {book.bytes / 1e6:.1f} MB)"
        )


def _take_pages(source: str) -> None:
    from sizebook.book.chapters import find_chapters
    from sizebook.book.published.pages import SOURCE, take_page

    if source != SOURCE:
        raise typer.BadParameter(f"{source!r}: pages come with the book from {SOURCE!r} alone")
    project = find_project()
    for chapter in find_chapters(project.root):
        outcome = take_page(project, chapter, {})
        if outcome is not None:
            print(f"{chapter.id}: {outcome.state}", flush=True)
