"""Threads of a process that wait for all others for a while, or go before them: their priority."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from pathlib import Path

LAST = 19
"""Lowest priority: a seventieth of what others get."""
FIRST = -10
"""Nine times what others get."""


def change(pid: int, names: str, nice: int) -> bool:
    """Give a process's threads whose names begin so this priority, until ``restore``.

    Return whether there are such threads now; never where this user could not undo it.
    """
    if not _may_raise_priority():
        return False
    found = False
    for thread in _threads(pid):
        with contextlib.suppress(OSError):
            if Path(f"/proc/{pid}/task/{thread}/comm").read_text().startswith(names):
                os.setpriority(os.PRIO_PROCESS, thread, nice)
                found = True
    return found


def restore(pid: int) -> None:
    """Give all threads of a process the usual priority again: that of this process (``nice``)."""
    usual = os.getpriority(os.PRIO_PROCESS, os.getpid())
    seen: set[int] = set()
    while rest := set(_threads(pid)) - seen:  # one may be started by one held back
        for thread in rest:
            # whoever may not raise a priority has lowered none, see change
            with contextlib.suppress(ProcessLookupError, PermissionError):
                if os.getpriority(os.PRIO_PROCESS, thread) != usual:
                    os.setpriority(os.PRIO_PROCESS, thread, usual)
        seen |= rest


def _threads(pid: int) -> list[int]:
    try:
        return [int(path.name) for path in Path(f"/proc/{pid}/task").iterdir()]
    except OSError:
        return []


@cache
def _may_raise_priority() -> bool:
    """Return whether a priority that was lowered can be raised again: tried in a thread."""
    if sys.platform != "linux":
        return False
    with ThreadPoolExecutor(1) as trial:
        return trial.submit(_lower_and_raise).result()


def _lower_and_raise() -> bool:
    own = threading.get_native_id()
    before = os.getpriority(os.PRIO_PROCESS, own)
    try:
        os.setpriority(os.PRIO_PROCESS, own, LAST)
        os.setpriority(os.PRIO_PROCESS, own, before)
    except OSError:
        return False
    return True
