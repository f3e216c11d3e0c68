"""Every address of a name is tried, in order, by the ready check and by the load alike."""

from __future__ import annotations

import contextlib
import os
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from sizebook.hosts import addresses
from sizebook.hosts.addresses import Address, addresses_of
from sizebook.load.http import HttpClient, TimeoutSweep
from sizebook.load.target import resolve
from sizebook.stack.given import listening_pid, refusal


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        body = self.connection.getsockname()[0].encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@contextlib.contextmanager
def serving(*hosts, port=0):
    """Give the port at which these addresses, and no others, are served."""
    with contextlib.ExitStack() as stack:
        for host in hosts:
            kind = type("Server", (ThreadingHTTPServer,), {
                "address_family": socket.AF_INET6 if ":" in host else socket.AF_INET,
                "daemon_threads": True,
            })  # fmt: skip
            server = stack.enter_context(kind((host, port), Handler))
            port = server.server_port
            threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
            stack.callback(server.shutdown)
        yield port


@pytest.fixture
def named(monkeypatch):
    """Have a name stand for these addresses."""

    def name(*hosts):
        def getaddrinfo(host, port, *_, **__):
            return [
                (socket.AF_INET6, socket.SOCK_STREAM, 6, "", (one, port, 0, 0))
                if ":" in one
                else (socket.AF_INET, socket.SOCK_STREAM, 6, "", (one, port))
                for one in hosts
            ]

        monkeypatch.setattr(addresses.socket, "getaddrinfo", getaddrinfo)

    return name


@pytest.fixture
def ask():
    sweep = TimeoutSweep(5.0)
    yield lambda target: HttpClient(target, sweep).request("GET", "/")
    sweep.close()


@pytest.mark.parametrize(
    ("names", "served", "answers"),
    [
        (("::1", "127.0.0.1"), ("127.0.0.1",), "127.0.0.1"),
        (("127.0.0.1", "::1"), ("::1",), "::1"),
        (("127.0.0.3", "127.0.0.2", "127.0.0.1"), ("127.0.0.1",), "127.0.0.1"),
        (("127.0.0.2", "127.0.0.1"), ("127.0.0.2", "127.0.0.1"), "127.0.0.2"),
    ],
)
def test_what_is_ready_is_loaded(named, ask, names, served, answers):
    """The first address that takes connections, whatever its kind; the next client knows it."""
    named(*names)
    with serving(*served) as port:
        url = f"http://shop.example:{port}"
        assert refusal(url, "/") is None
        target = resolve(url)
        assert [one.ip for one in target.addresses] == list(names)
        for _ in range(2):
            exchange = ask(target)
            assert (exchange.error, exchange.body.decode()) == ("", answers)
            assert target.address[0] == answers
        place = names.index(answers) + 1
        assert target.told() == f"{answers}, address {place} of {len(names)}"


def test_none_of_them_takes_connections(named, ask):
    """Both say so; a resolver that knows no such name, too."""
    named("127.0.0.3", "127.0.0.2")
    with serving("127.0.0.1") as port:
        url = f"http://shop.example:{port}"
        assert refusal(url, "/") == "Connection refused"
        assert ask(resolve(url)).error == "connect"


def test_an_address_that_says_nothing_is_given_up(named, ask, monkeypatch):
    """As long as there are others: a queue that is full takes no connection and refuses none."""
    for module in ("sizebook.load.connection", "sizebook.stack.given"):
        monkeypatch.setattr(f"{module}.ATTEMPT_S", 0.1)
    named("127.0.0.2", "127.0.0.1")
    with serving("127.0.0.1") as port, contextlib.ExitStack() as stack:
        full = stack.enter_context(socket.socket())
        full.bind(("127.0.0.2", port))
        full.listen(0)
        for _ in range(4):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(("127.0.0.2", port))
        assert refusal(f"http://shop.example:{port}", "/") is None
        exchange = ask(resolve(f"http://shop.example:{port}"))
        assert (exchange.error, exchange.body) == ("", b"127.0.0.1")


def test_a_server_that_moves_to_the_other_address_is_followed(named, ask):
    """The address in use is tried first, not alone."""
    named("127.0.0.2", "127.0.0.1")
    with serving("127.0.0.1") as port:
        target = resolve(f"http://shop.example:{port}")
        assert ask(target).body == b"127.0.0.1"
        assert [one.ip for one in target.in_order()] == ["127.0.0.1", "127.0.0.2"]
    with serving("127.0.0.2", port=port):
        assert ask(target).body == b"127.0.0.2"


def test_addresses_of_another_machine_are_told_by_their_kind(named):
    """They go into no bundle; what the URL itself says needs no telling."""
    named("2001:db8::1", "192.0.2.1")
    target = resolve("http://shop.example:80")
    assert target.told() == "IPv6, address 1 of 2"
    target.accepted(target.addresses[1])
    assert target.told() == "IPv4, address 2 of 2"
    named("127.0.0.1")
    assert resolve("http://127.0.0.1:80").told() == ""


def test_each_address_once():
    """In the resolver's order."""
    assert addresses_of("127.0.0.1", 80) == (Address(socket.AF_INET, ("127.0.0.1", 80)),)


def test_the_process_is_the_one_at_the_address_in_use():
    """Not another that listens at the same port of another address."""
    with socket.socket() as here, socket.socket() as there:
        here.bind(("127.0.0.1", 0))
        here.listen()
        port = here.getsockname()[1]
        there.bind(("127.0.0.2", port))
        assert listening_pid(port, "127.0.0.1") == os.getpid()
        assert listening_pid(port, "127.0.0.2") is None
        assert listening_pid(port) == os.getpid()
    with socket.socket() as everywhere:
        everywhere.bind(("0.0.0.0", 0))
        everywhere.listen()
        assert listening_pid(everywhere.getsockname()[1], "127.0.0.1") == os.getpid()
