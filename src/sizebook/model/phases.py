"""How long a load lasts: the phases of a trial, and the turns that it may take with others."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from sizebook.model.records import Record

MOST_S = 1e8
"""Three years: no phase is longer, and its nanoseconds stay far from the end of 64 bits."""

Seconds = Annotated[float, Field(ge=0, le=MOST_S)]


class Turns(Record):
    """Turns in which the load goes to one treatment of a block after the other."""

    turn_s: Annotated[float, Field(gt=0, le=600)] = 2.0
    """Length of a turn: this long the load is this trial's alone."""
    settle_s: Annotated[float, Field(ge=0, le=600)] = 0.2
    """Its first part, which does not count: users come back, and what the turn before left
    unanswered ends."""

    @model_validator(mode="after")
    def _something_counts(self) -> Self:
        if self.settle_s >= self.turn_s:
            raise ValueError(
                f"a turn longer than its first part, {self.settle_s:g} s, not {self.turn_s:g} s"
            )
        return self

    @property
    def counted_s(self) -> float:
        """Seconds of a turn that count."""
        return self.turn_s - self.settle_s


class Phases(Record):
    """Lengths of a trial's phases in seconds. Samples of the measured phase alone make results.

    A request belongs to the phase in which it was *intended* to start. In the ramp the load climbs:
    users of a closed loop join one after the other, the rate of open arrivals rises linearly from
    0. ``drain_s`` is the longest wait for what is under way, or overdue, when the measured phase
    ends; nothing becomes due in it, and in its last second nothing more is sent.

    A trial that takes turns has lengths of its own time, which stands still while the load is
    another's: its measured phase is the parts of its turns that count, its warm-up whole turns.
    """

    ramp_s: Seconds = 0.0
    warmup_s: Seconds
    measured_s: Annotated[float, Field(gt=0, le=MOST_S)]
    drain_s: Seconds = 10.0
    turns: Annotated[Turns | None, Field(exclude_if=lambda turns: turns is None)] = None
    """Turns that it takes with others; None, and not in the JSON: the load is its own throughout.
    """

    @model_validator(mode="after")
    def _whole_turns(self) -> Self:
        if self.turns is None:
            return self
        if self.ramp_s:
            raise ValueError("no ramp in a load that takes turns: its users are there or not")
        for name, length_s, each_s in (
            ("warm-up", self.warmup_s, self.turns.turn_s),
            ("measured phase", self.measured_s, self.turns.counted_s),
        ):
            if abs(length_s / each_s - round(length_s / each_s)) > 1e-6:
                raise ValueError(
                    f"a {name} of whole turns, {each_s:g} s each, not of {length_s:g} s"
                )
        return self

    @property
    def rounds(self) -> int:
        """Turns that count; 0 for a load that takes none."""
        return round(self.measured_s / self.turns.counted_s) if self.turns is not None else 0

    @property
    def warm_turns(self) -> int:
        """Turns before them, which do not count."""
        return round(self.warmup_s / self.turns.turn_s) if self.turns is not None else 0

    @property
    def loaded_s(self) -> float:
        """Seconds of load from the first turn that counts on; without turns the measured phase."""
        return self.rounds * self.turns.turn_s if self.turns is not None else self.measured_s

    @property
    def planned_s(self) -> float:
        """Seconds of load from the first request to the end of the measured phase."""
        return self.ramp_s + self.warmup_s + self.loaded_s
