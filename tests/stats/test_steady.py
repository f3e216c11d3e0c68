"""Steady state: planted warm-ups, drifts and shifts, false alarms, degenerate series."""

import math

import numpy as np
import pytest
from scipy import signal

from sizebook.stats.steady import crop, steady_state

N = 40
RUNS = 200
TIME = np.arange(N)
LEVEL = np.ones(N)


def noisy(truth, sd, seed, phi=0.0):
    """Return seeded series around a true course, one a row, noise relative to it."""
    white = np.random.default_rng(seed).standard_normal((RUNS, N + 100))
    ar1 = signal.lfilter([1], [1, -phi], white, axis=1)[:, 100:] * math.sqrt(1 - phi**2)
    return truth * (1 + sd * ar1)


def verdicts(throughput, latency):
    """Return the verdicts over pairs of series."""
    return [steady_state(x, y) for x, y in zip(throughput, latency, strict=True)]


def unsteady_share(throughput, latency):
    """Return the share called not steady."""
    return np.mean([found.steady is False for found in verdicts(throughput, latency)])


@pytest.mark.parametrize("share", [0.1, 0.25, 0.4])
@pytest.mark.parametrize("sd", [0.02, 0.05])
def test_planted_warm_ups_are_cropped(share, sd):
    """An exponential approach is cropped to within a few windows, and the rest is steady."""
    left = np.exp(-math.log(50) * TIME / (share * N))
    found = verdicts(noisy(1 - left / 2, sd, 1), noisy(1 + left, sd, 2))
    crops = np.array([verdict.crop for verdict in found])
    end = share * N
    assert np.mean([verdict.steady for verdict in found]) >= 0.93
    assert abs(np.median(crops) - end) <= 4
    assert np.mean((crops >= end / 2) & (crops <= end + 8)) >= 0.9
    assert crops.max() <= N // 2


@pytest.mark.parametrize("sd", [0.02, 0.05])
@pytest.mark.parametrize("drift", [-0.2, 0.15])
def test_planted_drifts_are_found(sd, drift):
    """A drift of 15 % and more over the series is not steady in at least 95 % of the cases."""
    course = 1 + drift * (TIME / N - 0.5)
    share = unsteady_share(noisy(LEVEL, sd, 3), noisy(course, sd, 4))
    assert share >= (0.95 if sd < 0.05 or abs(drift) > 0.15 else 0.93)


@pytest.mark.parametrize("sd", [0.02, 0.05])
@pytest.mark.parametrize("at", [22, 26])
def test_planted_shifts_are_found_and_placed(sd, at):
    """A shift of 15 % past the middle is found in at least 95 % of the cases, and where it is."""
    found = verdicts(noisy(np.where(at <= TIME, 0.85, 1.0), sd, 5), noisy(LEVEL, sd, 6))
    assert np.mean([verdict.steady is False for verdict in found]) >= 0.95
    assert abs(np.median([verdict.shifts[0].at for verdict in found]) - at) <= 1
    assert all("throughput" in " ".join(x.reasons) for x in found if x.steady is False)


@pytest.mark.parametrize("phi", [0.0, 0.3, 0.5, 0.7])
def test_noise_is_steady(phi):
    """Independent and dependent noise is called unsteady in 5 % at most (8.5 allows for luck)."""
    assert unsteady_share(noisy(LEVEL, 0.05, 7, phi), noisy(LEVEL, 0.05, 8, phi)) <= 0.085


@pytest.mark.parametrize("periods", [4, 8])
def test_periodic_load_is_steady(periods):
    """Load that swings by 10 % several times is a level, not a drift."""
    swing = 1 + 0.1 * np.sin(2 * math.pi * periods * TIME / N + 1)
    assert unsteady_share(noisy(swing, 0.03, 9), noisy(swing, 0.03, 10)) <= 0.05


def test_changes_within_the_tolerance_are_steady():
    """A clear drift of 3 % does no harm at 5 % tolerance, and does at 1 %."""
    throughput, latency = noisy(1 + 0.03 * TIME / N, 0.002, 11)[0], LEVEL
    assert steady_state(throughput, latency).steady is True
    strict = steady_state(throughput, latency, tolerance=0.01)
    assert strict.steady is False and strict.reasons[0].startswith("throughput drifts by +3")


def test_one_pause_is_no_warm_up():
    """A window far off, early or late, is neither cropped for nor a change."""
    for at in (8, 15, 30):
        row = noisy(LEVEL, 0.02, 12)[0]
        row[at : at + 2] *= 3
        found = steady_state(row, noisy(LEVEL, 0.02, 13)[0])
        assert (found.steady, found.crop) == (True, 0)


def test_a_shift_before_the_middle_is_warm_up():
    """What holds for more than the last half is the level; what came before it is cropped."""
    row = noisy(np.where(TIME < 14, 0.7, 1.0), 0.02, 14)[0]
    found = steady_state(row, noisy(LEVEL, 0.02, 15)[0])
    assert found.steady is True and 14 <= found.crop <= 17


@pytest.mark.parametrize(
    "left", [np.exp(-TIME / 12), np.clip(1 - TIME / 28, 0, None)], ids=["slow", "ramp"]
)
def test_warm_up_beyond_the_middle_is_not_steady(left):
    """A series that is still well off its level in the middle is too short for its warm-up."""
    assert unsteady_share(noisy(1 - left / 2, 0.02, 16), noisy(1 + left, 0.02, 17)) >= 0.95


def test_mser_by_hand():
    """Without noise the crop is the end of the step; the sum MSER minimises is known there."""
    row = np.concatenate([np.full(6, 10.0), np.tile([1.0, 1.2], 17)])
    errors = [np.var(row[d:]) / (row.size - d) for d in range(row.size // 2 + 1)]
    assert int(np.argmin(errors)) == 6
    assert 6 <= crop(row) <= 8


def test_constants_are_steady():
    """No spread at all: steady, nothing cropped, p = 1."""
    found = steady_state(LEVEL * 500, LEVEL)
    assert (found.steady, found.crop, found.reasons, found.windows) == (True, 0, (), N)
    assert [test.p for test in (*found.trends, *found.shifts)] == [1.0] * 4


@pytest.mark.parametrize("size", range(10))
def test_too_few_windows(size):
    """Below ten windows it cannot be told, and each series says why."""
    found = steady_state(np.ones(size), np.ones(size))
    assert found.steady is None and len(found.reasons) == 2
    assert "the tests need 10" in found.reasons[0]


def test_nothing_ended():
    """No request at all, or in most windows: no level, so no verdict."""
    nothing = steady_state(np.zeros(N), np.full(N, math.nan))
    assert nothing.steady is None and "latency: 0 windows" in " ".join(nothing.reasons)
    mostly = np.where(TIME % 3 == 0, 5.0, 0.0)
    assert "median level is zero" in steady_state(mostly, LEVEL).reasons[0]
    assert steady_state(np.zeros(N), LEVEL).crop == 0


def test_what_is_known_is_said():
    """A throughput that falls is not steady even if latency is unknown; both are said."""
    found = steady_state(noisy(1 - 0.5 * TIME / N, 0.02, 18)[0], np.full(N, math.nan))
    assert found.steady is False
    assert "throughput" in found.reasons[0] and "latency" in found.reasons[-1]


def test_nothing_but_the_end():
    """A server that stood still for all but the last windows has no crop, and is not steady."""
    late = np.where(TIME > N * 0.6, 1.0, math.nan)
    found = steady_state(np.where(TIME > N * 0.6, 1.0, 0.0), late)
    assert found.steady is False and found.crop == 0


def test_windows_without_a_value_are_left_out():
    """Some empty windows change neither verdict nor the place of the crop by much."""
    left = np.exp(-math.log(50) * TIME / 10)
    row = noisy(1 + left, 0.02, 19)[0]
    gaps = row.copy()
    gaps[[1, 5, 13, 22, 23, 37]] = math.nan
    whole, holed = steady_state(LEVEL, row), steady_state(LEVEL, gaps)
    assert (whole.steady, holed.steady) == (True, True)
    assert abs(whole.crop - holed.crop) <= 3


def test_nonsense_is_refused():
    """Unequal lengths, infinite values and options out of range are bugs of the caller."""
    with pytest.raises(ValueError, match="40 windows of throughput, 39 of latency"):
        steady_state(LEVEL, LEVEL[1:])
    with pytest.raises(ValueError, match="infinite"):
        crop([1.0, math.inf])
    with pytest.raises(ValueError, match="alpha"):
        steady_state(LEVEL, LEVEL, alpha=0)
