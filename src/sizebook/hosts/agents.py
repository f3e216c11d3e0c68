"""The harness's end of the line to an agent: orders and answers, news, files.

The other end is ``inside/agent.py``. One connection carries JSON lines; each order has a number and
gets one answer, and between the answers comes news of processes that have ended. Files travel on
connections of their own, in chunks between JSON lines, so that a long copy delays no order.
"""

from __future__ import annotations

import contextlib
import itertools
import json
import socket
import stat
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from sizebook.model.errors import TrialError

_CHUNK = 1 << 20
_ANSWER_S = 60.0
_PAUSE_S = 0.02
_LOOK_S = 0.5
"""Seconds of silence after which is looked whether the host is still there."""


@dataclass(frozen=True)
class Endpoint:
    """Where an agent listens, and what it wants to hear first."""

    address: str
    port: int
    token: str
    tunnel: Path | None = None
    """Socket of this machine that leads to it, where the network does not."""

    def connect(self, timeout_s: float) -> socket.socket:
        """Return a connection. Raises OSError."""
        if self.tunnel is not None:
            connection = socket.socket(socket.AF_UNIX)
            connection.settimeout(timeout_s)
            connection.connect(str(self.tunnel))
            return connection
        connection = socket.create_connection((self.address, self.port), timeout_s)
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection


class AgentRefusedError(TrialError):
    """The agent was reached and could not do what it was asked."""

    def __init__(self, what: str, reason: str) -> None:
        super().__init__(
            found=f"{what}: {reason}",
            expected="a host that can do it",
            next_step="look at the logs of the host and of the process",
        )
        self.reason = reason


class AgentLine:
    """A claimed agent. It ends all that it started when this line is closed or lost."""

    def __init__(
        self,
        endpoint: Endpoint,
        name: str,
        connection: socket.socket,
        why_ended: Callable[[], str | None],
    ) -> None:
        """``connection`` is fresh; raises OSError if the agent does not take us as its owner.

        ``why_ended`` tells why the host has ended, None while it runs: the connection to a host
        whose network has ended with it is silent, not closed.
        """
        self._endpoint = endpoint
        self._name = name
        self._why_ended = why_ended
        self._connection = connection
        self._stream = connection.makefile("rb")
        self._sending = threading.Lock()
        self._news = threading.Condition()
        self._numbers = itertools.count(1)
        self._waiting: set[int] = set()
        self._answers: dict[int, dict[str, Any]] = {}
        self._ended: dict[int, int] = {}
        self._lost = ""
        self._send({"do": "own", "token": endpoint.token})
        try:
            self.facts: dict[str, Any] = json.loads(self._stream.readline())["ok"]
        except (ValueError, KeyError) as error:
            raise ConnectionRefusedError("the agent did not take this harness's word") from error
        connection.settimeout(None)
        self._reader = threading.Thread(target=self._read, name=f"agent of {name}", daemon=True)
        self._reader.start()

    @property
    def is_lost(self) -> bool:
        """Whether the agent can no longer be reached."""
        return bool(self._lost)

    def ask(self, what: str, **words: Any) -> Any:
        """Return the answer to an order.

        Raises AgentRefusedError if it could not be carried out, TrialError if there is no answer.
        """
        number = next(self._numbers)
        with self._news:
            self._waiting.add(number)
        try:
            self._send({"id": number, "do": what, **words})
        except OSError as error:
            self._lose(str(error))
        with self._news:
            self._await(lambda: number in self._answers, _ANSWER_S)
            self._waiting.discard(number)
            answer = self._answers.pop(number, None)
        if answer is None:
            raise self._no_answer()
        if "error" in answer:
            raise AgentRefusedError(f"{what} on host {self._name}", answer["error"])
        return answer["ok"]

    def exit_code(self, key: int) -> int | None:
        """Return how the process of that key ended; None while it runs.

        What ran on a host that is lost has ended with it, as if killed.
        """
        if key not in self._ended:
            self._look()
        return self._ended.get(key, -9 if self._lost else None)

    def await_end(self, key: int, timeout_s: float) -> int | None:
        """Return how the process ended as soon as that is known, None when the time is over."""
        with self._news:
            self._await(lambda: key in self._ended, timeout_s)
        return self.exit_code(key)

    def put(self, source: Path, target: Path, owner: int | None) -> None:
        """Copy a file or folder onto the host. Raises OSError if it cannot be read here."""
        with self._carrying("put") as stream:
            send_tree(stream, source, target, owner)

    def bring(self, folder: Path, target: Path, states: dict[str, list[int]]) -> None:
        """Copy to ``target`` what is new or appended below a folder; ``states`` remembers it."""
        with self._carrying("bring", folder=str(folder), have=states) as stream:
            while "end" not in (item := self._next(stream)):
                relative = PurePosixPath(item["path"])
                if relative.is_absolute() or ".." in relative.parts:
                    raise AgentRefusedError("bring", f"path {item['path']!r} outside of {folder}")
                path = target / relative
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("r+b" if item["begin"] and path.exists() else "wb") as file:
                    file.seek(item["begin"])
                    while size := self._next(stream)["bytes"]:
                        file.write(stream.read(size))
                    file.truncate()
                states[item["path"]] = item["state"]

    def close(self) -> None:
        """Leave the agent, which ends everything there."""
        self._lose("it was closed")
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_RDWR)
        self._reader.join(5)
        self._connection.close()

    def _send(self, message: Mapping[str, Any]) -> None:
        with self._sending:
            self._connection.sendall(json.dumps(message).encode() + b"\n")

    def _read(self) -> None:
        reason = "the connection was closed"
        try:
            for line in self._stream:
                message = json.loads(line)
                with self._news:
                    if "ended" in message:
                        self._ended[message["ended"]] = message["code"]
                    elif message["id"] in self._waiting:
                        self._answers[message["id"]] = message
                    self._news.notify_all()
        except (OSError, ValueError, KeyError) as error:
            reason = str(error)
        self._lose(reason)

    def _await(self, there: Callable[[], bool], timeout_s: float) -> None:
        """Wait until it is there, the host is lost, or the time is over; ``_news`` is held."""
        deadline = time.monotonic() + timeout_s
        while not there() and not self._lost and (left_s := deadline - time.monotonic()) > 0:
            if not self._news.wait(min(left_s, _LOOK_S)):
                self._look()

    def _look(self) -> None:
        if not self._lost and (reason := self._why_ended()):
            self._lose(reason)

    def _lose(self, reason: str) -> None:
        with self._news:
            self._lost = self._lost or reason or "lost"
            self._news.notify_all()

    def _no_answer(self) -> TrialError:
        return TrialError(
            found=f"host {self._name} does not answer ({self._lost or f'for {_ANSWER_S:g} s'})",
            expected="a host that runs until it is closed",
            next_step="look at the host's own log, and whether it ran out of memory",
        )

    @contextlib.contextmanager
    def _carrying(self, what: str, **words: Any) -> Iterator[IO[bytes]]:
        """Give the stream of a new connection for files; what the agent says last is checked."""
        if self._lost:
            raise self._no_answer()
        try:
            with (
                self._endpoint.connect(_ANSWER_S) as connection,
                connection.makefile("rwb") as both,
            ):
                stream = cast(IO[bytes], both)
                _say(stream, {"do": what, "token": self._endpoint.token, **words})
                yield stream
                if what == "put":
                    _say(stream, {"end": True})
                    connection.shutdown(socket.SHUT_WR)
                    self._next(stream)
        except (ConnectionError, TimeoutError, EOFError) as error:
            raise self._no_answer() from error

    def _next(self, stream: IO[bytes]) -> dict[str, Any]:
        """Return the next line of a file connection. Raises EOFError if it was cut."""
        line = stream.readline()
        if not line:
            raise EOFError
        message: dict[str, Any] = json.loads(line)
        if "error" in message:
            raise AgentRefusedError(f"files of host {self._name}", message["error"])
        return message


def claim_agent(
    endpoint: Endpoint, name: str, why_ended: Callable[[], str | None], timeout_s: float
) -> AgentLine:
    """Wait until an agent listens and become its owner.

    ``why_ended`` tells why the host has ended, None while it runs. Raises TrialError if it does,
    or does not answer in time.
    """
    deadline = time.monotonic() + timeout_s
    while True:
        try:
            connection = endpoint.connect(1.0)
            try:
                connection.settimeout(max(5.0, deadline - time.monotonic()))
                return AgentLine(endpoint, name, connection, why_ended)
            except BaseException:
                connection.close()
                raise
        except OSError as error:
            died = why_ended()
            if died is None and time.monotonic() < deadline:
                time.sleep(_PAUSE_S)
                continue
            raise TrialError(
                found=f"host {name} is not up: {died or error}",
                expected=f"a host that answers within {timeout_s:g} s",
                next_step="see 'sizebook doctor' for its mode, and the host's own log",
            ) from error


def send_tree(stream: IO[bytes], source: Path, target: Path, owner: int | None = None) -> None:
    """Send a file or folder for ``inside.files.receive``, all but the end. Raises OSError."""
    for path, relative in _walk(source):
        _send_item(stream, path, target / relative, owner)


def _walk(source: Path) -> Iterator[tuple[Path, Path]]:
    """Yield a file, or a folder and all below it, with the path from there; folders first."""
    yield source, Path()
    if source.is_dir() and not source.is_symlink():
        for path in sorted(source.rglob("*")):
            yield path, path.relative_to(source)


def _send_item(stream: IO[bytes], path: Path, target: Path, owner: int | None) -> None:
    found = path.lstat()
    item: dict[str, Any] = {"path": str(target), "owner": owner, "mtime_ns": found.st_mtime_ns}
    item["mode"] = stat.S_IMODE(found.st_mode)
    if stat.S_ISLNK(found.st_mode):
        _say(stream, item | {"kind": "link", "to": str(path.readlink())})
    elif stat.S_ISDIR(found.st_mode):
        _say(stream, item | {"kind": "folder"})
    elif stat.S_ISREG(found.st_mode):
        _say(stream, item | {"kind": "file"})
        with path.open("rb") as file:
            while chunk := file.read(_CHUNK):
                _say(stream, {"bytes": len(chunk)})
                stream.write(chunk)
        _say(stream, {"bytes": 0})


def _say(stream: IO[bytes], message: Mapping[str, Any]) -> None:
    stream.write(json.dumps(message).encode() + b"\n")
    stream.flush()
