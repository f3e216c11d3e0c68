"""What looks at a trial each second while its load runs."""

from __future__ import annotations

import socket
from collections.abc import Callable
from urllib.parse import urlsplit

from sizebook.lab.by_hand import StopByHand
from sizebook.lab.exhaustion import unexpected_ending
from sizebook.lab.recording import TrialRecord
from sizebook.lab.warm_up import Settling, await_settled
from sizebook.load.protocol import Tick
from sizebook.model.errors import LostError
from sizebook.model.trial import TrialSpec
from sizebook.stack import RunningStack

_TICKS = 2
"""Seconds in a row without one good answer, before a server is asked for."""


class GoneServers:
    """Finds out that a server is gone whose process is not ours to see, or hides behind another.

    Such is one that runs already, and one that a script started which is still there.
    """

    def __init__(self, stack: RunningStack, spec: TrialSpec) -> None:
        self._urls = stack.targets()
        self._may_go = bool(spec.disturbances)
        self._seen = (0, 0)
        self._without = 0

    def look(self, tick: Tick) -> None:
        """Take note of a second. Raises LostError once connections are refused.

        Only where requests fail and none succeeds: a server that answers is never disturbed.
        """
        requests, failed = tick.requests - self._seen[0], tick.failed - self._seen[1]
        self._seen = (tick.requests, tick.failed)
        self._without = self._without + 1 if 0 < requests == failed else 0
        if self._may_go or self._without < _TICKS:
            return
        for role, url in self._urls.items():
            if _refuses(url):
                raise LostError(
                    found=f"role {role}, which refuses connections since no more than "
                    f"{self._without + 1} s",
                    expected="a server that accepts them until the trial is over",
                    next_step="see its log; if it was killed, run again",
                )


def _refuses(url: str) -> bool:
    parts = urlsplit(url)
    try:
        with socket.create_connection((parts.hostname or "", parts.port or 80), timeout=1.0):
            return False
    except ConnectionRefusedError:
        return True
    except OSError:  # slow, or out of reach for a moment: not gone
        return False


def watch(
    stack: RunningStack,
    record: TrialRecord,
    settling: Settling | None,
    stop_trial: Callable[[], None],
    by_hand: StopByHand | None = None,
) -> Callable[[Tick], None]:
    """Return what looks at a trial each second.

    It raises TrialError as soon as a process of the stack has ended that had to run on, or nobody
    accepts connections where a server was. It ends a conditioning load that has settled as far as
    the trials that follow ask for, and any load that is stopped ``by_hand``: what was measured by
    then is kept.
    """
    gone = GoneServers(stack, record.spec)
    settled = None
    if settling is not None and record.sampler is not None:
        settled = await_settled(stack, record.sampler, settling)

    def look(tick: Tick) -> None:
        if (ending := unexpected_ending(stack, record.spec)) is not None:
            raise ending.error
        if by_hand is not None and by_hand.take(tick.elapsed_s):
            stop_trial()
        gone.look(tick)
        if settled is not None and settled(tick):
            record.facts["settled_s"] = tick.elapsed_s
            stop_trial()

    return look
