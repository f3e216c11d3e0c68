"""Tiers: roles on hosts with a network of their own, and nothing of them left, whatever happens."""

import contextlib
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import psycopg
import pytest
from tests.stack.part_stack import PROJECT, load, started
from tests.waiting import HANGS_S, unread, wait_until

from sizebook.lab import app_stack, null_server, place
from sizebook.model.deployment import HostSpec
from sizebook.model.network import LinkSpec, NetworkSpec
from sizebook.probes.sampler import Sampler
from sizebook.probes.sets import stack_probes

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0, reason="name spaces need root on Linux"
)


APPS = ("web1", "web2")


def tiers(apps=APPS):
    """Return app nodes on hosts of their own, database and balancer on theirs, linked."""
    here = place()
    names = (*apps, "db", "front")
    hosts = [HostSpec(name=name, mode="namespace", memory_mib=700) for name in names]
    plain = app_stack(here, nodes=2, heap_mib=96, settings={"parts": "rest", "pool": 5})
    links = tuple(LinkSpec(ends=(app, "db"), frame_bytes=8996) for app in apps)
    return plain.on(*hosts, app=apps, database="db", balancer="front").connected(
        NetworkSpec(links=links)
    )


@pytest.fixture(scope="module")
def stack(tmp_path_factory):
    with started(tiers(), tmp_path_factory.mktemp("tiers")) as running:
        yield running


def test_every_role_is_where_it_was_put(stack):
    """Each at the address of its host, reached through the balancer on a third one."""
    assert [node.host.name for node in stack.nodes] == ["web1", "web2"]
    addresses = {host.address for host in stack.hosts.values()}
    assert len(addresses) == 4
    assert stack.hosts["front"].address in stack.url("app")
    assert stack.cluster.address == stack.hosts["db"].address
    with psycopg.connect(stack.cluster.admin_dsn) as connection:
        seen = connection.execute(
            "select distinct host(client_addr) from pg_stat_activity where client_addr is not null"
        ).fetchall()
    assert {one for (one,) in seen} == {stack.hosts[name].address for name in ("web1", "web2")}
    assert all(host.boot_s["all"] > 0 for host in stack.hosts.values())


@contextlib.contextmanager
def suspended(stack):
    """Let no node do anything within this context."""
    for node in stack.nodes:
        node.process.signal(signal.SIGSTOP)
    try:
        yield
    finally:
        for node in stack.nodes:
            node.process.signal(signal.SIGCONT)


def links_at_rest(stack):
    """Return what the app has sent to the database, and the database received, by both ends.

    The two counts are read one after the other, so they are those of one moment only while nobody
    sends: the nodes stand still, and nothing is under way when two readings are the same.
    """
    readings = []

    def is_quiet():
        hosts = stack.hosts
        sent = {(app, "db"): hosts[app].links["db"].use().sent_bytes for app in APPS}
        received = {("db", app): hosts["db"].links[app].use().received_bytes for app in APPS}
        readings.append(sent | received)
        return len(readings) > 5 and readings[-1] == readings[-5]

    with suspended(stack):
        assert wait_until(is_quiet)
    return readings[-1]


def test_they_are_watched_as_hosts_and_as_processes(stack, tmp_path):
    """CPU of each host, of each process, the JVM's own counters, and what every link carries."""
    sampler = Sampler(stack_probes(stack))
    sampler.attach()
    sampler.snapshot()
    before = links_at_rest(stack)
    collected = load(stack, tmp_path, "flight.py", 2, {})
    after = links_at_rest(stack)
    sampler.snapshot()
    sampler.stop()
    rows = sampler.frame().to_dicts()
    sampler.detach()
    assert collected.requests.filter(collected.requests["error"] != "").is_empty()

    def risen(host, source, metric):
        values = [
            r["value"]
            for r in rows
            if (r["host"], r["source"], r["metric"]) == (host, source, metric)
        ]
        return values[-1] - values[0]

    for app in ("web1", "web2"):
        assert risen("local", f"cgroup/{app}", "cgroup_cpu_s") > 0
        assert risen(app, f"link/{app}", "link_sent_bytes/db") > 0
        assert risen("db", "link/db", f"link_received_bytes/{app}") > 0
        sent, received = (after[end] - before[end] for end in ((app, "db"), ("db", app)))
        assert 0 < sent == received
    assert risen("local", "cgroup/db", "cgroup_cpu_s") > 0
    assert risen("front", "link/front", "link_sent_bytes/shared") > 0
    assert risen("local", "link/local", "link_received_bytes/shared") > 0
    assert risen("db", "link/db", "link_sent_bytes/shared") < 5_000
    sources = {row["source"] for row in rows}
    assert {"jvm/app-1", "process/app-2", "server/app-1", "process/database-1"} <= sources
    assert unread(sampler) == []


def test_a_host_is_limited_while_it_runs(stack):
    """As one tier is given less: of all that runs on it together."""
    host = stack.hosts["web1"]
    host.set_limits(0.05, None, ())
    before = host.outside()
    try:
        assert wait_until(
            lambda: (
                stack.nodes[0].answers() is None
                or host.outside().throttled_periods > before.throttled_periods
            )
        )
    finally:
        host.set_limits(None, None, ())


def test_a_killed_node_comes_back_on_its_host(stack):
    url = stack.nodes[1].url
    stack.kill("app-2")
    assert stack.start_again("app-2") > 0
    assert (stack.nodes[1].url, stack.endings()) == (url, ())


HARNESS = """
import sys, time
from pathlib import Path
from tests.stack.part_stack import started
from tests.stack.test_tiers import tiers
with started(tiers(tuple(sys.argv[1].split(","))), Path(sys.argv[2])) as stack:
    print("up", flush=True)
    if sys.argv[3] == "failure":
        raise RuntimeError("meant to fail")
    time.sleep(120)
"""


def left_of(apps, folder):
    """Return name spaces, control groups and processes that are left of a deployment."""
    spaces = subprocess.run(["ip", "netns"], capture_output=True, text=True, check=True).stdout
    found = [space for space in spaces.split() if space.endswith(apps)]
    found += [
        str(path) for path in Path("/sys/fs/cgroup").glob("**/sb-*") if path.name.endswith(apps)
    ]
    for process in psutil.process_iter(["cmdline"]):
        said = " ".join(process.info["cmdline"] or [])
        if str(folder) in said:
            found.append(said)
    return found


@pytest.mark.parametrize("how", ["failure", signal.SIGINT, signal.SIGKILL])
def test_nothing_is_left_of_tiers(how, tmp_path_factory, stack):
    """An error, Ctrl-C, or a harness that was killed: hosts, links and processes are gone."""
    folder = tmp_path_factory.mktemp("ends")
    apps = tuple(f"w{os.urandom(2).hex()}" for _ in range(2))
    words = [sys.executable, "-c", HARNESS, ",".join(apps), str(folder), str(how)]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=PROJECT.root
    ) as harness:
        assert harness.stdout.readline() == "up\n", harness.stderr.read()[-2000:]
        if how != "failure":
            assert left_of(apps, folder)
            harness.send_signal(how)
        harness.communicate(timeout=HANGS_S)
    assert harness.returncode != 0
    wait_until(lambda: not left_of(apps, folder))
    assert left_of(apps, folder) == []
    assert stack.endings() == ()


@pytest.mark.parametrize("told", [True, False])
def test_hosts_use_all_cpus_until_the_stack_is_pinned(tmp_path, told):
    """A node that knows how many CPUs it will have may have more meanwhile; no other may."""
    here = place()
    every = sorted({*here.stack, *here.generator})
    box = HostSpec(name="box", mode="namespace", cpus=here.stack, memory_mib=400)
    server = null_server(here).on(box, nullserver="box")
    if not told:
        server = server.changed("nullserver", cpus=())
    with started(server, tmp_path) as stack:
        process = psutil.Process(stack.nodes[0].process.pid)
        assert sorted(process.cpu_affinity()) == sorted(here.stack)
        stack.spread(tuple(every))
        assert sorted(process.cpu_affinity()) == (every if told else sorted(here.stack))
        stack.pin()
        assert sorted(process.cpu_affinity()) == sorted(here.stack)
