"""Nothing outlives the harness: a small process ends what a killed harness left behind.

The harness tells the guard each process that it starts. When the pipe between them closes because
the harness is gone, for whatever reason, the guard ends what is still registered, newest first. A
process is known by its id *and* its start time, so that a reused id is never hit. A harness that is
killed between starting a process and registering it has announced the command, and the guard looks
for that among the harness's children. What is no process, such as a name space of the network, is
promised to be undone by a command before it is made.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

Entry = tuple[int, float]
"""Process id and its start time in seconds since the epoch."""
_UNDO_S = 30.0


@dataclass(frozen=True)
class Promise:
    """Something to undo."""

    command: tuple[str, ...]
    """Does no harm where there is nothing to undo."""


class Guard:
    """The harness's side: register what was started, forget what was ended.

    A ledger on disk holds the same entries, for the case that harness and guard were both killed;
    ``sweep`` then ends what is left at the next start.
    """

    def __init__(self, ledger_dir: Path) -> None:
        ledger_dir.mkdir(parents=True, exist_ok=True)
        self._ledger = ledger_dir / f"processes-{os.getpid()}.txt"
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__)), str(self._ledger)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        self._telling = threading.Lock()
        self._numbers = itertools.count()

    @contextlib.contextmanager
    def announced(self, command: Sequence[str]) -> Iterator[None]:
        """Within this context the command is started and registered.

        Left by an error, such as Ctrl-C in the middle, the command stays announced.
        """
        number = next(self._numbers)
        self._tell(f"expect {number} {json.dumps([time.time(), *command])}")
        yield
        self._tell(f"settle {number}")

    def register(self, pid: int) -> None:
        """Have the process ended when the harness is gone."""
        with contextlib.suppress(psutil.NoSuchProcess):
            self._tell(f"add {pid} {psutil.Process(pid).create_time():.2f}", written=True)

    def forget(self, pid: int) -> None:
        """The process has ended."""
        self._tell(f"drop {pid}")

    def promise(self, undo: Sequence[str]) -> int:
        """Have something undone by a command when the harness is gone; return the promise's number.

        To be said before the thing is made.
        """
        number = next(self._numbers)
        self._tell(f"promise {number} {json.dumps(list(undo))}", written=True)
        return number

    def keep(self, number: int) -> None:
        """What was promised has been done."""
        self._tell(f"kept {number}")

    def close(self) -> None:
        """End everything that is still registered, then the guard itself."""
        if self._process.stdin and not self._process.stdin.closed:
            with contextlib.suppress(BrokenPipeError):
                self._process.stdin.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._process.stdout:
            self._process.stdout.close()

    def _tell(self, line: str, *, written: bool = False) -> None:
        """Tell the guard a line; with ``written`` return when it stands in the ledger."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with self._telling, contextlib.suppress(BrokenPipeError, ValueError):
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
            if written:
                self._process.stdout.readline()


def sweep(ledger_dir: Path, patience_s: float = 30.0) -> int:
    """End what earlier, killed harnesses left; return how many processes and promises that were.

    A guard that is still ending what its harness left is waited for, ``patience_s`` at most.
    """
    ended = 0
    deadline = time.monotonic() + patience_s
    for ledger in ledger_dir.glob("processes-*.txt"):
        owner = int(ledger.stem.split("-")[1])
        while (at_work := _guard_is_at_work(ledger)) and not psutil.pid_exists(owner):
            if time.monotonic() > deadline:
                break
            time.sleep(0.05)
        if at_work:
            continue
        if owner != os.getpid():
            ended += undo_all(_read(ledger))
            ledger.unlink(missing_ok=True)
    return ended


def undo_all(left: Iterable[Entry | Promise], grace_s: float = 5.0) -> int:
    """End processes and keep promises, newest first; return how many there were."""
    done = 0
    for one in reversed(list(left)):
        if not isinstance(one, Promise):
            done += end_all([one], grace_s)
            continue
        done += 1
        with contextlib.suppress(OSError, subprocess.TimeoutExpired):
            subprocess.run(
                one.command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=_UNDO_S,
                check=False,
            )
    return done


def end_all(entries: Iterable[Entry], grace_s: float = 5.0) -> int:
    """Terminate, then kill, the processes with their children; return how many there were."""
    ended = 0
    for pid, started in reversed(list(entries)):
        try:
            process = psutil.Process(pid)
            if abs(process.create_time() - started) > 1.0:
                continue
            family = [process, *process.children(recursive=True)]
        except psutil.NoSuchProcess:
            continue
        ended += 1
        _signal(family, signal.SIGTERM)
        _signal(family, signal.SIGCONT)  # what was suspended does not hear the first
        alive = _await_end(family, grace_s)
        _signal(alive, signal.SIGKILL)
        _await_end(alive, grace_s)
    return ended


def _await_end(processes: list[psutil.Process], within_s: float) -> list[psutil.Process]:
    """Wait until each process has ended, ``within_s`` at most; return those that have not."""
    deadline = time.monotonic() + within_s
    while (alive := [one for one in processes if _runs(one)]) and time.monotonic() < deadline:
        time.sleep(0.02)
    return alive


def _runs(process: psutil.Process) -> bool:
    """Return whether a process has not ended; one that nobody has waited for yet has."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def _signal(processes: Iterable[psutil.Process], number: signal.Signals) -> None:
    for process in processes:
        with contextlib.suppress(psutil.NoSuchProcess):
            process.send_signal(number)


def _read(ledger: Path) -> list[Entry | Promise]:
    """Return what a ledger holds: lines such as ``4711 1700000000.25`` and ``["rmdir", "x"]``."""
    left: list[Entry | Promise] = []
    with contextlib.suppress(OSError, ValueError):
        for line in ledger.read_text().splitlines():
            if line.startswith("["):
                left.append(Promise(tuple(map(str, json.loads(line)))))
            else:
                pid, started = line.split()
                left.append((int(pid), float(started)))
    return left


def _write(ledger: Path, left: Iterable[Entry | Promise]) -> None:
    """Write a ledger, whole or not at all: a killed guard leaves the one before."""
    lines = [
        json.dumps(one.command) + "\n" if isinstance(one, Promise) else f"{one[0]} {one[1]:.2f}\n"
        for one in left
    ]
    partial = ledger.with_suffix(".new")
    partial.write_text("".join(lines))
    partial.replace(ledger)


def _guard_is_at_work(ledger: Path) -> bool:
    for process in psutil.process_iter(["cmdline"]):
        command = process.info["cmdline"] or []
        if str(Path(__file__)) in command and str(ledger) in command:
            return True
    return False


def _find(announced: Iterable[Sequence[Any]], harness: int) -> list[Entry]:
    """Return the harness's children that run a command, or what its first words led to, since then.

    Whoever takes over the children of a harness that is gone takes over this process as well. A
    command of the same words with another parent is another harness's.
    """
    found = []
    for process in psutil.process_iter(["cmdline", "create_time", "ppid"]):
        words, started = process.info["cmdline"] or [], process.info["create_time"]
        if not words or process.info["ppid"] not in (harness, os.getppid()):
            continue
        for since, *command in announced:
            if command[-len(words) :] == words and started >= since - 1.0:
                found.append((process.pid, started))
    return found


def _main(ledger: Path) -> None:
    """Be the guard: follow standard input until it ends, then end what is registered."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    harness = os.getppid()
    left: dict[str, Entry | Promise] = {}
    announced: dict[str, list[Any]] = {}
    for line in sys.stdin:
        match line.split(maxsplit=2):
            case "expect", number, command:
                announced[number] = json.loads(command)
                continue
            case "settle", number:
                announced.pop(number, None)
                continue
            case "add", pid, started:
                left[f"process {pid}"] = int(pid), float(started)
            case "drop", pid:
                left.pop(f"process {pid}", None)
            case "promise", number, command:
                left[f"promise {number}"] = Promise(tuple(json.loads(command)))
            case "kept", number:
                left.pop(f"promise {number}", None)
        _write(ledger, left.values())
        if line.startswith(("add", "promise")):
            with contextlib.suppress(OSError):  # nobody may be there to hear it
                os.write(1, b"\n")
    time.sleep(0.2)  # a harness that ends in good order is just stopping them itself
    undo_all([*left.values(), *_find(announced.values(), harness)])
    ledger.unlink(missing_ok=True)


if __name__ == "__main__":
    _main(Path(sys.argv[1]))
