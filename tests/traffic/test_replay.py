"""Arrivals of a recording: as they came, faster, or as rates that were fitted to them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from sizebook.load.schedule import arrival_offsets, leading
from sizebook.model.errors import UsageError
from sizebook.model.load import (
    ClosedLoop,
    LoadProfile,
    Phases,
    ReplayedArrivals,
    StaircaseArrivals,
    Turns,
)
from sizebook.traffic.replay import RecordedArrivals

TIMES_S = np.array([0.0, 0.5, 1.0, 1.1, 1.2, 1.3, 4.0])
PHASES = Phases(ramp_s=1.0, warmup_s=2.0, measured_s=2.0)


def test_times_are_replayed_from_the_begin_of_the_measured_phase():
    """Before it arrivals are even at the mean rate; the ramp climbs to it."""
    arrivals = ReplayedArrivals(times_us=(0, 250_000, 1_999_999), over_s=2.0, users=2)
    offsets = arrival_offsets(arrivals, PHASES, seed=1)
    before = leading(offsets, PHASES)
    assert offsets[before:].tolist() == [3_000_000_000, 3_250_000_000, 4_999_999_000]
    assert before == 4  # a mean of 1.5 a second: 0.75 in the ramp, 3 in the warm-up
    assert arrivals.intensity(PHASES).expected(3.0, 5.0) == pytest.approx(3)


@given(
    st.lists(st.integers(0, 9_999_999), min_size=1, max_size=400),
    st.floats(0.1, 20.0),
    st.floats(0.01, 3.0),
)
def test_the_intensity_counts_what_is_replayed(times_us, measured_s, ramp_s):
    """Over the measured phase its integral is the number of times that fall into it."""
    arrivals = ReplayedArrivals(times_us=tuple(sorted(times_us)), over_s=10.0)
    phases = Phases(ramp_s=ramp_s, warmup_s=0.5, measured_s=measured_s)
    offsets = arrival_offsets(arrivals, phases, seed=1)
    begin_s = ramp_s + 0.5
    expected = arrivals.intensity(phases).expected(begin_s, begin_s + measured_s)
    assert expected == pytest.approx(offsets.size - leading(offsets, phases), abs=1e-6)
    assert (np.diff(offsets) >= 0).all()


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"times_us": (2, 1)}, "ascending order"),
        ({"times_us": (0, 1_000_000)}, "before the end"),
        ({"times_us": ()}, "at least 1"),
        ({"times_us": (-1,)}, "greater than or equal to 0"),
    ],
)
def test_times_that_cannot_be_replayed_are_refused(changes, said):
    with pytest.raises(ValidationError, match=said):
        ReplayedArrivals(**{"times_us": (0,), "over_s": 1.0, **changes})


def test_a_replay_takes_no_turns():
    """Each turn is compared with others', and these arrivals are not alike in them."""
    with pytest.raises(ValidationError, match="one rate throughout"):
        LoadProfile(
            locustfile="x.py",
            arrivals=ReplayedArrivals(times_us=(0,), over_s=1.0),
            phases=Phases(warmup_s=2.0, measured_s=1.8, turns=Turns()),
        )


def test_a_record_holds_what_was_replayed():
    """The profile goes through its JSON, and is told from others by its kind."""
    load = LoadProfile(
        locustfile="x.py",
        arrivals=ReplayedArrivals(times_us=(0, 5), over_s=1.0, first=3),
        phases=PHASES,
    )
    assert LoadProfile.model_validate_json(load.model_dump_json()) == load
    assert not isinstance(load.arrivals, ClosedLoop)


def test_the_busiest_stretch_is_replayed():
    """As fast as it came, or faster; the locustfile is told which arrival is the first."""
    recorded = RecordedArrivals(TIMES_S)
    assert recorded.busiest_s(0.5) == 1.0
    arrivals = recorded.replayed(0.5)
    assert (arrivals.first, arrivals.times_us) == (2, (0, 100_000, 200_000, 300_000))
    faster = recorded.replayed(0.25, speed=2.0)
    assert faster.times_us == (0, 50_000, 100_000, 150_000)


def test_what_is_longer_than_the_recording_goes_on_with_its_beginning():
    """Then the first arrival comes a mean gap after the last."""
    recorded = RecordedArrivals(np.array([0.0, 1.0, 2.0]))
    assert (recorded.length_s, recorded.rate_per_s) == (3.0, 1.0)
    arrivals = recorded.replayed(7.0, begin_s=1.0)
    assert [at / 1e6 for at in arrivals.times_us] == [0, 1, 2, 3, 4, 5, 6]
    assert arrivals.first == 1


def test_rates_are_fitted_in_steps():
    """As many arrivals are expected as came; few of them are one step."""
    times_s = np.sort(np.concatenate([np.linspace(0, 5, 40), np.linspace(5, 9.99, 160)]))
    fitted = RecordedArrivals(times_s).fitted(10.0, begin_s=0.0)
    assert isinstance(fitted, StaircaseArrivals) and fitted.poisson
    rates = [step.rate_per_s for step in fitted.steps]
    assert len(rates) == 10 and rates[0] == pytest.approx(8, abs=1) and rates[-1] > 25
    assert sum(step.rate_per_s * step.length_s for step in fitted.steps) == pytest.approx(200)
    assert len(RecordedArrivals(TIMES_S).fitted(4.0).steps) == 1


@pytest.mark.parametrize(
    ("over_s", "speed", "said"),
    [
        (0.0, 1.0, "0 s at 1 times"),
        (1.0, -1.0, "at -1 times"),
        (1e6, 1.0, "arrivals to be replayed"),
        (1.0, 1e9, "arrivals to be replayed"),
    ],
)
def test_what_cannot_be_replayed_is_refused(over_s, speed, said):
    with pytest.raises(UsageError, match=said):
        RecordedArrivals(TIMES_S).replayed(over_s, speed)


@pytest.mark.parametrize("text", ["", "at_s,request\n", "at_s\nsoon\n", "when\n1\n", "at_s\nnan\n"])
def test_a_file_without_times_is_refused(tmp_path, text):
    (tmp_path / "arrivals.csv").write_text(text)
    with pytest.raises(UsageError, match=r"arrivals\.csv"):
        RecordedArrivals.read(tmp_path / "arrivals.csv")
