"""What open arrivals of every kind state: a rate over time, its integral, and what is refused."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from sizebook.model.load import (
    ClosedLoop,
    LoadProfile,
    OpenArrivals,
    PacedGroup,
    PacedUsers,
    Phases,
    RampArrivals,
    StaircaseArrivals,
    Step,
)

STEPS = (Step(rate_per_s=100, length_s=10), Step(rate_per_s=300, length_s=5))
STAIRCASE = StaircaseArrivals(steps=STEPS)
RAMP = RampArrivals(begin_per_s=50, end_per_s=150, over_s=10, poisson=True)
CONSTANT = OpenArrivals(kind="constant", rate_per_s=200)
PACED = PacedUsers(
    groups=(
        PacedGroup(users=250, period_s=10, name="clerks"),
        PacedGroup(users=250, period_s=30, name="clerks"),
        PacedGroup(users=1, period_s=5, name="background"),
    )
)
PHASES = Phases(ramp_s=4, warmup_s=6, measured_s=20)


def profile(arrivals, **more) -> LoadProfile:
    return LoadProfile(locustfile="x.py", arrivals=arrivals, phases=PHASES, **more)


@pytest.mark.parametrize(
    ("arrivals", "ramp", "warmup", "measured"),
    [
        (CONSTANT, 400, 1200, 4000),
        (STAIRCASE, 200, 600, 1000 + 1500 + 5 * 300),
        (RAMP, 100, 300, 1000 + 10 * 150),
    ],
    ids=["constant", "staircase", "ramp"],
)
def test_expected_arrivals_by_phase(arrivals, ramp, warmup, measured):
    """Half the first rate in the ramp phase, the first rate in the warm-up, then what is stated."""
    intensity = arrivals.intensity(PHASES)
    assert intensity.end_s == 30
    assert intensity.expected(0, 4) == pytest.approx(ramp)
    assert intensity.expected(4, 10) == pytest.approx(warmup)
    assert intensity.expected(10, 30) == pytest.approx(measured)
    assert intensity.expected(0, 99) == pytest.approx(ramp + warmup + measured)
    assert intensity.expected(30, 99) == intensity.expected(5, 5) == 0


def test_expected_arrivals_within_a_slope():
    """From 2 s to 4 s of a rate that climbs by 10 a second, from 50: 2 times 80."""
    shape = Phases(warmup_s=0, measured_s=20)
    assert RAMP.intensity(shape).expected(2, 4) == pytest.approx(160)


def test_length_says_what_a_measured_phase_must_hold():
    """One rate fits any; steps and ramps want their own length, and are cut if it is not there."""
    assert (CONSTANT.length_s, STAIRCASE.length_s, RAMP.length_s) == (0, 15, 10)
    short = Phases(warmup_s=0, measured_s=5)
    assert RAMP.intensity(short).end_s == 5
    assert RAMP.intensity(short).pieces[-1].end_per_s == pytest.approx(100)
    assert STAIRCASE.intensity(short).expected(0, 99) == pytest.approx(500)


def test_paced_users_offer_their_number_by_their_period():
    """Half of 500 users every 10 s, half every 30 s, one every 5 s; half of it in the ramp."""
    per_s = 250 / 10 + 250 / 30 + 1 / 5
    assert (PACED.users, PACED.length_s) == (501, 0)
    assert PACED.rate_per_s == pytest.approx(per_s)
    intensity = PACED.intensity(PHASES)
    assert intensity.expected(0, 4) == pytest.approx(2 * per_s)
    assert intensity.expected(4, 10) == pytest.approx(6 * per_s)
    assert intensity.expected(10, 30) == pytest.approx(20 * per_s)


def test_hastened_users_are_the_same_with_shorter_periods():
    """Ten times the rate, the same groups."""
    quick = PACED.hastened(10)
    assert quick.rate_per_s == pytest.approx(10 * PACED.rate_per_s)
    assert [(g.users, g.name) for g in quick.groups] == [(g.users, g.name) for g in PACED.groups]


def test_users_are_numbered_group_by_group():
    """The group of each number and the place in it, none beyond the last."""
    found = [PACED.place_of(user) for user in (0, 249, 250, 499, 500)]
    assert [group.period_s for group, _ in found] == [10, 10, 30, 30, 5]
    assert [number for _, number in found] == [0, 249, 0, 249, 0]
    for user in (-1, 501):
        with pytest.raises(IndexError):
            PACED.place_of(user)


@pytest.mark.parametrize("arrivals", [CONSTANT, STAIRCASE, RAMP, PACED, ClosedLoop(users=100)])
def test_arrivals_survive_json(arrivals):
    """Written and read again they are equal, and of the same kind."""
    load = profile(arrivals)
    again = LoadProfile.model_validate_json(load.canonical_json())
    assert again == load
    assert type(again.arrivals) is type(arrivals)


def test_a_rate_is_written_as_it_always_was():
    """Bundles of open arrivals keep their cache keys."""
    text = CONSTANT.canonical_json()
    assert text == '{"kind":"constant","rate_per_s":200.0,"users":100}'


@pytest.mark.parametrize(
    "build",
    [
        lambda: StaircaseArrivals(steps=()),
        lambda: StaircaseArrivals(steps=(Step(rate_per_s=0, length_s=1),)),
        lambda: Step(rate_per_s=-1, length_s=1),
        lambda: Step(rate_per_s=1, length_s=0),
        lambda: RampArrivals(begin_per_s=0, end_per_s=0, over_s=1),
        lambda: RampArrivals(begin_per_s=1, end_per_s=2, over_s=0),
        lambda: RampArrivals(begin_per_s=1, end_per_s=float("inf"), over_s=1),
        lambda: PacedUsers(groups=()),
        lambda: PacedGroup(users=0, period_s=1),
        lambda: PacedGroup(users=1, period_s=0),
        lambda: profile(PacedUsers(groups=(PacedGroup(users=2, period_s=1),)), workers=3),
        lambda: profile(ClosedLoop(users=2), workers=3),
        lambda: profile(ClosedLoop(users=999), workers=257),
    ],
)
def test_impossible_loads_are_refused(build):
    """No steps, no arrivals at all, no length, more workers than users."""
    with pytest.raises(ValidationError):
        build()
