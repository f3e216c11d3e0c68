"""What is done to a stack on purpose while a load runs: nodes killed, nodes started again, CPU
time taken by a process that has nothing to do with it, pages of memory taken away, hosts resized.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from sizebook.hosts.paging import HEAP_IN_FILE, page_out
from sizebook.model.bundle import StackEvent
from sizebook.model.errors import TrialError, UserError
from sizebook.model.trial import Disturbance, HostLimits, TrialSpec
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
    """Do the trial's disturbances at their times, a thread each; add what was done to ``events``.

    Times count from ``begin_ns`` (CLOCK_MONOTONIC), when the load was let go, plus the phases
    before the measured one. On leaving, what is under way is finished and what is still due is
    not begun. Raises what a disturbance raised, such as TrialError if a node does not come back.
    """
    failures: list[UserError] = []
    over = threading.Event()
    phases = spec.load.phases
    measured_ns = begin_ns + round((phases.ramp_s + phases.warmup_s) * 1e9)

    def act(one: Disturbance) -> None:
        due_ns = measured_ns + round(one.at_s * 1e9)
        if over.wait(max(0.0, (due_ns - time.monotonic_ns()) / 1e9)):
            return
        at_ns = time.monotonic_ns()
        try:
            _do(stack, one, over)
        except UserError as error:
            failures.append(error)
            return
        events.append(
            StackEvent(action=one.action, node=one.node, begin_ns=at_ns, end_ns=time.monotonic_ns())
        )

    threads = [
        threading.Thread(target=act, args=(one,), name=f"sizebook-{one.action}-{one.node}")
        for one in spec.planned()
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
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
    if one.limits is not None:
        _resize(stack, one.node, one.limits)
        return
    stack.kill(one.node)
    if one.action == "restart":
        stack.start_again(one.node)


def _resize(stack: RunningStack, node: str, limits: HostLimits) -> None:
    """Change what a node's host may use. Raises HostLacksError where its mode cannot."""
    host = stack.node(node).host
    if limits.cpus or limits.cpu_limit is not None or limits.cpu_weight is not None:
        host.set_limits(limits.cpu_limit, limits.cpu_weight, limits.cpus)
    if limits.memory_mib is not None:
        host.set_memory(limits.memory_mib)


def _spike(stack: RunningStack, one: Disturbance, over: threading.Event) -> None:
    """Let a foreign process a CPU of the node compute for a while, or until the load is over."""
    node = stack.node(one.node)
    python = Path(sys.executable).resolve()  # the one that hosts of their own have as well
    command = (str(python), "-I", "-S", "-c", _BURN, str(one.cpu_share))
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
            taken = page_out(node.process.pid or 0)
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
