"""Nodes that may run out of memory: seen, written down, started again; and ends nobody allowed."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator
from functools import partial

from sizebook.lab.background import alongside
from sizebook.model.bundle import OUT_OF_MEMORY, START, StackEvent
from sizebook.model.errors import TrialError
from sizebook.model.trial import Exhaustion, TrialSpec
from sizebook.stack import RunningStack
from sizebook.stack.endings import Ending, NodeEndedError, ending_of

_LOOK_EVERY_S = 0.02
_ENDS_WITHIN_S = 0.5
"""A process that fails its clients has ended by then."""


@contextlib.contextmanager
def supervised(stack: RunningStack, spec: TrialSpec, events: list[StackEvent]) -> Iterator[None]:
    """Look after the nodes that may run out of memory, each from a thread; add to ``events``.

    Each end for lack of memory is an event, and so is each start that follows; a start that ends
    the same way is followed by the next. On leaving, a start under way is finished and none begun.
    Raises what a start raised, such as TrialError if the node does not become ready.
    """
    tasks = [partial(_look_after, stack, one, events) for one in spec.exhaustible().values()]
    with alongside(tasks):
        yield


def unexpected_ending(stack: RunningStack, spec: TrialSpec) -> Ending | None:
    """Return how the first process ended that had to run on; None: all run that should."""
    may = spec.exhaustible()
    for ending in stack.endings():
        if not (ending.out_of_memory and ending.name in may):
            return ending
    return None


def cause_of_failure(
    stack: RunningStack, spec: TrialSpec, events: list[StackEvent]
) -> TrialError | None:
    """Return the reason behind other errors, if it is that a process of the stack has ended.

    That a node ran out of memory is added to ``events``.
    """
    deadline = time.monotonic() + _ENDS_WITHIN_S
    while (ending := unexpected_ending(stack, spec)) is None:
        if time.monotonic() > deadline:
            return None
        time.sleep(_LOOK_EVERY_S)
    if ending.out_of_memory:
        events.append(_end_event(ending, time.monotonic_ns()))
    return ending.error


def _look_after(
    stack: RunningStack, one: Exhaustion, events: list[StackEvent], over: threading.Event
) -> None:
    node, heaps = stack.node(one.node), iter(one.heaps_mib)
    while True:
        is_over = over.wait(_LOOK_EVERY_S)
        ending = ending_of(node.process, node.heap_mib)
        if ending is not None and ending.out_of_memory:
            events.append(_end_event(ending, time.monotonic_ns()))
            stack.missed.add(one.node)
            heap_mib = next(heaps, None)
            if heap_mib is None or over.wait(one.rest_s):
                return
            events.append(_start(stack, one.node, heap_mib))
        elif is_over:
            return


def _start(stack: RunningStack, node: str, heap_mib: int) -> StackEvent:
    begin_ns = time.monotonic_ns()
    try:
        stack.start_again(node, heap_mib)
    except NodeEndedError as error:
        if error.ending is None or not error.ending.out_of_memory:
            raise
    return StackEvent(
        action=START,
        node=node,
        begin_ns=begin_ns,
        end_ns=time.monotonic_ns(),
        heap_mib=heap_mib,
    )


def _end_event(ending: Ending, at_ns: int) -> StackEvent:
    """Return the event that a node ran out of memory."""
    return StackEvent(
        action=OUT_OF_MEMORY,
        node=ending.name,
        begin_ns=at_ns,
        end_ns=at_ns,
        heap_mib=ending.heap_mib,
        detail=ending.out_of_memory,
    )
