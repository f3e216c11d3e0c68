"""One measurement at a time on a machine."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from sizebook.model.errors import MeasurementLockedError


def lock_path() -> Path:
    """Return the lock file that all checkouts and users of this machine share."""
    return Path(tempfile.gettempdir()) / "sizebook-measurement.lock"


@contextlib.contextmanager
def measurement_lock(purpose: str, path: Path | None = None) -> Iterator[None]:
    """Hold the machine for a measurement; the system frees it when the holder ends in any way.

    Raises MeasurementLockedError, naming the holder, if another measurement runs.
    """
    path = path or lock_path()
    descriptor = _open(path)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            holder = os.pread(descriptor, 400, 0).decode(errors="replace").strip()
            raise MeasurementLockedError(
                found=f"another measurement on this machine ({holder or 'holder unknown'})",
                expected="one measurement at a time, since two disturb each other",
                next_step="wait until it ends, or stop it by Ctrl-C where it runs",
            ) from error
        since = time.strftime("%Y-%m-%d %H:%M:%S")
        with contextlib.suppress(OSError):  # another user's lock file may be read-only to us
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, f"process {os.getpid()}, {purpose}, since {since}".encode(), 0)
        yield
    finally:
        os.close(descriptor)


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_RDWR)
    except FileNotFoundError:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o666)
        with contextlib.suppress(OSError):
            os.fchmod(descriptor, 0o666)
        return descriptor
    except PermissionError:
        return os.open(path, os.O_RDONLY)  # flock needs no write permission
