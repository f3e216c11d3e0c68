"""Real deployments: started, waited for, stopped; what goes wrong is said in one line."""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path

import psutil
import psycopg
import pytest
from tests.stack.part_stack import as_in_smoke

from sizebook.hosts import Guard, LocalHost
from sizebook.hosts.local import usable_cpus
from sizebook.lab.deployments import app_stack, messaging_stack, null_server
from sizebook.lab.placement import place
from sizebook.model.deployment import DatabaseRole
from sizebook.model.errors import HostLacksError, TrialError
from sizebook.stack import StackRunner, database, ensure_built, postgres
from sizebook.store import Project

PROJECT = Project(Path(__file__).resolve().parents[2])


@pytest.fixture(scope="module")
def build():
    return ensure_built(PROJECT)[0]


@pytest.fixture
def host(tmp_path):
    guard = Guard(tmp_path / "guard")
    yield LocalHost(guard)
    guard.close()


@pytest.fixture(scope="module")
def state(tmp_path_factory):
    """One state folder of the test run: the database's template and the archive are made once."""
    folder = tmp_path_factory.getbasetemp() / "state"
    folder.mkdir(exist_ok=True)
    return folder


@pytest.fixture
def runner(build, host, state):
    return StackRunner(build, host, state)


def test_a_deployment_runs_on_its_cpus_and_leaves_nothing(runner, state):
    """Database, back end, app: ready, pinned when told to, gone with their folders afterwards."""
    here = place()
    with runner.running(as_in_smoke(app_stack(here, topology="remote")), "s") as stack:
        names = list(stack.processes())
        assert names == ["database-1", "backend-1", "app-1"]
        assert set(stack.targets()) == {"app", "backend"}
        stack.pin()
        for node in stack.nodes:
            affinity = {
                tuple(psutil.Process(thread.id).cpu_affinity())
                for thread in psutil.Process(node.process.pid).threads()
                if psutil.pid_exists(thread.id)
            }
            assert affinity == {here.stack or usable_cpus()}
        family = [psutil.Process(process.pid) for process in stack.processes().values()]
        assert stack.endings() == ()
        for node in stack.nodes:
            assert stack.versions[f"java {node.name}"].startswith(node.jvm.version)
            assert list((stack.folder / "tmp" / node.name).glob("tomcat*"))
    assert not any(process.is_running() for process in family)
    assert not (state / "run" / "s").exists()
    ports = [node.url.rsplit(":", 1)[1] for node in stack.nodes]
    left = [path for port in ports for path in Path("/tmp").glob(f"tomcat*.{port}.*")]
    assert left == []


def test_the_database_is_private_and_safe(runner):
    """Real binaries, fsync on, loopback only, a password that changes with each start."""
    passwords = set()
    for session in ("a", "b"):
        with runner.running(as_in_smoke(app_stack(place())), session) as stack:
            cluster = stack.cluster
            passwords.add(cluster.password)
            dsn = f"host=127.0.0.1 port={cluster.port} user=refstack dbname=refstack"
            with psycopg.connect(f"{dsn} password={cluster.password}") as connection:
                row = connection.execute(
                    "select current_setting('fsync'), current_setting('listen_addresses'), "
                    "(select count(*) from flight)"
                ).fetchone()
            assert row == ("on", "127.0.0.1", 400)
            with pytest.raises(psycopg.OperationalError, match="password"):
                psycopg.connect(f"{dsn} password=wrong")
    assert len(passwords) == 2


def test_the_null_server_answers(runner):
    """The calibration's server is a deployment like any other."""
    with runner.running(null_server(place(), body_bytes=77), "n") as stack:
        import urllib.request

        with urllib.request.urlopen(stack.url("nullserver") + "/x") as answer:
            assert len(answer.read()) == 77


def test_a_taken_port_is_one_message(runner, host, monkeypatch):
    """Somebody took the port between choosing and starting: said in a line, nothing left."""
    deployment = app_stack(place())
    with runner.running(as_in_smoke(deployment), "first"):
        pass  # makes the database's template, which takes a port too
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        ports = iter([host.free_port(), port, host.free_port()])
        monkeypatch.setattr(host, "free_port", lambda: next(ports))
        refused = pytest.raises(TrialError, match=rf"app-1 ended with 1: .*{port}")
        with refused, runner.running(as_in_smoke(deployment), "t"):
            raise AssertionError("it started")


def test_a_heap_that_is_too_small_to_start_with_is_one_message(runner):
    """The JVM ends by itself; the node is named with its heap, and what to do."""
    deployment = app_stack(place()).changed("app", heap_mib=16)
    refused = pytest.raises(TrialError, match=r"app-1 ran out of memory with a heap of 16 MiB: ")
    with refused as error, runner.running(as_in_smoke(deployment), "small"):
        raise AssertionError("it started")
    assert "(before it was ready)" in str(error.value)
    assert "give app-1 a larger heap" in str(error.value)


def test_a_killed_node_comes_back_with_another_heap(runner):
    """Its broker finds its journal; each start has its own GC log; the deployment is altered."""
    deployment = messaging_stack(place(), total_heap_mib=96)
    with runner.running(as_in_smoke(deployment), "again") as stack:
        assert stack.is_as_deployed
        stack.kill("app-1")
        assert not stack.is_as_deployed
        stack.start_again("app-1", 128)
        assert (stack.endings(), stack.is_as_deployed) == ((), False)
        logs = [stack.folder / "gc" / name for name in ("app-1.log", "app-1.2.log")]
        assert ["Capacity: 96M" in log.read_text() for log in logs] == [True, False]
        assert "Capacity: 128M" in logs[1].read_text()


def test_without_postgresql_all_reasons_are_given(tmp_path, monkeypatch):
    """Neither the artifact nor a system's own: both are named, and what would bring one."""
    monkeypatch.setattr(postgres, "_system_folders", list)
    with pytest.raises(HostLacksError, match=r"brought no binaries.*apt-get install postgresql"):
        postgres.find_binaries(None, tmp_path)


def test_a_systems_own_binaries_are_the_second_choice(build, tmp_path, monkeypatch):
    """Without the artifact, what the system has is used, and its version is read whole."""
    unpacked = postgres.find_binaries(build, tmp_path).folder
    monkeypatch.setattr(postgres, "_system_folders", lambda: [unpacked])
    found = postgres.find_binaries(None, tmp_path)
    assert (found.origin, found.folder) == ("system", unpacked)
    assert found.version.startswith("15.")


def test_the_other_way_to_give_up_root_works_too(build, host, tmp_path, monkeypatch):
    """Where user namespaces are forbidden, the cluster belongs to another user."""
    ways = postgres._ways_to_start()
    if len(ways) < 2:  # an ordinary user needs no way at all
        assert ways == [((), None)]
        return
    import os
    import tempfile

    state = Path(tempfile.mkdtemp(prefix="sizebook-test-", dir="/var/tmp"))
    state.chmod(0o755)
    try:
        monkeypatch.setattr(postgres, "_ways_to_start", lambda: ways[1:])
        binaries = postgres.find_binaries(build, state)
        folder = state / "c"
        database.init_cluster(binaries, folder / "data", host)
        assert (folder / "data").stat().st_uid == 65534 != os.geteuid()
        import contextlib

        with contextlib.ExitStack() as undo:
            cluster = database.new_cluster(folder / "data", host, binaries, undo)
            process = database.serve(cluster, DatabaseRole(), host, binaries, signal.SIGINT)
            undo.callback(host.stop, process)
            database.wait_serving(cluster, process)
            assert psutil.Process(process.pid).uids().effective == 65534
            postgres.create_database(cluster)
            cluster.set_password()
    finally:
        shutil.rmtree(state)


def test_only_what_a_killed_run_left_is_removed(tmp_path, monkeypatch):
    """However long a server of another run takes to start, its folder stays."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    ended = subprocess.Popen(["true"])
    ended.wait()
    ordinary = postgres.PostgresBinaries(tmp_path, "15.1", "system", (), None)
    own = postgres.socket_folder(ordinary)
    left = own.rename(own.with_name(own.name.replace(str(os.getpid()), str(ended.pid))))
    own = postgres.socket_folder(ordinary)
    young = Path(shutil.copytree(left, f"{left}-young"))
    for folder in (own, left):
        os.utime(folder, (1e9, 1e9))
    postgres.remove_socket_folders()
    assert own.exists() and young.exists() and not left.exists()
