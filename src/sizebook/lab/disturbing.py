"""What is done to a stack on purpose while a load runs: nodes killed, nodes started again, CPU
time taken by a process that has nothing to do with it, pages of memory taken away.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator

from sizebook.hosts.paging import HEAP_IN_FILE, page_out
from sizebook.model.bundle import StackEvent
from sizebook.model.errors import TrialError, UserError
from sizebook.model.trial import Disturbance, TrialSpec
from sizebook.stack import RunningStack

_BURN = """
import sys, time
share = float(sys.argv[1])
while True:
    end = time.monotonic() + 0.05 * share
    while time.monotonic() < end:
        pass
    time.sleep(0.05 * (1 - share))
"""
"""Computes for a share of every 50 ms."""
_PAGING_REST_S = 0.02


@contextlib.contextmanager
def disturbed(
    stack: RunningStack, spec: TrialSpec, begin_ns: int, events: list[StackEvent]
) -> Iterator[None]:
    """Do the trial's disturbances at their times, from a thread; add what was done to ``events``.

    Times count from ``begin_ns`` (CLOCK_MONOTONIC), when the load was let go, plus the phases
    before the measured one. On leaving, what is under way is finished and what is still due is
    not begun. Raises what a disturbance raised, such as TrialError if a node does not come back.
    """
    failures: list[UserError] = []
    over = threading.Event()
    phases = spec.load.phases
    measured_ns = begin_ns + round((phases.ramp_s + phases.warmup_s) * 1e9)

    def act() -> None:
        try:
            for one in spec.planned():
                due_ns = measured_ns + round(one.at_s * 1e9)
                if over.wait(max(0.0, (due_ns - time.monotonic_ns()) / 1e9)):
                    return
                at_ns = time.monotonic_ns()
                _do(stack, one, over)
                events.append(
                    StackEvent(
                        action=one.action,
                        node=one.node,
                        begin_ns=at_ns,
                        end_ns=time.monotonic_ns(),
                    )
                )
        except UserError as error:
            failures.append(error)

    if not spec.planned():
        yield
        return
    thread = threading.Thread(target=act, name="sizebook-disturbances")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
    if failures:
        raise failures[0]


def _do(stack: RunningStack, one: Disturbance, over: threading.Event) -> None:
    if one.action == "spike":
        _spike(stack, one, over)
        return
    if one.action == "page-out":
        _page_out(stack, one, over)
        return
    stack.kill(one.node)
    if one.action == "restart":
        stack.start_again(one.node)


def _spike(stack: RunningStack, one: Disturbance, over: threading.Event) -> None:
    """Let a foreign process a CPU of the node compute for a while, or until the load is over."""
    node = stack.node(one.node)
    command = (sys.executable, "-c", _BURN, str(one.cpu_share))
    burning = []
    try:
        for cpu in node.cpus or (None,):
            name = "spike" if cpu is None else f"spike-{cpu}"
            cpus = () if cpu is None else (cpu,)
            log = stack.folder / f"{name}.log"
            burning.append(node.host.start(name, command, log=log, cpus=cpus))
        over.wait(one.for_s)
    finally:
        for process in burning:
            node.host.stop(process, grace_s=0.0)


def _page_out(stack: RunningStack, one: Disturbance, over: threading.Event) -> None:
    """Take the pages of a node's heap away every ``_PAGING_REST_S`` for a while.

    Raises TrialError if they cannot be taken.
    """
    node, end_s = stack.node(one.node), time.monotonic() + one.for_s
    while (left_s := end_s - time.monotonic()) > 0:
        try:
            taken = page_out(node.process.inner_pid)
        except OSError as error:
            taken, reason = 0, f"its pages cannot be taken away: {error.strerror}"
        else:
            reason = "it has no heap in a file"
        if not taken:
            raise TrialError(
                found=f"{one.node}: {reason}",
                expected=f"a node started with {HEAP_IN_FILE}, and leave to page it",
                next_step="see hosts.paging.why_not_page",
            )
        if over.wait(min(_PAGING_REST_S, left_s)):
            return
