"""Which probes watch a stack: intervals, control groups, and a real run at 10 Hz."""

import os
import sys
import threading
from dataclasses import dataclass, field
from types import SimpleNamespace

import polars as pl
import pytest

from sizebook.hosts import HostView
from sizebook.model.errors import UsageError
from sizebook.probes import sets
from sizebook.probes.cgroup import GroupFolder, Memberships
from sizebook.probes.jvm import JvmProbe
from sizebook.probes.native_memory import TRACKING
from sizebook.probes.sampler import Sampler
from sizebook.probes.sets import stack_probes


@dataclass
class Process:
    name: str = "x"
    pid: int = field(default_factory=os.getpid)
    exit_code: int | None = None
    command: tuple[str, ...] = ("java", "-jar", "a.jar")


def node(name, pid=1):
    return SimpleNamespace(
        name=name,
        role=name.partition("-")[0],
        process=Process(name, pid),
        url="http://127.0.0.1:8080",
        management_port=8081,
        host=SimpleNamespace(name="local", address="127.0.0.1"),
    )


def stack(*nodes, cluster="host=nowhere dbname=x"):
    return SimpleNamespace(
        nodes=nodes,
        servers=(),
        watched=(),
        cluster=SimpleNamespace(admin_dsn=cluster),
        balancer=None,
        hosts={},
        links={},
        database=Process("database-1", 2),
    )


def no_groups(pid):
    raise OSError("none")


def test_every_source_has_its_interval(monkeypatch):
    """At 10 Hz host, processes and JVM follow; server and database stay at 1 Hz, details at 2 s."""
    monkeypatch.setattr(sets, "find_groups", no_groups)
    fast = {p.name: p.interval_s for p in stack_probes(stack(node("app-1")), interval_s=0.1)}
    assert fast == {
        "host:local": 0.1,
        "process:process/database-1": 0.1,
        "details:process/database-1": 2.0,
        "process:process/app-1": 0.1,
        "details:process/app-1": 2.0,
        "jvm:jvm/app-1": 0.1,
        "prometheus:server/app-1": 1.0,
        "postgres:database": 1.0,
    }
    pinned = {p.name: p.interval_s for p in stack_probes(stack(), interval_s=0.1, cpus=(0,))}
    assert pinned["speed"] == 0.1
    slow = {p.name: p.interval_s for p in stack_probes(stack(node("app-1")), interval_s=5.0)}
    assert (slow["host:local"], slow["postgres:database"]) == (5.0, 5.0)
    assert slow["details:process/app-1"] == 100.0


def test_what_cannot_be_watched_from_here_is_asked_of_its_host(monkeypatch):
    """Of a node without a process of this machine only its own page and its host tell."""
    monkeypatch.setattr(sets, "find_groups", no_groups)
    inner, box = node("app-1", None), SimpleNamespace(name="box", address="10.77.0.2")
    inner.host, inner.process.inner_pid = box, 42
    watched = stack(inner)
    watched.hosts, watched.on_host = {"box": box}, lambda host: {"app-1": inner.process}
    found = {p.name: p for p in stack_probes(watched, interval_s=0.5)}
    assert {"inside:box", "outside:box", "prometheus:server/app-1"} <= set(found)
    assert not [name for name in found if name.endswith(("process/app-1", "jvm/app-1"))]
    assert found["inside:box"].interval_s == 0.5
    asked = []
    box.inside = lambda pids: asked.append(pids) or HostView(0, 0, {}, 1, 1)
    list(found["inside:box"].sample())
    inner.process.exit_code = 1
    list(found["inside:box"].sample())
    assert asked == [{"app-1": 42}, {}]


def test_native_memory_is_asked_of_those_who_keep_it(monkeypatch):
    """A node that was started with tracking has one probe more, asked outside the load."""
    monkeypatch.setattr(sets, "find_groups", no_groups)
    plain, tracked = node("app-1"), node("app-2")
    tracked.process.command = ("java", TRACKING, "-jar", "a.jar")
    found = {p.name: p.interval_s for p in stack_probes(stack(plain, tracked), interval_s=0.1)}
    assert "native:jvm/app-1" not in found
    assert found["native:jvm/app-2"] >= 3600


@pytest.mark.parametrize("interval_s", [0.0999, 0.0, -1.0, float("nan")])
def test_too_short_an_interval_is_refused(interval_s):
    """Faster than 10 Hz the probes would be what is measured; the message says so."""
    with pytest.raises(UsageError, match=r"at least 0.1 s"):
        stack_probes(stack(), interval_s=interval_s)


def test_one_control_group_or_several(monkeypatch, tmp_path):
    """A group that holds all is called so; else it is called after its first process."""
    one, other = (Memberships(cpu=GroupFolder(2, tmp_path / name)) for name in "ab")
    where = {1: one, 2: one, 3: one}

    def names():
        generator = Process("generator-1", 3)
        probes = stack_probes(stack(node("app-1", 1)), [generator])
        return [probe.name for probe in probes if probe.name.startswith("cgroup")]

    monkeypatch.setattr(sets, "find_groups", where.__getitem__)
    assert names() == ["cgroup:cgroup/all"]
    where[3] = other
    assert names() == ["cgroup:cgroup/database-1", "cgroup:cgroup/generator-1"]
    where[3] = Memberships()
    assert names() == ["cgroup:cgroup/database-1"]
    where.update(dict.fromkeys(where, Memberships()))
    assert names() == []


@pytest.mark.skipif(sys.platform != "linux", reason="processes are read from /proc")
def test_two_seconds_at_10_hz_are_accounted_for(monkeypatch):
    """With the real clock every deadline is a reading or a counted miss, for every source."""
    monkeypatch.setattr(sets, "find_groups", no_groups)
    probes = [
        probe
        for probe in stack_probes(
            SimpleNamespace(
                nodes=(),
                servers=(),
                watched=(),
                cluster=None,
                balancer=None,
                hosts={},
                links={},
                database=Process("database-1"),
            ),
            interval_s=0.1,
        )
        if not probe.name.startswith("details")
    ]
    probes.append(JvmProbe("jvm/none-1", lambda: None, interval_s=0.1))
    run = Sampler(probes)
    with run:
        threading.Event().wait(2.0)
    frame = run.frame().with_columns(pl.col("metric", "source").cast(pl.String))
    last = dict(frame.filter(pl.col("source") == "probes").group_by("metric").last()
                .select("metric", "value").iter_rows())  # fmt: skip
    for probe, source, metric in (
        ("host:local", "host", "load_1min"),
        ("process:process/database-1", "process/database-1", "rss_bytes"),
    ):
        rows = frame.filter((pl.col("source") == source) & (pl.col("metric") == metric))
        read = rows["value"].count() - 2  # the two snapshots have no deadline
        assert read + last[f"missed_ticks/{probe}"] == last[f"due_ticks/{probe}"] > 0
    jvm = "jvm:jvm/none-1"
    tried = last[f"failed_reads/{jvm}"] - 2
    assert tried + last[f"missed_ticks/{jvm}"] == last[f"due_ticks/{jvm}"] > 0
