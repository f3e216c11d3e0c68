"""What every host promises, held against each mode that this machine has."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
from tests.hosts.conftest import MACHINE
from tests.hosts.ssh_server import SshServer
from tests.waiting import HANGS_S, wait_until

from sizebook.hosts import LocalHost
from sizebook.hosts.guard import sweep
from sizebook.hosts.kinds import KIND_OF, KINDS
from sizebook.hosts.local import usable_cpus
from sizebook.hosts.mode_kind import Supplies
from sizebook.hosts.priority import FIRST, LAST
from sizebook.model.deployment import HostSpec
from sizebook.model.errors import HostLacksError, TrialError, UserError
from sizebook.store import find_project

pytestmark = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0,
    reason="hosts of their own need root on Linux",
)
SUPPLIES = Supplies(find_project(Path(__file__)).state)
SLOW = ("user-space-kernel", "virtio-vm", "emulated-vm", "virtio-vm-kvm", "emulated-vm-kvm")
ALL = os.environ.get("SIZEBOOK_GUESTS") == "all"
MODES = [kind.mode for kind in KINDS if ALL or kind.mode not in SLOW]
OWN_KERNEL = ("user-space-kernel", "paravirtual-kernel", *SLOW[1:])
BURN = "import time\nwhile time.process_time() < {}: pass"
"""Takes so many seconds of CPU time, whatever else the machine does."""
FORKS, WAITS = "import os; first, second = os.fork(), os.fork()\n", "\nif second: os.waitpid(-1, 0)"
WAITS += "\nif first and second: os.waitpid(-1, 0)"
"""Four processes reach a limit even where other programs want the CPUs, too."""
MEMORY_MIB = 400


@pytest.fixture(scope="session", autouse=True)
def other_machine(tmp_path_factory):
    """An ssh server at another address of this machine; none where there is no sshd."""
    try:
        server = SshServer(tmp_path_factory.mktemp("other") / "ssh", "127.0.0.7")
    except pytest.skip.Exception:
        yield
        return
    os.environ[MACHINE] = json.dumps(server.host())
    yield
    server.close()
    assert sorted(path.name for path in server.home().iterdir()) == ["images", "run"]
    assert list((server.home() / "run").iterdir()) == []


def check_mode(mode):
    """Skip the test if this machine seems not to have hosts of a mode."""
    if mode == "ssh" and MACHINE not in os.environ:
        pytest.skip("no ssh server")
    try:
        KIND_OF[mode].look(SUPPLIES)
    except UserError as error:
        pytest.skip(error.found)


@pytest.fixture(scope="module", params=MODES)
def host(request, ground):
    check_mode(request.param)
    spec = HostSpec(name=new_name(), mode=request.param, memory_mib=MEMORY_MIB, disk_mib=200)
    with ground.opened(spec) as hosts:
        yield hosts[spec.name]


def new_name():
    """Return a name that no other test gives a host, not even one at the same time."""
    return f"k{os.urandom(2).hex()}"


def test_it_says_what_it_is(host):
    """Mode and facts: the guest's own kernel where it has one, this machine's otherwise."""
    facts = host.facts()
    assert facts.logical_cpus >= 1
    assert (facts.kernel == os.uname().release) == (host.mode not in OWN_KERNEL)
    assert facts.memory_mib > 100


def test_a_process_ends_with_its_code_and_leaves_its_words(host, ground):
    code, said = ground.run(host, "print('here'); raise SystemExit(7)")
    assert (code, said) == (7, "here")
    assert ground.run(host, "import os, signal; os.kill(os.getpid(), signal.SIGKILL)")[0] == -9


def test_exactly_the_environment_given(host, ground):
    tell = "import os; print(sorted(k for k in os.environ if k != 'LC_CTYPE'), os.getcwd())"
    folder = ground.scratch / host.name / "new" / "folder"
    code, said = ground.run(host, tell, env={"ONLY": "1"}, cwd=folder)
    assert (code, said) == (0, f"['ONLY'] {folder}")


def test_it_is_stopped_as_it_was_asked_for(host, ground):
    """The chosen signal, then SIGKILL after the grace; without any grace at once."""
    code = "import signal, time; signal.signal(15, lambda *_: print('asked', flush=True))"
    stubborn = host.start(
        "stubborn",
        ground.words(code + "; print('up', flush=True); [time.sleep(9) for _ in 'ab']"),
        log=ground.scratch / host.name / "stubborn.log",
    )
    assert wait_until(lambda: stubborn.log_tail() == "up")
    assert stubborn.exit_code is None
    assert host.stop(stubborn, grace_s=0.5) == -signal.SIGKILL
    assert stubborn.log_tail() == "up\nasked"
    for grace_s, number in ((10.0, signal.SIGINT), (0.0, signal.SIGKILL)):
        sleeper = host.start(
            "sleeper",
            ["sleep", "60"],
            log=ground.scratch / host.name / "sleeper.log",
            stop_signal=signal.SIGINT,
        )
        assert host.stop(sleeper, grace_s) == -number


def test_a_suspended_process_stands_still_and_goes_on(host, ground):
    """It says nothing until it is resumed; asked to end meanwhile, it ends as it was asked."""
    code = "import time\nwhile True: print(1, flush=True); time.sleep(0.01)"
    ticking = host.start("ticking", ground.words(code), log=ground.scratch / "ticking.log")

    def said():
        return len(ticking.log_tail(10_000).splitlines())

    assert wait_until(lambda: said() > 0)
    ticking.signal(signal.SIGSTOP)
    before = said()
    time.sleep(0.2)
    assert said() - before <= 1  # one line may have been on its way
    ticking.signal(signal.SIGCONT)
    assert wait_until(lambda: said() > before + 1)
    ticking.signal(signal.SIGSTOP)
    assert host.stop(ticking) == -signal.SIGTERM
    ticking.signal(signal.SIGSTOP)  # nothing happens to what has ended
    ticking.signal(signal.SIGCONT)


@pytest.mark.parametrize("way", ["prefer", "hold_back"])
def test_threads_of_a_name_go_first_or_last_until_they_are_let_go(host, ground, way):
    """A thread tells its own nice value, as its kernel knows it; as usual before and after."""
    code = "import os, time\nwhile True: print(os.nice(0), flush=True); time.sleep(0.01)"
    log = ground.scratch / host.name / f"{way}.log"
    process = host.start(way, ground.words(code), log=log)

    def nice():
        said = process.log_tail(2).split()
        return int(said[0]) if said else None

    assert wait_until(lambda: nice() is not None)
    usual = nice()
    change = getattr(host, way)
    assert not change(process, "no such thread")
    if change(process, "python"):
        assert wait_until(lambda: nice() == {"prefer": FIRST, "hold_back": LAST}[way])
    else:
        assert host.mode == "user-space-kernel"
    host.let_go(process)
    assert wait_until(lambda: nice() == usual)
    host.stop(process, grace_s=0)


def test_a_missing_program_is_a_clear_message(host, ground):
    with pytest.raises(HostLacksError, match="no-such-program"):
        host.start("p", ["no-such-program"], log=ground.scratch / host.name / "p.log")


def test_another_user_runs_it(host, ground):
    """PostgreSQL refuses root; folders that are made for it are its own."""
    for folder in (ground.state, *ground.state.parents):
        if folder.stat().st_mode & 0o011 != 0o011:
            folder.chmod(folder.stat().st_mode | 0o011)
    if host.shares_files and not os.access(Path(ground.python).parents[3], os.X_OK):
        pytest.skip("no other user can reach Python here")
    folder = ground.scratch / host.name / "nobody"
    process = host.start("id", ["id", "-u"], log=ground.scratch / host.name / "id.log", user=65534)
    assert process.wait(10) == 0
    assert process.log_tail() == "65534"
    (ground.state / "empty").mkdir(exist_ok=True)
    host.put(ground.state / "empty", folder, owner=65534)
    writer = host.start(
        "touch",
        ["touch", str(folder / "mine")],
        log=ground.scratch / host.name / "touch.log",
        user=65534,
    )
    assert writer.wait(10) == 0, writer.log_tail()
    code, said = ground.run(host, f"import os; print(os.stat({str(folder / 'mine')!r}).st_uid)")
    assert (code, said) == (0, "65534")


SERVER = """
import socket, sys
server = socket.create_server((sys.argv[1], int(sys.argv[2])))
print("listening", flush=True)
connection, peer = server.accept()
connection.sendall(connection.recv(100).upper())
"""


def test_servers_on_it_are_reached_at_its_address(host, ground):
    port = host.free_port()
    server = host.start(
        "server",
        [*ground.words(SERVER), host.address, str(port)],
        log=ground.scratch / host.name / "server.log",
    )
    assert wait_until(lambda: server.log_tail(1) == "listening"), server.log_tail()
    with socket.create_connection((host.address, port), 10) as client:
        client.sendall(b"hello")
        assert client.recv(100) == b"HELLO"
    assert server.wait(10) == 0
    host.stop(server)


def test_files_go_in_and_come_out(host, ground):
    """With mode and time, and at the same paths; a grown file is whole afterwards."""
    source, folder = (
        ground.state / f"source-{host.mode}",
        ground.scratch / host.name / f"files-{host.mode}",
    )
    (source / "below").mkdir(parents=True)
    (source / "below" / "data").write_bytes(os.urandom(2_500_000))
    (source / "script").write_text("#!/bin/sh\necho it runs\n")
    (source / "script").chmod(0o755)
    os.utime(source / "script", ns=(1, 1_600_000_000_123_000_000))
    host.put(source, folder)
    run = host.start("script", [str(folder / "script")], log=folder / "logs" / "script.log")
    assert run.wait(10) == 0
    tell = f"import os; print(os.stat({str(folder / 'script')!r}).st_mtime_ns)"
    _, said = ground.run(host, tell)
    assert said == "1600000000123000000"
    host.bring(folder)
    assert (folder / "logs" / "script.log").read_text() == "it runs\n"
    assert (folder / "below" / "data").read_bytes() == (source / "below" / "data").read_bytes()
    ground.run(host, f"open({str(folder / 'below' / 'data')!r}, 'ab').write(b'more')")
    host.bring(folder)
    assert (folder / "below" / "data").stat().st_size == 2_500_004
    host.bring(ground.scratch / host.name / "not there")


def test_it_tells_what_processes_use(host, ground):
    burner = host.start(
        "burner",
        ground.words(BURN.format(0.5) + "\nprint('done', flush=True); time.sleep(60)"),
        log=ground.scratch / host.name / "burner.log",
    )
    assert wait_until(lambda: burner.log_tail() == "done")
    view = host.inside({"burner": burner.inner_pid, "none": 2**22 - 1})
    assert view.processes.keys() == {"burner"}
    # Up to a tick less than it took, and no more than all CPUs could give it meanwhile.
    used = view.processes["burner"].cpu_user_s + view.processes["burner"].cpu_system_s
    assert 0.2 < used < HANGS_S
    assert view.processes["burner"].rss_bytes > 1_000_000
    assert 0 < view.memory_available_bytes < view.memory_total_bytes
    assert sum(view.cpu_s.values()) > 0
    host.stop(burner, grace_s=0)


def test_its_clock_is_known(host):
    """The wall clocks agree within a tenth of a second, and it is known how well that is known.

    A reading cannot be known worse than by the time that it took.
    """
    begin_ns = time.monotonic_ns()
    clock = host.clock()
    assert 0 <= clock.uncertainty_ns <= time.monotonic_ns() - begin_ns
    assert abs(clock.wall_ns) < 100_000_000 + clock.uncertainty_ns
    if host.mode not in OWN_KERNEL:
        assert abs(clock.monotonic_ns) <= clock.uncertainty_ns


def test_a_twentieth_of_a_cpu_is_a_twentieth(host, ground):
    """The limit holds for all of the host together, and its group says that it was stopped.

    It is so low that it is reached beside thirty programs that want the CPUs, too.
    """
    host.set_limits(0.05, None, ())
    try:
        before, begin = host.outside(), time.monotonic()
        assert ground.run(host, FORKS + BURN.format(0.05) + WAITS)[0] == 0
        seconds, after = time.monotonic() - begin, host.outside()
    finally:
        host.set_limits(None, None, ())
    used = after.cpu_user_s + after.cpu_system_s - before.cpu_user_s - before.cpu_system_s
    assert after.throttled_periods > before.throttled_periods
    assert after.throttled_s > before.throttled_s
    # A kernel of its own takes time in which it was stopped for time of the process that runs.
    least = 0.03 if host.mode in OWN_KERNEL else 0.18
    assert least < used < 0.15 * seconds  # each CPU takes its share of a period in slices of 5 ms


def group_names(group):
    """Return the names of the processes in a control group."""
    return [psutil.Process(int(pid)).name() for pid in group.read_text().split()]


def test_it_runs_on_the_cpus_that_it_has(host, ground):
    """All of it, kernel and devices included, moves at once and back."""
    group = next(Path("/sys/fs/cgroup").glob(f"**/sb-*-{host.name}/cgroup.procs"))
    sleeper = host.start("sleeper", ["sleep", "60"], log=ground.scratch / host.name / "sleeper.log")
    last = usable_cpus()[-1]
    host.set_limits(None, None, (last,))
    assert wait_until(lambda: "sleep" in group_names(group) or host.mode in OWN_KERNEL)
    members = [psutil.Process(int(pid)) for pid in group.read_text().split()]
    assert members
    assert host.outside().memory_bytes > 0
    assert {tuple(process.cpu_affinity()) for process in members} == {(last,)}
    host.set_limits(None, None, ())
    if host.mode != "paravirtual-kernel":
        assert tuple(members[0].cpu_affinity()) == usable_cpus()
    host.stop(sleeper, grace_s=0)


@pytest.mark.parametrize("mode", MODES)
def test_memory_ends_where_the_limit_is(mode, ground):
    """Who wants more is killed or refused; the host goes on, or is known to have ended, and why."""
    check_mode(mode)
    spec = HostSpec(name=new_name(), mode=mode, memory_mib=256, disk_mib=100)
    with ground.opened(spec) as hosts:
        host = hosts[spec.name]
        eat = ground.words("x = b'x' * (512 << 20); print(len(x))")
        eater = host.start("eater", eat, log=ground.scratch / "eater.log")
        assert eater.wait(60) not in (0, None)
        if mode == "user-space-kernel":  # its kernel is one of the processes that the limit kills
            with pytest.raises(TrialError, match="killed at the limit of 256 MiB of memory"):
                host.clock()
        else:
            assert ground.run(host, "print('alive')") == (0, "alive")


@pytest.mark.parametrize("mode", MODES)
def test_two_hosts_reach_each_other(mode, ground):
    """Roles on different hosts talk to each other at the hosts' addresses."""
    check_mode(mode)
    specs = [HostSpec(name=name, mode=mode, memory_mib=256, disk_mib=100) for name in ("a", "b")]
    with ground.opened(*specs) as hosts:
        port = hosts["a"].free_port()
        server = hosts["a"].start(
            "server",
            [*ground.words(SERVER), hosts["a"].address, str(port)],
            log=ground.scratch / mode / "server.log",
        )
        assert wait_until(lambda: server.log_tail(1) == "listening"), server.log_tail()
        ask = "import socket, sys; s = socket.create_connection((sys.argv[1], int(sys.argv[2])))"
        client = hosts["b"].start(
            "client",
            [
                *ground.words(ask + "; s.sendall(b'x'); print(s.recv(9))"),
                hosts["a"].address,
                str(port),
            ],
            log=ground.scratch / mode / "client.log",
        )
        assert client.wait(20) == 0, client.log_tail()
        assert client.log_tail() == "b'X'"


HARNESS = """
import subprocess, sys, time
sys.path.insert(0, {tests!r})
from conftest import *
def network_to(address):  # not its net: once free, another's
    words = ["ip", "-j", "route", "get", address]
    said = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return json.loads(said)[0]["dev"]
here = Path(sys.argv[1])
guard = Guard(here / "guard")
ground = Ground(here, guard, LocalHost(guard), here / "run")
spec = HostSpec(name=sys.argv[2], mode=sys.argv[3], memory_mib=256, disk_mib=100)
try:
    with ground.opened(spec) as hosts:
        host = hosts[sys.argv[2]]
        host.start("sleeper", ["sleep", "600"], log=ground.scratch / "sleeper.log")
        print("up", network_to(host.address), flush=True)
        if sys.argv[4] == "failure":
            raise RuntimeError("meant to fail")
        if sys.argv[4] != "end":
            time.sleep(120)
finally:
    ground.guard.close()
"""


def left_of(name, state, bridge):
    """Return what is left of a host: interfaces, name spaces, groups, files, processes, mounts."""
    words = [["ip", "-j", "netns", "list"], ["ip", "-j", "link"]]
    run = [
        subprocess.run(each, capture_output=True, text=True, check=True).stdout for each in words
    ]
    spaces = [one["name"] for one in json.loads(run[0] or "[]") if one["name"].endswith(name)]
    links = [one["ifname"] for one in json.loads(run[1])]
    spaces += [each for each in links if bridge.startswith("sb-") and each.startswith(bridge)]
    groups = [str(path) for path in Path("/sys/fs/cgroup").glob(f"*/sb-*-{name}")]
    groups += [str(path) for path in Path("/sys/fs/cgroup").glob(f"sb-*-{name}")]
    files = [path.name for path in (state / "hosts" / "run").glob("*")]
    if MACHINE in os.environ:
        other = Path(json.loads(os.environ[MACHINE])["key"]).parent
        there = other / "home" / "root" / ".cache" / "sizebook"
        files += [str(path) for path in there.glob(f"*-{name}")]
    running = []
    for process in psutil.process_iter(["cmdline", "pid"]):
        said = " ".join(process.info["cmdline"] or [])
        if f"-{name}" in said or str(state) in said:
            running.append(said)
    mounts = [
        line for line in Path("/proc/self/mounts").read_text().splitlines() if str(state) in line
    ]
    return spaces + groups + files + running + mounts


def told_all(ledgers):
    """Return whether the guard has written down what it was told: nothing more for a while."""
    ages = [time.time() - file.stat().st_mtime for file in ledgers.glob("processes-*.txt")]
    return bool(ages) and min(ages) > 0.5


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("how", ["end", "failure", "interrupt", "kill", "kill all"])
def test_nothing_is_left_of_it(mode, how, tmp_path):
    """However the harness ends; where its guard was killed too, the next start clears up."""
    check_mode(mode)
    (tmp_path / "run").mkdir()
    name = new_name()
    code = HARNESS.format(tests=str(Path(__file__).parent))
    words = [sys.executable, "-c", code, str(tmp_path), name, mode, how]
    with subprocess.Popen(
        words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as harness:
        up, _, bridge = harness.stdout.readline().strip().partition(" ")
        assert up == "up", harness.stderr.read()[-2000:]
        if how.startswith(("kill", "interrupt")):
            assert left_of(name, tmp_path, bridge)
            guards = psutil.Process(harness.pid).children() if how == "kill all" else []
            assert not guards or wait_until(lambda: told_all(tmp_path / "guard"))
            for guard in [one for one in guards if any("guard.py" in w for w in one.cmdline())]:
                guard.kill()
            harness.send_signal(signal.SIGINT if how == "interrupt" else signal.SIGKILL)
        harness.communicate(timeout=HANGS_S)
    assert harness.returncode == {"end": 0, "failure": 1}.get(how, harness.returncode)
    if how == "kill all":
        assert sweep(tmp_path / "guard") > 0
    gone = wait_until(lambda: not left_of(name, tmp_path, bridge))
    assert gone, left_of(name, tmp_path, bridge)


def test_a_host_that_does_not_come_up_leaves_nothing(ground, monkeypatch):
    """Its program ends at once: the reason is told."""
    check_mode("container")
    monkeypatch.setattr(type(ground.image()), "python", Path("/no/python"))
    with (
        pytest.raises(TrialError, match="host broken is not up: runc ended with"),
        ground.opened(HostSpec(name="broken", mode="container")),
    ):
        pass
    assert left_of("broken", ground.state / "none", "lo") == []


def test_this_machine_as_it_is_has_no_limits(ground):
    host: LocalHost = ground.local
    with pytest.raises(HostLacksError, match=r"CPU limit 0\.5, .* for this machine as it is"):
        host.set_limits(0.5, None, ())
    with pytest.raises(HostLacksError, match="memory limit 100 MiB"):
        host.set_memory(100)
