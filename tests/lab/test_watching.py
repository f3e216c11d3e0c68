"""A server that is gone is noticed by who loads it, and only then."""

import contextlib
import socket
from types import SimpleNamespace

import pytest

from sizebook.lab.watching import GoneServers
from sizebook.load.protocol import Tick
from sizebook.model.errors import LostError


@contextlib.contextmanager
def listening():
    """A server, and its URL."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server, f"http://127.0.0.1:{server.getsockname()[1]}"


def watched(url, disturbances=()):
    """What looks at a load on one server."""
    stack = SimpleNamespace(targets=lambda: {"app": url})
    return GoneServers(stack, SimpleNamespace(disturbances=disturbances))


def seconds(*pairs):
    """Ticks by requests and failed ones of each second."""
    requests = failed = 0
    for at, (more, wrong) in enumerate(pairs, start=1):
        requests, failed = requests + more, failed + wrong
        yield Tick(elapsed_s=float(at), requests=requests, failed=failed, users=1)


def test_a_server_that_refuses_connections_ends_the_trial():
    """In the second second without any good answer, by the name of its role."""
    with listening() as (server, url):
        gone = watched(url)
        server.close()
    first, second, third = seconds((100, 3), (50, 50), (70, 70))
    gone.look(first)
    gone.look(second)
    with pytest.raises(LostError, match="role app, which refuses connections"):
        gone.look(third)


def test_errors_of_a_server_that_is_there_are_results():
    """It answers, with errors alone: that is for the checks to judge."""
    with listening() as (_, url):
        gone = watched(url)
        for tick in seconds((9, 9), (9, 9), (9, 9)):
            gone.look(tick)


@pytest.mark.parametrize(
    "pairs",
    [((9, 9), (9, 8), (9, 9)), ((9, 9), (0, 0), (9, 9)), ((0, 0), (0, 0), (0, 0))],
    ids=["one answer", "a pause", "no request"],
)
def test_one_bad_second_is_none(pairs):
    """Only seconds in a row in which requests were made and all of them failed count."""
    with listening() as (server, url):
        gone = watched(url)
        server.close()
    for tick in seconds(*pairs):
        gone.look(tick)


def test_where_a_server_is_taken_down_on_purpose_nobody_asks():
    """A design that kills nodes measures just that."""
    with listening() as (server, url):
        gone = watched(url, disturbances=("kill",))
        server.close()
    for tick in seconds((9, 9), (9, 9), (9, 9)):
        gone.look(tick)
