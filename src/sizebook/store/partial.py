"""Folders that are not complete yet: what killed writers left of them is removed."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import psutil

PARTIAL = ".partial-"
"""How the name of a folder begins that is not complete yet."""
_PARTIAL_NAME = re.compile(r"\.partial-[0-9]{1,9}-[0-9a-f]+")


def remove_partial(folder: Path) -> int:
    """Remove what killed writers left half-written; return how many folders that were."""
    found = [p for p in folder.rglob(f"{PARTIAL}*") if _PARTIAL_NAME.fullmatch(p.name)]
    stale = [p for p in found if p.is_dir() and not p.is_symlink() and not _writer_lives(p)]
    for path in stale:
        shutil.rmtree(path, ignore_errors=True)
    return len(stale)


def _writer_lives(path: Path) -> bool:
    """Return whether the process that the folder is named after is there and older than it."""
    pid = int(path.name.removeprefix(PARTIAL).split("-")[0])
    try:
        born = psutil.Process(pid).create_time()
        return pid != os.getpid() and born <= path.stat().st_mtime + 1.0
    except (psutil.NoSuchProcess, OSError):
        return False
