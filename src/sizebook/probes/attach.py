"""Asking a running HotSpot JVM a diagnostic command, without a second JVM to do it.

This is what ``jcmd`` speaks, and small clients such as jattach: a file ``.attach_pidN`` and SIGQUIT
make the JVM listen on a socket ``.java_pidN`` (HotSpot ``attachListener_posix.cpp``); a request is
the protocol's version, a command and three arguments, each ended by a zero byte; the answer is a
status line and text. Java 17 and 25 are tested.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import time
from collections.abc import Iterator
from pathlib import Path

from sizebook.probes.base import Unavailable
from sizebook.probes.jvm import read_status, temporary_of

_PROTOCOL = b"1"
_ARGUMENTS = 3
_MOST_BYTES = 4 << 20
_LISTENS_WITHIN_S = 3.0
_ANSWERS_WITHIN_S = 5.0
_POLL_S = 0.01


def wake_listener(pid: int, proc: Path = Path("/proc")) -> Path:
    """Return the socket of a JVM, also of one in a container; have it listen if it does not yet.

    Takes some 20 ms the first time. A process that does not handle SIGQUIT would be ended by it,
    and is not sent one. Raises Unavailable.
    """
    status = read_status(pid, proc)
    folder, inner = temporary_of(pid, status, proc)
    door = folder / f".java_pid{inner}"
    try:
        if door.is_socket():
            return door
        if not _handles(status, signal.SIGQUIT):
            raise Unavailable(f"process {pid} is no JVM that can be asked (it ignores SIGQUIT)")
        with _trigger(folder / f".attach_pid{inner}"):
            os.kill(pid, signal.SIGQUIT)
            deadline = time.monotonic() + _LISTENS_WITHIN_S
            while not door.is_socket():
                if time.monotonic() > deadline:
                    raise Unavailable(
                        f"process {pid} does not listen (-XX:+DisableAttachMechanism?)"
                    )
                time.sleep(_POLL_S)
    except PermissionError as error:
        raise Unavailable(f"process {pid} is another user's") from error
    except OSError as error:
        raise Unavailable(f"process {pid} cannot be asked: {error}") from error
    return door


def ask_jvm(pid: int, command: str, proc: Path = Path("/proc")) -> str:
    """Return what a JVM answers to a diagnostic command, such as ``VM.native_memory summary``.

    The command runs in the JVM's own thread for it, most at a safepoint. Raises Unavailable if the
    process cannot be asked, or says that the command failed.
    """
    words = [b"jcmd", command.encode(), *[b""] * (_ARGUMENTS - 1)]
    request = b"\0".join([_PROTOCOL, *words]) + b"\0"
    door = wake_listener(pid, proc)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as line:
            line.settimeout(_ANSWERS_WITHIN_S)
            line.connect(str(door))
            line.sendall(request)
            answer = _read_all(line)
    except OSError as error:
        raise Unavailable(f"process {pid} does not answer: {error}") from error
    status, _, text = answer.partition("\n")
    if status.strip() != "0":
        raise Unavailable(f"process {pid} answers {status.strip()[:20]!r}: {text.strip()[:200]}")
    return text


def _read_all(line: socket.socket) -> str:
    parts, size = [], 0
    while part := line.recv(1 << 16):
        parts.append(part)
        size += len(part)
        if size > _MOST_BYTES:
            raise OSError("an answer without end")
    return b"".join(parts).decode(errors="replace")


@contextlib.contextmanager
def _trigger(path: Path) -> Iterator[None]:
    """Have the file there that tells the JVM what SIGQUIT is for; a JVM may remove it itself."""
    with contextlib.suppress(FileExistsError):
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_NOFOLLOW, 0o600))
    try:
        yield
    finally:
        path.unlink(missing_ok=True)


def _handles(status: str, number: int) -> bool:
    """Return whether a process catches a signal, by its ``status``."""
    found = re.search(r"^SigCgt:\s*([0-9a-f]+)$", status, re.MULTILINE)
    return found is not None and bool(int(found[1], 16) >> (number - 1) & 1)
