"""What looks at a trial each second while its load runs."""

from __future__ import annotations

from collections.abc import Callable

from sizebook.lab.recording import TrialRecord
from sizebook.lab.settling import Settling, await_settled
from sizebook.lab.supervising import unexpected_ending
from sizebook.load.protocol import Tick
from sizebook.stack import RunningStack


def watch(
    stack: RunningStack,
    record: TrialRecord,
    settling: Settling | None,
    stop_trial: Callable[[], None],
) -> Callable[[Tick], None]:
    """Return what looks at a trial each second.

    It raises TrialError as soon as a process of the stack has ended that had to run on, and ends a
    conditioning load that has settled as far as the trials that follow ask for.
    """
    settled = None
    if settling is not None and record.sampler is not None:
        settled = await_settled(stack, record.sampler, settling)

    def look(tick: Tick) -> None:
        if (ending := unexpected_ending(stack, record.spec)) is not None:
            raise ending.error
        if settled is not None and settled(tick):
            record.facts["settled_s"] = tick.elapsed_s
            stop_trial()

    return look
