"""A budget as one types it, and what is left of it."""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from dataclasses import dataclass

from sizebook.model.errors import UsageError

UNLIMITED = "none"
_GIVEN = re.compile(r"(\d+(?:\.\d+)?)\s*(m|min|h)?")
PAGE_S = 45.0
"""What the page of a chapter takes; two are made at a time."""
_SITE_S = 90.0


def parse_budget(text: str) -> float:
    """Return a budget in seconds: ``60`` and ``90m`` are minutes, ``8h`` hours, ``none`` no limit.

    Raises UsageError for anything else, and for no time at all.
    """
    if text == UNLIMITED:
        return math.inf
    found = _GIVEN.fullmatch(text.strip())
    seconds = float(found[1]) * (3600 if found[2] == "h" else 60) if found else 0.0
    if not seconds:
        raise UsageError(
            found=f"budget {text!r}",
            expected=f"minutes such as 60, hours such as 8h, or {UNLIMITED}",
            next_step="choose one, for example BUDGET=60",
        )
    return seconds


@dataclass(frozen=True)
class Deadline:
    """When a book must be ready. Times are those of ``clock``, in seconds."""

    end_s: float
    clock: Callable[[], float] = time.monotonic

    @property
    def left_s(self) -> float:
        """Seconds until the end; below zero after it."""
        return self.end_s - self.clock()

    @property
    def words(self) -> str:
        """How much time is left, as it is told."""
        return "no limit" if math.isinf(self.end_s) else f"{self.left_s / 60:.0f} min left"

    def measuring_s(self, pages: int) -> float:
        """Return the seconds that are left for measuring if so many pages are made after it."""
        return self.left_s - _SITE_S - PAGE_S * math.ceil(pages / 2)
