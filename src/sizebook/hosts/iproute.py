"""The programs that set up interfaces: ``ip`` and ``tc`` of iproute2, and ``ethtool``."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from sizebook.hosts.spaces import command_in
from sizebook.model.errors import HostLacksError


def find_ip() -> str:
    """Return the path of iproute2's program. Raises HostLacksError."""
    return _find("ip", "iproute2, for networks between hosts", "iproute2")


def ip(*words: str) -> str:
    """Return what ``ip`` says. Raises HostLacksError, with the system's words, if it cannot."""
    return _run(find_ip(), words)


def try_ip(*words: str) -> None:
    """Run ``ip``; what is gone already is no error."""
    subprocess.run([find_ip(), *words], capture_output=True, check=False)


def tc(*words: str) -> str:
    """Return what ``tc``, which shapes traffic, says. Raises HostLacksError."""
    return _run(_find("tc", "iproute2, for links of a given rate", "iproute2"), words)


def ethtool(space: Path | None, *words: str) -> str:
    """Return what ``ethtool`` says in a name space (None: this machine's). Raises HostLacksError.

    It asks the kernel by a socket, so that the name space is the process's own.
    """
    program = _find("ethtool", "ethtool, for links with and without offloads", "ethtool")
    if space is None:
        return _run(program, words)
    command = command_in(space, [program, *words])
    return _run(command[0], command[1:])


def _find(program: str, expected: str, package: str) -> str:
    found = shutil.which(program)
    if found is None:
        raise HostLacksError(
            found=f"no {program} on the path",
            expected=expected,
            next_step=f"run 'make setup', or install it (Debian: apt-get install {package})",
        )
    return found


def _run(program: str, words: Sequence[str]) -> str:
    done = subprocess.run([program, *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        said = done.stderr.strip() or str(done.returncode)
        raise HostLacksError(
            found=f"{Path(program).name} {' '.join(words)}: {said}",
            expected="a system that lets this user make interfaces and name spaces, and shape them",
            next_step="run as root (in a container: with CAP_NET_ADMIN and CAP_SYS_ADMIN)",
        )
    return done.stdout
