"""Processes that share work: they answer in order, and none outlives what asked them."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest
from tests.waiting import still_alive, wait_until

from sizebook.book.processes import WORTH_BYTES, map_shared
from sizebook.model.errors import UserError

ASKING = """
import os, pathlib, sys, time
from sizebook.book.processes import WORTH_BYTES, map_shared

def begin(folder):
    pathlib.Path(folder, str(os.getpid())).touch()
    time.sleep(600)

if __name__ == "__main__":
    for _ in map_shared(begin, [sys.argv[1]] * 9, "a test", data_bytes=WORTH_BYTES):
        pass
"""


def shared(ask, things):
    """Return what other processes tell of things."""
    return list(map_shared(ask, things, "a test", data_bytes=WORTH_BYTES, at_a_time=2))


def end_itself(number):
    """End the process that is asked for 3."""
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def children():
    """Return the processes that this one has; the tracker of multiprocessing stays for the next."""
    every = psutil.Process().children(recursive=True)
    return [one for one in every if "resource_tracker" not in " ".join(one.cmdline())]


def test_what_they_tell_comes_in_order_and_what_they_raise_comes_out():
    """As if it were asked here, which little is."""
    before = children()
    assert shared(str, range(7)) == [str(number) for number in range(7)]
    with pytest.raises(ValueError, match="invalid literal"):
        shared(int, ["1", "x", "3"])
    assert list(map_shared(os.getpgid, [0], "a test", data_bytes=0)) == [os.getpgid(0)]
    assert still_alive([one for one in children() if one not in before]) == []


def test_one_that_is_killed_is_an_error_that_names_the_work():
    """Out of memory, for example; the others end as well."""
    before = children()
    with pytest.raises(UserError, match="a test: one of its processes was killed"):
        shared(end_itself, range(9))
    assert still_alive([one for one in children() if one not in before]) == []


@pytest.mark.parametrize(
    ("number", "everybody"),
    [(signal.SIGINT, True), (signal.SIGINT, False), (signal.SIGKILL, False)],
)
def test_whatever_ends_the_work_ends_its_processes(tmp_path, number, everybody):
    """Ctrl-C reaches all of a terminal's processes, or this one alone; SIGKILL asks nobody."""
    script, folder = tmp_path / "asking.py", tmp_path / "begun"
    script.write_text(ASKING)
    folder.mkdir()
    process = subprocess.Popen(
        [sys.executable, str(script), str(folder)], stderr=subprocess.PIPE, start_new_session=True
    )
    cpus = len(os.sched_getaffinity(0))
    assert wait_until(lambda: len(list(folder.iterdir())) == cpus)
    begun = [psutil.Process(int(path.name)) for path in folder.iterdir()]
    (os.killpg if everybody else os.kill)(process.pid, number)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == -number
    assert still_alive(begun) == []
    assert errors.count(b"Traceback") == (1 if number == signal.SIGINT else 0), errors.decode()


def test_an_interrupt_while_they_start_reaches_none_of_them(tmp_path):
    """They import for a second, and would all print where."""
    script = tmp_path / "asking.py"
    script.write_text(ASKING)
    process = subprocess.Popen(
        [sys.executable, str(script), str(tmp_path)], stderr=subprocess.PIPE, start_new_session=True
    )
    asking = psutil.Process(process.pid)
    assert wait_until(lambda: any("spawn_main" in word for word in _words(asking)))
    time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert (process.returncode, errors.count(b"Traceback")) == (-signal.SIGINT, 1), errors.decode()


def _words(process):
    """Return the words of the command lines of a process's children."""
    words = []
    for child in process.children():
        try:
            words += child.cmdline()
        except psutil.Error:
            continue
    return words
