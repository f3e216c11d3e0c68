"""The load of pools, against a server that answers as the reference stack does."""

from __future__ import annotations

from collections import Counter

import pytest
from answering import Answering, served

from sizebook.model.errors import UserError
from sizebook.model.load import ClosedLoop, LoadProfile, Phases


@pytest.fixture
def node():
    """Give a server, and the (path, query) of what it was asked for, in order."""
    asked = []

    class Handler(Answering):
        def answer(self):
            path, query = self.asked()
            asked.append((path, query))
            last = path.rsplit("/", 1)[1]
            if path.startswith("/bindings-pools/"):
                told = {"pool": last, "threads": int(query["threads"])}
            else:
                told = {"id": query["id"], "way": last, "bytes": int(query["bytes"]), "calls": 1}
            self.tell(told, 202 if "one-way" in query else 200)

    with served(Handler) as url:
        yield url, asked


def load(users=1, **settings):
    return LoadProfile(
        locustfile="pools.py",
        arrivals=ClosedLoop(users=users, think_s=0.005),
        phases=Phases(warmup_s=0.0, measured_s=0.3, drain_s=10.0),
        settings=settings,
    )


def run(own, target, tmp_path, profile):
    own.prepare(profile, {"app": target}, tmp_path)
    collected = own.run()
    assert collected.facts.failed == 0 and collected.requests.height > 0
    return collected


def test_pools_are_set_before_anything_is_counted(own, node, tmp_path):
    """One request a pool, in their order, none of which is recorded."""
    url, asked = node
    pools = "web?threads=3;bindings-rpc?threads=2&grows=true&idle=50ms"
    collected = run(own, url, tmp_path, load(way="rpc", work="rounds:5", pools=pools))
    assert asked[:2] == [
        ("/bindings-pools/web", {"threads": "3"}),
        ("/bindings-pools/bindings-rpc", {"threads": "2", "grows": "true", "idle": "50ms"}),
    ]
    calls = asked[2:]
    assert len(calls) == collected.requests.height
    assert {(path, query["work"]) for path, query in calls} == {("/bindings/rpc", "rounds:5")}


def test_messages_are_numbered_by_their_sender(own, node, tmp_path):
    """Without a gap and without a repetition: the order of each can be told by the ids."""
    url, asked = node
    run(own, url, tmp_path, load(3, way="queue", one_way=True))
    sent = [query["id"].rsplit("-", 1) for _, query in asked]
    senders = Counter(sender for sender, _ in sent)
    assert len(senders) == 3
    for sender, count in senders.items():
        numbers = [int(number) for one, number in sent if one == sender]
        assert numbers == list(range(1, count + 1))


def test_some_users_flood_while_the_others_call(own, node, tmp_path):
    """Messages over JMS under a name of their own, calls under that of their way."""
    url, asked = node
    settings = {"flood": 2, "flood_work": "pause:1,row", "work": "rounds:3"}
    collected = run(own, url, tmp_path, load(3, way="queue", **settings))
    names = Counter(collected.requests["name"].cast(str))
    kinds = Counter((path, "one-way" in query, query["work"]) for path, query in asked)
    assert kinds == {
        ("/bindings/jms", True, "pause:1,row"): names["one-way"],
        ("/bindings/queue", False, "rounds:3"): names["queue"],
    }
    senders = {query["id"].rsplit("-", 1)[0] for path, query in asked if path.endswith("jms")}
    assert len(senders) == 2


def test_only_who_has_a_queue_can_send_one_way(own, node, tmp_path):
    """A direct call is answered when it is done."""
    with pytest.raises(UserError, match="one_way"):
        own.prepare(load(way="direct", one_way=True), {"app": node[0]}, tmp_path)
