"""Progress with time left: in a file for a runner, else in the notebook, else in the terminal."""

from __future__ import annotations

import html
import json
import math
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sizebook.lab.live_file import tell_watchers
from sizebook.model.plain_text import show_plainly

FAILED = "failed: "
"""How the label of a step begins that tells why trials failed."""
PROGRESS_FILE = "SIZEBOOK_PROGRESS"
"""Environment variable: a file to which each step is appended as one JSON line."""


@dataclass(frozen=True)
class Pace:
    """Wall time of a run, and the part of it in which a load ran."""

    wall_s: float
    phases_s: float

    @property
    def ratio(self) -> float:
        """Wall time over phases; NaN if no load ran."""
        return self.wall_s / self.phases_s if self.phases_s else math.nan

    @property
    def words(self) -> str:
        """Both in one line."""
        text = _duration(self.wall_s)
        if self.phases_s:
            text += f", of which {_duration(self.phases_s)} of load (x {self.ratio:.2f})"
        return text


class Progress:
    """Counts trials and tells how much time is left, by the planned seconds still to run."""

    def __init__(
        self,
        chapter: str,
        trials: int,
        planned_s: float,
        clock: Callable[[], float] = time.monotonic,
        display: Callable[[str, int, int], None] | None = None,
    ) -> None:
        """Begin to count; ``display`` shows a line with the trials done, and those in all."""
        self._chapter = chapter
        self._trials = trials
        self._planned_s = planned_s
        self._spent_plan_s = 0.0
        self._phases_s = 0.0
        self._done = 0
        self._clock = clock
        self._began = clock()
        self._display = display or _notebook_display()

    @property
    def left_s(self) -> float:
        """Seconds still to go: planned seconds, stretched by how the run has gone so far."""
        remaining = max(0.0, self._planned_s - self._spent_plan_s)
        if self._spent_plan_s < 1.0:
            return remaining
        stretch = (self._clock() - self._began) / self._spent_plan_s
        return remaining * stretch

    def step(self, label: str, planned_s: float = 0.0, done: int = 0) -> None:
        """Say what happens now; ``planned_s`` and ``done`` count what was finished before it."""
        self._spent_plan_s += planned_s
        self._done += done
        text = f"{self._chapter}: {self._done}/{self._trials} trials, "
        text += f"{_duration(self.left_s)} left; {label}"
        self._tell(text, label)

    def add_phases(self, seconds: float) -> None:
        """Count seconds of phases: what the design prescribes, without any set-up."""
        self._phases_s += seconds

    @property
    def pace(self) -> Pace:
        """How much of the time since the beginning went into loads."""
        return Pace(self._clock() - self._began, self._phases_s)

    def finish(self) -> Pace:
        """Say that all is done, how long it took, and how much of that was load."""
        pace = self.pace
        self._done = self._trials
        self._spent_plan_s = self._planned_s
        self._tell(f"{self._chapter}: {self._trials} trials in {pace.words}", pace.words)
        return pace

    def _tell(self, text: str, label: str) -> None:
        tell_watchers(
            "step",
            chapter=self._chapter,
            done=self._done,
            total=self._trials,
            left_s=round(self.left_s, 1),
            label=label,
        )
        path = os.environ.get(PROGRESS_FILE)
        if path:  # not in the notebook: the same trials give the same page, measured or replayed
            line = {"t": time.time(), "chapter": self._chapter, "done": self._done}
            line |= {"total": self._trials, "label": label, "left_s": round(self.left_s, 1)}
            with Path(path).open("a") as sink:
                sink.write(json.dumps(line) + "\n")
        elif self._display is not None:
            self._display(text, self._done, self._trials)
        else:
            print(show_plainly(text), file=sys.stderr, flush=True)


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes else f"{rest} s"


def _notebook_display() -> Callable[[str, int, int], None] | None:
    """Return a function that updates one output of the running cell, or None outside a kernel."""
    if "ipykernel" not in sys.modules:
        return None
    # Imported here, since it costs 0.2 s where it is not needed.
    from IPython.core.getipython import get_ipython  # noqa: PLC0415
    from IPython.display import display  # noqa: PLC0415

    if getattr(get_ipython(), "kernel", None) is None:
        return None

    handle: Any = None

    def show(text: str, done: int, total: int) -> None:
        nonlocal handle
        bar = f'<progress max="{max(total, 1)}" value="{done}"></progress>'
        data = {"text/plain": text, "text/html": f"<label>{html.escape(text)} {bar}</label>"}
        if handle is None:
            handle = display(data, raw=True, display_id=True)
        else:
            handle.update(data, raw=True)

    return show
