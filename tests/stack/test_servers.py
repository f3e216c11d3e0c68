"""Systems that are not the reference stack: started, waited for, asked, gone; or found running."""

import os
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.request import urlopen

import psutil
import pytest
from tests.waiting import has_ended, wait_until

from sizebook.hosts import Guard, LocalHost
from sizebook.hosts.local import usable_cpus
from sizebook.lab import given_system, joined, null_server, place, started_system
from sizebook.model.deployment import Deployment, HostSpec
from sizebook.model.errors import HostLacksError, LostError, TrialError, UsageError
from sizebook.model.inventory import Inventory
from sizebook.model.server import CounterSource, Filled, Told
from sizebook.probes.sets import stack_probes
from sizebook.stack import StackRunner
from sizebook.stack.servers import made, server_fingerprint

SERVE = ["python3", "-u", "-m", "http.server", "{port}", "--bind", "{address}", "-d", "{folder}"]
COUNTERS = CounterSource(
    path="/metrics",
    series=(
        Told(series="http_requests_total", metric="requests_total", where={"handler": "/api/*"}),
        Told(series="queue_length"),
    ),
)
EXPOSED = """\
# HELP http_requests_total Requests.
http_requests_total{handler="/api/a"} 7
http_requests_total{handler="/api/b"} 5
http_requests_total{handler="/metrics"} 900
queue_length 3
other 1
"""


@pytest.fixture
def runner(tmp_path):
    """What starts deployments in a project without a reference stack."""
    guard = Guard(tmp_path / "guard")
    yield StackRunner(None, LocalHost(guard), tmp_path / "state")
    guard.close()


@pytest.fixture
def running():
    """A server with a page and counters that nobody here started."""

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            text = EXPOSED if self.path == "/metrics" else "here"
            self.send_response(200 if self.path != "/broken" else 503)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_arguments):
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def served(**fields):
    """Return the deployment of a server that hands out its folder."""
    return started_system(place(), "files", SERVE, **{"files": {"a.txt": "at {address}"}, **fields})


def test_a_command_becomes_a_server_and_leaves_nothing(runner, tmp_path):
    """Ready, on its CPUs, with its files, version, log and counters; gone with its folder."""
    files = {"a.txt": "at {address}:{port}, {cpus}", "deep/b.bin": Filled(size_bytes=5000)}
    deployment = served(files=files, ready="/a.txt", version=("python3", "--version"))
    with runner.running(deployment, "s") as stack:
        (server,) = stack.servers
        url = stack.url("files")
        port = url.rsplit(":", 1)[1]
        cpus = len(place().stack) or len(usable_cpus())
        assert urlopen(f"{url}/a.txt").read().decode() == f"at 127.0.0.1:{port}, {cpus}"
        assert urlopen(f"{url}/deep/b.bin").read() == made(Filled(size_bytes=5000))
        process = psutil.Process(server.pid())
        assert tuple(process.cpu_affinity()) == (place().stack or usable_cpus())
        assert stack.versions["files"].startswith("Python 3.")
        assert "GET /a.txt" in (stack.folder / "logs" / "files-1.log").read_text()
        assert list(stack.processes()) == ["files-1"]
        watched = {probe.name for probe in stack_probes(stack)}
        assert "process:process/files-1" in watched
        assert stack.endings() == ()
    assert not process.is_running()
    assert not (tmp_path / "state" / "run" / "s").exists()


def test_it_is_gone_after_a_failure_too(runner):
    """Whatever happens meanwhile."""
    with pytest.raises(RuntimeError), runner.running(served(), "s") as stack:
        process = psutil.Process(stack.servers[0].pid())
        raise RuntimeError
    assert not process.is_running()


def test_what_its_end_leaves_behind_ends_too(runner):
    """Workers go on without their parent; when the stack stops they are gone."""
    script = "(trap '' TERM; sleep 60) & exec " + " ".join(SERVE)
    with runner.running(started_system(place(), "files", ["sh", "-c", script]), "s") as stack:
        server = psutil.Process(stack.servers[0].pid())
        (worker,) = server.children()
        assert worker.is_running()
        server.kill()
    assert wait_until(lambda: has_ended(worker))


def test_secrets_come_from_outside(runner, monkeypatch):
    """A variable by name; its value is no part of the deployment."""
    deployment = served(inherits=("SHOP_PASSWORD",))
    with pytest.raises(UsageError, match="needs the environment variable SHOP_PASSWORD"):
        runner.running(deployment, "s").__enter__()
    monkeypatch.setenv("SHOP_PASSWORD", "hush")
    with runner.running(deployment, "s") as stack:
        assert psutil.Process(stack.servers[0].pid()).environ()["SHOP_PASSWORD"] == "hush"
    assert "hush" not in deployment.model_dump_json()


def test_an_end_meanwhile_is_seen(runner):
    """A trial watches the ends of its processes: this one is named, with its last words."""
    with runner.running(served(), "s") as stack:
        stack.servers[0].process.signal(9)
        stack.servers[0].process.wait(5)
        (ending,) = stack.endings()
        assert (ending.name, ending.exit_code) == ("files-1", -9)


@pytest.mark.parametrize(
    ("command", "fields", "said"),
    [
        (["sh", "-c", "echo no such page >&2; exit 3"], {}, "ended with 3 .* no such page"),
        (["sleep", "60"], {"ready_within_s": 0.2}, "not ready in 0.2 s .Connection refused"),
    ],
)
def test_what_does_not_become_ready_says_why(runner, command, fields, said):
    """The reason and the last words are told, and nothing stays."""
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    with (
        pytest.raises(TrialError, match=said),
        runner.running(started_system(place(), "files", command, **fields), "s"),
    ):
        raise AssertionError
    left = {child.pid for child in psutil.Process().children(recursive=True)} - before
    assert not [pid for pid in left if "sleep" in psutil.Process(pid).name()]


def test_a_server_is_told_where_those_before_it_are(runner):
    """By name; a name that was not started before is refused."""
    near = {"near.txt": "{url:files}"}
    both = joined(served(), started_system(place(), "front", SERVE, files=near))
    with runner.running(both, "s") as stack:
        text = urlopen(f"{stack.url('front')}/near.txt").read().decode()
        assert text == stack.url("files")
    alone = started_system(place(), "front", SERVE, files=near)
    with pytest.raises(UsageError, match="no role files that was started"):
        runner.running(alone, "s").__enter__()


def test_what_runs_already_is_asked_and_not_touched(runner, running):
    """Its URL is the target; counters come under our names, its process is found by its port."""
    deployment = given_system("shop", running, counters=COUNTERS, about="2.1")
    assert deployment.counting() == ("shop", 1)
    with runner.running(deployment, "s") as stack:
        assert stack.targets() == {"shop": running}
        assert stack.processes() == {}
        assert stack.watched[0].pid() == os.getpid()
        (probe,) = [p for p in stack_probes(stack) if p.name == "prometheus:server/shop-1"]
        probe.attach()
        found = {sample.metric: sample.value for sample in probe.sample()}
        probe.detach()
        assert found == {"requests_total": 12, "told/queue_length": 3}
    assert urlopen(running).read() == b"here"


def test_what_does_not_answer_is_said_before_the_load(runner, running):
    """Nothing there, or not ready: one line that names the URL."""
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{silent.getsockname()[1]}"
        with pytest.raises(LostError, match=f"Connection refused at {nowhere}/"):
            runner.running(given_system("shop", nowhere), "s").__enter__()
    with pytest.raises(LostError, match=r"status 503 at .*/broken"):
        runner.running(given_system("shop", running, ready="/broken"), "s").__enter__()


def test_a_target_elsewhere_is_named_by_an_inventory(tmp_path, running):
    """Only there; its address goes into no bundle."""
    guard = Guard(tmp_path / "guard")
    elsewhere = running.replace("127.0.0.1", "127.0.0.2")
    named = Inventory.model_validate({"systems": {"shop": {"url": elsewhere}}})
    deployment = named.placed(started_system(place(), "shop", SERVE))
    runner = StackRunner(None, LocalHost(guard), tmp_path / "state", named)
    with pytest.raises(LostError, match="Connection refused at / of its URL"):
        runner.running(deployment, "s").__enter__()
    with pytest.raises(UsageError, match="an inventory that names its URL in 'systems'"):
        StackRunner(None, LocalHost(guard), tmp_path).running(deployment, "s").__enter__()
    guard.close()


def test_without_a_reference_stack_its_roles_are_refused(runner):
    """A book of one's own has none."""
    with pytest.raises(HostLacksError, match="no reference stack in this project"):
        runner.running(null_server(place()), "s").__enter__()


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: started_system(place(), "app", SERVE), "means something else"),
        (lambda: started_system(place(), "x", ["{prot}"]), "{prot} in a command"),
        (lambda: served(files={"../a": ""}), "leads out of its folder"),
        (lambda: served(comand=1), "comand: .*a field that it has"),
        (lambda: served(needs=("/etc",)), "leads out of its folder"),
        (lambda: given_system("shop", "http://192.0.2.1:80"), "in an inventory"),
        (lambda: joined(served(), served()), "two systems of one name"),
        (lambda: served(counters=CounterSource(format="stub-status", path="x")), "path"),
    ],
)
def test_what_cannot_be_is_refused_when_it_is_written(make, said):
    """Names, placeholders, paths, fields, URLs."""
    with pytest.raises((UsageError, ValueError), match=said):
        make()


def test_hosts_come_to_the_whole():
    """Deployments are joined before they are given hosts."""
    host = HostSpec(name="box", mode="namespace")
    with pytest.raises(UsageError, match="hosts in one of the deployments"):
        joined(served().on(host, files="box"), served())


def test_another_version_or_file_is_another_server(tmp_path):
    """So it is measured anew; without either nothing is known of it, and a missing one is said."""
    (tmp_path / "server").mkdir()
    (tmp_path / "server" / "main.py").write_text("1")

    def fingerprint(**fields):
        (role,) = served(**fields).own_roles()
        return server_fingerprint(role, tmp_path, tmp_path / "state")

    first = fingerprint(needs=("server",), version=("python3", "--version"))
    assert len(first) == 64
    assert first != fingerprint(needs=("server",), version=("python3", "-c", "print(2)"))
    (tmp_path / "server" / "main.py").write_text("2")
    assert first != fingerprint(needs=("server",), version=("python3", "--version"))
    assert fingerprint() == ""
    assert fingerprint(version=("no-such-program", "-v")) == ""
    with pytest.raises(UsageError, match="which needs none"):
        fingerprint(needs=("none",))


def test_made_files_are_as_long_as_they_should_be_and_compress():
    """The same for the same seed; a compressor leaves a part."""
    import gzip

    one = made(Filled(size_bytes=65_536, seed=3))
    assert len(one) == 65_536 and one == made(Filled(size_bytes=65_536, seed=3))
    assert one != made(Filled(size_bytes=65_536, seed=4))
    assert 0.2 < len(gzip.compress(one)) / len(one) < 0.5
    assert made(Filled(size_bytes=0)) == b""


def test_the_deployment_is_the_same_when_it_is_read_again():
    """JSON keeps files, counters and placeholders."""
    deployment = served(counters=COUNTERS, files={"a": "x", "b": Filled(size_bytes=3)})
    assert Deployment.model_validate_json(deployment.model_dump_json()) == deployment
