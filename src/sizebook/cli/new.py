"""``sizebook new``: begin a chapter, or a book of one's own, from templates."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from sizebook.cli.output import say
from sizebook.model.errors import UsageError
from sizebook.store import find_project

if TYPE_CHECKING:
    from sizebook.book.scaffold import NewChapter
    from sizebook.traffic.preparing import PreparedTraffic

MOST_SHOWN = 12
"""Things left out that are printed; all of them are in the load's ``source.md``."""

app = typer.Typer(help="Begin a chapter, or a book of your own.", no_args_is_help=True)

_TITLE = typer.Option("", help="Its title; without one, made of the name.")
_URL = typer.Option("", help="Where the system runs already; without one a command starts it.")


@app.command()
def chapter(
    name: str = typer.Argument(help="Its id: small letters, digits and hyphens."),
    title: str = _TITLE,
    part: str = typer.Option("", help="Part of the book; without one, the last with chapters."),
    url: str = _URL,
    source: Path | None = typer.Option(
        None,
        "--from",
        help="Make its load of this: a HAR file, an access log, an OpenAPI 3 document, a Postman "
        "collection, a JMeter plan, a k6 script, or a CSV of requests.",
    ),
    data: Path | None = typer.Option(
        None,
        help="With --from: a CSV of users. Its columns stand for what was replaced under their "
        "names, such as username and password.",
    ),
) -> None:
    """Write a notebook, a load profile and a test that run at once; nothing is overwritten.

    With --from the load is what somebody recorded or described. A HAR file, a collection, a plan or
    a script becomes a visit of many steps; an access log is replayed as it came, or faster; an
    OpenAPI document or a CSV becomes a table of requests by weight. Secrets and personal data are
    replaced, and listed with what was left out. Nothing is sent to the recorded system: --url says
    which one is measured.
    """
    from sizebook.book.scaffold import NewChapter, start_chapter

    root = find_project().root
    new = NewChapter(name, title or _in_words(name), part, url)
    prepared = None
    if source is not None:
        prepared = _read_source(source, data)
        new = _with_load(new, prepared)
    elif data is not None:
        raise UsageError(
            found="--data without --from",
            expected="a file with requests whose values the data replace",
            next_step="name it with --from",
        )
    for path in start_chapter(root, new):
        say(f"wrote {path.relative_to(root)}")
    if prepared is not None:
        _say_what_became(prepared, f"locustfiles/{new.module}/source.md")
    _say_next(new.id, new.inventory)


@app.command()
def book(
    folder: Path = typer.Argument(help="A folder that is new or empty."),
    title: str = _TITLE,
    chapter: str = typer.Option("first-load", help="Id of its first chapter."),
    url: str = _URL,
) -> None:
    """Write a book of one chapter that measures and builds at once; nothing is overwritten."""
    from sizebook.book.scaffold import NewChapter, start_book

    new = NewChapter(chapter, _in_words(chapter), url=url)
    for path in start_book(folder, title or _in_words(folder.resolve().name), new):
        say(f"wrote {path}")
    if not (folder / "wheels").is_dir():
        say("Sizebook runs from a checkout: put its wheel into wheels/ to build the book elsewhere")
    say(f"next: cd {shlex.quote(str(folder))} && make book PROFILE=smoke")


def _read_source(source: Path, data: Path | None) -> PreparedTraffic:
    from sizebook.traffic.preparing import prepare
    from sizebook.traffic.reading import read_traffic

    return prepare(read_traffic(source), source.name, data)


def _with_load(new: NewChapter, prepared: PreparedTraffic) -> NewChapter:
    """Return a chapter with its load; what was recorded on this machine is measured there."""
    from sizebook.model.urls import UrlError, parse_url
    from sizebook.traffic.writing import write_load

    url = new.url
    if not url:
        try:
            own = parse_url(prepared.origin).is_own
        except UrlError:
            own = False
        if not own:
            raise UsageError(
                found=f"a load recorded at {prepared.origin or 'no named system'}, without --url",
                expected="the system to be measured: nothing is sent to a recorded one by itself",
                next_step="name it, such as --url http://127.0.0.1:8080",
            )
        url = prepared.origin
    return replace(new, url=url, load=write_load(prepared, new.module, new.title))


def _say_what_became(prepared: PreparedTraffic, told: str) -> None:
    recording = prepared.recording
    number = len(prepared.arrivals) or len(recording.requests)
    say(f"{recording.form}: {number} requests to {len(set(prepared.names))} endpoints")
    for note in recording.notes:
        say(f"  assumed: {note}")
    for each in prepared.carried:
        say(f"  carried over: {each.name}, {each.place} of {each.source}")
    for one in prepared.replaced:
        say(f"  replaced: {one.kind.replace('_', ' ')}, {one.place}: column {one.column}")
    for each_left in recording.left_out[:MOST_SHOWN]:
        times = f" ({each_left.number} times)" if each_left.number > 1 else ""
        say(f"  left out: {each_left.what}{times}: {each_left.why}")
    if len(recording.left_out) > MOST_SHOWN:
        say(f"  and {len(recording.left_out) - MOST_SHOWN} more: see {told}")
    say(f"all of this stands in {told}")


def _in_words(name: str) -> str:
    words = name.replace("-", " ").replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def _say_next(chapter_id: str, inventory: str) -> None:
    more = f" --inventory {shlex.quote(inventory)}" if inventory else ""
    say(f"next: sizebook run {shlex.quote(chapter_id)} --profile smoke{more}")
