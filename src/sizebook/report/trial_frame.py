"""The time axis that all charts of one trial share: from its first phase to its last."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sizebook.model.bundle import PhaseMark
from sizebook.store import Bundle


@dataclass(frozen=True)
class Span:
    """From the first phase's begin to the last one's end, CLOCK_MONOTONIC ns."""

    begin_ns: int
    end_ns: int

    @property
    def length_s(self) -> float:
        """Length in seconds."""
        return (self.end_ns - self.begin_ns) / 1e9

    def seconds(self, time_ns: int) -> float:
        """Return a time as seconds since the span's begin."""
        return (time_ns - self.begin_ns) / 1e9


@dataclass(frozen=True)
class Frame:
    """What all charts over time of one trial share: the axis, the phases, the crop."""

    begin_s: float
    end_s: float
    phases: Sequence[tuple[str, float, float]]
    crop_s: float | None
    """Where results begin to count; None where it is not known."""


def find_span(bundle: Bundle) -> Span | None:
    """Return the time from the first phase to the last, None for a trial that had no phase."""
    phases = bundle.record.execution.phases
    if not phases:
        return None
    span = Span(min(p.begin_ns for p in phases), max(p.end_ns for p in phases))
    return span if span.end_ns > span.begin_ns else None


def make_frame(
    span: Span, phases: Sequence[PhaseMark], crop_ns: int | None, times_s: Iterable[float] = ()
) -> Frame:
    """Return the frame of a trial; readings a little before or after the phases widen it."""
    length = span.length_s
    near = [t for t in times_s if -0.05 * length - 0.5 <= t <= 1.05 * length + 0.5]
    marks = [(p.name, span.seconds(p.begin_ns), span.seconds(p.end_ns)) for p in phases]
    crop = None if crop_ns is None else span.seconds(crop_ns)
    return Frame(min(0.0, *near, 0.0), max(length, *near, length), marks, crop)
