"""Several generator processes as one: together they carry a load once, and end together."""

from __future__ import annotations

import os
import shutil
import signal
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import polars as pl
import psutil
import pytest
from tests.waiting import HANGS_S, soon

from sizebook.hosts.local import usable_cpus
from sizebook.load.control import lead_ns
from sizebook.load.schedule import arrival_offsets
from sizebook.load.workers import Workers, cpu_share
from sizebook.model.errors import TrialError, UsageError
from sizebook.model.load import (
    ClosedLoop,
    LoadProfile,
    OpenArrivals,
    Phases,
    StaircaseArrivals,
    Step,
)

PAGE = """
from sizebook.load.settings import Setting
from sizebook.load.users import Expect, LeanHttpUser

class Reader(LeanHttpUser):
    settings = {"path": Setting("/")}

    def iteration(self):
        self.get(str(self.setting("path")), name="page", check=Expect(length=1024))
"""
ONE_FAILS = """
from sizebook.load.users import Expect, LeanHttpUser

class Reader(LeanHttpUser):
    def iteration(self):
        self.get("/", name="page", check=Expect(length=1024))
        if self.course.order.worker == 1:
            {}["key"]
"""
BATCH = """
from sizebook.load.users import SharedBatch

class Clerk(SharedBatch):
    def open_batch(self):
        return [1, 2]

    def do_item(self, item):
        pass
"""
SHORT = Phases(ramp_s=0.1, warmup_s=0.1, measured_s=0.4, drain_s=1.0)
LONG = Phases(warmup_s=0.1, measured_s=600, drain_s=0.5)


def profile(arrivals=None, phases=SHORT, workers=2, text=PAGE, **more) -> tuple[str, LoadProfile]:
    load = LoadProfile(
        locustfile="shared.py", arrivals=arrivals or ClosedLoop(users=5), phases=phases,
        workers=workers, **more,
    )  # fmt: skip
    return text, load


def prepared(group: Workers, locustfiles: Path, url: str, out: Path, order) -> LoadProfile:
    text, load = order
    (locustfiles / "shared.py").write_text(text)
    group.prepare(load, {"app": url}, out)
    return load


@pytest.fixture(scope="module")
def pair(host, locustfiles, tmp_path_factory):
    """Two processes for all tests that do not harm them."""
    log_dir = tmp_path_factory.mktemp("log")
    group = Workers(host, sys.executable, log_dir, workers=2, locustfiles=locustfiles)
    with group as running:
        yield running


@pytest.fixture
def fresh(host, locustfiles, tmp_path):
    """Two processes that the test may harm, and their ids."""
    own = Workers(host, sys.executable, tmp_path / "log", workers=2, locustfiles=locustfiles)
    own.start()
    yield own, [process.pid for process in own.processes]
    own.stop()


def all_end(pids: list[int]) -> bool:
    processes = [psutil.Process(pid) for pid in pids if psutil.pid_exists(pid)]
    return not psutil.wait_procs(processes, timeout=HANGS_S)[1]


def test_two_workers_carry_the_schedule_once(pair, locustfiles, server, tmp_path):
    """Every arrival of the stored schedule is started once, by one of the two; counts add up."""
    arrivals = StaircaseArrivals(
        steps=(Step(rate_per_s=200, length_s=0.2), Step(rate_per_s=500, length_s=0.2)),
        users=40,
        poisson=True,
    )
    load = prepared(pair, locustfiles, server.url, tmp_path, profile(arrivals, seed=4))
    collected = pair.run()
    facts, frame = collected.facts, collected.requests
    begin_ns = collected.phases[0].begin_ns
    assert collected.schedule.tolist() == arrival_offsets(arrivals, load.phases, 4).tolist()
    assert sorted(frame["intended_ns"] - begin_ns) == collected.schedule.tolist()
    assert facts.issued == facts.completed == frame.height == server.requests
    assert (facts.failed, facts.dropped) == (0, 0)
    assert frame["start_ns"].is_sorted()
    assert set(frame["worker"]) == {0, 1}
    assert frame["iteration"].n_unique() == frame.height
    assert [mark.name for mark in collected.phases] == ["ramp", "warm-up", "measured", "drain"]
    shares = [collected.notes[f"worker{worker}.issued"] for worker in range(2)]
    assert sum(shares) == facts.issued
    assert abs(shares[0] - shares[1]) <= 1
    assert len(facts.worker_cpu_s) == 2
    assert sum(facts.worker_cpu_s) == pytest.approx(facts.cpu_s)
    assert facts.lag_max_ms == max(collected.notes[f"worker{k}.lag_max_ms"] for k in range(2))
    assert facts.client == "LeanHttpUser"


def test_two_workers_share_the_users_of_a_closed_loop(pair, locustfiles, server, tmp_path):
    """Every user is at work, under a number of its own; there is no schedule."""
    prepared(pair, locustfiles, server.url, tmp_path, profile())
    ticks = []
    collected = pair.run(ticks.append, start_ns=time.monotonic_ns() + lead_ns(5, 2))
    frame = collected.requests
    assert collected.schedule is None
    assert collected.facts.completed == frame.height == server.requests
    assert collected.notes["connections_opened"] == 5
    by_worker = frame.group_by("worker").agg(pl.col("user").unique().sort()).sort("worker")
    assert by_worker["user"].to_list() == [[0, 2, 4], [1, 3]]
    assert collected.notes["locust_requests"] == frame.height


def test_workers_keep_to_the_common_start(pair, locustfiles, server, tmp_path):
    """Told too late, they do not shift the trial: what was due before is started late, and said."""
    order = profile(OpenArrivals(kind="constant", rate_per_s=100, users=20), phases=SHORT)
    prepared(pair, locustfiles, server.url, tmp_path, order)
    start_ns = time.monotonic_ns() - 300_000_000
    collected = pair.run(start_ns=start_ns)
    assert collected.phases[0].begin_ns == start_ns
    due = sorted(collected.requests["intended_ns"] - start_ns)
    assert due == collected.schedule.tolist()
    overdue = sum(offset < 299_000_000 for offset in due)
    assert collected.facts.late_starts >= overdue > 10


def test_a_load_may_want_fewer_workers(pair, locustfiles, server, tmp_path):
    """One of two then carries everything; three of two is an error."""
    order = profile(OpenArrivals(kind="constant", rate_per_s=100), workers=1)
    prepared(pair, locustfiles, server.url, tmp_path, order)
    collected = pair.run()
    assert set(collected.requests["worker"]) == {0}
    assert not [name for name in collected.notes if name.startswith("worker")]
    with pytest.raises(UsageError, match="3 workers"):
        prepared(pair, locustfiles, server.url, tmp_path, profile(workers=3))
    with pytest.raises(RuntimeError):
        pair.run()


def test_what_was_never_started_is_the_schedule_without_the_rows(
    pair, locustfiles, server, tmp_path
):
    """With every user stuck, the dropped arrivals are those of the schedule that left no row."""
    order = profile(
        OpenArrivals(kind="poisson", rate_per_s=200, users=6),
        phases=Phases(warmup_s=0.1, measured_s=0.3, drain_s=0.2),
        settings={"path": "/never"},
    )
    prepared(pair, locustfiles, server.url, tmp_path, order)
    collected = pair.run()
    due = Counter((collected.schedule + collected.phases[0].begin_ns).tolist())
    started = Counter(collected.requests["intended_ns"].to_list())
    assert started <= due
    assert started.total() == collected.facts.failed == 6
    assert (due - started).total() == collected.facts.dropped > 30


def test_shared_batches_take_one_worker(pair, locustfiles, server, tmp_path):
    """Users of two processes cannot take items from one batch; the group stays usable."""
    with pytest.raises(UsageError, match="2 workers for shared"):
        prepared(pair, locustfiles, server.url, tmp_path, profile(text=BATCH))
    prepared(pair, locustfiles, server.url, tmp_path, profile())
    assert pair.run().facts.failed == 0


def test_an_early_end_ends_all(pair, locustfiles, server, tmp_path):
    """What was recorded is kept; phases and accounting are those of one trial."""
    order = profile(OpenArrivals(kind="poisson", rate_per_s=200, users=20), phases=LONG)
    prepared(pair, locustfiles, server.url, tmp_path, order)
    soon(lambda: server.requests > 20, pair.stop_trial)
    collected = pair.run()
    facts = collected.facts
    assert collected.stopped_early
    assert facts.issued == facts.completed + facts.failed + facts.dropped
    assert facts.completed + facts.failed == server.requests > 0
    assert [mark.name for mark in collected.phases] == ["warm-up", "measured", "drain"]
    assert collected.phases[-2].end_ns == collected.phases[-1].begin_ns
    end_ns = collected.phases[-1].begin_ns
    rows = collected.requests
    assert ((rows["intended_ns"] >= end_ns) == (rows["phase"].cast(pl.String) == "drain")).all()


def test_a_killed_worker_ends_the_others(fresh, locustfiles, server, tmp_path):
    """The trial fails with what happened to that worker, and no process is left."""
    group, pids = fresh
    prepared(group, locustfiles, server.url, tmp_path, profile(phases=LONG))
    soon(lambda: server.requests > 0, lambda: os.kill(pids[1], signal.SIGKILL))
    with pytest.raises(TrialError, match=r"ended by itself \(exit code -9\)") as caught:
        group.run()
    assert "generator-2.log" in str(caught.value)
    assert not group.alive
    assert group.processes == ()
    assert all_end(pids)


def test_an_error_of_one_locustfile_ends_the_others(fresh, locustfiles, server, tmp_path):
    """The first error is told, not what became of the others; after a new start all is well."""
    group, pids = fresh
    order = profile(phases=LONG, text=ONE_FAILS)
    prepared(group, locustfiles, server.url, tmp_path, order)
    with pytest.raises(TrialError, match="KeyError in shared"):
        group.run()
    assert all_end(pids[:1])
    assert not group.alive
    group.stop()
    assert all_end(pids)
    group.start()
    assert group.alive
    prepared(group, locustfiles, server.url, tmp_path, profile())
    assert group.run().facts.failed == 0


@pytest.mark.parametrize("kind", [KeyboardInterrupt, RuntimeError])
def test_an_error_of_the_display_ends_all(fresh, locustfiles, server, tmp_path, kind):
    """It goes on after every generator was ended; ticks come in the thread that called."""
    group, pids = fresh
    threads = []

    def interrupt(tick):
        threads.append(threading.current_thread())
        raise kind

    prepared(group, locustfiles, server.url, tmp_path, profile(phases=LONG))
    with pytest.raises(kind):
        group.run(interrupt)
    assert threads == [threading.current_thread()]
    assert all_end(pids)


def test_ctrl_c_ends_all(fresh, locustfiles, server, tmp_path):
    """A real SIGINT, as the terminal sends it, in the midst of a trial."""
    group, pids = fresh
    prepared(group, locustfiles, server.url, tmp_path, profile(phases=LONG))
    soon(lambda: server.requests > 0, lambda: os.kill(os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        group.run()
    assert group.processes == ()
    assert all_end(pids)


def test_ticks_are_sums(fresh, locustfiles, server, tmp_path):
    """What is told once a second holds the users of all workers."""
    group, _ = fresh
    ticks = []

    def hear(tick):
        ticks.append(tick)
        if len(ticks) == 2:
            group.stop_trial()

    prepared(group, locustfiles, server.url, tmp_path, profile(phases=LONG))
    collected = group.run(hear)
    assert ticks[1].users == 5
    assert 0 < ticks[0].requests < ticks[1].requests <= collected.requests.height


def test_a_group_starts_whole_or_not_at_all(host, locustfiles, tmp_path):
    """If one process cannot start, the one that could is ended."""
    once = tmp_path / "once"
    python = tmp_path / "python"
    python.write_text(
        f'#!/bin/sh\nif mkdir "{once}" 2>/dev/null; then exec "{sys.executable}" "$@"; fi\n'
        "echo 'no such package' >&2\nexit 3\n"
    )
    python.chmod(0o755)
    group = Workers(host, str(python), tmp_path / "log", workers=2, locustfiles=locustfiles)
    with pytest.raises(TrialError, match=r"exit code 3.*no such package"):
        group.start()
    assert once.is_dir()
    assert group.processes == ()


def test_each_worker_has_its_own_cpus():
    """Shared out as cards are; with too few, workers share; none named is any."""
    assert [cpu_share((4, 5, 6, 7), worker, 2) for worker in range(2)] == [(4, 6), (5, 7)]
    assert [cpu_share((4, 5), worker, 3) for worker in range(3)] == [(4,), (5,), (4,)]
    assert cpu_share((4, 5), 0, 1) == (4, 5)
    assert cpu_share((), 1, 2) == ()


@pytest.mark.skipif(shutil.which("taskset") is None, reason="nothing to pin processes with")
def test_processes_are_where_they_belong(host, locustfiles, tmp_path):
    """The system confirms it."""
    cpus = usable_cpus()[:2]
    with Workers(host, sys.executable, tmp_path, cpus, workers=2, locustfiles=locustfiles) as group:
        assert {"locust", "gevent"} <= set(group.versions)
        affinity = [psutil.Process(process.pid).cpu_affinity() for process in group.processes]
    assert affinity == [list(cpu_share(cpus, worker, 2)) for worker in range(2)]
    assert group.processes == ()
