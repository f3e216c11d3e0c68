"""Files that somebody else may have put there: plain ones only, opened without being led astray."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path


def open_plain(path: Path) -> int:
    """Return a descriptor to read a plain file; the caller closes it.

    Raises OSError for a symbolic link, a folder, a device, a socket and for a named pipe, which
    would otherwise hold the reader until somebody writes to it.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "not a plain file", str(path))
    return descriptor


def read_plain(path: Path, most_bytes: int) -> bytes:
    """Return what a plain file holds, up to one byte more than ``most_bytes``.

    Raises OSError as ``open_plain`` does. A longer answer than ``most_bytes`` says that the file
    is too long, however long it is.
    """
    with os.fdopen(open_plain(path), "rb") as source:
        return source.read(most_bytes + 1)


def plain_size(folder: Path, name: str) -> int | None:
    """Return the size in bytes of a plain file below ``folder``; None if there is none.

    Neither the file nor a folder on the way from ``folder`` to it may be a symbolic link.
    """
    path = folder
    *folders, last = name.split("/")
    try:
        for part in folders:
            path = path / part
            if not stat.S_ISDIR(path.lstat().st_mode):
                return None
        found = (path / last).lstat()
    except (OSError, ValueError):  # ValueError: a NUL in the name
        return None
    return found.st_size if stat.S_ISREG(found.st_mode) else None
