"""One measurement at a time on a machine.

What is locked is no file but the kernel's own time namespace, as ``/proc/self/ns`` shows it: users,
containers, other file systems, networks and temporary folders of this kernel share it, nobody can
delete or replace it, and it is opened for reading alone, so that nothing can be written over. The
kernel frees it when the holder ends in any way.

Tests, which measure beside each other and judge no time, set ``SIZEBOOK_NOT_ALONE``. They hold the
machine together, never beside a measurement that is alone; what they measure is marked, and
neither measured in a profile that can be published nor published.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

import psutil

from sizebook.model.errors import HostLacksError, MeasurementLockedError, UsageError

NOT_ALONE = "SIZEBOOK_NOT_ALONE"
"""Environment variable by which a measurement does without having the machine to itself."""
ALONE = "alone"
"""Fact of a trial's record: false where other measurements may have run; else it is not there."""
_BESIDE_OTHERS = 5.0
_NAMESPACES = Path("/proc/self/ns")
_KINDS = ("time", "user")
"""The first that the kernel has: container programs leave the time alone, and often the users."""
_LOCKS = Path("/proc/locks")
_MARK = "/memfd:sizebook: "
_MOST_WORDS = 200


def patience() -> float:
    """Return how often the usual time a start may take: more where others measure meanwhile."""
    return _BESIDE_OTHERS if os.environ.get(NOT_ALONE) else 1.0


def machine_wide() -> Path:
    """Return what all measurements on this machine lock. Raises HostLacksError if there is none."""
    found = next((path for kind in _KINDS if (path := _NAMESPACES / kind).exists()), None)
    if found is None:
        raise HostLacksError(
            found=f"no {' or '.join(_KINDS)} in {_NAMESPACES}",
            expected="Linux with /proc: measurements take turns by it",
            next_step="mount /proc, or measure on another machine",
        )
    return found


@contextlib.contextmanager
def measurement_lock(
    purpose: str, state: Path | None = None, *, place: Path | None = None
) -> Iterator[bool]:
    """Hold the machine for a measurement; gives whether it is held alone.

    ``state`` is the folder of a project that the measurement writes in: one measurement at a time
    does, alone on the machine or not. Raises MeasurementLockedError, naming the holder, if another
    measurement runs.
    """
    alone = not os.environ.get(NOT_ALONE)
    with contextlib.ExitStack() as undo:
        undo.enter_context(_signed(purpose))
        how = fcntl.LOCK_EX if alone else fcntl.LOCK_SH
        undo.enter_context(_locked(place or machine_wide(), how, "on this machine"))
        if state is not None:
            state.mkdir(parents=True, exist_ok=True)
            undo.enter_context(_locked(state, fcntl.LOCK_EX, "in this folder"))
        yield alone


def need_alone(alone: bool, what: str) -> None:
    """Raise UsageError unless the machine is held alone; ``what`` is to be measured."""
    if not alone:
        raise UsageError(
            found=f"{what} with {NOT_ALONE} set",
            expected="the profile smoke: beside other measurements no speed can be measured",
            next_step=f"unset {NOT_ALONE}, which is for tests",
        )


@contextlib.contextmanager
def _locked(place: Path, how: int, where: str) -> Iterator[None]:
    descriptor = os.open(place, os.O_RDONLY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(descriptor, how | fcntl.LOCK_NB)
        except OSError as error:
            holder = _holder(os.fstat(descriptor))
            raise MeasurementLockedError(
                found=f"another measurement {where} ({holder})",
                expected="one measurement at a time, since two disturb each other",
                next_step="wait until it ends, or stop it by Ctrl-C where it runs",
            ) from error
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _signed(purpose: str) -> Iterator[None]:
    """Let others read in this process's open files what it is doing; no file is written."""
    words = f"{purpose}, since {time.strftime('%Y-%m-%d %H:%M:%S')}"
    name = _MARK.removeprefix("/memfd:") + words.encode()[:_MOST_WORDS].decode(errors="ignore")
    descriptor = os.memfd_create(name, os.MFD_CLOEXEC)
    try:
        yield
    finally:
        os.close(descriptor)


def _holder(held: os.stat_result) -> str:
    """Return who holds a lock, as the kernel tells it."""
    device = f"{os.major(held.st_dev):02x}:{os.minor(held.st_dev):02x}:{held.st_ino}"
    try:
        lines = [line.split() for line in _LOCKS.read_text().splitlines()]
    except OSError:
        lines = []
    for _, kind, *_, pid, place, _begin, _end in (line for line in lines if len(line) == 8):
        if (kind, place) == ("FLOCK", device) and int(pid) > 0:
            return f"process {pid}, {_doing(int(pid))}"
    return "holder unknown: another container's, or another user's"


def _doing(pid: int) -> str:
    """Return what a process says that it is doing, or where that cannot be read, its command."""
    with contextlib.suppress(OSError):
        for each in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):  # closed meanwhile
                name = str(each.readlink())
                if name.startswith(_MARK):
                    return name.removeprefix(_MARK).removesuffix(" (deleted)")
    with contextlib.suppress(psutil.Error):
        return " ".join(psutil.Process(pid).cmdline())[:_MOST_WORDS] or "unknown"
    return "unknown"
