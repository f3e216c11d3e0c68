"""Trials that one process carries out together, because they take turns; or a single one."""

from __future__ import annotations

import contextlib
import gc
from collections.abc import Callable, Collection, Iterator, Sequence

import gevent

from sizebook.load.protocol import Done
from sizebook.load.trialrun import TrialRun
from sizebook.load.vitals import OnSecond


@contextlib.contextmanager
def undisturbed_by_gc(runs: Collection[TrialRun]) -> Iterator[None]:
    """Have Python's garbage collector leave the event loop alone while these trials run.

    A collection of the oldest generation walks over every user and connection and stops the event
    loop for milliseconds. What is alive now is set aside; for clients that make reference cycles
    young objects are still collected.
    """
    gc.freeze()
    if all(run.leaves_no_cycles for run in runs):
        gc.disable()
    try:
        yield
    finally:
        gc.enable()
        gc.unfreeze()


def run_together(
    runs: Sequence[TrialRun], start_ns: int, on_second: Callable[[int], OnSecond]
) -> list[Done]:
    """Carry out trials that take turns, or the only one, and return the facts of each.

    ``on_second`` gives for each of them what is called once a second. Several start at the very
    time that was told. The first error ends the others and is raised.
    """
    with undisturbed_by_gc(runs):
        if len(runs) == 1:
            return [runs[0].run(start_ns, on_second(0))]
        going = [
            gevent.spawn(run.run, start_ns, on_second(at), keep=True) for at, run in enumerate(runs)
        ]
        try:
            for ended in gevent.iwait(going):
                ended.get()
        except BaseException:
            for run in runs:
                run.stop()
            gevent.killall(going)
            raise
        return [each.value for each in going]
