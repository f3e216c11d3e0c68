"""A deployment on a host of its own is the deployment that it is on this machine."""

import json
import subprocess

import psycopg
import pytest
from tests.stack.part_stack import PROJECT, counters, started
from tests.waiting import unread, wait_until

from sizebook.hosts.kinds import KIND_OF
from sizebook.hosts.mode_kind import Supplies
from sizebook.lab import app_stack, in_mode, place
from sizebook.model.errors import HostLacksError
from sizebook.probes.sampler import Sampler
from sizebook.probes.sets import stack_probes


@pytest.fixture(scope="module", params=["container", "paravirtual-kernel"])
def stack(request, tmp_path_factory):
    """An app node and its database in a mode."""
    try:
        KIND_OF[request.param].look(Supplies(PROJECT.state))
    except HostLacksError as error:
        pytest.skip(str(error))
    here = place()
    plain = app_stack(here, heap_mib=128, settings={"parts": "rest", "pool": 5})
    deployment = in_mode(plain, request.param, here, memory_mib=1024)
    with started(deployment, tmp_path_factory.mktemp(f"in-{request.param}")) as running:
        [host] = running.hosts.values()
        bridge = ip("route", "get", host.address)[0]["dev"]
        assert bridge in links()
        yield running
    assert not [name for name in links() if name.startswith(bridge)]  # others are other tests'


def links():
    """Return the names of this machine's interfaces."""
    return {link["ifname"] for link in ip("link")}


def ip(*words):
    """Return what ip says."""
    command = ["ip", "-j", *words]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def test_nodes_and_database_are_on_the_host(stack):
    """They are reached at its address, and no process of theirs is one of this machine."""
    [host] = stack.hosts.values()
    [node] = stack.nodes
    assert node.host is host
    assert host.address in node.url
    assert set(stack.on_host(host)) == {"app-1", "database-1"}
    assert all(process.pid is None for process in stack.processes().values())
    with psycopg.connect(stack.cluster.admin_dsn) as connection:
        row = connection.execute(
            "select current_setting('fsync'), (select count(*) from flight)"
        ).fetchone()
    assert row == ("on", 400)


def test_it_is_the_same_java(stack):
    """What the node prints is the version of the JVM that was chosen on this machine."""
    [node] = stack.nodes
    assert stack.versions["java app-1"].startswith(node.jvm.version)
    [host] = stack.hosts
    assert stack.versions[f"host {host}"].startswith(stack.hosts[host].mode)


def test_it_is_watched_from_inside_and_outside(stack):
    """Its processes by the host, all of it by this machine, the node by its own page."""
    [host] = stack.hosts
    wanted = {
        (host, "process/app-1", "cpu_user_s"),
        (host, "process/database-1", "rss_bytes"),
        (host, "inside", "inside_cpu_s/user"),
        (host, "server/app-1", "requests_total"),
        ("local", f"cgroup/{host}", "cgroup_cpu_s"),
    }
    sampler = Sampler(stack_probes(stack))
    sampler.attach()

    def all_are_read():
        sampler.snapshot()
        return wanted <= set(sampler.frame().select("host", "source", "metric").iter_rows())

    assert wait_until(all_are_read)
    sampler.stop()
    assert unread(sampler) == []
    sampler.detach()
    assert counters(stack)["requests_total"] >= 0


def test_its_logs_come_to_this_machine(stack):
    """Only what belongs into a bundle: the database's files stay there."""
    stack.bring()
    assert (stack.folder / "gc" / "app-1.log").stat().st_size > 0
    assert "ready role=app" in (stack.folder / "logs" / "app-1.log").read_text()
    assert not (stack.folder / "postgres").exists()


def test_a_killed_node_comes_back(stack):
    """At its old address, with its data, as on this machine."""
    url = stack.url("app")
    stack.kill("app-1")
    assert stack.nodes[0].process.exit_code == -9
    assert stack.start_again("app-1") > 0
    assert (stack.url("app"), stack.endings()) == (url, ())
