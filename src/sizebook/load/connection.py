"""One TCP connection on gevent's event loop, with few system calls: what HTTP is spoken over."""

from __future__ import annotations

import _socket
import errno
from typing import Any

import gevent
import greenlet  # type: ignore[import-untyped]
from gevent.hub import get_hub

from sizebook.hosts.addresses import ATTEMPT_S, Address
from sizebook.load.answer import ClosedByServerError
from sizebook.load.target import Target

READ, WRITE = 1, 2
RECEIVE_BYTES = 64 * 1024
PEEK_BYTES = 64


class Connection:
    """An open connection. One greenlet at a time may send or receive."""

    def __init__(self, sock: _socket.socket) -> None:
        """Take over a connected socket that does not block."""
        self.watching = False
        """Whether the event loop tells that there is something to read."""
        self._sock = sock
        self._to_loop = get_hub().switch
        self._readable: Any = get_hub().loop.io(sock.fileno(), READ)
        self._reader: Any = None
        """The greenlet to be woken when there is."""

    def close(self) -> None:
        """Close it."""
        self._readable.stop()
        self._readable.close()
        self.watching = False
        self._sock.close()

    def send(self, wire: bytes) -> None:
        """Send all of it. Raises OSError."""
        sent = self._sock.send(wire)
        if sent == len(wire):  # nearly always
            return
        rest = memoryview(wire)[sent:]
        while rest:
            _wait_writable(self._sock)
            try:
                rest = rest[self._sock.send(rest) :]
            except BlockingIOError:
                continue

    def receive(self) -> bytes:
        """Return what comes next, one byte or more; others run first even where something is there.

        Raises ClosedByServerError at the end of the stream, OSError.
        """
        self._wait_readable()
        while True:
            try:
                data = self._sock.recv(RECEIVE_BYTES)
                break
            except BlockingIOError:
                self._wait_readable()
        if not data:
            raise ClosedByServerError
        return data

    def pending(self) -> bytes | None:
        """Return what can be read without waiting; empty if the server has closed, None: nothing.

        It stays to be read.
        """
        try:
            return self._sock.recv(PEEK_BYTES, _socket.MSG_PEEK)
        except BlockingIOError:
            return None
        except OSError:
            return b""

    def _wait_readable(self) -> None:
        """Wait for input with a watcher that stays on from one answer to the next.

        Switched on and off for each answer, it would cost a system call each.
        """
        if not self.watching:
            self.watching = True
            self._readable.start(self._on_readable)
        self._reader = greenlet.getcurrent()
        try:
            self._to_loop()
        finally:
            self._reader = None

    def _on_readable(self) -> None:
        reader = self._reader
        if reader is not None:
            reader.switch()
            return
        # Nobody asked: the server closes an idle connection, or says more than it should. The next
        # request will see; until then the loop must not tell it again and again.
        self.watching = False
        self._readable.stop()


def connect(target: Target, within_s: float) -> Connection:
    """Connect to the first of the target's addresses that accepts, the one in use first.

    None but the last gets more than its share of ``within_s``. Raises OSError of the last.
    """
    addresses = target.in_order()
    share_s = min(ATTEMPT_S, within_s / len(addresses))
    for left, address in zip(range(len(addresses))[::-1], addresses, strict=True):
        try:
            sock = _connected(address, share_s if left else None)
        except OSError:
            if not left:
                raise
        else:
            break
    if len(addresses) > 1:
        target.accepted(address)
    return Connection(sock)


def _connected(address: Address, within_s: float | None) -> _socket.socket:
    sock = _socket.socket(address.family, _socket.SOCK_STREAM)
    try:
        sock.setblocking(False)
        sock.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
        code = sock.connect_ex(address.where)
        if code in (errno.EINPROGRESS, errno.EWOULDBLOCK):
            with gevent.Timeout(within_s, TimeoutError()):
                _wait_writable(sock)
            code = sock.getsockopt(_socket.SOL_SOCKET, _socket.SO_ERROR)
        if code:
            raise OSError(code, "connect")
    except BaseException:
        sock.close()
        raise
    return sock


def _wait_writable(sock: _socket.socket) -> None:
    watcher = get_hub().loop.io(sock.fileno(), WRITE)
    try:
        get_hub().wait(watcher)
    finally:
        watcher.stop()
        watcher.close()
