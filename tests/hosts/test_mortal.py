"""What the harness waits for ends with it, also when it is killed without a word."""

import signal
import subprocess
import sys

import psutil
import pytest
from tests.waiting import has_ended, wait_until

from sizebook.hosts.mortal import mortal

BOOT = """
from pathlib import Path
from sizebook.hosts import kvm
from sizebook.hosts.kernels import Kernel
kernel = Kernel("6.1", Path("vmlinuz"), Path("modules"))
kvm.boot_once(Path({program!r}), kernel, Path("i"), "kvm", "host", 600.0)
"""
TOOL = """
import subprocess
from sizebook.hosts.mortal import mortal
subprocess.run(mortal([{program!r}]))
"""
THREAD = """
import subprocess, threading
from sizebook.hosts.mortal import mortal
threading.Thread(target=lambda: subprocess.run(mortal([{program!r}]))).start()
"""


@pytest.mark.parametrize("code", [BOOT, TOOL, THREAD], ids=["boot", "tool", "thread"])
def test_a_child_ends_with_a_harness_that_was_killed(tmp_path, code):
    """A machine that boots on trial, a tool, one that a thread waits for."""
    told, program = tmp_path / "pid", tmp_path / "program"
    program.write_text(f"#!/bin/sh\necho $$ > {told}.new && mv {told}.new {told}\nexec sleep 900\n")
    program.chmod(0o755)
    harness = subprocess.Popen([sys.executable, "-c", code.format(program=str(program))])
    try:
        assert wait_until(told.exists)
        child = psutil.Process(int(told.read_text()))
    finally:
        harness.send_signal(signal.SIGKILL)
        harness.wait()
    try:
        assert wait_until(lambda: has_ended(child))
    finally:
        if not has_ended(child):
            child.kill()


def test_a_parent_that_is_gone_already_is_no_parent():
    """Killed between its fork and the request: the command does not begin."""
    words = mortal(["echo", "begun"])
    words[4] = "1"  # another parent than the one it has
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (125, "")


def test_a_command_is_the_same_otherwise():
    """Its words, output and exit code; one that is not there is told."""
    done = subprocess.run(
        mortal(["sh", "-c", "echo $0 $PPID; exit 7", "a b"]),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 7 and done.stdout.startswith("a b ")
    done = subprocess.run(mortal(["no-such-tool"]), capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "no-such-tool: No such file or directory\n")
