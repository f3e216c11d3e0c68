"""``sizebook chapters``: the chapters of the book with their parameters."""

from __future__ import annotations

import typer

from sizebook.cli.output import print_json, print_table, say
from sizebook.store import find_project


def chapters(
    chapter: str = typer.Argument("", help="Id of one chapter; without it, all."),
    as_json: bool = typer.Option(False, "--json", help="Print JSON for another program."),
) -> None:
    """List the chapters: id, title, part, sources, notebook; with an id, its parameters too."""
    from sizebook.book.chapters import find_chapters, get_chapter

    root = find_project().root
    found = [get_chapter(root, chapter)] if chapter else find_chapters(root)
    if as_json:
        print_json(
            [
                {
                    "id": each.id,
                    "title": each.title,
                    "part": each.part,
                    "kind": each.kind,
                    "sources": list(each.sources),
                    "notebook": each.notebook.relative_to(root).as_posix(),
                    "parameters": {
                        p.name: {"default": p.default, "help": p.help} for p in each.parameters
                    },
                }
                for each in found
            ]
        )
        return
    print_table(
        [
            {
                "id": each.id,
                "title": each.title,
                "part": each.part,
                "sources": ", ".join(each.sources),
                "notebook": each.notebook.name,
            }
            for each in found
        ]
    )
    if chapter:
        say()
        print_table(
            [
                {"parameter": p.name, "default": repr(p.default), "meaning": p.help}
                for p in found[0].parameters
            ]
        )
