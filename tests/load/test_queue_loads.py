"""The loads of events and messages, against servers that answer as the reference stack does."""

from __future__ import annotations

import contextlib
import itertools
import re
import threading
from urllib.parse import parse_qs, urlsplit

import polars as pl
import pytest
from answering import Answering, served
from until import LONG_S, run_until

from sizebook.checks.accounting import acknowledged
from sizebook.model.errors import TrialError
from sizebook.model.load import ClosedLoop, LoadProfile, Phases
from sizebook.model.trial import Stored
from sizebook.store.columns import RequestColumns


@pytest.fixture
def serve():
    """Return a function that serves ``answer(method, path, body) -> (status, object)``."""
    with contextlib.ExitStack() as servers:

        def start(answer):
            class Handler(Answering):
                def answer(self):
                    status, told = answer(self.command, self.path, self.sent())
                    self.tell(told, status)

            return servers.enter_context(served(Handler))

        yield start


def load(locustfile, users, think_s=0.0, measured_s=0.4, **settings):
    return LoadProfile(
        locustfile=locustfile,
        arrivals=ClosedLoop(users=users, think_s=think_s),
        phases=Phases(warmup_s=0.0, measured_s=measured_s, drain_s=10.0),
        settings=settings,
        seed=7,
    )


def by_name(collected):
    frame = collected.requests.with_columns(pl.col("name", "error").cast(pl.String))
    return {(name, error): part.height for (name, error), part in frame.group_by("name", "error")}


def test_an_agent_tries_again_until_its_event_is_accepted(own, serve, tmp_path):
    """Each event is refused twice; its third attempt is the one that counts as ``event``."""
    attempts, documents = {}, {}

    def answer(method, path, body):
        assert (method, path) == ("POST", "/events")
        name = re.match(rb'<event id="([^"]+)" agent="a\d+" sequence="\d+" time=', body)[1].decode()
        assert documents.setdefault(name, body) == body
        attempts[name] = attempts.get(name, 0) + 1
        return (202, {"id": name}) if attempts[name] == 3 else (503, {"status": 503})

    whole = load("events.py", 3, measured_s=LONG_S, pause_s=0.001)
    own.prepare(whole, {"app": serve(answer)}, tmp_path)
    found = by_name(run_until(own, lambda: len(attempts) > 6))
    assert len(attempts) > 6 and set(attempts.values()) == {3}
    assert found == {("event", ""): len(attempts), ("retry", "status"): 2 * len(attempts)}


def test_an_event_is_given_up_after_its_attempts(own, serve, tmp_path):
    """A server that never accepts gets each event as often as the setting says."""
    attempts = {}

    def answer(method, path, body):
        attempts[body] = attempts.get(body, 0) + 1
        return 503, {"status": 503}

    settings = {"attempts": 4, "pause_s": 0.001}
    own.prepare(load("events.py", 2, **settings), {"app": serve(answer)}, tmp_path)
    found = by_name(own.run())
    assert set(attempts.values()) == {4}
    assert found == {("retry", "status"): sum(attempts.values())}


class Queues:
    """Two nodes with a queue each, behind a balancer that takes turns."""

    def __init__(self):
        self.turn = itertools.cycle(("app-1", "app-2"))
        self.depth = {"app-1": 0, "app-2": 0}
        self.stored = {"app-1": 0, "app-2": 0}
        self.filled = []
        self.consumers = {"app-1": 0, "app-2": 0}
        self.lock = threading.Lock()

    def answer(self, method, path, body):
        with self.lock:
            return self._answer(method, urlsplit(path))

    def _answer(self, method, url):
        node, query = next(self.turn), {k: v[0] for k, v in parse_qs(url.query).items()}
        if query["node"] != node:
            return 421, {"status": 421}
        if url.path.endswith("/fill"):
            assert self.consumers[node] == 0
            self.filled.append((int(query["count"]), query["seed"]))
            self.depth[node] += int(query["count"])
        elif url.path.endswith("/consumers"):
            self.consumers[node] = int(query["count"])
            return 200, {"consumers": self.consumers[node]}
        else:
            assert method == "GET"
            done = min(self.depth[node], 10 * self.consumers[node])
            self.depth[node] -= done
            self.stored[node] += done
            return 200, {"depth": self.depth[node], "stored": self.stored[node]}
        return 200, {"count": int(query["count"])}


MESSAGES = {"messages": 120, "chunk": 20, "consumers": 2, "nodes": 2}


@pytest.mark.parametrize("shared", [False, True])
def test_the_operator_fills_and_drains_every_node(own, serve, tmp_path, shared):
    """Shares are filled in chunks with seeds of their own; a drain is one whole iteration.

    What was left before, with consumers at work, is drained and stopped before anything counts.
    """
    queues = Queues()
    queues.depth["app-2"], queues.consumers["app-1"] = 70, 3
    profile = load("messaging.py", 1, think_s=0.001, shared=shared, **MESSAGES)
    own.prepare(profile, {"app": serve(queues.answer)}, tmp_path)
    collected = own.run()
    assert sum(queues.depth.values()) == 0 and set(queues.consumers.values()) == {0}
    assert {count for count, _ in queues.filled} == {20}
    assert len({seed for _, seed in queues.filled}) == len(queues.filled)
    assert sum(queues.stored.values()) % 120 == 70
    frame = collected.requests.with_columns(pl.col("name", "error").cast(pl.String))
    assert set(frame["error"]) == {""}
    passes = frame.group_by("iteration").agg(pl.col("name").unique().sort())
    kinds = {tuple(names) for names in passes["name"]}
    assert kinds == {("fill",), ("start", "state", "stop")}
    told = acknowledged(RequestColumns.of(collected.requests), Stored(request="fill", each=20))
    assert told == 20 * len(queues.filled) == sum(queues.stored.values()) - 70


def test_passes_of_the_warm_up_are_short_and_called_so(own, serve, tmp_path):
    """One chunk for each node; the first pass that begins in the measured phase is whole."""
    queues = Queues()
    profile = load("messaging.py", 1, think_s=0.001, **MESSAGES)
    phases = profile.phases.model_copy(update={"warmup_s": 0.2})
    profile = profile.model_copy(update={"phases": phases})
    own.prepare(profile, {"app": serve(queues.answer)}, tmp_path)
    frame = own.run().requests.with_columns(pl.col("name", "phase").cast(pl.String))
    fills = frame.filter((pl.col("name") == "fill") & (pl.col("status") == 200))
    each = fills.group_by("iteration").agg(pl.len(), pl.col("phase").first()).sort("iteration")
    kinds = each.select("phase", "len").rows()
    whole = kinds.index(("measured", 6))
    if kinds[whole - 1] == ("measured", 2):  # its length was chosen just before the phase began
        kinds.pop(whole - 1)
    assert set(kinds) == {("warm-up", 2), ("measured", 6)}
    drained = (
        frame.filter(pl.col("name").str.ends_with("start"))
        .group_by("iteration")
        .agg(pl.col("name").first())
    )
    warm = each.filter(pl.col("phase") == "warm-up")["iteration"] + 1
    told = {name: set(part["iteration"]) for (name,), part in drained.group_by("name")}
    assert told["warm start"] == set(warm)
    assert told["start"] == set(each.filter(pl.col("phase") == "measured")["iteration"] + 1)


def test_a_queue_that_is_never_drained_fails_the_trial(own, serve, tmp_path):
    """Nothing is made up from half a drain, and the next trial would find its messages."""
    queues = Queues()

    def answer(method, path, body):
        if "consumers?" in path:
            path = path.replace("count=2", "count=0")
        return queues.answer(method, path, body)

    profile = load("messaging.py", 1, think_s=0.001, **MESSAGES)
    phases = profile.phases.model_copy(update={"drain_s": 0.2})
    profile = profile.model_copy(update={"phases": phases})
    own.prepare(profile, {"app": serve(answer)}, tmp_path)
    with pytest.raises(TrialError, match=r"not drained 0.2 s after"):
        own.run()


@pytest.mark.parametrize(
    ("users", "settings", "found"),
    [
        (2, MESSAGES, "2 users"),
        (1, MESSAGES | {"messages": 121}, "121 messages for 2 nodes in chunks of 20"),
        (1, MESSAGES | {"chunk": 0}, "in chunks of 0"),
    ],
)
def test_a_load_that_cannot_be_filled_is_refused(own, serve, tmp_path, users, settings, found):
    """A second operator and shares that are no whole chunks are told before anything is counted."""
    queues = Queues()
    with pytest.raises(TrialError, match=found):
        own.prepare(
            load("messaging.py", users, **settings), {"app": serve(queues.answer)}, tmp_path
        )
        own.run()
    assert queues.filled == []
