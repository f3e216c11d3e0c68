"""Files that somebody else may have put there: plain ones only, opened without being led astray."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from sizebook.model.errors import UsageError

_KINDS = (
    (stat.S_ISDIR, "a folder"),
    (stat.S_ISFIFO, "a named pipe"),
    (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"),
    (stat.S_ISBLK, "a device"),
)


def open_plain(path: Path, *, follow: bool = False) -> int:
    """Return a descriptor to read a plain file; the caller closes it.

    Raises OSError for a folder, a device, a socket, for a named pipe, which would otherwise hold
    the reader until somebody writes to it, and, unless it is to ``follow``, for a symbolic link.
    """
    flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    descriptor = os.open(path, flags)
    mode = os.fstat(descriptor).st_mode
    if not stat.S_ISREG(mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, f"{_kind(mode)}, not a plain file", str(path))
    return descriptor


def read_plain(path: Path, most_bytes: int, *, follow: bool = False) -> bytes:
    """Return what a plain file holds, up to one byte more than ``most_bytes``.

    Raises OSError as ``open_plain`` does. A longer answer than ``most_bytes`` says that the file
    is too long, however long it is.
    """
    with os.fdopen(open_plain(path, follow=follow), "rb") as source:
        return source.read(most_bytes + 1)


def need_plain(path: Path, what: str) -> None:
    """Raise UsageError unless a path that the user named leads to a plain file that is there.

    ``what`` is expected there, such as "a GC log". Nothing is opened, so nothing can hang; links
    are followed.
    """
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        words = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            found=f"{path}: {words}", expected=f"{what} in a file", next_step="correct its name"
        ) from error
    if not stat.S_ISREG(mode):
        raise UsageError(
            found=f"{path}, which is {_kind(mode)}",
            expected=f"{what} in a plain file",
            next_step="save what it gives in a file, and name that",
        )


def _kind(mode: int) -> str:
    return next((words for is_kind, words in _KINDS if is_kind(mode)), "something else")


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
