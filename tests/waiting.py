"""To wait for something that another process does, no longer than it takes."""

import time

import psutil


def wait_until(condition, seconds=10.0):
    """Return True as soon as the condition holds, False when the time is over."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def has_ended(process):
    """Return whether a process is gone, or waits for nothing but that its end be read."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def still_alive(processes, seconds=20):
    """Return the processes that still live after a while."""
    _, alive = psutil.wait_procs(processes, timeout=seconds)
    return [process for process in alive if not has_ended(process)]
