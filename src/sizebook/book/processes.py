"""Processes of this program's own that share its work: one a CPU, and none outlives it."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import connection, resource_tracker
from typing import TypeVar

from sizebook.model.errors import UserError

_Thing = TypeVar("_Thing")
_Told = TypeVar("_Told")

WORTH_BYTES = 32 * 2**20
"""Of files to read, which take this process as long as others take to start."""


def map_shared(
    ask: Callable[[_Thing], _Told],
    things: Sequence[_Thing],
    purpose: str,
    *,
    data_bytes: int,
    at_a_time: int = 1,
) -> Iterator[_Told]:
    """Yield what a function tells of each thing, in their order; all CPUs share the work.

    ``data_bytes`` are those that it reads of all of them: of little it is asked here, one after the
    other. Raises what the function raises, and as ``own_processes``.
    """
    if data_bytes < WORTH_BYTES:
        yield from map(ask, things)
        return
    with own_processes(purpose) as processes:
        # not map, which cancels what is due when it is left: Python 3.11 trips over that if the
        # processes are ended as well
        told = [
            processes.submit(_ask_each, ask, things[begin : begin + at_a_time])
            for begin in range(0, len(things), at_a_time)
        ]
        for some in told:
            yield from some.result()


def _ask_each(ask: Callable[[_Thing], _Told], things: Sequence[_Thing]) -> list[_Told]:
    return [ask(thing) for thing in things]


@contextlib.contextmanager
def own_processes(purpose: str) -> Iterator[ProcessPoolExecutor]:
    """Give one process for each CPU that this one may use; what they are asked must be picklable.

    They are started anew: what polars has begun in this process does not live on in a fork of it.
    Ctrl-C, and whatever else ends the block, ends them; Ctrl-C in a terminal reaches this process
    alone. Raises UserError, which names ``purpose``, if one of them is killed from outside.
    """
    before = {*multiprocessing.active_children()}
    fresh = multiprocessing.get_context("spawn")
    count = len(os.sched_getaffinity(0))
    pool = ProcessPoolExecutor(count, mp_context=fresh, initializer=_begin)
    try:
        with _interrupts_held_back():
            for _ in range(count):  # each question that finds nobody idle starts a process
                pool.submit(os.getpid)
        yield pool
    except BaseException as error:
        for process in {*multiprocessing.active_children()} - before:
            process.kill()
        if isinstance(error, BrokenProcessPool):
            raise _killed(purpose) from error
        raise
    finally:
        pool.shutdown()


@contextlib.contextmanager
def _interrupts_held_back() -> Iterator[None]:
    """Start processes that Ctrl-C does not reach, not even while they import."""
    resource_tracker.ensure_running()  # which would let them through again
    held = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, held)


def _begin() -> None:
    """Prepare a process: each is one of several, and ends with the one that started it."""
    # a bundle's tables are small: threads of one process would only wait for each other
    os.environ.setdefault("POLARS_MAX_THREADS", "1")
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when the one that started it is gone, however that ended."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        connection.wait([parent.sentinel])
        os._exit(1)


def _killed(purpose: str) -> UserError:
    return UserError(
        found=f"{purpose}: one of its processes was killed",
        expected="processes that run to their end",
        next_step="look for a lack of memory (dmesg, limits of the container), and run it again",
    )
