"""A load stays at its target: a second server, which nobody named, sees no connection."""

from __future__ import annotations

import sys

import pytest

from sizebook.load.control import GeneratorClient
from sizebook.load.fence import Fence
from sizebook.load.target import resolve
from sizebook.model.errors import TrialError
from sizebook.model.load import ClosedLoop, LoadProfile, Phases

HEAD = """
import socket
import urllib.request
import requests
from locust import FastHttpUser, HttpUser, User, between, constant, task
from sizebook.load.users import Expect, LeanHttpUser, Scenario

OTHER = "OTHER_URL"
PORT = int(OTHER.rpartition(":")[2])
"""
PLAIN = """
class Plain({base}):
    wait_time = constant(0.05)
    {more}

    @task
    def go(self):
        {what}
"""
SCENARIO = """
class Ours(Scenario, {base}):
    def iteration(self):
        {what}
"""
LEAN = """
class Ours(LeanHttpUser):
    def iteration(self):
        {what}
"""


def carry_out(generator, locustfiles, out, url, text):
    (locustfiles / "leaving.py").write_text(text)
    load = LoadProfile(
        locustfile="leaving.py",
        arrivals=ClosedLoop(users=2),
        phases=Phases(warmup_s=0.1, measured_s=0.5, drain_s=1.0),
    )
    generator.prepare(load, {"app": url}, out)
    return generator.run()


@pytest.fixture
def run(generator, locustfiles, tmp_path, server, other):
    return lambda text: carry_out(
        generator, locustfiles, tmp_path, server.url, HEAD.replace("OTHER_URL", other.url) + text
    )


GET = "self.client.get(OTHER + '/x', name='x')"
HIDDEN = f"""try:
            {GET}
        except BaseException:
            pass"""
SOCKET = "socket.create_connection(('127.0.0.1', PORT), 1)"
DATAGRAM = "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', PORT))"
HOST = "def __init__(self, e):\n        self.host = OTHER\n        super().__init__(e)"
PROXY = "self.client.get('/', proxies={'http': OTHER})"
SESSION_PROXY = "self.client.proxies = {'http': OTHER}; self.client.get('/')"


@pytest.mark.parametrize(
    ("text", "named"),
    [
        *((PLAIN.format(base=base, more="", what=GET), "request to OTHER/x, in leaving.py, line")
          for base in ("HttpUser", "FastHttpUser")),
        *((SCENARIO.format(base=base, what=GET), "request to OTHER/x")
          for base in ("HttpUser", "FastHttpUser")),
        *((PLAIN.format(base=base, more="", what=HIDDEN), "request to OTHER/x")
          for base in ("HttpUser", "FastHttpUser")),
        *((PLAIN.format(base=base, more=HOST, what="self.client.get('/')"), "request to OTHER/")
          for base in ("HttpUser", "FastHttpUser")),
        *((PLAIN.format(base=base, more="", what="self.client.get('/away')"), "request to OTHER/y")
          for base in ("HttpUser", "FastHttpUser")),
        (PLAIN.format(base="HttpUser", more="", what=PROXY), "through the proxy OTHER"),
        (PLAIN.format(base="HttpUser", more="", what=SESSION_PROXY), "through the proxy OTHER"),
        (PLAIN.format(base="HttpUser", more="", what="self.client.get('@127.0.0.1:%d/' % PORT)"),
         "@127.0.0.1:PORT/"),
        (PLAIN.format(base="User", more="", what=SOCKET), "connection to 127.0.0.1:PORT"),
        (PLAIN.format(base="User", more="", what=DATAGRAM), "connection to 127.0.0.1:PORT"),
        (SCENARIO.format(base="User", what="urllib.request.urlopen(OTHER)"),
         "connection to 127.0.0.1:PORT, in leaving.py, line"),
        (PLAIN.format(base="HttpUser", more="", what="requests.get(OTHER)"),
         "connection to 127.0.0.1:PORT"),
        ("requests.get(OTHER)\n" + PLAIN.format(base="User", more="", what="pass"),
         "connection to 127.0.0.1:PORT, in leaving.py, line"),
        (LEAN.format(what="self.get(OTHER + '/x', name='x', check=Expect())"), "GET 'OTHER/x'"),
        (LEAN.format(what="self.get('/', name='x', check=Expect()); requests.get(OTHER)"),
         "connection to 127.0.0.1:PORT"),
        (LEAN.format(what="pass") + "    @classmethod\n    def set_up(cls, setup):\n"
         "        setup.get(OTHER + '/x', check=Expect())\n", "GET 'OTHER/x'"),
    ],
)  # fmt: skip
def test_what_leads_elsewhere_fails_the_trial_and_sends_nothing(run, server, other, text, named):
    """Whole URLs, redirects, proxies, hosts, sockets; also where the locustfile hides it."""
    server.answers["/away"] = lambda _: (
        f"HTTP/1.1 302 Found\r\nLocation: {other.url}/y\r\nContent-Length: 0\r\n\r\n".encode()
    )
    with pytest.raises(TrialError) as caught:
        run(text)
    port = other.url.rpartition(":")[2]
    assert named.replace("OTHER", other.url).replace("PORT", port) in str(caught.value)
    assert other.connections == 0


@pytest.mark.parametrize("base", ["HttpUser", "FastHttpUser"])
def test_redirects_and_whole_urls_within_the_target_are_followed(run, server, base):
    """As plain Locust does."""
    server.answers["/away"] = lambda _: (
        b"HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n"
    )
    urls = ["/away", f"{server.url}/whole", f"{server.url.replace('127.0.0.1', 'localhost')}/name"]
    what = f"[self.client.get(url) for url in {urls}]"
    collected = run(PLAIN.format(base=base, more="", what=what))
    assert (collected.facts.failed, collected.notes["script_errors"]) == (0, 0)
    assert set(server.paths) == {"/away", "/there", "/whole", "/name"}


def test_a_path_that_looks_like_a_host_is_a_path(run, server):
    """With HttpUser; FastHttpUser's client refuses to send it."""
    what = "self.client.get('//shop.example/x')"
    collected = run(PLAIN.format(base="HttpUser", more="", what=what))
    assert collected.facts.failed == collected.notes["script_errors"] == 0
    assert set(server.paths) == {"//shop.example/x"}
    collected = run(PLAIN.format(base="FastHttpUser", more="", what=what))
    assert collected.requests.height == 0 < collected.notes["script_errors"]


def test_the_lean_client_follows_no_redirect(run, server, other):
    """A 3xx is the answer."""
    server.answers["/away"] = lambda _: (
        f"HTTP/1.1 302 Found\r\nLocation: {other.url}/y\r\nContent-Length: 0\r\n\r\n".encode()
    )
    collected = run(LEAN.format(what="self.get('/away', name='x', check=Expect(302))"))
    assert collected.facts.failed == 0 < collected.facts.completed
    assert (set(server.paths), other.connections) == ({"/away"}, 0)


@pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"])
def test_variables_that_name_a_proxy_are_not_heeded(
    host, locustfiles, tmp_path, monkeypatch, server, other, variable
):
    """Whoever set them for other programs has their load at its target all the same."""
    monkeypatch.setenv(variable, other.url)
    text = "".join(
        PLAIN.format(base=base, more="", what=what).replace("Plain", f"Plain{number}")
        for number, (base, what) in enumerate(
            (
                ("HttpUser", "self.client.get('/')"),
                ("FastHttpUser", "self.client.get('/')"),
                ("HttpUser", f"requests.get('{server.url}/')"),
            )
        )
    )
    with GeneratorClient(host, sys.executable, tmp_path / "log", locustfiles=locustfiles) as fresh:
        collected = carry_out(fresh, locustfiles, tmp_path, server.url,
                              HEAD.replace("OTHER_URL", other.url) + text)  # fmt: skip
    assert (collected.facts.failed, collected.notes["script_errors"]) == (0, 0)
    assert server.requests > 0 == other.connections


def test_the_next_trial_has_its_own_fence(run, server, other):
    """What was refused once is asked for, where it is the target."""
    with pytest.raises(TrialError, match="stays at its target"):
        run(PLAIN.format(base="HttpUser", more="", what=GET))
    collected = run(PLAIN.format(base="HttpUser", more="", what="self.client.get('/')"))
    assert collected.facts.failed == 0 < server.requests


def test_a_target_is_reached_by_all_its_spellings():
    """Names, IPv4 within IPv6, any address of this machine; not by another port or scheme."""
    fence = Fence([resolve("http://127.0.0.1:8101"), resolve("http://[::1]:8102/base")])
    for url in (
        "http://127.0.0.1:8101",
        "http://127.0.0.1:8101/x?y#z",
        "http://[::1]:8102/x",
        "http://[::ffff:127.0.0.1]:8101/",
        "http://0.0.0.0:8101/",
    ):
        fence.check_url(url)
    assert fence.breach is None
    for url in (
        "http://127.0.0.1/x",
        "http://127.0.0.1:8102/x",
        "http://127.0.0.2:8101/x",
        "http://[::1]:8101/x",
        "http://127.0.0.1:8101@192.0.2.1/",
        "http://127.0.0.1:81010/",
        "http://nowhere.invalid:8101/",
        "ftp://127.0.0.1/",
        "http:///x",
        "http://[::1/",
    ):
        with pytest.raises(TrialError, match="stays at its target"):
            fence.check_url(url)
    assert "http://127.0.0.1/x" in str(fence.breach)
