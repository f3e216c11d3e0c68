"""To wait for something that another process does, no longer than it takes.

How long that is says how busy the machine is, so the limits are minutes and only end a hang.
"""

import re
import threading
import time

import psutil

HANGS_S = 120.0
TIME_IS_UP = re.compile(r"tim(e|ed)[ -]?out", re.IGNORECASE)


def wait_until(condition, seconds=HANGS_S):
    """Return True as soon as the condition holds, False when the time is over."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def soon(condition, act):
    """Do something as soon as the condition holds, in a thread of its own; never if it does not."""
    threading.Thread(target=lambda: wait_until(condition) and act(), daemon=True).start()


def has_ended(process):
    """Return whether a process is gone, or waits for nothing but that its end be read."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def still_alive(processes, seconds=HANGS_S):
    """Return the processes that still live after a while."""
    _, alive = psutil.wait_procs(processes, timeout=seconds)
    return [process for process in alive if not has_ended(process)]


def children_of(pid):
    """Return the processes below one, however deep."""
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def unread(sampler):
    """Return what a sampler could not read, but for who did not answer in time: that is load."""
    return [one for one in sampler.missing() if not TIME_IS_UP.search(one.reason)]
