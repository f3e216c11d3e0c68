"""Nodes that may run out of memory are seen, written down and started again; others are not."""

import threading
import time
from types import SimpleNamespace

import pytest
from tests.waiting import wait_until

from sizebook.lab.exhaustion import supervised, unexpected_ending
from sizebook.model.errors import TrialError
from sizebook.model.trial import Exhaustion
from sizebook.stack.endings import NodeEndedError, ending_of

OOM = "java.lang.OutOfMemoryError: Java heap space"


class Process:
    """A process that has ended or not."""

    def __init__(self, exit_code=None, *said, name="app-1"):
        self.name = name
        self.exit_code = exit_code
        self.said = said

    def log_tail(self, lines=20):
        return "\n".join(self.said[-lines:])


def out_of_memory():
    return Process(3, "ready", f"Terminating due to {OOM}")


class Stack:
    """One node whose starts end as given, and what was done to it."""

    def __init__(self, *starts, heap_mib=384):
        self.one = SimpleNamespace(name="app-1", process=Process(), heap_mib=heap_mib)
        self.starts = list(starts)
        self.started = []
        self.missed = set()

    def node(self, _):
        return self.one

    def endings(self):
        found = ending_of(self.one.process, self.one.heap_mib)
        return () if found is None or "app-1" in self.missed else (found,)

    def start_again(self, name, heap_mib):
        self.missed.discard(name)
        self.started.append(heap_mib)
        self.one.heap_mib, self.one.process = heap_mib, self.starts.pop(0)
        if (ending := ending_of(self.one.process, heap_mib)) is not None:
            raise NodeEndedError.of(ending)
        return 0.1


def spec(*heaps_mib, rest_s=0.0):
    one = Exhaustion(node="app-1", heaps_mib=heaps_mib, rest_s=rest_s)
    return SimpleNamespace(exhaustible=lambda: {"app-1": one})


def until(condition):
    assert wait_until(condition)


def told(events):
    return [(event.action, event.node, event.heap_mib) for event in events]


def test_each_end_is_followed_by_a_start_with_the_next_heap():
    """A start that ends the same way is an event of its own, and the next heap is taken."""
    stack, events = Stack(out_of_memory(), Process()), []
    with supervised(stack, spec(384, 1024), events):
        stack.one.process = out_of_memory()
        until(lambda: len(events) == 4)
        assert unexpected_ending(stack, spec()) is None
    assert told(events) == [
        ("out-of-memory", "app-1", 384),
        ("start", "app-1", 384),
        ("out-of-memory", "app-1", 384),
        ("start", "app-1", 1024),
    ]
    assert [event.detail for event in events] == [OOM, "", OOM, ""]
    assert (stack.started, stack.missed) == ([384, 1024], set())
    times = [time_ns for event in events for time_ns in (event.begin_ns, event.end_ns)]
    assert times == sorted(times)


def test_without_another_heap_it_stays_away():
    """Its end is no surprise to anybody, and the node is missed."""
    stack, events = Stack(), []
    with supervised(stack, spec(), events):
        stack.one.process = out_of_memory()
        until(lambda: events)
        until(lambda: "app-1" in stack.missed)
    assert told(events) == [("out-of-memory", "app-1", 384)]
    assert (stack.started, stack.endings()) == ([], ())


def test_an_end_in_the_last_moment_is_seen():
    """Between the last look and the end of the load a node may end, too; it is not started."""
    stack, events = Stack(), []
    with supervised(stack, spec(1024, rest_s=60.0), events):
        stack.one.process = out_of_memory()
    assert told(events) == [("out-of-memory", "app-1", 384)]
    assert stack.started == []


def test_a_node_that_holds_out_leaves_no_event():
    """Nothing happened, and no thread is left."""
    stack, events = Stack(), []
    with supervised(stack, spec(1024), events):
        time.sleep(0.05)
    assert (events, unexpected_ending(stack, spec(1024))) == ([], None)
    assert not [t for t in threading.enumerate() if t.name.startswith("sizebook-supervisor")]


def test_another_end_than_for_lack_of_memory_is_unexpected():
    """Exit code 3 alone says nothing, nor does the line alone; the supervisor starts nothing."""
    for process in (Process(3, "ready"), Process(-9, f"Terminating due to {OOM}"), Process(1)):
        stack, events = Stack(), []
        with supervised(stack, spec(1024), events):
            stack.one.process = process
            time.sleep(0.05)
        assert (events, stack.started) == ([], [])
        assert unexpected_ending(stack, spec(1024)).exit_code == process.exit_code


def test_a_start_that_fails_otherwise_fails_the_trial():
    """The reason is the node's, raised where the trial is run."""
    stack, events = Stack(Process(1, "port in use")), []
    failing = pytest.raises(TrialError, match=r"app-1 ended with 1: port in use \(before it was")
    with failing, supervised(stack, spec(1024), events):
        stack.one.process = out_of_memory()
        until(lambda: stack.started)


def test_an_unexpected_end_says_node_heap_reason_and_next_step():
    """What is stored as the failure of the trial."""
    stack = Stack()
    stack.one.process = out_of_memory()
    error = str(unexpected_ending(stack, SimpleNamespace(exhaustible=dict)).error)
    assert f"app-1 ran out of memory with a heap of 384 MiB: {OOM}" in error
    assert "give app-1 a larger heap or less load" in error
    assert "Exhaustion(node='app-1')" in error


def test_a_process_without_a_heap_does_not_run_out_of_it():
    """A database that prints the same line has another reason."""
    ending = ending_of(Process(3, f"Terminating due to {OOM}", name="database-1"))
    assert (ending.out_of_memory, ending.last_words) == ("", f"Terminating due to {OOM}")
