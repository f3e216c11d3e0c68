"""To wait for something that another process does, no longer than it takes."""

import time


def wait_until(condition, seconds=10.0):
    """Return True as soon as the condition holds, False when the time is over."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True
