"""What a virtual machine's processor does when it has nothing to do, while trials are measured.

It halts: it is given back to the host, and must be got again when a thread wakes up. On a host with
other guests that takes from microseconds to milliseconds, counted as stolen time, and a server
whose users think wakes up thousands of times a second. Linux guests can poll a while before they
halt (Documentation/virt/guest-halt-polling.rst); then the next thread finds its processor there.
Polling is accounted as idle. Where the kernel offers it and we may, it is switched on while
measuring, which the machine's facts say; elsewhere nothing is changed.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from sizebook.hosts.guard import Guard

_POLL_NS = 20_000_000
_WANTED = {
    "guest_halt_poll_allow_shrink": "N",
    "guest_halt_poll_grow_start": str(_POLL_NS),
    "guest_halt_poll_ns": str(_POLL_NS),
}
_LIMIT = "guest_halt_poll_ns"
_GOVERNOR = "haltpoll"


def idle_words(root: Path = Path("/")) -> str:
    """Return how idle processors are kept while measuring; empty: as the system has it."""
    return f"polls {_POLL_NS // 1_000_000} ms" if _can_poll(root) else ""


@contextlib.contextmanager
def polling_idle(guard: Guard, root: Path = Path("/")) -> Iterator[None]:
    """Have idle processors poll within this context, where that can be; then as before.

    The guard puts it back if the harness is killed. Who finds it switched on leaves it so.
    """
    folder = _parameters(root)
    if not _can_poll(root) or _read(folder / _LIMIT) == _WANTED[_LIMIT]:
        yield
        return
    before = {name: _read(folder / name) for name in _WANTED}
    lines = [f"echo {value} > {folder / name}" for name, value in before.items()]
    promised = guard.promise(["/bin/sh", "-c", "; ".join(lines)])
    try:
        _write(folder, _WANTED)
        yield
    finally:
        _write(folder, before)
        guard.keep(promised)


def _can_poll(root: Path) -> bool:
    governor = _read(root / "sys/devices/system/cpu/cpuidle/current_governor")
    folder = _parameters(root)
    return governor == _GOVERNOR and all(os.access(folder / name, os.W_OK) for name in _WANTED)


def _parameters(root: Path) -> Path:
    return root / "sys/module/haltpoll/parameters"


def _read(path: Path) -> str:
    try:
        return path.read_text().strip()
    except OSError:
        return ""


def _write(folder: Path, values: Mapping[str, str]) -> None:
    for name, value in values.items():
        with contextlib.suppress(OSError):  # refused by a kernel that is locked down
            (folder / name).write_text(value)
