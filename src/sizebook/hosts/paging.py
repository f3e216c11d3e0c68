"""Taking pages of memory away from a process, as the kernel does where memory is short.

Without swap a kernel can only take what has a file behind it. A JVM whose heap is in a file
(``HEAP_IN_FILE``) can therefore be paged on any Linux: what it has written goes to the file, its
pages are given back, and the next access reads them from the disk. Only this process loses pages,
and only those of that file; nothing else on the machine runs short.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

HEAP_IN_FILE = "-XX:AllocateHeapAt=."
"""The flag for a heap in a file without a name, in the folder in which the JVM was started."""

_PROCESS_MADVISE = 440
_MADV_PAGEOUT = 21
_PROC = Path("/proc")
_MAPPING = re.compile(
    r"^([0-9a-f]+)-([0-9a-f]+) rw-s \S+ \S+ [1-9]\d* +\S.* \(deleted\)$", re.MULTILINE
)
"""``f8000000-ffe00000 rw-s 00000000 fe:00 11051055    /folder/#11051055 (deleted)``"""


class _Span(ctypes.Structure):
    _fields_ = (("base", ctypes.c_void_p), ("length", ctypes.c_size_t))


def find_heap_files(maps: str) -> list[tuple[int, int]]:
    """Return begin and end of the mappings of files without a name, from ``/proc/PID/maps``."""
    return [(int(begin, 16), int(end, 16)) for begin, end in _MAPPING.findall(maps)]


def why_not_page() -> str:
    """Return why pages cannot be taken away on this host; empty if they can."""
    if sys.platform != "linux":
        return "only Linux takes single pages of a process away on request"
    if os.geteuid() != 0:
        return "only root may take pages of another process away"
    try:
        with _opened(os.getpid()) as process:
            _give_back(process, 0, 0)
    except OSError as error:
        return f"this kernel does not take pages away on request ({error.strerror})"
    return ""


def page_out(pid: int) -> int:
    """Write a process's nameless files to disk and take their pages away; return their bytes.

    Returns 0 for a process that has no such file. Raises OSError if it is gone, or the kernel
    refuses.
    """
    taken = 0
    with _opened(pid) as process:
        for begin, end in find_heap_files((_PROC / str(pid) / "maps").read_text()):
            _write_back(_PROC / str(pid) / "map_files" / f"{begin:x}-{end:x}")
            _give_back(process, begin, end - begin)
            taken += end - begin
    return taken


def _write_back(file: Path) -> None:
    """Write what was changed: pages that are not on disk yet are not taken away."""
    descriptor = os.open(file, os.O_RDWR)
    try:
        os.fdatasync(descriptor)
    finally:
        os.close(descriptor)


def _give_back(process: int, begin: int, length: int) -> None:
    span = _Span(begin, length)
    call = ctypes.CDLL(None, use_errno=True).syscall
    call.restype = ctypes.c_long
    done = call(
        ctypes.c_long(_PROCESS_MADVISE),
        ctypes.c_int(process),
        ctypes.byref(span),
        ctypes.c_size_t(1),
        ctypes.c_int(_MADV_PAGEOUT),
        ctypes.c_uint(0),
    )
    if done < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


@contextlib.contextmanager
def _opened(pid: int) -> Iterator[int]:
    process = os.pidfd_open(pid)
    try:
        yield process
    finally:
        os.close(process)
