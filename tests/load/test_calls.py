"""The load of single calls, against a server that answers as the reference stack does."""

from __future__ import annotations

import polars as pl
import pytest
from answering import Answering, served

from sizebook.load.documents import production_orders
from sizebook.model.load import ClosedLoop, LoadProfile, Phases

SIZE = 3000
DOCUMENTS = {one.body: one for one in (production_orders(SIZE, 7 + number) for number in range(4))}
ROWS = b'[{"carrid":"AA","connid":"0017"}]'


class Stack(Answering):
    """Answers each call; notes the ids that it was given, and what it was asked with."""

    ids: list[str] = []  # noqa: RUF012 - shared by all requests of a test
    methods: set[str] = set()  # noqa: RUF012
    off_by = 0

    def answer(self):
        if self.command != "POST":
            self.methods.add(f"{self.command} {self.path}")
            self.tell(ROWS if not self.off_by else b"[]")
            return
        path, query = self.asked()
        body = self.sent()
        self.methods.add(f"POST {path}")
        self.ids.append(query["id"])
        document = DOCUMENTS[body]
        told = f'{{"rows":{document.rows + self.off_by},"total":{document.total},"bytesIn":1}}'
        if path == "/messaging/messages":
            told = f'{{"bytes":{len(body) + self.off_by},"queued":true}}'
        self.tell(told.encode())


@pytest.fixture
def run(own, tmp_path):
    """Return a function that runs a call against a server and returns the requests."""

    def start(call, off_by=0):
        stack = type("One", (Stack,), {"ids": [], "methods": set(), "off_by": off_by})
        load = LoadProfile(
            locustfile="calls.py",
            arrivals=ClosedLoop(users=2),
            phases=Phases(warmup_s=0.0, measured_s=0.3),
            settings={"call": call, "bytes": SIZE},
            seed=7,
        )
        with served(stack) as url:
            own.prepare(load, {"app": url}, tmp_path)
            requests = own.run().requests.with_columns(pl.col("name", "error").cast(pl.String))
        return stack, requests

    return start


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
