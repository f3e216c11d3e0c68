"""The agent and its line, with an agent that runs on this machine as a plain process."""

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from tests.waiting import HANGS_S, wait_until

from sizebook.hosts import GuestHost, HostUsage
from sizebook.hosts.agents import Endpoint
from sizebook.hosts.inside import AGENT
from sizebook.model.errors import HostLacksError, TrialError

SLEEP = ["sleep", "60"]


class PlainBoot:
    """An agent as a process among others: nothing is limited, nothing is hidden."""

    mode = "container"
    own_clock = False

    def __init__(self, token="s3cret", ends_with=()):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.endpoint = Endpoint("127.0.0.1", probe.getsockname()[1], "s3cret")
        words = [sys.executable, "-I", "-S", str(AGENT), "127.0.0.1", str(self.endpoint.port)]
        self.process = subprocess.Popen(
            [*words, *ends_with], env={"SIZEBOOK_TOKEN": token}, stdout=subprocess.DEVNULL
        )

    def start(self):
        return self.endpoint

    def why_ended(self):
        return None if self.process.poll() is None else f"code {self.process.returncode}"

    def pieces_s(self):
        return {}

    def usage(self):
        return HostUsage(0.0, 0.0, 0)

    def close(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def boot():
    boot = PlainBoot()
    yield boot
    boot.close()


@pytest.fixture
def host(boot):
    host = GuestHost("box", boot)
    yield host
    host.close()


def test_a_process_runs_with_what_was_said(host, tmp_path):
    """Command, environment, folder and log are those that were given, and the code comes back."""
    code = "import os; print(sorted(k for k in os.environ if k != 'LC_CTYPE'), os.getcwd())"
    cwd, log = tmp_path / "new" / "cwd", tmp_path / "logs" / "p.log"
    words = [sys.executable, "-c", code + "; raise SystemExit(7)"]
    process = host.start("p", words, log=log, env={"ONLY": "1"}, cwd=cwd)
    assert process.wait(10) == 7
    assert process.log_tail(1) == f"['ONLY'] {cwd}"
    assert (process.exit_code, process.pid) == (7, None)
    assert host.stop(process) == 7


def test_a_process_is_asked_then_killed(host, tmp_path):
    """As on this machine: the signal that was chosen first, SIGKILL after the grace."""
    code = "import signal, time; signal.signal(15, lambda *_: print('asked', flush=True));"
    words = [sys.executable, "-c", code + "print('up', flush=True); [time.sleep(9) for _ in 'ab']"]
    stubborn = host.start("p", words, log=tmp_path / "log")
    assert wait_until(lambda: stubborn.log_tail() == "up")
    assert host.stop(stubborn, grace_s=0.3) == -signal.SIGKILL
    assert stubborn.log_tail() == "up\nasked"
    quit_ = host.start("q", SLEEP, log=tmp_path / "log", stop_signal=signal.SIGINT)
    assert host.stop(quit_) == -signal.SIGINT
    gone = host.start("r", SLEEP, log=tmp_path / "log")
    assert host.stop(gone, grace_s=0) == -signal.SIGKILL


def test_what_cannot_be_started_is_a_clear_message(host, tmp_path):
    with pytest.raises(HostLacksError, match=r"'no-such-program' does not start as p on host box"):
        host.start("p", ["no-such-program"], log=tmp_path / "log")
    with pytest.raises(HostLacksError, match="CPUs"):
        host.start("p", SLEEP, log=tmp_path / "log", cpus=(10_000,))
    with pytest.raises(HostLacksError, match="talked to"):
        host.start("p", SLEEP, log=tmp_path / "log", talk=True)
    assert host.start("p", ["true"], log=tmp_path / "log").wait(5) == 0


def test_cpus_hold_from_the_start_and_after_a_change(host, tmp_path):
    first, *_, last = sorted(os.sched_getaffinity(0))
    process = host.start("p", SLEEP, log=tmp_path / "log", cpus=(first,))
    inner = psutil.Process(process.inner_pid)
    assert inner.cpu_affinity() == [first]
    host.set_cpus(process, (last,))
    assert inner.cpu_affinity() == [last]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may choose another user")
def test_another_user_runs_it_and_has_its_folder(host, tmp_path):
    for folder in (tmp_path, *tmp_path.parents):
        if folder.stat().st_uid == os.geteuid():
            folder.chmod(folder.stat().st_mode | 0o011)
    process = host.start("p", ["id", "-u"], log=tmp_path / "log", cwd=tmp_path / "own", user=65534)
    assert process.wait(5) == 0
    assert process.log_tail() == "65534"
    assert (tmp_path / "own").stat().st_uid == 65534


def test_files_go_in_with_modes_times_and_links(host, tmp_path):
    source, target = tmp_path / "source", tmp_path / "a" / "target"
    (source / "below").mkdir(parents=True)
    (source / "below" / "big").write_bytes(os.urandom(3 << 20))
    (source / "script").write_text("#!/bin/sh\n")
    (source / "script").chmod(0o750)
    os.utime(source / "script", ns=(1, 1_600_000_000_123_456_789))
    (source / "link").symlink_to("script")
    (source / "below").chmod(0o500)
    host.put(source, target)
    assert (target / "below" / "big").read_bytes() == (source / "below" / "big").read_bytes()
    assert (target / "script").stat().st_mode & 0o7777 == 0o750
    assert (target / "script").stat().st_mtime_ns == 1_600_000_000_123_456_789
    assert (target / "link").readlink() == Path("script")
    assert (target / "below").stat().st_mode & 0o7777 == 0o500
    (source / "script").write_text("new")
    host.put(source / "script", target / "script")
    assert (target / "script").read_text() == "new"


def test_files_that_cannot_go_in_are_a_clear_message(host, tmp_path):
    (tmp_path / "file").write_bytes(bytes(5 << 20))
    with pytest.raises(TrialError, match="files of host box"):
        host.put(tmp_path / "file", tmp_path / "file" / "below")
    with pytest.raises(TrialError, match="cannot be brought to host box: No such file"):
        host.put(tmp_path / "none", tmp_path / "target")
    assert host.inside({}).memory_total_bytes > 0


def test_only_what_was_appended_is_brought(boot, tmp_path):
    """Files come to the path that they have on the host; a replaced one comes as a whole."""
    host = GuestHost("box", boot)
    there, here = tmp_path / "there", tmp_path / "here"
    states = {}

    def bring():
        host._line.bring(there, here, states)

    bring()
    (there / "logs").mkdir(parents=True)
    log = there / "logs" / "a.log"
    log.write_text("one\n")
    bring()
    copy = here / "logs" / "a.log"
    assert copy.read_text() == "one\n"
    copy.write_text("ONE\n")  # as a proof that it is not sent again
    with log.open("a") as file:
        file.write("two\n")
    bring()
    assert copy.read_text() == "ONE\ntwo\n"
    log.write_text("new\n")
    bring()
    assert copy.read_text() == "new\n"
    host.close()


def test_it_tells_of_itself_and_of_processes(host, tmp_path):
    """A process with a child that burned CPU: the sums hold both."""
    burn = "import time\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass"
    code = f"import subprocess, sys, time; subprocess.run([sys.executable, '-c', {burn!r}]); "
    code += "print('done', flush=True); time.sleep(60)"
    process = host.start("p", [sys.executable, "-c", code], log=tmp_path / "log")
    assert wait_until(lambda: process.log_tail() == "done")
    view = host.inside({"p": process.inner_pid, "none": 2**22})
    assert view.processes.keys() == {"p"}
    assert 0.25 < view.processes["p"].cpu_user_s + view.processes["p"].cpu_system_s < HANGS_S
    assert view.processes["p"].threads == 1
    assert view.processes["p"].voluntary_switches > 0
    assert view.cpu_s.keys() == {"user", "system", "idle", "iowait", "irq", "steal"}
    assert view.memory_available_bytes < view.memory_total_bytes
    facts = host.facts()
    assert facts.logical_cpus == len(os.sched_getaffinity(0))
    assert facts.kernel == os.uname().release


def test_its_clock_is_read_within_its_uncertainty(host):
    """The agent here reads the same clocks: the offset is nothing, but for half a round trip."""
    begin_ns = time.monotonic_ns()
    clock = host.clock()
    assert abs(clock.monotonic_ns) <= clock.uncertainty_ns
    assert 0 < clock.uncertainty_ns <= time.monotonic_ns() - begin_ns
    assert abs(clock.wall_ns) <= clock.uncertainty_ns + 1_000_000


def test_ports_are_free_and_given_once(host):
    taken = {host.free_port() for _ in range(20)}
    assert len(taken) == 20


def test_a_lost_harness_ends_everything(boot, tmp_path):
    """Without a word of goodbye: the connection is cut, and process and agent are gone."""
    host = GuestHost("box", boot)
    process = host.start("p", SLEEP, log=tmp_path / "log")
    host._line._connection.shutdown(socket.SHUT_RDWR)
    assert boot.process.wait(5) == 0
    assert wait_until(lambda: not psutil.pid_exists(process.inner_pid))
    assert process.exit_code == -signal.SIGKILL
    with pytest.raises(TrialError, match="host box does not answer"):
        host.facts()


def test_a_lost_host_ends_every_wait(boot, tmp_path):
    host = GuestHost("box", boot)
    process = host.start("p", SLEEP, log=tmp_path / "log")
    boot.process.kill()
    assert process.wait(5) == -signal.SIGKILL
    os.kill(process.inner_pid, signal.SIGKILL)


def test_at_its_end_it_becomes_the_command_that_was_given(tmp_path):
    """A guest's own end: such as switching the machine off."""
    boot = PlainBoot(ends_with=("/bin/sh", "-c", f"echo over > {tmp_path}/end"))
    GuestHost("box", boot)._line.close()
    assert boot.process.wait(5) == 0
    assert (tmp_path / "end").read_text() == "over\n"


def test_who_does_not_know_the_secret_gets_nothing(boot):
    """Neither orders nor files; and a second owner is refused."""
    host = GuestHost("box", boot)
    where = boot.endpoint
    for first in (b'{"do": "own", "token": "wrong"}\n', b'{"do": "bring"}\n', b"nonsense\n"):
        with socket.create_connection((where.address, where.port), 5) as stranger:
            stranger.sendall(first)
            assert stranger.recv(100) == b""
    with socket.create_connection((where.address, where.port), 5) as second:
        second.sendall(b'{"do": "own", "token": "s3cret"}\n')
        assert second.recv(100) == b""
    assert host.facts().logical_cpus > 0
    host.close()


def test_a_host_that_does_not_come_up_says_why():
    boot = PlainBoot(token="another")
    with pytest.raises(TrialError, match="host box is not up: the agent did not take"):
        GuestHost("box", boot, ready_within_s=0.3)
    assert boot.process.returncode is not None
