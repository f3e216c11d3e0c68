"""``sizebook new``: begin a chapter, or a book of one's own, from templates."""

from __future__ import annotations

import shlex
from pathlib import Path

import typer

from sizebook.cli.output import say
from sizebook.store import find_project

app = typer.Typer(help="Begin a chapter, or a book of your own.", no_args_is_help=True)

_TITLE = typer.Option("", help="Its title; without one, made of the name.")
_URL = typer.Option("", help="Where the system runs already; without one a command starts it.")


@app.command()
def chapter(
    name: str = typer.Argument(help="Its id: small letters, digits and hyphens."),
    title: str = _TITLE,
    part: str = typer.Option("", help="Part of the book; without one, the last with chapters."),
    url: str = _URL,
) -> None:
    """Write a notebook, a load profile and a test that run at once; nothing is overwritten."""
    from sizebook.book.starting import NewChapter, start_chapter

    root = find_project().root
    new = NewChapter(name, title or _in_words(name), part, url)
    for path in start_chapter(root, new):
        say(f"wrote {path.relative_to(root)}")
    _say_next(new.id, new.inventory)


@app.command()
def book(
    folder: Path = typer.Argument(help="A folder that is new or empty."),
    title: str = _TITLE,
    chapter: str = typer.Option("first-load", help="Id of its first chapter."),
    url: str = _URL,
) -> None:
    """Write a book of one chapter that measures and builds at once; nothing is overwritten."""
    from sizebook.book.starting import NewChapter, start_book

    new = NewChapter(chapter, _in_words(chapter), url=url)
    for path in start_book(folder, title or _in_words(folder.resolve().name), new):
        say(f"wrote {path}")
    if not (folder / "wheels").is_dir():
        say("Sizebook runs from a checkout: put its wheel into wheels/ to build the book elsewhere")
    say(f"next: cd {shlex.quote(str(folder))} && make book PROFILE=smoke")


def _in_words(name: str) -> str:
    words = name.replace("-", " ").replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def _say_next(chapter_id: str, inventory: str) -> None:
    more = f" --inventory {shlex.quote(inventory)}" if inventory else ""
    say(f"next: sizebook run {shlex.quote(chapter_id)} --profile smoke{more}")
