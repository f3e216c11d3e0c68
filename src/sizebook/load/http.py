"""A lean HTTP/1.1 client on gevent's event loop, one keep-alive connection a client.

Locust's FastHttpUser spends 78 us a request, most of it on request and response objects. Here the
bytes of a request are built once per URL, the head of an answer is parsed once per distinct head
(servers repeat theirs until the second in ``Date`` changes), and one ``Exchange`` is filled again
and again. Time-outs come from one sweep over all clients instead of a timer per wait.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from time import monotonic_ns
from typing import Any, ClassVar

import gevent
import greenlet  # type: ignore[import-untyped]
from gevent.hub import get_hub

from sizebook.hosts.addresses import ATTEMPT_S
from sizebook.load.answer import ClosedByServerError, Exchange, read_answer
from sizebook.load.connection import Connection, connect
from sizebook.load.target import Headers, Target
from sizebook.load.wire import (
    MAX_COOKIES,
    Head,
    ProtocolError,
    build_head,
    is_cookie,
    is_farewell,
)

MAX_BUILT_REQUESTS = 20_000
LOOK_S = 0.01
"""Time between two looks for requests that are out of time."""
IDEMPOTENT = frozenset(("GET", "HEAD", "PUT", "DELETE", "OPTIONS"))
"""Methods that may be sent again when a reused connection turns out closed (RFC 9110, 9.2.2)."""


class RequestInterruptedError(Exception):
    """Thrown into a waiting request from outside; ``error`` is the class it is recorded under."""

    def __init__(self, error: str) -> None:
        self.error = error
        super().__init__(error)


class TimeoutSweep:
    """Times out the requests of all its clients, looking at them every fiftieth of the time-out.

    A timer per wait would cost more than the rest of a request. So a time-out comes up to 2 % late
    (at most 250 ms), never early; the whole exchange counts, not the pause between two packets.
    Each look is at a part of the clients: to go through 20 000 at once stops the loop for 2 ms.
    """

    def __init__(self, timeout_s: float) -> None:
        self.timeout_ns = int(timeout_s * 1e9)
        self.clients: list[HttpClient] = []
        every_s = min(max(timeout_s / 50, 0.005), 0.25)
        self._parts = max(1, round(every_s / LOOK_S))
        self._part = 0
        self._timer = get_hub().loop.timer(every_s / self._parts, every_s / self._parts)
        self._timer.start(self._look)

    def _look(self) -> None:
        now_ns = monotonic_ns()
        self._part = (self._part + 1) % self._parts
        for client in self.clients[self._part :: self._parts]:
            if client.waiting is not None and client.deadline_ns <= now_ns:
                client.interrupt("timeout")

    def interrupt_all(self, error: str) -> None:
        """End every request under way, recorded under this error class."""
        get_hub().loop.run_callback(self._interrupt_all, error)

    def _interrupt_all(self, error: str) -> None:
        for client in self.clients:
            client.interrupt(error)

    def close(self) -> None:
        """Stop looking and close the clients' connections."""
        self._timer.stop()
        self._timer.close()
        for client in self.clients:
            client.close()
        self.clients.clear()


class HttpClient:
    """A connection to one target, with its cookies. One request at a time."""

    _heads: ClassVar[dict[bytes, Head]] = {}
    """Heads seen lately, of all clients: parsing is pure, so they may share."""

    def __init__(
        self,
        target: Target,
        sweep: TimeoutSweep,
        *,
        max_body_bytes: int = 64 * 2**20,
    ) -> None:
        self.target = target
        self.max_body_bytes = max_body_bytes
        self.issued = 0
        """Requests started; counted before anything can go wrong, not where rows are made."""
        self.connects = 0
        self.retries = 0
        """Requests sent again because a kept connection turned out closed before any answer."""
        self.strays = 0
        """Connections that brought bytes which no request had asked for."""
        self.last = Exchange()
        self.waiting: Any = None
        """The greenlet that waits for an answer, None while no request is under way."""
        self.deadline_ns = 0
        self._timeout_ns = sweep.timeout_ns
        self._connection: Connection | None = None
        self._cookies: dict[bytes, bytes] = {}
        self._built = target.built
        sweep.clients.append(self)

    def request(self, method: str, path: str, headers: Headers = (), body: bytes = b"") -> Exchange:
        """Send a request, wait for the whole answer and return it; failures are in ``error``.

        The exchange is valid until the next request. Raises ValueError if the request itself
        cannot be written (blanks or line ends in path or headers), RuntimeError while another
        greenlet's request is under way: their answers could not be told apart.
        """
        if self.waiting is not None:
            raise RuntimeError("a client carries one request at a time; use a client for each")
        wire = self._built.get((method, path, headers)) if not body else None
        if wire is None:
            wire = self._build(method, path, headers, body)
        if self._cookies:
            pairs = b"; ".join(name + b"=" + value for name, value in self._cookies.items())
            cut = wire.index(b"\r\n\r\n") + 2
            wire = wire[:cut] + b"Cookie: " + pairs + b"\r\n" + wire[cut:]
        exchange = self.last
        exchange.status = exchange.received_bytes = exchange.sent_bytes = 0
        exchange.head = None
        exchange.body = b""
        exchange.error = ""
        self.issued += 1
        self.waiting = greenlet.getcurrent()
        exchange.start_ns = start_ns = monotonic_ns()
        self.deadline_ns = start_ns + self._timeout_ns
        try:
            self._exchange(exchange, wire, method)
        except RequestInterruptedError as error:
            exchange.error = error.error
        except ClosedByServerError:
            exchange.error = "reset"
        except ProtocolError:
            exchange.error = "protocol"
        except OSError:
            exchange.error = "connect" if self._connection is None else "reset"
        except BaseException:
            # Thrown in by the locustfile, such as a gevent.Timeout: the answer may still come, and
            # must not become the next request's.
            self.close()
            raise
        finally:
            self.waiting = None
        exchange.end_ns = monotonic_ns()
        head: Head | None = exchange.head
        if exchange.error or head is None or not head.keep_alive:
            self.close()
        if head is not None and head.cookies:
            self._keep_cookies(head)
        return exchange

    def cookie(self, name: str) -> str | None:
        """Return the value of a cookie that the server has set; None if there is none."""
        value = self._cookies.get(name.encode("latin-1", "replace"))
        return None if value is None else value.decode("latin-1")

    def start_anew(self, cookies: Mapping[str, str]) -> None:
        """Be another visitor: with these cookies, and with a connection that is yet to be opened.

        Raises ValueError for a cookie that would break out of its header.
        """
        kept = {}
        for name, value in cookies.items():
            if not is_cookie(name, value):
                raise ValueError(f"cookie {name!r}: a name and a value without ; and line ends")
            kept[name.encode("latin-1")] = value.encode("latin-1")
        self.close()
        self._cookies = kept

    def interrupt(self, error: str) -> bool:
        """End the request under way, if there is one, recorded under this error class.

        To be called from the event loop itself (a timer, ``run_callback``), not from a greenlet.
        """
        waiting = self.waiting
        if waiting is None:
            return False
        waiting.throw(RequestInterruptedError(error))
        return True

    def reach(self) -> None:
        """Find out which of the target's addresses takes connections; none is no error."""
        addresses = len(self.target.addresses)
        with contextlib.suppress(OSError), gevent.Timeout(addresses * ATTEMPT_S, TimeoutError()):
            self._connect()
        self.close()

    def look_for_strays(self) -> None:
        """Count the connection if it holds bytes that no request has asked for, and close it.

        To be called when all requests are over: a server that once sent an answer too many is an
        answer ahead from then on, and what is left at the end is the only trace of it.
        """
        connection = self._connection
        if connection is None or self.waiting is not None:
            return
        if _is_stray(connection.pending()):
            self.strays += 1
            self.close()

    def close(self) -> None:
        """Close the connection; the next request opens another. Cookies stay."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _build(self, method: str, path: str, headers: Headers, body: bytes) -> bytes:
        head = build_head(method, self.target.prefix + path, self.target.host, headers, body)
        wire = head + b"\r\n" + body
        if not body:
            if len(self._built) >= MAX_BUILT_REQUESTS:
                self._built.clear()
            self._built[method, path, headers] = wire
        return wire

    def _keep_cookies(self, head: Head) -> None:
        for name, value in head.cookies:
            if value is None:
                self._cookies.pop(name, None)
            elif name in self._cookies or len(self._cookies) < MAX_COOKIES:
                self._cookies[name] = value

    def _exchange(self, exchange: Exchange, wire: bytes, method: str) -> None:
        repeatable = method in IDEMPOTENT
        kept = self._connection
        if kept is not None and (not kept.watching or not repeatable):
            self._look_at_idle(kept.pending(), repeatable)
        reused = self._connection is not None
        connection = self._connection or self._connect()
        try:
            self._send_and_receive(connection, exchange, wire, method)
        except (ClosedByServerError, ConnectionError):
            if not reused or not repeatable or exchange.received_bytes:
                raise
            self.close()
            self.retries += 1
            self._send_and_receive(self._connect(), exchange, wire, method)

    def _look_at_idle(self, pending: bytes | None, repeatable: bool) -> None:
        """Give up a kept connection at which something came that nobody asked for.

        Raises ProtocolError where that may be an answer: taken for the next request's, it would
        give each later one the answer of the one before.
        """
        if _is_stray(pending):
            self.strays += 1
            self.close()
            raise ProtocolError(f"before the request was sent: {pending!r}")
        if pending or (pending is not None and not repeatable):
            self.close()

    def _connect(self) -> Connection:
        self.connects += 1
        self._connection = connect(self.target, self._timeout_ns * 1e-9)
        return self._connection

    def _send_and_receive(
        self, connection: Connection, exchange: Exchange, wire: bytes, method: str
    ) -> None:
        exchange.sent_bytes = len(wire)
        connection.send(wire)
        data = connection.receive()
        exchange.received_bytes += len(data)
        # The usual case: a head seen before and the whole body in one piece.
        end = data.find(b"\r\n\r\n")
        if end > 0:
            head = self._heads.get(data[:end])
            if head is not None and head.length == len(data) - end - 4 and method != "HEAD":
                exchange.head = head
                exchange.status = head.status
                exchange.body = data[end + 4 :]
                return

        def more() -> bytes:
            data = connection.receive()
            exchange.received_bytes += len(data)
            return data

        read_answer(
            exchange,
            data,
            more,
            method=method,
            known=self._heads,
            max_body_bytes=self.max_body_bytes,
        )


def _is_stray(pending: bytes | None) -> bool:
    return bool(pending) and not is_farewell(pending or b"")
