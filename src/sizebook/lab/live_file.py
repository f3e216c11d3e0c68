"""The file in which a measurement tells whoever watches it: one JSON line an event."""

from __future__ import annotations

import contextlib
import json
import os
import time
from pathlib import Path
from typing import Any

LIVE_FILE = "SIZEBOOK_LIVE"
"""Environment variable: a file to which each event is appended."""


def is_watched() -> bool:
    """Return whether somebody watches this run."""
    return bool(os.environ.get(LIVE_FILE))


def tell_watchers(kind: str, **values: Any) -> None:
    """Append an event; nothing where nobody watches, or it cannot be written."""
    path = os.environ.get(LIVE_FILE)
    if not path:
        return
    line = json.dumps({"t": time.time(), "kind": kind, **values}, allow_nan=False)
    # whoever watched is gone, or the disk is full: no reason for a trial to fail
    with contextlib.suppress(OSError), Path(path).open("a", encoding="utf-8") as sink:
        sink.write(line + "\n")
