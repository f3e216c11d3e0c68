"""What is done to a stack on purpose while a load runs: nodes killed, hung, drained, started again,
CPU time taken by a process that has nothing to do with it, pages of memory taken away, hosts
resized.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from sizebook.hosts.paging import HEAP_IN_FILE, page_out
from sizebook.lab.background import alongside
from sizebook.model.bundle import START, STOP, StackEvent
from sizebook.model.errors import TrialError
from sizebook.model.trial import Disturbance, HostLimits, TrialSpec
from sizebook.stack import RunningStack
from sizebook.stack.balancer import Balancer

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
_LOOK_EVERY_S = 0.02
_ANSWERED_WITHIN_S = 10.0
"""Longest wait for the requests that a drained node has under way."""


@contextlib.contextmanager
def disturbed(
    stack: RunningStack, spec: TrialSpec, begin_ns: int, events: list[StackEvent]
) -> Iterator[None]:
    """Do the trial's disturbances at their times, a thread each; add what was done to ``events``.

    Times count from ``begin_ns`` (CLOCK_MONOTONIC), when the load was let go, plus the phases
    before the measured one. On leaving, what is under way is finished and what is still due is
    not begun. Raises what a disturbance raised, such as TrialError if a node does not come back.
    """
    phases = spec.load.phases
    measured_ns = begin_ns + round((phases.ramp_s + phases.warmup_s) * 1e9)

    def act(one: Disturbance, over: threading.Event) -> None:
        due_ns = measured_ns + round(one.at_s * 1e9)
        if not over.wait(max(0.0, (due_ns - time.monotonic_ns()) / 1e9)):
            _DO[one.action](stack, one, over, events)

    with alongside([partial(act, one) for one in spec.planned()]):
        yield


@contextlib.contextmanager
def _noted(events: list[StackEvent], action: str, node: str) -> Iterator[None]:
    """Add what is done within this context to ``events``, unless it fails."""
    begin_ns = time.monotonic_ns()
    yield
    end_ns = time.monotonic_ns()
    events.append(StackEvent(action=action, node=node, begin_ns=begin_ns, end_ns=end_ns))


def _kill(
    stack: RunningStack, one: Disturbance, over: threading.Event, events: list[StackEvent]
) -> None:
    """End a node as a power cut would; start it again where that is asked for."""
    del over
    with _noted(events, one.action, one.node):
        stack.kill(one.node)
        if one.action == "restart":
            stack.start_again(one.node)


def _hang(
    stack: RunningStack, one: Disturbance, over: threading.Event, events: list[StackEvent]
) -> None:
    """Let a node stand still for a while, or until the load is over."""
    with _noted(events, one.action, one.node):
        stack.suspend(one.node)
        try:
            over.wait(one.for_s)
        finally:
            stack.resume(one.node)


def _drain(
    stack: RunningStack, one: Disturbance, over: threading.Event, events: list[StackEvent]
) -> None:
    """Take a node out in good order: no new sessions, no requests, stopped, perhaps renewed.

    Raises TrialError where there is no balancer, or it does not do as it is told.
    """
    balancer = _balancer(stack, one)
    with _noted(events, one.action, one.node):
        balancer.drain(one.node)
        over.wait(one.for_s)
    with _noted(events, STOP, one.node):
        balancer.take_out(one.node)
        _await_answers(balancer, one.node)
        stack.stop(one.node)
    if one.action == "renew":
        with _noted(events, START, one.node):
            stack.start_again(one.node)
            balancer.put_back(one.node)


def _balancer(stack: RunningStack, one: Disturbance) -> Balancer:
    if stack.balancer is None:
        raise TrialError(
            found=f"{one.action} {one.node}, and no balancer",
            expected="a deployment whose balancer can send a node's requests elsewhere",
            next_step="give it several app nodes, or kill the node",
        )
    return stack.balancer


def _await_answers(balancer: Balancer, node: str) -> None:
    """Return when a node has no request under way, or after ``_ANSWERED_WITHIN_S``."""
    end_s = time.monotonic() + _ANSWERED_WITHIN_S
    with contextlib.suppress(OSError):  # nobody can tell: the node itself waits for them as well
        while balancer.under_way(node) and time.monotonic() < end_s:
            time.sleep(_LOOK_EVERY_S)


def _resize(
    stack: RunningStack, one: Disturbance, over: threading.Event, events: list[StackEvent]
) -> None:
    """Change what a node's host may use. Raises HostLacksError where its mode cannot."""
    del over
    host, limits = stack.node(one.node).host, one.limits or HostLimits()
    with _noted(events, one.action, one.node):
        if limits.cpus or limits.cpu_limit is not None or limits.cpu_weight is not None:
            host.set_limits(limits.cpu_limit, limits.cpu_weight, limits.cpus)
        if limits.memory_mib is not None:
            host.set_memory(limits.memory_mib)


def _spike(
    stack: RunningStack, one: Disturbance, over: threading.Event, events: list[StackEvent]
) -> None:
    """Let a foreign process a CPU of the node compute for a while, or until the load is over."""
    node = stack.node(one.node)
    python = Path(sys.executable).resolve()  # the one that hosts of their own have as well
    command = (str(python), "-I", "-S", "-c", _BURN, str(one.cpu_share))
    burning = []
    with _noted(events, one.action, one.node):
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


def _page_out(
    stack: RunningStack, one: Disturbance, over: threading.Event, events: list[StackEvent]
) -> None:
    """Take the pages of a node's heap away every ``_PAGING_REST_S`` for a while.

    Raises TrialError if they cannot be taken.
    """
    end_s = time.monotonic() + one.for_s
    with _noted(events, one.action, one.node):
        while (left_s := end_s - time.monotonic()) > 0:
            _take_pages(stack, one.node)
            if over.wait(min(_PAGING_REST_S, left_s)):
                return


def _take_pages(stack: RunningStack, name: str) -> None:
    try:
        taken = page_out(stack.node(name).process.pid or 0)
    except OSError as error:
        taken, reason = 0, f"its pages cannot be taken away: {error.strerror}"
    else:
        reason = "it has no heap in a file"
    if not taken:
        raise TrialError(
            found=f"{name}: {reason}",
            expected=f"a node started with {HEAP_IN_FILE}, and leave to page it",
            next_step="see hosts.paging.why_not_page",
        )


_DO: Mapping[
    str, Callable[[RunningStack, Disturbance, threading.Event, list[StackEvent]], None]
] = {
    "kill": _kill,
    "restart": _kill,
    "hang": _hang,
    "drain": _drain,
    "renew": _drain,
    "spike": _spike,
    "page-out": _page_out,
    "resize": _resize,
}
"""What is done for each action; it notes itself what it did."""
