"""What a bundle of a trial that took turns says twice: its turns, its phases, its own vitals."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sizebook.book.audit.rule import Wrong
from sizebook.load.vitals import TICK_NS
from sizebook.model.bundle import BundleRecord, GeneratorFacts
from sizebook.model.load import Turns
from sizebook.store import Bundle
from sizebook.store.trial_clock import TrialClock

TIMES, FACTS = "AU113-times", "AU114-facts"
_SLACK = 0.1
"""Of the generator's CPU time: a row's share holds for its own length, which is a little longer
than the turn's."""
_SLACK_S = 0.1
_Offsets = NDArray[np.int64]
_Values = NDArray[np.float64]


def wrong_turns(record: BundleRecord) -> Iterator[Wrong]:
    """Yield what is wrong with the turns of a trial: their number, lengths, order, the phases."""
    planned, turns = record.trial.load.phases, record.execution.turns
    assert planned.turns is not None
    if len(turns) != planned.rounds:
        yield TIMES, "turns", str(len(turns)), str(planned.rounds)
    due = (round(planned.turns.settle_s * 1e9), round(planned.turns.turn_s * 1e9))
    for number, turn in enumerate(turns, 1):
        found = (turn.from_ns - turn.begin_ns, turn.end_ns - turn.begin_ns)
        if found != due:
            yield TIMES, f"first part and length of turn {number}", f"{found} ns", f"{due} ns"
    for number, (one, other) in enumerate(pairwise(turns), 2):
        if other.begin_ns < one.end_ns:
            least = f"{one.end_ns} ns or later"
            yield TIMES, f"begin of turn {number}", f"{other.begin_ns} ns", least
    measured = record.execution.phase("measured")
    if turns and measured and TrialClock(turns).measured_ns != measured.begin_ns:
        told = f"{TrialClock(turns).measured_ns} ns, by its turns"
        yield TIMES, "begin of the measured phase", f"{measured.begin_ns} ns", told


def turn_vitals(bundle: Bundle, facts: GeneratorFacts) -> Iterator[Wrong]:
    """Yield lag and CPU time that the generator's rows of the turns contradict."""
    record = bundle.record
    planned, turns = record.trial.load.phases.turns, record.execution.turns
    measured = record.execution.phase("measured")
    if planned is None or measured is None or not turns or record.trial.load.workers != 1:
        return
    series = {one.metric: one for one in bundle.readings if one.source == "generator"}
    largest, cpu = series.get("lag_max_ms"), series.get("cpu_share")
    if largest is None or cpu is None:
        return
    parts = _Parts.of(planned, len(turns))
    found = parts.of_turns(largest.values).max(initial=0.0)
    if not np.isclose(found, facts.lag_max_ms, rtol=1e-9, atol=1e-9):
        yield FACTS, "largest lag", f"{facts.lag_max_ms} ms", f"{found} ms"
    used_s = parts.used_s(cpu.values, planned)
    if abs(used_s - facts.cpu_s) > _SLACK * used_s + _SLACK_S:
        yield FACTS, "CPU seconds", f"{facts.cpu_s} s", f"about {used_s:.3f} s"


class _Parts(NamedTuple):
    """The generator's rows, one for each part of a turn in which a tick was due.

    Those of the turns that counted are the last ones: first what did not count of them, then what
    did. When a row was noted tells nothing: after a stall it is the next turn's time already.
    """

    turns: int
    settling: int
    """Rows a turn of its first part: none where that is shorter than a tick."""

    @classmethod
    def of(cls, planned: Turns, turns: int) -> _Parts:
        return cls(turns, int(round(planned.settle_s * 1e9) >= TICK_NS))

    def of_turns(self, values: _Values) -> _Values:
        return values[-self.turns * (1 + self.settling) :]

    def used_s(self, shares: _Values, planned: Turns) -> float:
        """Return the CPU seconds of all rows; in the warm-up both kinds come in turn."""
        counted = shares[-self.turns :]
        warm = shares[: -self.turns * (1 + self.settling)]
        if not self.settling:
            return float((warm.sum() + counted.sum()) * planned.counted_s)
        settling = warm[0::2].sum() + shares[-2 * self.turns : -self.turns].sum()
        counting = warm[1::2].sum() + counted.sum()
        return float(settling * planned.settle_s + counting * planned.counted_s)


def known_offsets(
    found: _Offsets, planned: _Offsets, record: BundleRecord
) -> tuple[_Offsets, _Offsets]:
    """Return a schedule as it was found and as it follows from the turns that counted.

    What falls due in turns of the warm-up is left out of both: their times are not recorded.
    """
    phases, turns = record.trial.load.phases, record.execution.turns
    assert phases.turns is not None
    begin_ns = record.execution.phases[0].begin_ns
    length_ns = round(phases.turns.turn_s * 1e9)
    turn, rest = np.divmod(planned, length_ns)
    at = turn - phases.warm_turns
    counts = (at >= 0) & (at < len(turns))
    begins = np.array([one.begin_ns for one in turns], dtype=np.int64)
    own = TrialClock(turns).own(begins[at[counts]] + rest[counts]) - begin_ns
    return found[found >= turns[0].begin_ns - begin_ns], np.sort(own)
