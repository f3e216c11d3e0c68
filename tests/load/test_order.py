"""Each request gets its own answer: however answers are cut, and whatever a server says unasked."""

from __future__ import annotations

import itertools
import random
from collections import deque

import gevent
import pytest
from gevent import socket
from gevent.server import StreamServer

from sizebook.load.http import HttpClient, TimeoutSweep
from sizebook.load.target import resolve

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
STALE = OK.replace(b"ok", b"no")
INTERIM = (
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"HTTP/1.1 102 Processing\r\nServer: x\r\n\r\n",
    b"HTTP/1.1 103 Early Hints\r\nLink: </s.css>; rel=preload\r\nContent-Length: 0\r\n\r\n",
    b"HTTP/1.1 199 Odd\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n",
)
KINDS = {"length": 200, "chunked": 200, "head": 200, "none": 204, "unmodified": 304, "close": 200}


def final(number: int, kind: str) -> tuple[bytes, bytes]:
    """Return an answer that only this request can have, and its body."""
    body = b"#%d\r\n\r\n" % number
    if kind == "length":
        return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%b" % (len(body), body), body
    if kind == "chunked":
        parts = b"1;a=b\r\n%b\r\n%x\r\n%b\r\n" % (body[:1], len(body) - 1, body[1:])
        head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        return head + parts + b"0\r\nTrailer: x\r\n\r\n", body
    if kind == "head":
        return b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n", b""
    if kind == "none":
        return b"HTTP/1.1 204 No Content\r\n\r\n", b""
    if kind == "unmodified":
        return b"HTTP/1.1 304 Not Modified\r\nContent-Length: 20\r\n\r\n", b""
    return b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + body, body


class CuttingServer:
    """Answers each request with pieces in packets of their own; an empty piece closes."""

    def __init__(self) -> None:
        self.answers: deque[list[bytes]] = deque()
        """Pieces for each request in turn; when there are no more, ``OK``."""
        self.greeting = b""
        """What is said to each connection before it asks."""
        self.connections = 0
        self.asked: list[bytes] = []
        self._server = StreamServer(("127.0.0.1", 0), self._serve)
        self._server.start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def _serve(self, connection, _address) -> None:
        self.connections += 1
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        with connection:
            connection.sendall(self.greeting)
            data = b""
            while True:
                while b"\r\n\r\n" not in data:
                    more = connection.recv(65536)
                    if not more:
                        return
                    data += more
                head, _, data = data.partition(b"\r\n\r\n")
                self.asked.append(head.split(b"\r\n")[0])
                for piece in self.answers.popleft() if self.answers else [OK]:
                    if not piece:
                        return
                    connection.sendall(piece)
                    gevent.idle()  # so that it is read before the next one comes

    def close(self) -> None:
        self._server.stop()


@pytest.fixture
def cutting():
    server = CuttingServer()
    yield server
    server.close()


@pytest.fixture
def client(cutting):
    sweep = TimeoutSweep(10.0)
    yield HttpClient(resolve(cutting.url), sweep)
    sweep.close()


def cut(text: bytes, places: list[int]) -> list[bytes]:
    ends = sorted({0, len(text), *places})
    return [text[begin:end] for begin, end in itertools.pairwise(ends)]


def test_answers_cut_anywhere_are_the_same_answers(cutting, client):
    """400 answers of every kind after up to 12 interim ones, cut at random: each its request's."""
    rng = random.Random(7)
    for number in range(400):
        kind = rng.choice(list(KINDS))
        text, body = final(number, kind)
        text = b"".join(rng.choices(INTERIM, k=rng.choice((0, 0, 1, 2, 12)))) + text
        pieces = cut(text, [rng.randrange(len(text)) for _ in range(rng.choice((0, 1, 2, 9)))])
        cutting.answers.append([*pieces, *([b""] if kind == "close" else [])])
        method = "HEAD" if kind == "head" else rng.choice(("GET", "POST", "DELETE"))
        exchange = client.request(method, f"/{number}")
        assert (exchange.error, exchange.status, exchange.body) == ("", KINDS[kind], body), pieces
        assert exchange.received_bytes == len(text)
    closes = cutting.connections - 1
    assert 0 < closes < 400 == len(cutting.asked)
    assert (client.retries, client.strays) == (0, 0)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("interim", INTERIM)
def test_an_interim_answer_is_none_wherever_it_is_cut(cutting, client, kind, interim):
    """Alone in its packet, in two at every byte, glued: also when its head has been seen before."""
    method = "HEAD" if kind == "head" else "GET"
    text, body = final(1, kind)
    whole = interim + text
    for places in ([], [len(interim)], *([place] for place in range(1, len(whole)))):
        cutting.answers.append([*cut(whole, places), *([b""] if kind == "close" else [])])
        exchange = client.request(method, "/")
        assert (exchange.error, exchange.status, exchange.body) == ("", KINDS[kind], body)


def test_a_switch_of_protocols_is_refused(cutting, client):
    """Nobody asked for it, and what follows is no HTTP: alone or glued to an answer, each time."""
    switch = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n"
    for pieces in ([switch], [switch, OK], [switch + OK], [INTERIM[0] + switch]) * 2:
        cutting.answers.append(pieces)
        assert client.request("GET", "/").error == "protocol"
        assert client.request("GET", "/").body == b"ok"


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
@pytest.mark.parametrize(
    "stray", [STALE, INTERIM[0], b"\r\n", b"no body", b"\n", b"HTTP/1.1 4080 x\r\n\r\n"]
)
def test_what_comes_unasked_is_no_answer(cutting, client, method, stray):
    """After an answer, in a packet of its own: the next request fails, the one after is anew."""
    cutting.answers.append([OK, stray])
    assert client.request("GET", "/1").body == b"ok"
    gevent.sleep(0.02)
    exchange = client.request(method, "/2")
    assert (exchange.error, exchange.status, exchange.sent_bytes) == ("protocol", 0, 0)
    assert client.request("GET", "/3").body == b"ok"
    assert cutting.asked == [b"GET /1 HTTP/1.1", b"GET /3 HTTP/1.1"]
    assert (client.strays, client.connects, cutting.connections) == (1, 2, 2)


@pytest.mark.parametrize(
    ("method", "text", "rest"),
    [
        ("HEAD", b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n", b"hello"),
        ("GET", b"HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n", b"hello"),
        ("GET", b"HTTP/1.1 304 Not Modified\r\n\r\n", b"hello"),
        ("GET", OK, b"\r\n"),
        ("GET", OK, OK),
        ("GET", b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", b"0\r\n\r\n"),
        ("POST", b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", b"x"),
    ],
)
def test_more_than_the_answer_is_refused_glued_and_noticed_apart(
    cutting, client, method, text, rest
):
    """A body where none is allowed, a length that is too small, an answer too many."""
    cutting.answers.extend([[text + rest], [OK], [text, rest]])
    assert client.request(method, "/").error == "protocol"
    assert client.request("GET", "/").body == b"ok"
    assert client.request(method, "/").error == ""
    gevent.sleep(0.02)
    assert client.request("GET", "/").error == "protocol"
    assert client.request("GET", "/").body == b"ok"


@pytest.mark.parametrize("method", ["GET", "POST"])
@pytest.mark.parametrize("closes", [True, False])
def test_a_farewell_is_no_answer_and_no_fault(cutting, client, method, closes):
    """A server that will not wait longer says 408 and closes: the request has a new connection."""
    farewell = b"HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
    cutting.answers.append([OK, farewell, *([b""] if closes else [])])
    for _ in range(2):
        assert client.request(method, "/").body == b"ok"
        gevent.sleep(0.02)
    assert (client.strays, cutting.connections) == (0, 2)


def test_who_speaks_first_is_found_out(cutting, client):
    """An answer before the request: taken for the first one's, and noticed at the next."""
    cutting.greeting = STALE
    errors = []
    for _ in range(4):
        errors.append(client.request("GET", "/").error)
        gevent.sleep(0.02)
    assert errors[1::2] == ["protocol", "protocol"]
    cutting.greeting = b"220 mail.example ESMTP\r\n"
    client.close()
    assert client.request("GET", "/").error == "protocol"


def test_what_is_left_at_the_end_is_counted(cutting, client):
    """The last answer may have been the one before: only what follows it tells."""
    cutting.answers.append([OK, STALE])
    assert client.request("GET", "/").error == ""
    gevent.sleep(0.02)
    client.look_for_strays()
    client.look_for_strays()
    assert client.strays == 1
    assert client.request("GET", "/").error == ""
    client.look_for_strays()
    assert client.strays == 1


def test_a_request_that_was_given_up_leaves_no_answer_behind(cutting, client):
    """The locustfile's own time-out: the connection with the late answer is not used again."""
    cutting.answers.append([b"HTTP/1.1 200 OK\r\n"])
    with gevent.Timeout(0.05, False):
        client.request("GET", "/late")
    assert client.waiting is None
    assert client.request("GET", "/").body == b"ok"
    assert (client.connects, cutting.connections) == (2, 2)


def test_a_client_carries_one_request_at_a_time(cutting, client):
    """Two greenlets would read each other's answers."""
    cutting.answers.append([b"HTTP/1.1 200 OK\r\n"])
    gevent.spawn(client.request, "GET", "/1")
    gevent.sleep(0.02)
    with pytest.raises(RuntimeError, match="one request at a time"):
        client.request("GET", "/2")


@pytest.mark.parametrize(
    "text",
    [
        OK.replace(b"\r\n", b"\n"),
        OK.replace(b"\r\n\r\n", b"\r\n\n"),
        OK.replace(b"\r\n\r\n", b"\n\r\n"),
        OK.replace(b"\r\n\r\n", b"\n\n"),
        OK.replace(b"\r\n", b"\r"),
        OK.replace(b"\r\n\r\n", b"\r\r\n\r\n"),
        OK.replace(b"OK\r\n", b"OK\n", 1),
        OK.replace(b"200 OK", b"200 O\x00K"),
        OK.replace(b"Content", b"A: \x00\r\nContent"),
        OK.replace(b"Content", b" folded\r\nContent"),
        OK.replace(b": 2", b":\r\n 2"),
        OK.replace(b"Length:", b"Length :"),
        OK.replace(b"\r\n", b"\n") + b"\r\n\r\n",
        INTERIM[0].replace(b"\r\n", b"\n") + OK,
        INTERIM[0] + OK.replace(b"\r\n", b"\n"),
        b"\r\n" + OK,
        b"ICY 200 OK\r\n",
        b"HTTP/2 200\r\n",
        b"<html>",
        *(
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + rest
            for rest in (
                b"2\nok\n0\n\n",
                b"2\r\nok\n",
                b"2\r\nokX",
                b"2\r\nok\rX",
                b"x",
                b"0x2",
                b"2 2",
                b"2;a\n",
                b"2;\x00",
                b"2\rX",
                b"0\r\n\n",
                b"0\r\nA: b\n\r\n",
                b"1234567890abcdef",
            )
        ),
    ],
)
def test_broken_lines_are_refused_at_once(cutting, client, text):
    """The server then waits for the next request: no time-out tells of it, however it is cut."""
    rng = random.Random(3)
    for places in ([], list(range(len(text))), [rng.randrange(len(text))]):
        cutting.answers.append(cut(text, places))
        assert client.request("GET", "/").error == "protocol", places
        assert client.request("GET", "/").body == b"ok"


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("GET", "http://127.0.0.1:9/x", ()),
        ("GET", "HTTP://x/", ()),
        ("GET", "shop.example/x", ()),
        ("GET", "@shop.example/x", ()),
        ("GET", "", ()),
        ("CONNECT", "/", ()),
        ("head", "/", ()),
        ("GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET", "/", ()),
        ("POST", "/", (("Content-Length", "5"),)),
        ("POST", "/", (("transfer-encoding", "chunked"),)),
        ("GET", "/", (("Host", "shop.example"),)),
        ("GET", "/", (("Upgrade", "websocket"),)),
        ("GET", "/", (("Connection", "close"),)),
    ],
)
def test_a_request_goes_to_its_target_and_asks_for_one_answer(cutting, client, method, path,
                                                              headers):  # fmt: skip
    """Whole URLs, tunnels and headers that change what follows are refused, nothing is sent."""
    with pytest.raises(ValueError, match="cannot be sent"):
        client.request(method, path, headers)
    assert (client.issued, cutting.connections) == (0, 0)
    client.request("GET", "//shop.example/x")
    assert cutting.asked == [b"GET //shop.example/x HTTP/1.1"]
