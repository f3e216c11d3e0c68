"""A program and all that it started end together."""

import os
import signal
import subprocess
import sys
import threading
import time

import psutil
import pytest
from tests.waiting import still_alive

from sizebook.book.groups import run_group

PARENT = """
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
open(sys.argv[1], "w").write(str(child.pid) + "\\n")
time.sleep(600)
"""


def wait_for(path):
    """Return the child that a parent notes in a file once it has started it."""
    while not (path.exists() and path.read_text().endswith("\n")):
        time.sleep(0.02)
    return psutil.Process(int(path.read_text()))


def test_what_a_program_says_and_how_it_ends_is_told():
    """Both streams as one, and its exit code."""
    code = "import sys; print('out', flush=True); sys.stderr.write('err'); sys.exit(3)"
    done = run_group([sys.executable, "-c", code])
    assert (done.returncode, done.stdout) == (3, "out\nerr")


def test_an_interrupt_of_this_process_alone_ends_the_whole_group(tmp_path):
    """As 'kill -INT' does; in a terminal Ctrl-C would have reached all of them."""
    found = []

    def interrupt():
        found.append(wait_for(tmp_path / "pid"))
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        run_group([sys.executable, "-c", PARENT, str(tmp_path / "pid")])
    assert still_alive(found) == []


def test_so_does_the_end_of_its_time(tmp_path):
    """Nobody stays behind."""
    found = []
    noting = threading.Thread(target=lambda: found.append(wait_for(tmp_path / "pid")))
    noting.start()
    with pytest.raises(subprocess.TimeoutExpired):
        run_group([sys.executable, "-c", PARENT, str(tmp_path / "pid")], timeout_s=10.0)
    noting.join()
    assert still_alive(found) == []
