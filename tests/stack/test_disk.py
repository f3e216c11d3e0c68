"""Disk jobs on a real node: done and counted, nothing left behind, a full disk is told as such."""

import contextlib
import json
import os
import shutil
import subprocess

import pytest
from tests.stack.part_stack import counters, load, post, started

from sizebook.chapters.disk.node import disk_stack
from sizebook.lab.placement import place
from sizebook.stack.settings import PROPERTIES

NO_FIO = "" if shutil.which("fio") else "this host has no fio"
FEW_NODES = 40


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    """One node without a database, started once."""
    with started(disk_stack(place()), tmp_path_factory.mktemp("disk")) as running:
        yield running


def left(stack):
    """Return what the node keeps in its data folder."""
    return list((stack.folder / "data" / "app-1").iterdir())


def rises(stack, before):
    """Return by how much each counter rose."""
    return {name: value - before.get(name, 0) for name, value in counters(stack).items()}


def test_a_node_that_works_on_its_disk_needs_no_database(stack):
    """The deployment has one role; the node has no pool of connections."""
    assert [role.role for role in disk_stack(place()).roles] == ["app"]
    assert stack.cluster is None
    assert not [name for name in counters(stack) if name.startswith("pool_")]
    assert {"disk_max_job", "disk_spare", "fio"} <= set(PROPERTIES)


def test_bytes_are_counted_in_every_direction(stack):
    """The answer's bytes are the counters'; reading past the cache asks the disk for all."""
    before = counters(stack)
    status, body = post(f"{stack.url('app')}/disk/files/small?files=30&most=300000&seed=4")
    told = json.loads(body)
    assert status == 200 and told["intact"] is True and told["files"] == 30
    rose = rises(stack, before)
    directions = {"write", "reread"} | ({"read"} if told["direct"] else set())
    for direction in directions:
        assert rose[f"disk_job_bytes/{direction}"] == told["bytes"]
        assert rose[f"disk_job_s/{direction}"] > 0
        assert told["done"][direction]["bytes"] == told["bytes"]
    assert rose["disk_job_operations_total/sync"] == 32  # the files, and two folders
    assert rose["disk_jobs_total/small"] == 1
    device = told["done"].get("read", {}).get("deviceBytes")
    if told["direct"] and device:
        assert device >= told["bytes"]
    assert left(stack) == []


@pytest.mark.skipif(bool(NO_FIO), reason=NO_FIO)
def test_fio_forces_each_block_of_a_log(stack):
    """As many syncs as writes but for the last; the engine that ran is told and counted."""
    before = counters(stack)
    status, body = post(f"{stack.url('app')}/disk/fio/log?bytes=4194304&runtime-ms=200")
    told = json.loads(body)
    assert status == 200, body
    write, sync = told["done"]["write"], told["done"]["sync"]
    assert write["bytes"] == 8192 * write["operations"] > 0
    assert abs(write["operations"] - sync["operations"]) <= 2
    rose = rises(stack, before)
    assert rose[f"disk_runs_total/{told['ran']}"] == 1
    assert rose["disk_job_operations_total/sync"] == sync["operations"]
    assert counters(stack)["disk_job_p99_s/sync"] == pytest.approx(sync["p99Ms"] / 1e3)
    assert left(stack) == []


@pytest.mark.parametrize(
    ("job", "settings"),
    [
        ("medium", {"files": 5}),
        ("network", {"mib": 1}),
        pytest.param(
            "rand-read",
            {"mib": 2, "runtime_ms": 50, "engine": "psync"},
            marks=pytest.mark.skipif(bool(NO_FIO), reason=NO_FIO),
        ),
    ],
)
def test_the_load_profile_has_its_jobs_done(stack, tmp_path, job, settings):
    """Every answer is checked; requests and jobs agree."""
    before = counters(stack)
    collected = load(stack, tmp_path, "disk.py", 1, {"job": job, **settings}, measured_s=0.3)
    assert collected.facts.failed == 0 and collected.requests.height > 0
    rose = rises(stack, before)
    if job == "network":
        assert rose["disk_sent_bytes"] == collected.requests.height << 20
    else:
        assert rose[f"disk_jobs_total/{job}"] == collected.requests.height


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("files/huge", 404, "small, medium and large"),
        ("files/small?files=0", 400, "files must be"),
        ("files/large?least=4294967296&most=4294967296", 400, "at most 2147483648 are allowed"),
        ("fio/log?engine=magic", 400, "one of libaio"),
    ],
)
def test_what_cannot_be_done_is_refused(stack, path, status, words):
    """A clear status, no stack trace in answer or log, nothing left behind."""
    before = counters(stack)
    found, text = post(f"{stack.url('app')}/disk/{path}")
    assert found == status and words in json.loads(text)["detail"]
    refused = sum(v for k, v in rises(stack, before).items() if k.startswith("disk_refused"))
    assert refused == (status == 400)
    assert "\tat " not in stack.nodes[0].process.log_tail(200)
    assert left(stack) == []


@contextlib.contextmanager
def small_disk(folder):
    """Mount a disk of 8 MB with few nodes for files; unmount it whatever happens."""
    folder.mkdir()
    options = f"size=8m,nr_inodes={FEW_NODES}"
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "sizebook-test", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting a small disk needs root")
def test_a_disk_that_becomes_full_is_told_and_cleaned_up(tmp_path_factory):
    """507 before anything is written where that can be known, and in the middle where it cannot."""
    poor = disk_stack(place(), settings={"disk_spare": "1MB"})
    with started(poor, tmp_path_factory.mktemp("full")) as stack:
        home = stack.folder / "data" / "app-1"
        home.rmdir()
        with small_disk(home):
            before = counters(stack)
            for query, words in (
                ("large?least=7900000&most=7900000", "bytes free"),
                (f"small?files={FEW_NODES}&most=600", "became full"),
            ):
                status, text = post(f"{stack.url('app')}/disk/files/{query}")
                assert status == 507 and words in json.loads(text)["detail"]
                assert list(home.iterdir()) == []
            assert rises(stack, before)["disk_refused_total/full"] == 2
            good = post(f"{stack.url('app')}/disk/files/small?files=10&most=600")
            assert good[0] == 200, good
        assert "\tat " not in stack.nodes[0].process.log_tail(200)
