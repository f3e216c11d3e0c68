"""What the commands print: tables for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table


def print_json(data: Any) -> None:
    """Print data as JSON on standard output."""
    print(json.dumps(data, indent=1, ensure_ascii=False))


def print_table(rows: Sequence[Mapping[str, str]], title: str = "") -> None:
    """Print rows as a table; the keys of the first row are the headings. Text is never markup."""
    console = Console(highlight=False, markup=False)
    if not console.is_terminal:
        console = Console(highlight=False, markup=False, width=160)
    table = Table(title=title or None, title_justify="left", box=None, pad_edge=False)
    for heading in rows[0] if rows else ():
        table.add_column(heading, overflow="fold")
    for row in rows:
        table.add_row(*row.values())
    console.print(table)
