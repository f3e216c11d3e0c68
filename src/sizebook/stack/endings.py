"""How a process of the stack ended by itself: what a user, and a trial's record, are told of it."""

from __future__ import annotations

import re
import signal
from dataclasses import dataclass

from sizebook.hosts import HostProcess
from sizebook.model.errors import LostError, TrialError

LAST_RESORT = "-XX:+ExitOnOutOfMemoryError"
"""Ends a JVM at the first allocation that cannot be satisfied. A thread that lost its work to such
an error leaves a node that answers, and does half of what it is there for."""
_EXIT_CODE = 3
_SAID = re.compile(r"^Terminating due to (java\.lang\.OutOfMemoryError.*)$")
"""``os::exit(3)`` after this line: ``report_java_out_of_memory`` in HotSpot's ``debug.cpp``."""
_LINES = 50
_KILLED_INSIDE = (128 + signal.SIGKILL, 128 + signal.SIGTERM)


@dataclass(frozen=True)
class Ending:
    """A process that has ended, unasked."""

    name: str
    exit_code: int
    last_words: str
    """The last lines that it printed."""
    out_of_memory: str = ""
    """What the JVM said if it ended for lack of memory; empty if it ended for another reason."""
    heap_mib: int | None = None
    """Heap of a JVM; None for other processes."""

    @property
    def is_killed(self) -> bool:
        """Whether a signal that it did not handle ended it; a shell adds 128 to its number."""
        return self.exit_code < 0 or self.exit_code in _KILLED_INSIDE

    @property
    def error(self) -> TrialError:
        """What is raised where nobody expected this end; a LostError where it was killed."""
        if not self.out_of_memory:
            kind = LostError if self.is_killed else TrialError
            return kind(
                found=f"{self.name} ended with {self.exit_code}: {self.last_words}",
                expected="a stack that runs until the trial is over",
                next_step="see logs/ in the trial's bundle",
            )
        return TrialError(
            found=f"{self.name} ran out of memory with a heap of {self.heap_mib} MiB: "
            f"{self.out_of_memory}",
            expected="a heap that holds what the load needs",
            next_step=f"give {self.name} a larger heap or less load; if the treatment is meant to "
            f"end so, add Exhaustion(node={self.name!r}) to its disturbances",
        )


class NodeEndedError(TrialError):
    """A node ended before it was ready."""

    ending: Ending | None = None

    @classmethod
    def of(cls, ending: Ending) -> NodeEndedError:
        """Return the error that tells how it ended."""
        why = ending.error
        kind = NodeKilledError if ending.is_killed else cls
        by_hand = "try the same deployment by hand with 'sizebook stack up'"
        error = kind(
            found=f"{why.found} (before it was ready)",
            expected=why.expected if ending.out_of_memory else "a node that becomes ready",
            next_step=why.next_step if ending.out_of_memory else by_hand,
        )
        error.ending = ending
        return error


class NodeKilledError(NodeEndedError, LostError):
    """A node was killed before it was ready."""


def ending_of(process: HostProcess, heap_mib: int | None = None) -> Ending | None:
    """Return how a process ended; None while it runs."""
    if (code := process.exit_code) is None:
        return None
    lines = process.log_tail(_LINES).splitlines()
    said = [found[1] for line in lines if (found := _SAID.match(line))]
    exhausted = code == _EXIT_CODE and heap_mib is not None and bool(said)
    return Ending(
        name=process.name,
        exit_code=code,
        last_words="\n".join(lines[-3:]),
        out_of_memory=said[-1] if exhausted else "",
        heap_mib=heap_mib,
    )
