"""The lean client against servers that behave well, unusually, and badly."""

from __future__ import annotations

import re
import socket
import struct
import time

import gevent
import pytest
from tests.waiting import HANGS_S

from sizebook.load.connection import Connection
from sizebook.load.expect import Expect
from sizebook.load.http import HttpClient, TimeoutSweep
from sizebook.load.target import resolve
from sizebook.model.errors import TrialError, UsageError

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


def read_head(connection):
    data = b""
    while b"\r\n\r\n" not in data:
        piece = connection.recv(65536)
        if not piece:
            return b""
        data += piece
    return data


def answering(*answers, then_close=True):
    """Return a script that sends these answers in turn to the requests of a connection."""

    def script(connection, number):
        for answer in answers:
            if not read_head(connection):
                return
            connection.sendall(answer)
        if not then_close:
            read_head(connection)

    return script


@pytest.fixture
def connect():
    sweep = TimeoutSweep(1.0)
    yield lambda server, **limits: HttpClient(resolve(server.url), sweep, **limits)
    sweep.close()


def test_connection_is_kept(scripted, connect):
    """Two requests use one connection, and every byte on the wire is counted."""
    server = scripted(answering(OK, OK, then_close=False))
    client = connect(server)
    for _ in range(2):
        exchange = client.request("GET", "/")
        assert (exchange.error, exchange.status, exchange.body) == ("", 200, b"ok")
        assert exchange.received_bytes == len(OK)
        assert exchange.sent_bytes == len(f"GET / HTTP/1.1\r\nHost: {client.target.host}\r\n\r\n")
        assert 0 < exchange.start_ns <= exchange.end_ns <= time.monotonic_ns()
    assert (server.connections, client.connects, client.issued) == (1, 1, 2)


@pytest.mark.parametrize(
    ("answer", "body"),
    [
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", b"ok"),
        (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"1;ext=1\r\no\r\n1\r\nk\r\n0\r\nTrailer: x\r\n\r\n",
            b"ok",
        ),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nok", b"ok"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", b""),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + OK, b"ok"),
        (b"HTTP/1.1 102 Processing\r\n\r\n" * 50 + OK, b"ok"),
        (b"HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n", b""),
    ],
)
def test_kinds_of_bodies(scripted, connect, answer, body):
    """Chunked, up to the close, none, after an interim answer; redirects are not followed."""
    exchange = connect(scripted(answering(answer))).request("GET", "/")
    assert (exchange.error, exchange.body) == ("", body)
    assert exchange.received_bytes == len(answer)


def test_answers_in_any_pieces(scripted, connect):
    """How the network cuts an answer makes no difference."""
    answer = (
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"
    )

    def script(connection, number):
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        read_head(connection)
        for byte in answer:
            connection.sendall(bytes((byte,)))
            time.sleep(0.0002)
        read_head(connection)

    exchange = connect(scripted(script)).request("GET", "/")
    assert (exchange.error, exchange.body) == ("", b"abcde")


def test_a_redirect_is_an_answer(scripted, connect):
    """It is reported with its own status, and nobody goes where it points."""
    moved = b"HTTP/1.1 301 Moved\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n"
    asked = []

    def script(connection, number):
        for answer in (moved, OK):
            asked.append(read_head(connection).split(b" ")[1])
            connection.sendall(answer)

    client = connect(scripted(script))
    exchange = client.request("GET", "/here")
    assert (exchange.error, exchange.status) == ("", 301)
    assert Expect()(exchange) == "status"
    assert Expect(301)(exchange) == ""
    assert client.request("GET", "/next").status == 200
    assert (asked, client.connects) == ([b"/here", b"/next"], 1)


def test_connections_are_kept_after_chunks_and_given_up_after_close(scripted, connect):
    """Chunked answers leave the connection usable; "Connection: close" and HTTP/1.0 end it."""
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n"
    close = OK.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
    old = OK.replace(b"HTTP/1.1", b"HTTP/1.0")
    per_connection = [[chunked, chunked, close], [old], [OK]]

    def script(connection, number):
        for answer in per_connection[number]:
            read_head(connection)
            connection.sendall(answer)
        connection.recv(1)  # the client is the one that closes

    server = scripted(script)
    client = connect(server)
    for _ in range(5):
        exchange = client.request("GET", "/")
        assert (exchange.error, exchange.body) == ("", b"ok")
    assert (server.connections, client.connects, client.retries) == (3, 3, 0)


def test_silence_times_out(scripted):
    """No answer at all is a time-out without a status; the next request gets a new connection."""

    def script(connection, number):
        read_head(connection)
        if number:
            connection.sendall(OK)
        connection.recv(1)

    sweep = TimeoutSweep(0.2)
    client = HttpClient(resolve(scripted(script).url), sweep)
    exchange = client.request("GET", "/")
    assert (exchange.error, exchange.status) == ("timeout", 0)
    assert exchange.end_ns - exchange.start_ns >= 200_000_000
    assert client.request("GET", "/").error == ""
    assert client.connects == 2
    sweep.close()


def test_large_body(scripted, connect):
    """A body of many reads comes whole, over a connection that stays usable."""
    body = bytes(range(256)) * 20_000
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    client = connect(scripted(answering(answer, OK, then_close=False)))
    assert client.request("GET", "/").body == body
    assert client.request("GET", "/").body == b"ok"
    assert client.connects == 1


def test_head_has_no_body(scripted, connect):
    """The length in an answer to HEAD announces what does not come."""
    head = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n"
    client = connect(scripted(answering(head, OK, then_close=False)))
    assert client.request("HEAD", "/").error == ""
    assert client.request("GET", "/").body == b"ok"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"", "reset"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort", "reset"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", "reset"),
        (b"\x16\x03\x01garbage", "protocol"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "protocol"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 99999999\r\n\r\n", "protocol"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-2\r\n", "protocol"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nokay\r\n", "protocol"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffff\r\n", "protocol"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * 9000, "protocol"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"y" * 70_000, "protocol"),
        (b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + b"z" * 300_000, "protocol"),
        (OK + b"and more", "protocol"),
        (b"HTTP/1.1 101 Switching\r\n\r\n", "protocol"),
        ((b"HTTP/1.1 103 Early Hints\r\nLink: " + b"y" * 60_000 + b"\r\n\r\n") * 5, "protocol"),
    ],
)
def test_broken_answers_are_classified(scripted, connect, answer, error):
    """Whatever a server sends, the client neither hangs nor raises, and reconnects."""

    def script(connection, number):
        read_head(connection)
        connection.sendall(answer if number == 0 else OK)

    client = connect(scripted(script), max_body_bytes=100_000)
    exchange = client.request("GET", "/")
    assert exchange.error == error
    assert client.request("GET", "/").error == ""


def test_reset_amid_the_body(scripted, connect):
    """A connection that is reset is a reset, whatever had come."""

    def script(connection, number):
        read_head(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nsome")
        time.sleep(0.05)
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    exchange = connect(scripted(script)).request("GET", "/")
    assert (exchange.error, exchange.status) == ("reset", 200)


def test_endless_answers_time_out(scripted):
    """A drip of bytes does not keep a request alive: its whole exchange has the time-out."""

    def script(connection, number):
        read_head(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        while True:
            connection.sendall(b"x")
            time.sleep(0.005)

    sweep = TimeoutSweep(0.3)
    client = HttpClient(resolve(scripted(script).url), sweep)
    exchange = client.request("GET", "/")
    sweep.close()
    assert exchange.error == "timeout"
    assert 0.3e9 <= exchange.end_ns - exchange.start_ns < HANGS_S * 1e9


def test_firehose_does_not_starve_others(scripted):
    """While a server sends without pause, the time-out and other greenlets still get their turn."""

    def script(connection, number):
        read_head(connection)
        connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
        while True:
            connection.sendall(b"x" * 1_000_000)

    sweep = TimeoutSweep(0.3)
    client = HttpClient(resolve(scripted(script).url), sweep, max_body_bytes=2**40)
    assert client.request("GET", "/").error == "timeout"
    sweep.close()


def test_nobody_listens(connect):
    """A refused connection is an error of class connect, and no exception."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    sweep = TimeoutSweep(1.0)
    exchange = HttpClient(resolve(f"http://127.0.0.1:{port}"), sweep).request("GET", "/")
    sweep.close()
    assert (exchange.error, exchange.status, exchange.sent_bytes) == ("connect", 0, 0)


def closes_after_each(connection, number):
    read_head(connection)
    connection.sendall(OK)


def test_idle_connection_closed_by_the_server(scripted, connect):
    """A GET is sent again on a new connection, which is counted and is no failure."""
    client = connect(scripted(closes_after_each))
    for _ in range(3):
        assert client.request("GET", "/").error == ""
        gevent.sleep(0.05)
    assert (client.retries, client.connects, client.issued) == (2, 3, 3)


def test_an_idle_connection_does_not_keep_the_loop_busy(scripted, connect, monkeypatch):
    """What comes unasked is noticed once; the next request looks for itself."""
    client = connect(scripted(answering(OK, OK, then_close=False)))
    assert client.request("GET", "/").error == client.request("GET", "/").error == ""
    assert client._connection.watching  # from one answer to the next
    rung = []
    ring = Connection._on_readable
    monkeypatch.setattr(
        Connection, "_on_readable", lambda self: (rung.append(self._reader), ring(self))
    )
    client = connect(scripted(closes_after_each))
    assert client.request("GET", "/").error == ""
    gevent.sleep(0.05)
    assert len(rung) == 2
    assert rung[1] is None
    assert not client._connection.watching
    assert client.request("GET", "/").error == ""
    assert client.retries == 1


def test_post_is_never_sent_twice(scripted, connect):
    """A POST finds out beforehand that the server has gone; once sent, it is not repeated."""
    client = connect(scripted(closes_after_each))
    for _ in range(3):
        assert client.request("POST", "/", body=b"x").error == ""
        gevent.sleep(0.05)
    assert client.retries == 0
    lost = connect(scripted(answering(OK, b"")))
    assert lost.request("POST", "/", body=b"x").error == ""
    assert lost.request("POST", "/", body=b"x").error == "reset"


def test_cookies_come_back(scripted, connect):
    """A cookie that was set is sent from then on, and no more once it is deleted."""
    seen = []

    def script(connection, number):
        for cookie in (b"Set-Cookie: id=7; Path=/\r\n", b"Set-Cookie: id=; Max-Age=0\r\n", b""):
            seen.append(read_head(connection))
            connection.sendall(OK.replace(b"\r\n\r\n", b"\r\n" + cookie + b"\r\n"))

    client = connect(scripted(script))
    for _ in range(3):
        client.request("GET", "/")
    assert [b"\r\nCookie: id=7\r\n" in head for head in seen] == [False, True, False]


def test_interrupt_from_outside(scripted, connect):
    """A request under way can be ended with an error class of the caller's choice."""
    client = connect(scripted(lambda connection, number: time.sleep(2)))
    gevent.spawn_later(0.05, gevent.get_hub().loop.run_callback, client.interrupt, "unfinished")
    assert client.request("GET", "/").error == "unfinished"
    assert not client.interrupt("unfinished")


@pytest.mark.parametrize("url", ["https://x", "http://", "http://a:b@c", "x", "http://h:99999"])
def test_targets_that_cannot_be(url):
    """What is no plain http URL is told as a mistake of the user's, by its text."""
    with pytest.raises(UsageError, match=re.escape(repr(url))):
        resolve(url)


def test_a_name_without_address():
    """No name server knows it (RFC 6761): the trial fails, and says which name."""
    with pytest.raises(TrialError, match=r"no address for 'nowhere\.invalid'"):
        resolve("http://nowhere.invalid:80")
