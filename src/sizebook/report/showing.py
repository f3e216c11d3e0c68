"""How a page shows a result in its notebook, and that a plan shows none."""

from __future__ import annotations

import re
from typing import Any

from sizebook.lab.plan_only import is_planned_only

METADATA_KEY = "sizebook"
_KEY = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def checked_key(key: str) -> str:
    """Return the key of a result. Raises ValueError for one that is none."""
    if not _KEY.fullmatch(key):
        raise ValueError(f"{key!r} is no key: lower-case words and digits joined by hyphens")
    return key


def is_unseen(key: str) -> bool:
    """Return whether nobody will see a result, which so need not be drawn; its key is checked."""
    return bool(checked_key(key)) and is_planned_only()


def show(bundle: dict[str, Any], record: dict[str, Any]) -> None:
    """Show a result, with its record in the output's metadata; nothing in a plan."""
    if is_planned_only():
        return
    from IPython.display import display  # noqa: PLC0415 - a plan does without

    send: Any = display  # IPython's display has no types
    send(bundle, raw=True, metadata={METADATA_KEY: record})
