"""The loads of the chapter on the heap, against a server that answers as the stack does."""

from __future__ import annotations

import threading

import polars as pl
import pytest
from answering import Answering, served
from until import LONG_S, run_until

from sizebook.model.errors import TrialError
from sizebook.model.load import ClosedLoop, LoadProfile, Phases


class Node:
    """A queue with consumers, which may refuse and lose its consumers' work."""

    def __init__(self):
        self.queued = []
        self.delivered = []
        self.consumers = 0
        self.refuse = set()
        self.filled = []

    def answer(self, path, query):
        if path == "/messaging/messages":
            name = query["id"]
            if name.rpartition("-")[2] in self.refuse:
                self.refuse.discard(name.rpartition("-")[2])
                return 503, {"status": 503}
            self.queued.append(name)
            return 200, {"id": name, "queued": True}
        if path == "/messaging/consumers":
            self.consumers = int(query["count"])
            return 200, {"consumers": self.consumers}
        if path == "/messaging/fill":
            self.filled.append(int(query["count"]))
            self.queued += ["filled"] * int(query["count"])
            return 200, {"count": int(query["count"])}
        if path == "/messaging/state":
            if self.consumers and self.queued:
                self.delivered.append(self.queued.pop(0))
            return 200, {"depth": len(self.queued)}
        return 200, {"id": query["id"], "way": "copy", "bytes": int(query["bytes"]), "calls": 1}


@pytest.fixture
def node():
    """A node and its URL."""
    one, lock = Node(), threading.Lock()

    class Handler(Answering):
        def answer(self):
            self.sent()
            with lock:
                status, told = one.answer(*self.asked())
            self.tell(told, status)

    with served(Handler) as one.url:
        yield one


def run(own, node, folder, locustfile, users=1, measured_s=0.3, enough=None, **settings):
    profile = LoadProfile(
        locustfile=locustfile,
        arrivals=ClosedLoop(users=users, think_s=0.001 if locustfile == "heap.py" else 0.0),
        phases=Phases(warmup_s=0.0, measured_s=measured_s, drain_s=10.0),
        settings=settings,
    )
    own.prepare(profile, {"app": node.url}, folder)
    collected = run_until(own, enough) if enough else own.run()
    found = collected.requests.with_columns(pl.col("name", "error").cast(pl.String))
    return {(name, error): part.height for (name, error), part in found.group_by("name", "error")}


SMALL = {"messages": 5, "bytes": 100, "pause_s": 0.001}


def test_all_are_sent_before_any_is_delivered(own, node, tmp_path):
    """Two runs, each to its end although the measured phase is over; consumers are off after it."""
    found = run(own, node, tmp_path, "heap.py", measured_s=0.001, runs=2, **SMALL)
    assert found[("message", "")] == 10
    assert (found[("start", "")], found[("stop", "")], node.consumers) == (2, 2, 0)
    assert len(set(node.delivered)) == 10
    assert [name.rpartition("-")[2] for name in node.delivered[:5]] == ["0", "1", "2", "3", "4"]


def test_what_is_refused_is_sent_again_under_its_id(own, node, tmp_path):
    """A failed attempt is no message; all are there once in the end."""
    node.refuse = {"1", "3"}
    found = run(own, node, tmp_path, "heap.py", **SMALL)
    assert (found[("message", "")], found[("retry", "status")]) == (5, 2)
    assert len(node.delivered) == len(set(node.delivered)) == 5


def test_without_a_number_runs_go_on_as_long_as_the_load(own, node, tmp_path):
    """What conditions a node: more runs than one, the last of them to its end."""
    settings = {"runs": 0, "measured_s": LONG_S, **SMALL}
    found = run(own, node, tmp_path, "heap.py", enough=lambda: len(node.delivered) > 5, **settings)
    assert found[("message", "")] > 5
    assert found[("message", "")] == len(node.delivered) == 5 * found[("stop", "")]


def test_a_second_sender_is_refused(own, node, tmp_path):
    """Two would start each other's consumers."""
    with pytest.raises(TrialError, match="2 users"):
        run(own, node, tmp_path, "heap.py", users=2, **SMALL)


def test_calls_find_so_many_messages_held(own, node, tmp_path):
    """What is missing is filled up in chunks, once; a second trial on the node adds nothing."""
    for _ in range(2):
        found = run(own, node, tmp_path, "heap_calls.py", users=2, held=25, bytes=100)
        assert set(found) == {("copy", "")}
    assert (node.filled, len(node.queued)) == ([10, 10, 5], 25)
