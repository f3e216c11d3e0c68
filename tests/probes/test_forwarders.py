"""What listens for another program is no server, and its CPU is not taken for one's."""

import shutil
import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from sizebook.probes.forwarders import forwarder_name
from sizebook.probes.sets import stack_probes

SLEEP = shutil.which("sleep")
linux = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="names as on Linux")


@pytest.fixture
def run(tmp_path):
    """Give what runs sleep under another name, and its process id."""
    started = []

    def named(name):
        program = tmp_path / name
        shutil.copyfile(SLEEP, program)
        program.chmod(0o755)
        process = subprocess.Popen([str(program), "60"])
        started.append(process)
        return process.pid

    yield named
    for process in started:
        process.kill()
        process.wait()


@linux
@pytest.mark.parametrize("name", ["socat", "docker-proxy", "systemd-socket-proxyd", "kubectl"])
def test_forwarders_are_known_by_name(run, name):
    """Also where the kernel cuts the name after 15 characters."""
    assert forwarder_name(run(name)) == name


@linux
def test_servers_are_none(run):
    """Nor is a name that merely begins alike, nor a process that has ended."""
    assert [forwarder_name(run(name)) for name in ("nginx", "ssh-shop", "node")] == ["", "", ""]
    gone = subprocess.Popen([SLEEP, "0"])
    gone.wait()
    assert forwarder_name(gone.pid) == ""


def test_no_cpu_is_taken_of_a_forwarder(run):
    """There is a reason in the place of readings; of a server there are readings."""

    def probes_of(pid):
        server = SimpleNamespace(name="shop-1", host_name="local", counters=None, pid=lambda: pid)
        stack = SimpleNamespace(
            nodes=(), servers=(), watched=(server,), cluster=None, balancer=None, hosts={},
            links={}, database=None,
        )  # fmt: skip
        return [p for p in stack_probes(stack) if p.name.endswith("process/shop-1")]

    assert len(probes_of(run("node"))) == 2
    (probe,) = probes_of(run("socat"))
    assert probe.sample() == []
    assert "socat passes the requests on" in probe.lacking()["cpu_user_s"]
