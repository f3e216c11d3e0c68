"""``sizebook build``: the site from pages and executed notebooks, and the book as a PDF."""

from __future__ import annotations

import time
from collections.abc import Callable

import typer

from sizebook.cli.output import say
from sizebook.store import Project, find_project


def build(
    pdf: bool = typer.Option(
        False, "--pdf", help="Also print the whole book with Chromium: _build/sizebook.pdf."
    ),
    fill: bool = typer.Option(
        False, "--fill", help="Chapters that were not run here get their published page."
    ),
) -> None:
    """Build the site, warnings as errors, and print where it is."""
    from sizebook.book.paper import find_chromium, print_book
    from sizebook.book.site import build_site

    project = find_project()
    root = project.root
    if fill:
        bring_pages(project, lambda chapter: not (project.chapters / f"{chapter}.ipynb").exists())
    if pdf:
        find_chromium()  # what is missing is said before the site is built
    began = time.monotonic()
    index = build_site(root, partial=fill)
    say(f"built in {time.monotonic() - began:.0f} s: {index}")
    if pdf:
        began = time.monotonic()
        book = print_book(root)
        say(
            f"printed in {time.monotonic() - began:.0f} s: {book.path} "
            f"({book.pages} pages, {book.bytes / 1e6:.1f} MB)"
        )


def bring_pages(project: Project, wanted: Callable[[str], bool]) -> None:
    """Bring the pages of chapters whose ids are wanted, as far as that takes no measuring."""
    from sizebook.book.chapters import find_chapters
    from sizebook.book.published.pages import SOURCE, bring_page
    from sizebook.cli.selection import select

    ids = [each.id for each in find_chapters(project.root) if wanted(each.id)]
    for chapter, parameters in select(project.root, ids, "quick", SOURCE, []) if ids else []:
        outcome = bring_page(project.root, chapter, parameters)
        say(f"{chapter.id}: {outcome.state}")
        if outcome.state == "failed":
            say(f"sizebook: {chapter.id} failed: {outcome.error}", aside=True)
            raise typer.Exit(1)
