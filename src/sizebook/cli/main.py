"""The command ``sizebook``: gathers the commands and turns user errors into one line."""

from __future__ import annotations

import signal
import sys
from types import FrameType
from typing import NoReturn

import typer

from sizebook import __version__
from sizebook.cli import (
    audit,
    book,
    build,
    chapters,
    claims,
    compare,
    doctor,
    export,
    gc,
    guide,
    hosts,
    judge,
    new,
    plan,
    publish,
    reproductions,
    run,
    size,
    stack,
    trial,
)
from sizebook.cli.output import PlainGroup, say
from sizebook.model.errors import UserError

app = typer.Typer(
    name="sizebook",
    cls=PlainGroup,
    help="A benchmark report book whose every number is measured on this machine.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("doctor")(doctor.doctor)
app.command("chapters")(chapters.chapters)
app.command("claims")(claims.claims)
app.command("plan")(plan.plan)
app.command("book")(book.book)
app.command("run")(run.run)
app.command("build")(build.build)
app.command("audit")(audit.audit)
app.command("compare")(compare.compare)
app.command("publish")(publish.publish)
app.command("reproductions")(reproductions.reproductions)
app.command("export")(export.export)
app.command("gc")(gc.gc)
app.command("judge")(judge.judge)
app.command("guide")(guide.guide)
app.command("size")(size.size)
app.command("trial")(trial.trial)
app.add_typer(stack.app, name="stack")
app.add_typer(hosts.app, name="hosts")
app.add_typer(new.app, name="new")


def _print_version(wanted: bool) -> None:
    if wanted:
        say(f"sizebook {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """A benchmark report book whose every number is measured on this machine."""


class _Stop:
    """Turns Ctrl-C and a request to terminate into KeyboardInterrupt, and remembers it."""

    came = False

    def __call__(self, _number: int, _frame: FrameType | None) -> NoReturn:
        self.came = True
        raise KeyboardInterrupt


def main() -> None:
    """Run the command line; a UserError is one line on standard error and exit code 1."""
    stop = _Stop()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    try:
        app()
    except UserError as error:
        say(f"sizebook: {error}", aside=True)
        sys.exit(1)
    except (SystemExit, KeyboardInterrupt):
        if not stop.came:
            raise
        say("sizebook: stopped; finished trials are kept", aside=True)
        sys.exit(130)
