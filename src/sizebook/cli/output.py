"""What the commands print: tables for people, JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from typer.core import TyperGroup
from typer.exceptions import TyperException

from sizebook.model.errors import UsageError
from sizebook.model.plain_text import show_plainly, steers


class PlainGroup(TyperGroup):
    """Commands whose refusals, too, show what would steer a terminal as an escape.

    Typer prints an unknown command or a bad value as it was given, and the program's name as the
    file is called; which characters it escapes changes with its version.
    """

    def main(self, *args: Any, **settings: Any) -> NoReturn:
        """Run the command line and end the process, as Typer does.

        Raises UsageError for an empty value: a variable of a script that is not set, which would
        silently stand for all chapters, or for what a command does without the option.
        """
        given = settings.get("args")
        _refuse_empty(sys.argv[1:] if given is None else given)
        settings |= {"prog_name": "sizebook", "standalone_mode": False}
        try:
            code = super().main(*args, **settings)
        except TyperException as error:
            refusal: Any = error  # the class that can show itself is none of Typer's public ones
            refusal.message = "\n".join(map(show_plainly, error.message.split("\n")))
            refusal.show()
            sys.exit(error.exit_code)
        sys.exit(code)


def _refuse_empty(words: Sequence[str]) -> None:
    for before, word in zip(("", *words), words, strict=False):
        option, equals, value = word.partition("=")
        is_set = bool(equals) and option.startswith("-")
        if (value if is_set else word).strip():
            continue
        name = option if is_set else before if before.startswith("-") else ""
        raise UsageError(
            found=f"nothing behind {name}" if name.strip("-") else "an argument that is empty",
            expected="a value, or none at all where it may be left out",
            next_step="give it one, or leave it out; is a variable of a script not set?",
        )


def say(text: str = "", *, aside: bool = False) -> None:
    """Print a line on standard output, ``aside`` on standard error.

    Names and messages in it may be somebody else's: what would steer a terminal, or is no text
    (bytes of a file's name), is shown as an escape, and stays on the line.
    """
    print(show_plainly(text), file=sys.stderr if aside else sys.stdout, flush=True)


def print_json(data: Any) -> None:
    """Print data as JSON on standard output; what would steer a terminal is escaped in it."""
    text = json.dumps(data, indent=1, ensure_ascii=False)
    print("".join(json.dumps(c)[1:-1] if c != "\n" and steers(c) else c for c in text))


def print_table(rows: Sequence[Mapping[str, str]], title: str = "") -> None:
    """Print rows as a table; the keys of the first row are the headings. Text is never markup.

    What would steer a terminal is shown as an escape.
    """
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console = Console(highlight=False, markup=False, width=160)
    table = Table(title=title or None, title_justify="left", box=None, pad_edge=False)
    for heading in rows[0] if rows else ():
        table.add_column(show_plainly(heading), overflow="fold")
    for row in rows:
        table.add_row(*map(show_plainly, row.values()))
    console.print(table)
