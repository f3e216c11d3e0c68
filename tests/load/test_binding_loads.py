"""The load of bindings, against a server that answers as the reference stack does."""

from __future__ import annotations

import itertools

import pytest
from answering import Answering, served
from until import LONG_S, run_until

from sizebook.model.errors import UserError
from sizebook.model.load import ClosedLoop, LoadProfile, Phases

WAYS = ("direct", "copy", "queue", "jms", "http", "soap", "rpc")
SIZES = (1024, 102_400, 1_048_576)


@pytest.fixture
def sender():
    """Give a server, and the list of (way, bytes, calls) that it was asked for."""
    asked = []

    class Handler(Answering):
        def answer(self):
            self.sent()
            path, query = self.asked()
            way, size = path.rsplit("/", 1)[1], int(query["bytes"])
            asked.append((way, size, int(query["calls"])))
            self.tell({"id": query["id"], "way": way, "bytes": size, "checksum": "00000000",
                       "calls": int(query["calls"]), "thread": "t"})  # fmt: skip

    with served(Handler) as url:
        yield url, asked


def load(measured_s=0.4, **settings):
    return LoadProfile(
        locustfile="bindings.py",
        arrivals=ClosedLoop(users=1),
        phases=Phases(warmup_s=0.0, measured_s=measured_s, drain_s=10.0),
        settings=settings,
    )


def run(own, target, tmp_path, profile, enough=None):
    """Carry a load out, or as much of it as is ``enough``."""
    own.prepare(profile, {"app": target}, tmp_path)
    collected = run_until(own, enough) if enough else own.run()
    assert collected.facts.failed == 0 and collected.requests.height > 0
    return collected


def test_one_way_asks_for_the_same_again_and_again(own, sender, tmp_path):
    """Way, size and calls are those of the settings; the request is named after the way."""
    url, asked = sender
    collected = run(own, url, tmp_path, load(way="rpc", bytes=5000, calls=3))
    assert set(asked) == {("rpc", 5000, 3)}
    assert set(collected.requests["name"].cast(str)) == {"rpc"}


def test_all_asks_for_every_way_and_size_in_turn(own, sender, tmp_path):
    """Every way at the least size first: the first call of each is one of 1 KB."""
    url, asked = sender
    whole = load(way="all", measured_s=LONG_S)
    run(own, url, tmp_path, whole, enough=lambda: len(asked) > len(WAYS))
    turns = itertools.cycle([(way, size, 1) for size in SIZES for way in WAYS])
    assert asked == list(itertools.islice(turns, len(asked)))
    assert len(asked) > len(WAYS)


def test_the_opening_is_two_runs_in_parts(own, sender, tmp_path):
    """A first run of 200 calls in five parts, a second in one; each part is followed by a pause."""
    url, asked = sender
    run(own, url, tmp_path, load(measured_s=2.0, opening=True, calls=7))
    calls = [calls for _, _, calls in asked]
    assert calls == [10, 10, 30, 50, 100, 200][: len(calls)]


def test_uploaded_payloads_are_of_one_size(own, sender, tmp_path):
    """Nobody could tell the checksum of each size in turn."""
    with pytest.raises(UserError, match="upload"):
        own.prepare(load(way="all", upload=True), {"app": sender[0]}, tmp_path)
