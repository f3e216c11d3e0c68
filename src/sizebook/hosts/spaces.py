"""Name spaces of the network: how commands and this process itself get into one.

A process in one has interfaces, addresses and ports that nobody else has, and all else in common
with this machine. ``ip netns exec`` is not used: it mounts a new /sys, in which a JVM would not
find the control group whose limits it should keep.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

from sizebook.hosts.ports import bind_port
from sizebook.model.errors import HostLacksError

_CLONE_NEWNET = 0x40000000
_LIBC = ctypes.CDLL(None, use_errno=True)

T = TypeVar("T")


def command_in(space: Path, words: Sequence[str]) -> list[str]:
    """Return the command line that runs a command in a name space, in the same process."""
    return [find_nsenter(), f"--net={space}", *words]


def find_nsenter() -> str:
    """Return the path of the program that enters name spaces. Raises HostLacksError."""
    found = shutil.which("nsenter")
    if found is None:
        raise HostLacksError(
            found="no nsenter on the path",
            expected="util-linux, for hosts with a network of their own",
            next_step="run 'make setup', or install it (Debian: apt-get install util-linux)",
        )
    return found


def run_in(space: Path, work: Callable[[], T]) -> T:
    """Return what ``work`` returns in a name space, in a thread that only it is for.

    What is opened there, such as a socket, stays in the name space. Raises what ``work`` raises,
    and OSError where the name space cannot be entered.
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def enter_and_work() -> None:
        try:
            _enter(space)
            results.append(work())
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=enter_and_work, name=f"in {space.name}", daemon=True)
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


def try_port_in(space: Path) -> Callable[[str, int], int]:
    """Return what tells whether a port is free in a name space, as ``Ports`` wants it."""
    return lambda address, port: run_in(space, lambda: bind_port(address, port))


def _enter(space: Path) -> None:
    """Move this thread, and no other, into a name space. Raises OSError."""
    with space.open("rb") as file:
        if _LIBC.setns(file.fileno(), _CLONE_NEWNET) != 0:
            number = ctypes.get_errno()
            raise OSError(number, os.strerror(number), str(space))
