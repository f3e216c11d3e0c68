"""Paths that a user names for something to be written: what is wrong with one is one message."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from sizebook.model.errors import UsageError


@contextlib.contextmanager
def writing(target: Path, next_step: str = "choose another place") -> Iterator[None]:
    """Turn what the system says against writing to a path into UsageError, which names it."""
    try:
        yield
    except (OSError, shutil.Error) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(
            found=f"{target}, which cannot be written: {reason}",
            expected="a place that can be written, with room for it",
            next_step=next_step,
        ) from error


def make_folder(path: Path, next_step: str = "choose another folder") -> None:
    """Make a folder that the user named, unless it is there, and see that files can be made in it.

    Raises UsageError if not.
    """
    with writing(path, next_step):
        path.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=path).close()
