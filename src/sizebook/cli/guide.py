"""``sizebook guide``: the documents that come with the package."""

from __future__ import annotations

import typer

from sizebook.cli.output import print_table


def guide(
    name: str = typer.Argument("", help="Which one; without a name, all are listed."),
) -> None:
    """Print a guide, such as 'write' for authors, 'audit', or 'readme' on GC logs, as Markdown."""
    from sizebook.book.guides import list_guides, read_guide

    if name:
        print(read_guide(name))
        return
    print_table([{"guide": each, "title": title} for each, title in list_guides().items()])
