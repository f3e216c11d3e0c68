"""Bundles as somebody might have prepared them: changed by hand, with checksums that fit again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sizebook.store.bundles import RECORD


def change_record(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Let a function change what ``trial.json`` holds, and write it back."""
    record = json.loads((folder / RECORD).read_text())
    change(record)
    (folder / RECORD).write_text(json.dumps(record))


def set_field(folder: Path, place: str, value: Any) -> None:
    """Set one value of ``trial.json``; its place is the names on the way, joined by dots."""

    def change(record: dict[str, Any]) -> None:
        *way, last = [int(part) if part.isdigit() else part for part in place.split(".")]
        inner: Any = record
        for part in way:
            inner = inner[part]
        inner[last] = value

    change_record(folder, change)


def put_file(folder: Path, name: str, data: bytes) -> None:
    """Write a file of a bundle and record its size and checksum, as an honest writer would."""
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_bytes(data)
    told = {"sha256": hashlib.sha256(data).hexdigest(), "bytes": len(data)}
    change_record(folder, lambda record: record["files"].__setitem__(name, told))
