"""Run tests again and again without starting anew: each time in a fork that has the packages.

Reads a line of JSON for each run, ``{"tests": [...]}``; writes one, ``{"outcome": ...}``. Only what
others wrote is imported before the fork, never the code that changes.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import resource
import signal
import sys
import time

import pytest

PACKAGES = (
    *("numpy", "scipy.stats", "scipy.optimize", "polars", "pydantic", "psutil"),
    *("hypothesis", "hypothesis.extra.numpy", "xdist.scheduler"),
)
CPU_S = 120
"""That one process of a run may take. CPU time, so that a busy machine hangs no test."""
WALL_S = 900.0
"""That one run may take if it waits."""
PASSED, FAILED, HUNG = "survived", "killed", "hung"


def main() -> None:
    """Serve until the end of standard input."""
    for name in PACKAGES:
        importlib.import_module(name)
    for line in sys.stdin:
        print(json.dumps({"outcome": run(json.loads(line)["tests"])}), flush=True)


def run(tests: list[str]) -> str:
    """Return how the tests ended, the first failure ends them."""
    pid = os.fork()
    if pid == 0:
        os.setsid()
        _forget_output()
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_S, CPU_S))
        os._exit(pytest.main(["-x", "-n0", "-p", "no:cacheprovider", *tests]))
    code = _wait(pid)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)  # and what the tests left running
    if code is None or code in (-signal.SIGXCPU, -signal.SIGKILL):
        return HUNG
    return FAILED if code else PASSED


def _wait(pid: int) -> int | None:
    """Return how a process ended; None if it had to be killed."""
    end = time.monotonic() + WALL_S
    while time.monotonic() < end:
        if (ended := os.waitpid(pid, os.WNOHANG))[0]:
            return os.waitstatus_to_exitcode(ended[1])
        time.sleep(0.05)
    os.killpg(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    return None


def _forget_output() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nothing, descriptor)


if __name__ == "__main__":
    main()
