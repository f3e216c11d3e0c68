"""A load that is stopped by hand: it ends in good order, and what was measured is kept."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType
from typing import Any

_STOPPED = "stopped by hand"


class StopByHand:
    """The first Ctrl-C while a load runs ends the load; a second one, or another time, is as ever.

    Nothing is heard unless ``keeps``: trials of chapters are measured again from their begin.
    """

    def __init__(self, *, keeps: bool = False) -> None:
        self.keeps = keeps
        self.asked = False
        """Whether somebody asked for the end of a load."""
        self._at_s: float | None = None

    @contextlib.contextmanager
    def heard(self) -> Iterator[None]:
        """Hear SIGINT and SIGTERM as a wish to end the load that runs within this context."""
        if not self.keeps or threading.current_thread() is not threading.main_thread():
            yield
            return
        before: dict[int, Any] = {}

        def hear(number: int, frame: FrameType | None) -> None:
            if self.asked:
                before[number](number, frame)
            self.asked = True

        try:
            for number in (signal.SIGINT, signal.SIGTERM):
                earlier = signal.getsignal(number)
                if callable(earlier):
                    before[number] = earlier
                    signal.signal(number, hear)
            yield
        finally:
            for known, earlier in before.items():
                signal.signal(known, earlier)

    def take(self, elapsed_s: float) -> bool:
        """Return whether the load is to be ended now, ``elapsed_s`` after its start; true once."""
        if not self.asked or self._at_s is not None:
            return False
        self._at_s = elapsed_s
        return True

    def told(self, planned_s: float) -> str:
        """Return why a trial of so many seconds is not whole; empty if it is."""
        if self._at_s is None:
            return ""
        return f"{_STOPPED} {self._at_s:.0f} s after its start, of {planned_s:g} s"
