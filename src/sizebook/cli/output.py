"""What the commands print: tables for people, JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from sizebook.model.plain_text import show_plainly, steers


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
