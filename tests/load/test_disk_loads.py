"""The load of disk jobs, against a server that answers as the reference stack does."""

from __future__ import annotations

import itertools
import re

import pytest
from answering import Answering, served
from until import LONG_S, run_until

from sizebook.model.errors import UserError
from sizebook.model.load import ClosedLoop, LoadProfile, Phases

SETS = ["small", "medium", "large"]
FIO = ["seq-write", "seq-read", "rand-read", "rand-write", "log"]


@pytest.fixture
def node():
    """Give a server, and the list of (path, query) that it was asked for."""
    asked = []

    class Handler(Answering):
        def answer(self):
            if self.command == "GET":
                asked.append((self.path, {}))
                size = int(re.search(r"bytes=(\d+)", self.path)[1])
                self.tell(bytes(size), content_type="application/octet-stream")
                return
            path, query = self.asked()
            asked.append((path, query))
            kind, job = path.split("/")[2:]
            told = f'{{"job":"{job}","bytes":{query.get("bytes")},"ran":"psync direct"}}'
            if kind == "files":
                told = f'{{"job":"{job}","files":1,"intact":true}}'
            self.tell(told.encode())

    with served(Handler) as url:
        yield url, asked


def load(users=1, measured_s=0.2, **settings):
    return LoadProfile(
        locustfile="disk.py",
        arrivals=ClosedLoop(users=users),
        phases=Phases(warmup_s=0.0, measured_s=measured_s, drain_s=10.0),
        settings=settings,
        seed=7,
    )


def run(own, target, tmp_path, profile, enough=None):
    """Carry a load out, or as much of it as is ``enough``."""
    own.prepare(profile, {"app": target}, tmp_path)
    collected = run_until(own, enough) if enough else own.run()
    assert collected.facts.failed == 0 and collected.requests.height > 0
    return collected


def test_a_set_is_asked_for_with_its_sizes_and_another_seed_each_time(own, node, tmp_path):
    """Sizes that are not given are left to the stack; no two jobs have the same files."""
    url, asked = node
    collected = run(own, url, tmp_path, load(job="medium", files=40, most=5000))
    assert {path for path, _ in asked} == {"/disk/files/medium"}
    assert {(q["files"], q["most"], "least" in q) for _, q in asked} == {("40", "5000", False)}
    assert len({query["seed"] for _, query in asked}) == len(asked)
    assert set(collected.requests["name"].cast(str)) == {"medium"}
    assert collected.facts.results == "passes"


def test_fio_is_asked_for_size_time_and_way(own, node, tmp_path):
    """The answer must be of the same job and size."""
    url, asked = node
    run(own, url, tmp_path, load(job="log", mib=3, runtime_ms=20, engine="psync", direct=False))
    want = {"bytes": str(3 << 20), "runtime-ms": "20", "engine": "psync", "direct": "false"}
    assert all(asked_for == ("/disk/fio/log", want) for asked_for in asked)


def test_the_network_is_asked_for_whole_bodies(own, node, tmp_path):
    """Every byte is counted."""
    url, asked = node
    collected = run(own, url, tmp_path, load(job="network", mib=2))
    assert {path for path, _ in asked} == {f"/disk/network?bytes={2 << 20}"}
    assert set(collected.requests["body_bytes"]) == {2 << 20}


@pytest.mark.parametrize("without_fio", [False, True])
def test_all_asks_for_every_job_in_turn(own, node, tmp_path, without_fio):
    """In small, so that a JVM is warm for each of them."""
    url, asked = node
    turn = [*SETS, "network", *([] if without_fio else FIO)]
    whole = load(job="all", without_fio=without_fio, measured_s=LONG_S)
    run(own, url, tmp_path, whole, enough=lambda: len(asked) > len(turn))
    jobs = [re.split(r"[/?]", path)[-1 if path.count("?") == 0 else 2] for path, _ in asked]
    assert jobs == list(itertools.islice(itertools.cycle(turn), len(jobs)))
    assert len(jobs) > len(turn)


def test_several_users_are_refused(own, node, tmp_path):
    """A disk does one job at a time."""
    with pytest.raises(UserError, match="2 users"):
        own.prepare(load(users=2), {"app": node[0]}, tmp_path)
        own.run()
