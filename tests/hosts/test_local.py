import math
import os
import signal
import subprocess
import sys

import psutil
import pytest
from tests.waiting import wait_until

from sizebook.hosts import Guard, LocalHost
from sizebook.hosts.guard import end_all, sweep
from sizebook.hosts.local import usable_cpus
from sizebook.model.errors import HostLacksError

SLEEP = [sys.executable, "-c", "import time; time.sleep(60)"]


@pytest.fixture
def host(tmp_path):
    guard = Guard(tmp_path / "guard")
    yield LocalHost(guard)
    guard.close()


def test_a_process_runs_with_exactly_the_environment_given(host, tmp_path):
    """Nothing of the harness's own environment leaks into what is measured."""
    code = "import os; print(sorted(k for k in os.environ if k != 'LC_CTYPE'))"
    process = host.start("p", [sys.executable, "-c", code], log=tmp_path / "log", env={"ONLY": "1"})
    assert process.wait(10) == 0
    assert process.log_tail(1) == "['ONLY']"
    assert host.stop(process) == 0


def test_a_process_runs_on_its_cpus_and_can_be_moved(host, tmp_path):
    """CPU sets hold for all threads, at start and after a change."""
    first, last = usable_cpus()[0], usable_cpus()[-1]
    process = host.start("p", SLEEP, log=tmp_path / "log", cpus=(first,))
    assert wait_until(lambda: psutil.Process(process.pid).cpu_affinity() == [first])
    host.set_cpus(process, (last,))
    assert psutil.Process(process.pid).cpu_affinity() == [last]
    assert host.stop(process) == -signal.SIGTERM


NAMED = """
import ctypes, threading, time
def wait():
    ctypes.CDLL(None).prctl(15, b"C2 CompilerThre", 0, 0, 0)
    time.sleep(60)
threading.Thread(target=wait, daemon=True).start()
time.sleep(60)
"""


@pytest.mark.parametrize(("way", "nice"), [("hold_back", 19), ("prefer", -10)])
def test_threads_of_another_priority_are_let_go_again(host, tmp_path, way, nice):
    """Only threads of that name lose or gain priority, and all have the usual one afterwards."""
    process = host.start("p", [sys.executable, "-c", NAMED], log=tmp_path / "log")

    def priorities():
        threads = sorted(thread.id for thread in psutil.Process(process.pid).threads())
        return [os.getpriority(os.PRIO_PROCESS, thread) for thread in threads]

    change = getattr(host, way)
    if os.geteuid() == 0 and sys.platform.startswith("linux"):
        assert wait_until(lambda: change(process, "C2 Compiler"))
        assert priorities() == [os.nice(0), nice]
        assert not change(process, "no such thread")
    else:
        assert wait_until(lambda: len(priorities()) == 2)
    host.let_go(process)
    assert priorities() == [os.nice(0), os.nice(0)]
    host.stop(process)


def test_who_was_told_to_give_way_can_let_go():
    """An ordinary user may not go back to the priority that others have: ``nice make book``."""
    code = """
import concurrent.futures  # a thread tries it, and nothing is read after setuid
import os
from sizebook.hosts import priority
os.nice(3)
if os.geteuid() == 0:
    os.setuid(65534)
print(priority.change(os.getpid(), "", priority.LAST))
priority.restore(os.getpid())
print(os.getpriority(os.PRIO_PROCESS, os.getpid()) - os.nice(0))
"""
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.split() == ["False", "0"], done.stderr


def test_missing_programs_and_cpus_are_clear_messages(host, tmp_path):
    """What is not there is named before anything is started."""
    with pytest.raises(HostLacksError, match="no-such-program"):
        host.start("p", ["no-such-program"], log=tmp_path / "log")
    with pytest.raises(HostLacksError, match="CPUs"):
        host.start("p", SLEEP, log=tmp_path / "log", cpus=(10_000,))


def test_a_process_that_ignores_the_request_is_killed(host, tmp_path):
    """After the grace period there is no more asking."""
    code = "import signal, time; signal.signal(15, signal.SIG_IGN); print(1, flush=True)"
    stubborn = host.start(
        "p", [sys.executable, "-c", code + "; time.sleep(60)"], log=tmp_path / "log"
    )
    assert wait_until(lambda: stubborn.log_tail(1) == "1")
    assert host.stop(stubborn, grace_s=0.2) == -signal.SIGKILL


def test_talking_processes_have_text_pipes(host, tmp_path):
    """Standard input and output are pipes, errors go to the log."""
    code = "import sys; print(input().upper(), flush=True); print('err', file=sys.stderr)"
    process = host.start("p", [sys.executable, "-c", code], log=tmp_path / "log", talk=True)
    process.stdin.write("hello\n")
    process.stdin.flush()
    assert process.stdout.readline() == "HELLO\n"
    assert process.wait(10) == 0
    assert process.log_tail(1) == "err"


HARNESS = """
import sys, pathlib, time
from sizebook.hosts import Guard, LocalHost
here = pathlib.Path(sys.argv[1])
host = LocalHost(Guard(here / "guard"))
child = host.start("child", [sys.executable, "-c", "import time; time.sleep(120)"],
                   log=here / "log")
print(child.pid, flush=True)
time.sleep(120)
"""


def start_harness(tmp_path):
    harness = subprocess.Popen(
        [sys.executable, "-c", HARNESS, str(tmp_path)], stdout=subprocess.PIPE, text=True
    )
    return harness, int(harness.stdout.readline())


def test_a_killed_harness_leaves_no_process(tmp_path):
    """kill -9 of the harness: the guard ends what it had started."""
    harness, child = start_harness(tmp_path)
    harness.kill()
    harness.communicate()
    assert wait_until(lambda: not psutil.pid_exists(child))
    assert wait_until(lambda: not list((tmp_path / "guard").iterdir()))


def test_a_killed_harness_leaves_nothing_suspended(tmp_path):
    """A process that stands still (SIGSTOP) is ended as well."""
    harness, child = start_harness(tmp_path)
    psutil.Process(child).suspend()
    harness.kill()
    harness.communicate()
    assert wait_until(lambda: not psutil.pid_exists(child))
    assert wait_until(lambda: not list((tmp_path / "guard").iterdir()))


def test_the_next_start_ends_what_a_killed_guard_left(tmp_path):
    """kill -9 of harness and guard: the ledger on disk is enough."""
    harness, child = start_harness(tmp_path)
    guards = [
        p
        for p in psutil.Process(harness.pid).children()
        if any("guard.py" in word for word in p.cmdline())
    ]
    assert wait_until(lambda: list((tmp_path / "guard").iterdir()))
    for process in [*guards, psutil.Process(harness.pid)]:
        process.kill()
    harness.communicate()
    assert psutil.pid_exists(child)
    assert sweep(tmp_path / "guard") == 1
    assert wait_until(lambda: not psutil.pid_exists(child))


FORGETFUL = HARNESS.replace(
    "child = host", "host._guard.register = lambda pid: time.sleep(120)\nhost"
)


def test_a_harness_killed_before_it_could_register_leaves_no_process(tmp_path):
    """Between starting and registering there is a moment; the guard knows the command."""
    command = [sys.executable, "-c", FORGETFUL, str(tmp_path)]
    harness = subprocess.Popen(command, stdout=subprocess.DEVNULL)

    def children():
        found = psutil.Process(harness.pid).children()
        return [p for p in found if "time.sleep(120)" in p.cmdline()[-1]]

    assert wait_until(children)
    (child,) = children()
    stranger = subprocess.Popen(child.cmdline())
    harness.kill()
    harness.wait()
    assert wait_until(lambda: not child.is_running())
    assert wait_until(lambda: not list((tmp_path / "guard").iterdir()))
    assert stranger.poll() is None, "a command of another harness, in the same words"
    stranger.kill()
    stranger.wait()


def test_one_that_ended_is_not_waited_for_though_its_parent_has_not_noticed():
    """A process that is gone but for its exit code has ended; waiting for more would never end."""
    with subprocess.Popen(SLEEP) as child:
        assert end_all([(child.pid, psutil.Process(child.pid).create_time())], math.inf) == 1
        assert psutil.Process(child.pid).status() == psutil.STATUS_ZOMBIE
    assert child.returncode == -signal.SIGTERM


def test_a_guard_that_is_still_at_work_is_waited_for(tmp_path):
    """The next start goes on when the killed harness's processes are gone, not before."""
    linger = "lambda *_: (time.sleep(0.7), sys.exit())"
    code = f"import signal, sys, time; signal.signal(15, {linger}); time.sleep(120)"
    harness = subprocess.Popen(
        [
            sys.executable,
            "-c",
            HARNESS.replace("import time; time.sleep(120)", code),
            str(tmp_path),
        ],
        stdout=subprocess.PIPE,
        text=True,
    )
    child = int(harness.stdout.readline())
    assert wait_until(lambda: list((tmp_path / "guard").iterdir()))
    harness.kill()
    harness.communicate()
    sweep(tmp_path / "guard")
    assert wait_until(lambda: not psutil.pid_exists(child))
    assert list((tmp_path / "guard").iterdir()) == []


def test_a_reused_process_id_is_never_hit(tmp_path):
    """Entries whose start time does not match belong to somebody else."""
    ledgers = tmp_path / "guard"
    ledgers.mkdir()
    innocent = subprocess.Popen(SLEEP)
    (ledgers / "processes-999999.txt").write_text(f"{innocent.pid} 12345.00\n")
    assert sweep(ledgers) == 0
    assert innocent.poll() is None
    innocent.kill()
    innocent.wait()


def test_facts_name_no_host_and_no_user(host):
    """What goes into bundles describes hardware and system alone."""
    import getpass
    import re
    import socket

    text = host.facts().model_dump_json()
    assert not re.search(rf"\b{re.escape(socket.gethostname())}\b", text)
    assert f'"{getpass.getuser()}"' not in text
    assert host.facts().logical_cpus == os.cpu_count()


PROMISING = """
import pathlib, sys, time
from sizebook.hosts import Guard
here = pathlib.Path(sys.argv[1])
guard = Guard(here / "guard")
for name in ("first", "kept", "second"):
    number = guard.promise(["sh", "-c", f"echo {name} >> {here}/undone"])
    if name == "kept":
        guard.keep(number)
guard.promise(["no-such-program"])
print("said", flush=True)
time.sleep(120)
"""


@pytest.mark.parametrize("guard_too", [False, True])
def test_what_was_promised_is_undone_newest_first(tmp_path, guard_too):
    """By the guard, or by the next start where that was killed too; what was kept is not."""
    command = [sys.executable, "-c", PROMISING, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as harness:
        assert harness.stdout.readline() == "said\n"
        (ledger,) = wait_for_ledger(tmp_path, "no-such-program")
        if guard_too:
            for guard in psutil.Process(harness.pid).children():
                guard.kill()
        harness.kill()
    if guard_too:
        assert sweep(tmp_path / "guard") == 3
    assert wait_until(lambda: not ledger.exists())
    assert (tmp_path / "undone").read_text() == "second\nfirst\n"


def wait_for_ledger(folder, word):
    """Return the ledgers once a word is in one."""
    ledgers = folder / "guard"
    assert wait_until(lambda: any(word in path.read_text() for path in ledgers.glob("*.txt")))
    return list(ledgers.glob("*.txt"))
