"""``sizebook publish``: chapters of the own run into a round that comes with the book."""

from __future__ import annotations

import shlex
from pathlib import Path

import typer

from sizebook.cli.output import say
from sizebook.store import find_project


def publish(
    chapter: list[str] = typer.Argument(None, help="Ids of chapters; without one, all executed."),
    name: str = typer.Option(
        ..., "--round", help="The round: YYYY-MM-DD, maybe with -words behind it."
    ),
    replicates: int = typer.Option(
        3, min=1, help="Least replicates of every treatment; the round says which."
    ),
    key: Path = typer.Option(
        None, "--sign", exists=True, dir_okay=False, help="Sign the round with this SSH key."
    ),
    renew: bool = typer.Option(
        False,
        "--renew",
        help="Make the pages of published chapters again from their published trials.",
    ),
) -> None:
    """Pack chapters of the own run, check them, and put them into data/published.

    The round changes as a whole or not at all. With --renew nothing of the own run is published:
    templates that changed are executed on the trials that the round has.
    """
    from sizebook.book.chapters import find_chapters, get_chapter
    from sizebook.book.published.publishing import publish as put
    from sizebook.book.published.publishing import renew_pages

    project = find_project()
    names = chapter or [
        each.id
        for each in find_chapters(project.root)
        if (project.chapters / f"{each.id}.ipynb").is_file()
    ]
    chapters = [get_chapter(project.root, each) for each in names]
    if renew:
        done = renew_pages(project, chapters, name, key=key, say=_say)
    else:
        done = put(project, chapters, name, replicates=replicates, key=key, say=_say)
    for pack in done.packs:
        each = f", {pack.bytes / pack.trials / 1000:.1f} kB a trial" if pack.trials else ""
        say(f"{pack.chapter}: {pack.trials} trials, {pack.bytes:,} bytes{each}")
    signed = "signed" if done.signed else "not signed"
    say(
        f"round {done.round.name}: {len(done.round.record.packs)} chapters, {signed}; "
        f"data/published has {done.published_bytes:,} bytes"
    )
    for page, trials in done.lost:
        say(
            f"{page.pack.chapter}: shows {trials} trials that no round has any more; "
            f"next: sizebook publish {shlex.quote(page.pack.chapter)} "
            f"--round {shlex.quote(page.round.name)} --renew"
        )


def _say(words: str) -> None:
    say(f"publish: {words}", aside=True)
