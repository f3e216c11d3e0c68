"""Servers that behave as a test wants, and a generator process that serves several tests."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sizebook.hosts.guard import Guard
from sizebook.hosts.local import LocalHost
from sizebook.load.control import LOCUSTFILES, GeneratorClient

Script = Callable[[socket.socket, int], None]


class ScriptedServer:
    """Runs a script for each connection; the script gets the connection and its number."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self.connections = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(
                target=self._serve, args=(connection, self.connections - 1), daemon=True
            ).start()

    def _serve(self, connection: socket.socket, number: int) -> None:
        with connection, contextlib.suppress(OSError):
            self._script(connection, number)

    def close(self) -> None:
        self._listener.close()


def read_request(connection: socket.socket) -> bytes:
    """Return one request without its body, empty at the end of the stream."""
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return b""
        data += piece
    return data


@pytest.fixture
def scripted() -> Iterator[Callable[[Script], ScriptedServer]]:
    servers: list[ScriptedServer] = []

    def start(script: Script) -> ScriptedServer:
        servers.append(ScriptedServer(script))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


class CountingServer:
    """An HTTP server on asyncio that counts, and misbehaves where its paths say so.

    ``/`` answers 1024 bytes, ``/wrong`` a 500 every fifth time, ``/drop`` closes the connection
    unanswered every seventh time, ``/never`` never answers. A path in ``answers`` gives what its
    function makes of the request's head, byte for byte; "Connection: close" in it is kept to.
    """

    def __init__(self) -> None:
        self.requests = 0
        self.connections = 0
        self.dropped = 0
        self.pages: dict[str, tuple[str, bytes]] = {}
        """Further pages: path to content type and body."""
        self.answers: dict[str, Callable[[bytes], bytes]] = {}
        self.writers: list[asyncio.StreamWriter] = []
        """Of each connection."""
        self.frozen_ns = (0, 0)
        """When it stood still, from and to; CLOCK_MONOTONIC."""
        self._freeze: tuple[int, float] | None = None
        self.paths: Counter[str] = Counter()
        """How often each path was asked for, without its query."""
        self._loop = asyncio.new_event_loop()
        self._started = threading.Event()
        self.port = 0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()
        assert self._started.wait(60)
        self.url = f"http://127.0.0.1:{self.port}"

    def freeze_at(self, request: int, length_s: float) -> None:
        """Stop the whole server at a request, as a long garbage collection would.

        It answers that request and all later ones after ``frozen_ns``, which is exact.
        """
        self._freeze = request, length_s

    def close(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(60)

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        server = self._loop.run_until_complete(
            asyncio.start_server(self._serve, "127.0.0.1", 0, backlog=500)
        )
        self.port = server.sockets[0].getsockname()[1]
        self._started.set()
        self._loop.run_forever()
        tasks = asyncio.all_tasks(self._loop)
        for task in tasks:
            task.cancel()
        self._loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
        server.close()
        self._loop.run_until_complete(asyncio.sleep(0))
        self._loop.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.writers.append(writer)
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                path = head.split(b" ", 2)[1].decode()
                self.requests += 1
                if self._freeze is not None and self.requests == self._freeze[0]:
                    begin_ns = time.monotonic_ns()
                    time.sleep(self._freeze[1])
                    self.frozen_ns = begin_ns, time.monotonic_ns()
                bare = path.partition("?")[0]
                self.paths[bare] += 1
                if bare in self.answers:
                    answer = self.answers[bare](head)
                    writer.write(answer)
                    if b"Connection: close" in answer:
                        return
                    continue
                status, kind, body = "200 OK", "text/plain", b"x" * 1024
                if path == "/never":
                    await asyncio.sleep(60)
                if path == "/wrong" and self.requests % 5 == 0:
                    status = "500 Oops"
                if path == "/drop" and self.requests % 7 == 0:
                    self.dropped += 1
                    return
                if path in self.pages:
                    kind, body = self.pages[path]
                writer.write(
                    f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n"
                    f"Content-Length: {len(body)}\r\n\r\n".encode()
                    + body
                )
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()


@pytest.fixture
def server() -> Iterator[CountingServer]:
    counting = CountingServer()
    yield counting
    counting.close()


@pytest.fixture
def other() -> Iterator[CountingServer]:
    """A second server, which no load is sent to."""
    counting = CountingServer()
    yield counting
    counting.close()


@pytest.fixture(scope="session")
def host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalHost]:
    guard = Guard(tmp_path_factory.mktemp("ledger"))
    yield LocalHost(guard)
    guard.close()


@pytest.fixture(scope="session")
def locustfiles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("locustfiles")


@pytest.fixture(scope="session")
def generator(
    host: LocalHost, locustfiles: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[GeneratorClient]:
    """One process for all tests that do not harm it; it reads ``locustfiles``."""
    log_dir = tmp_path_factory.mktemp("log")
    with GeneratorClient(host, sys.executable, log_dir, locustfiles=locustfiles) as running:
        yield running


@pytest.fixture(scope="module")
def own(host, tmp_path_factory):
    """A generator of the project's own load profiles, one for the tests of a module."""
    log_dir = tmp_path_factory.mktemp("log")
    with GeneratorClient(host, sys.executable, log_dir, locustfiles=LOCUSTFILES) as running:
        yield running
