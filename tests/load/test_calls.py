"""The load of single calls, against a server that answers as the reference stack does."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

import polars as pl
import pytest

from sizebook.load.documents import production_orders
from sizebook.model.load import ClosedLoop, LoadProfile, Phases

SIZE = 3000
DOCUMENTS = {one.body: one for one in (production_orders(SIZE, 7 + number) for number in range(4))}
ROWS = b'[{"carrid":"AA","connid":"0017"}]'


class Stack(BaseHTTPRequestHandler):
    """Answers each call; notes the ids that it was given, and what it was asked with."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    ids: list[str] = []  # noqa: RUF012 - shared by all requests of a test
    methods: set[str] = set()  # noqa: RUF012
    off_by = 0

    def do_POST(self):
        url = urlsplit(self.path)
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.methods.add(f"POST {url.path}")
        self.ids.append(parse_qs(url.query)["id"][0])
        document = DOCUMENTS[body]
        told = f'{{"rows":{document.rows + self.off_by},"total":{document.total},"bytesIn":1}}'
        if url.path == "/messaging/messages":
            told = f'{{"bytes":{len(body) + self.off_by},"queued":true}}'
        self.tell(told.encode())

    def do_GET(self):
        self.methods.add(f"{self.command} {self.path}")
        self.tell(ROWS if not self.off_by else b"[]")

    def do_HEAD(self):
        self.do_GET()

    def tell(self, text):
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    def log_message(self, *_):
        pass


@pytest.fixture
def run(own, tmp_path):
    """Return a function that runs a call against a server and returns the requests."""
    servers = []

    def start(call, off_by=0):
        stack = type("One", (Stack,), {"ids": [], "methods": set(), "off_by": off_by})
        servers.append(ThreadingHTTPServer(("127.0.0.1", 0), stack))
        threading.Thread(target=servers[-1].serve_forever, daemon=True).start()
        load = LoadProfile(
            locustfile="calls.py",
            arrivals=ClosedLoop(users=2),
            phases=Phases(warmup_s=0.0, measured_s=0.3),
            settings={"call": call, "bytes": SIZE},
            seed=7,
        )
        own.prepare(load, {"app": f"http://127.0.0.1:{servers[-1].server_port}"}, tmp_path)
        requests = own.run().requests.with_columns(pl.col("name", "error").cast(pl.String))
        return stack, requests

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


@pytest.mark.parametrize(
    ("call", "asked"),
    [
        ("sync", "POST /xml/transform/xslt"),
        ("async", "POST /messaging/messages"),
        ("data", "GET /rest/flights"),
        ("receipt", "HEAD /rest/flights"),
    ],
)
def test_each_call_is_made_its_way_and_named_so(run, call, asked):
    """Ids are new for each document; a receipt has no body."""
    stack, requests = run(call)
    assert stack.methods == {asked}
    assert set(requests.select("name", "error").rows()) == {(call, "")}
    assert len(set(stack.ids)) == len(stack.ids)
    assert bool(stack.ids) == asked.startswith("POST")
    assert (requests["body_bytes"] == 0).all() == (call == "receipt")


@pytest.mark.parametrize("call", ["sync", "async", "data"])
def test_an_answer_that_is_not_the_right_one_is_an_error(run, call):
    """Wrong totals, a wrong length, no rows: status 200 alone is no success."""
    _, requests = run(call, off_by=1)
    assert set(requests["error"]) == {"body"}
