"""Rows of a CSV file, as a load and those who plan it read them."""

from __future__ import annotations

import csv
from pathlib import Path


def read_rows(path: Path) -> list[dict[str, str]]:
    """Return the rows of a CSV file by the names of its columns. Raises OSError."""
    with path.open(encoding="utf-8-sig", newline="") as source:
        return [
            {name: text or "" for name, text in row.items() if isinstance(name, str)}
            for row in csv.DictReader(source)
        ]
