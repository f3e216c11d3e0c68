"""A deployment on other machines, over real ssh, is the deployment that it is on this one.

The machines are network name spaces with an address and an ssh server each.
"""

import contextlib
import sys
import threading
from http.server import HTTPServer, SimpleHTTPRequestHandler
from pathlib import Path
from urllib.request import urlopen

import psycopg
import pytest
from tests.hosts import ssh_server
from tests.hosts.ssh_server import inventory
from tests.stack.part_stack import counters, started

from sizebook.hosts import Guard, LocalHost
from sizebook.lab import app_stack, given_system, joined, place, started_system
from sizebook.model.inventory import SystemPlace
from sizebook.probes.sampler import Sampler
from sizebook.probes.sets import stack_probes
from sizebook.stack import StackRunner


@pytest.fixture(scope="module")
def machines(tmp_path_factory):
    """Two machines: ``web`` lets root in, ``data`` a user without any rights."""
    folder = tmp_path_factory.mktemp("machines")
    with ssh_server.machines(folder, "web", "data") as servers:
        found = {
            "web": servers["web"].host("root", cpus=[0], memory_mib=700),
            "data": servers["data"].host("bench"),
        }
        yield inventory({"app": "web", "database": "data"}, **found)


@pytest.fixture(scope="module")
def stack(machines, tmp_path_factory):
    plain = app_stack(place(), nodes=2, heap_mib=128, settings={"parts": "rest", "pool": 5})
    deployment = machines.placed(plain)
    folder = tmp_path_factory.mktemp("on-machines")
    with started(deployment, folder, inventory=machines) as running:
        yield running


def test_roles_are_where_the_inventory_says(stack, machines):
    """The nodes are on one machine, the database on another, the balancer here between them."""
    assert {node.host.name for node in stack.nodes} == {"web"}
    assert set(stack.on_host(stack.hosts["data"])) == {"database-1"}
    for name, host in stack.hosts.items():
        assert host.address == machines.elsewhere()[name].address
    net = stack.hosts["web"].address.rpartition(".")[0]
    assert stack.balancer.url.startswith(f"http://{net}.1:")
    with psycopg.connect(stack.cluster.admin_dsn) as connection:
        row = connection.execute(
            "select current_setting('fsync'), (select count(*) from flight)"
        ).fetchone()
    assert row == ("on", 400)


def test_it_is_the_same_java_with_the_machine_s_own_cpus(stack):
    """Each JVM sees the CPUs that its host may use, not those of the role on this machine."""
    for node in stack.nodes:
        assert stack.versions[f"java {node.name}"].startswith(node.jvm.version)
        assert not any("ActiveProcessorCount" in word for word in node.process.command)


def test_it_is_watched_on_its_machines(stack):
    """Processes by their host, the host as a whole, the node by its own page."""
    sampler = Sampler(stack_probes(stack))
    sampler.attach()
    sampler.snapshot()
    sampler.stop()
    rows = {(one["host"], one["source"], one["metric"]) for one in sampler.frame().to_dicts()}
    for expected in (
        ("web", "process/app-1", "cpu_user_s"),
        ("web", "server/app-2", "requests_total"),
        ("data", "process/database-1", "rss_bytes"),
        ("data", "inside", "inside_cpu_s/user"),
        ("local", "cgroup/web", "cgroup_throttled_s"),
        ("local", "cgroup/data", "cgroup_memory_bytes"),
    ):
        assert expected in rows
    sampler.detach()
    assert counters(stack)["requests_total"] >= 0


def test_its_logs_come_to_this_machine(stack):
    stack.bring()
    assert (stack.folder / "gc" / "app-1.log").stat().st_size > 0
    assert "ready role=app" in (stack.folder / "logs" / "app-2.log").read_text()


def test_a_killed_node_comes_back(stack):
    url = stack.nodes[0].url
    stack.kill("app-1")
    assert stack.nodes[0].process.exit_code == -9
    assert stack.start_again("app-1") > 0
    assert (stack.nodes[0].url, stack.endings()) == (url, ())


@pytest.fixture
def shop():
    """The URL of a server that nobody here started."""
    with HTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_a_system_of_ones_own_is_on_other_machines_too(machines, shop, tmp_path):
    """Started on one by its command; of one that runs already, its machine is read over ssh."""
    python = [str(Path(sys.executable).resolve()), "-I", "-S"]
    command = [*python, "-m", "http.server", "{port}", "--bind", "{address}", "-d", "{folder}"]
    files = started_system(place(), "files", command, files={"a.txt": "at {address}"})
    systems = {"files": SystemPlace(host="data"), "shop": SystemPlace(url=shop, host="web")}
    named = machines.model_copy(update={"roles": {}, "systems": systems})
    both = named.placed(joined(files, given_system("shop")))
    guard = Guard(tmp_path / "guard")
    runner = StackRunner(None, LocalHost(guard), tmp_path / "state", named)
    with contextlib.closing(guard), runner.running(both, "own") as stack:
        address = machines.elsewhere()["data"].address
        assert stack.url("files").startswith(f"http://{address}:")
        assert urlopen(f"{stack.url('files')}/a.txt").read().decode() == f"at {address}"
        sampler = Sampler(stack_probes(stack))
        sampler.attach()
        sampler.snapshot()
        sampler.stop()
    found = {(one["host"], one["source"], one["metric"]) for one in sampler.frame().to_dicts()}
    assert ("data", "process/files-1", "cpu_user_s") in found
    assert ("web", "inside", "inside_cpu_s/user") in found
