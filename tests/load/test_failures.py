"""What goes wrong around a trial is told in one sentence, and nothing is left running."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from pathlib import Path

import psutil
import pytest
from tests.waiting import HANGS_S, soon, wait_until

from sizebook.load.control import GeneratorClient
from sizebook.model.errors import TrialError, UsageError
from sizebook.model.load import ClosedLoop, LoadProfile, OpenArrivals, Phases

PAGE = """
from sizebook.load.users import Expect, LeanHttpUser

class Reader(LeanHttpUser):
    def iteration(self):
        self.get("/", name="page", check=Expect())
"""
USER = "from sizebook.load.users import *\nclass A(LeanHttpUser):\n"
BATCH = "from sizebook.load.users import *\nclass A(SharedBatch):\n    pass\n"
PLAIN = "from locust import *\nclass A(FastHttpUser):\n    @task\n    def t(self): pass\n"


def profile(arrivals=None, measured_s=0.3, **more) -> LoadProfile:
    return LoadProfile(
        locustfile="broken.py",
        arrivals=arrivals or ClosedLoop(users=2),
        phases=Phases(warmup_s=0.1, measured_s=measured_s, drain_s=0.5),
        **more,
    )


OPEN = OpenArrivals(kind="constant", rate_per_s=10)


@pytest.mark.parametrize(
    ("text", "more", "message"),
    [
        ("x = 1/0", {}, "ZeroDivisionError while loading broken.py, line 1"),
        ("import no_such_module", {}, "no package no_such_module, which broken.py, line 1"),
        ("x = 1", {}, "no user class"),
        (PAGE, {"settings": {"size": 1}}, "setting 'size'"),
        (PAGE + PAGE.replace("Reader", "Other"), {}, "2 scenario classes"),
        (USER + "    role = 'database'\n", {}, "no target for role 'database'"),
        (USER + "    @classmethod\n    def set_up(cls, s): [][1]\n", {}, "IndexError in set-up"),
        (
            USER + "    @classmethod\n    def set_up(cls, s): s.get('/wrong', check=Expect(404))\n",
            {},
            "status error at set-up request /wrong",
        ),
        (USER + "    def __init__(self, e): raise KeyError(1)\n", {}, "users spawned"),
        (PLAIN, {"arrivals": OPEN}, "pace themselves"),
        (PLAIN, {"settings": {"a": 1}}, "found setting 'a' for broken.py"),
        (
            PLAIN + "    wait_time = between(1, 2.5)\n",
            {"arrivals": ClosedLoop(users=2, think_s=3)},
            r"think_s=3 of the load profile beside between\(1, 2.5\) of broken.py",
        ),
        (
            "from locust import *\nclass Wave(LoadTestShape):\n    def tick(self): pass\n" + PLAIN,
            {},
            "LoadTestShape Wave in broken.py",
        ),
    ],
)
def test_mistakes_found_before_the_start(generator, locustfiles, server, tmp_path, text, more,
                                         message):  # fmt: skip
    """The error names the place and the mistake; the same process takes the next order."""
    (locustfiles / "broken.py").write_text(text)
    with pytest.raises((TrialError, UsageError), match=message) as caught:
        generator.prepare(profile(**more), {"app": server.url}, tmp_path)
    assert "Traceback" not in str(caught.value)
    (locustfiles / "broken.py").write_text(PAGE)
    generator.prepare(profile(), {"app": server.url}, tmp_path)


@pytest.mark.parametrize(
    ("text", "arrivals", "message"),
    [
        (USER + "    def iteration(self): {}['x']\n", None, "KeyError in broken.py, line 3"),
        (USER + "    pass\n", None, "NotImplementedError"),
        (USER + "    def on_start(self): {}['x']\n", None, "KeyError in broken.py, line 3"),
        (BATCH, OPEN, "constant arrivals for A"),
    ],
)
def test_mistakes_found_in_the_trial(generator, locustfiles, server, tmp_path, text, arrivals,
                                     message):  # fmt: skip
    """An exception of the scenario ends the trial early and says where it was raised."""
    (locustfiles / "broken.py").write_text(text)
    planned_s = 600
    generator.prepare(profile(arrivals, measured_s=planned_s), {"app": server.url}, tmp_path)
    begin = time.monotonic()
    with pytest.raises(TrialError, match=message):
        generator.run()
    assert time.monotonic() - begin < planned_s


def test_locustfiles_come_from_their_folder_only(generator, server, tmp_path):
    """No other file can be named, and the message lists what there is."""
    for name in ("../conftest.py", "nothing.py"):
        with pytest.raises(UsageError, match="no locustfile"):
            generator.prepare(
                profile().model_copy(update={"locustfile": name}), {"app": server.url}, tmp_path
            )


@pytest.fixture
def fresh(host, locustfiles, tmp_path):
    (locustfiles / "broken.py").write_text(PAGE)
    own = GeneratorClient(host, sys.executable, tmp_path / "log", locustfiles=locustfiles)
    own.start()
    yield own
    own.stop()


def ends(pid: int) -> bool:
    try:
        psutil.Process(pid).wait(HANGS_S)
    except psutil.NoSuchProcess:
        pass
    except psutil.TimeoutExpired:
        return False
    return True


def test_a_killed_generator_is_a_failed_trial(fresh, server, tmp_path):
    """Killed in the middle: the trial fails within a second or two, with the exit code told."""
    fresh.prepare(profile(measured_s=30), {"app": server.url}, tmp_path)
    threading.Timer(0.5, os.kill, (fresh.process.pid, signal.SIGKILL)).start()
    with pytest.raises(TrialError, match=r"ended by itself \(exit code -9\)"):
        fresh.run()
    assert fresh.process is None


def test_a_stuck_generator_is_a_failed_trial(fresh, server, tmp_path, monkeypatch):
    """A generator that says nothing is ended, even if it does not listen to a terminate."""
    monkeypatch.setattr("sizebook.load.control.SILENCE_TIMEOUT_S", 1.5)
    monkeypatch.setattr("sizebook.load.control.STOP_GRACE_S", 0.5)
    fresh.prepare(profile(measured_s=30), {"app": server.url}, tmp_path)
    pid = fresh.process.pid
    threading.Timer(0.5, os.kill, (pid, signal.SIGSTOP)).start()
    with pytest.raises(TrialError, match="said nothing"):
        fresh.run()
    assert ends(pid)


@pytest.mark.parametrize("kind", [KeyboardInterrupt, RuntimeError])
def test_an_interrupted_lab_ends_the_generator(fresh, server, tmp_path, kind):
    """Ctrl-C, or an error of the progress display, goes on after the generator was ended."""

    def interrupt(tick):
        raise kind

    fresh.prepare(profile(measured_s=30), {"app": server.url}, tmp_path)
    pid = fresh.process.pid
    with pytest.raises(kind):
        fresh.run(interrupt)
    assert ends(pid)


def test_a_trial_can_be_ended_early(fresh, server, tmp_path):
    """What was recorded is kept, phases end where the trial did, accounting closes."""
    fresh.prepare(
        profile(OpenArrivals(kind="poisson", rate_per_s=200), measured_s=600),
        {"app": server.url},
        tmp_path,
    )
    soon(lambda: server.requests > 20, fresh.stop_trial)
    collected = fresh.run()
    facts = collected.facts
    assert collected.stopped_early
    assert facts.wall_s < 600
    assert facts.issued == facts.completed + facts.failed + facts.dropped
    assert facts.completed + facts.failed == server.requests > 0
    assert collected.phases[-2].end_ns == collected.phases[-1].begin_ns


@pytest.mark.parametrize("how", ["terminate", "close its input"])
def test_the_process_ends_promptly(fresh, server, tmp_path, how):
    """Whether told by a signal or by the end of its input, in the midst of a trial."""
    fresh.prepare(profile(measured_s=600), {"app": server.url}, tmp_path)
    process = fresh.process
    process.stdin.write('{"go":{}}\n')
    process.stdin.flush()
    assert wait_until(lambda: server.requests > 0)
    if how == "terminate":
        os.kill(process.pid, signal.SIGTERM)
    else:
        process.stdin.close()
    assert process.wait(HANGS_S) is not None


def test_a_generator_that_cannot_start(host, tmp_path):
    """A Python without the package is told with the last line of the log."""
    broken = tmp_path / "python"
    broken.write_text("#!/bin/sh\necho 'no such package' >&2\nexit 3\n")
    broken.chmod(0o755)
    with pytest.raises(TrialError, match=r"exit code 3.*no such package"):
        GeneratorClient(host, str(broken), tmp_path / "log", locustfiles=Path()).start()
