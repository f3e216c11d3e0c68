"""The generator's own rows of a trial that took turns, against what its record says of them."""

from types import SimpleNamespace

import numpy as np
import pytest

from sizebook.book.audit.turns import turn_vitals
from sizebook.model.bundle import TurnMark
from sizebook.model.load import Phases, Turns
from sizebook.store.readings import TimeSeries

SECOND = 1_000_000_000
WARM_LAG, LAG = 9.0, 3.0


def bundle_of(settle_s, told_late_ns, lag_ms, cpu_s, turns=3, warm_turns=2):
    """Return a trial of so many turns of 2 s, its rows told so late, and what its record says.

    A turn of the warm-up is followed at once by the next, as happens to who was last in one round
    and is first in the next.
    """
    planned = Turns(turn_s=2.0, settle_s=settle_s)
    marks = [
        TurnMark(begin_ns=at, from_ns=at + round(settle_s * SECOND), end_ns=at + 2 * SECOND)
        for at in range(0, (warm_turns + turns) * 2 * SECOND, 2 * SECOND)
    ]
    ticks = settle_s >= 0.01
    parts = [[mark.from_ns, mark.end_ns] if ticks else [mark.end_ns] for mark in marks]
    warm, counted = parts[:warm_turns], list(zip(*parts[warm_turns:], strict=True))
    times = np.concatenate([np.ravel(warm), np.ravel(counted)]) + told_late_ns
    a_turn = len(parts[0])
    lags = np.array([WARM_LAG] * (warm_turns * a_turn) + [LAG] * (turns * a_turn))
    load = SimpleNamespace(
        phases=Phases(
            warmup_s=2.0 * warm_turns, measured_s=turns * planned.counted_s, turns=planned
        ),
        workers=1,
    )
    begin_ns, end_ns = marks[warm_turns].from_ns, marks[-1].end_ns
    measured = SimpleNamespace(begin_ns=begin_ns, end_ns=end_ns)
    execution = SimpleNamespace(turns=tuple(marks[warm_turns:]), phase=lambda name: measured)
    shares = np.full(times.size, 0.5)
    readings = [
        TimeSeries("local", "generator", "lag_max_ms", times, lags),
        TimeSeries("local", "generator", "cpu_share", times, shares),
    ]
    record = SimpleNamespace(trial=SimpleNamespace(load=load), execution=execution)
    return (
        SimpleNamespace(record=record, readings=readings),
        SimpleNamespace(lag_max_ms=lag_ms, cpu_s=cpu_s),
    )


@pytest.mark.parametrize("told_late_ns", [1, 6_000_000, 700_000_000])
@pytest.mark.parametrize(("settle_s", "cpu_s"), [(0.0, 5.0), (0.005, 4.99), (0.2, 5.0)])
def test_a_row_told_late_belongs_to_its_own_turn(settle_s, cpu_s, told_late_ns):
    """After a stall the warm-up's last row is noted when the first turn that counts has begun."""
    assert list(turn_vitals(*bundle_of(settle_s, told_late_ns, LAG, cpu_s))) == []


@pytest.mark.parametrize("lag_ms", [LAG - 1, LAG + 1, WARM_LAG])
def test_another_lag_is_found(lag_ms):
    """Smaller, larger, or that of the warm-up."""
    (wrong,) = turn_vitals(*bundle_of(0.2, 1, lag_ms, 5.0))
    assert wrong[1:] == ("largest lag", f"{lag_ms} ms", f"{LAG} ms")


@pytest.mark.parametrize("cpu_s", [4.0, 6.0])
def test_other_cpu_seconds_are_found(cpu_s):
    """Beyond what the length of a row leaves open."""
    (wrong,) = turn_vitals(*bundle_of(0.2, 1, LAG, cpu_s))
    assert wrong[1] == "CPU seconds"
