"""Inference: how often the statistics err, by simulation of cases whose answer is known.

Coverage of intervals, false differences between equal treatments, false and missed equivalence,
steady states that are none and drifts that pass for steady. Every case has its own seed; the
numbers do not depend on the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bench.records import Inference, Rate
from bench.rig import Rig
from sizebook.stats.decisions import FEWEST, Sample, decide_pairs
from sizebook.stats.equivalence import equivalence
from sizebook.stats.intervals import Interval, mean_interval, ratio_interval
from sizebook.stats.noise import is_different, noise_floor
from sizebook.stats.steady import ALPHA, steady_state

TRIALS, SHORT_TRIALS = 2000, 100
STEADY_TRIALS, SHORT_STEADY_TRIALS = 1000, 50
LEVEL, ALLOWED = 0.95, 0.05
SPREAD = 0.05
"""Standard deviation of the logs of replicates."""
MARGIN = 1.1
NO_LEAST = 1.0001
"""Least ratio that matters where any would."""
WINDOWS = 40
NOISE = 0.03
"""Standard deviation of a window of a steady series, relative to its level."""
TARGETED = 0.9
"""Share of planted changes that should be seen."""

Bound = Literal["about", "at most", "at least"]


@dataclass(frozen=True)
class Case:
    """One simulated question; ``hit`` says whether one trial ended in what is counted."""

    name: str
    method: str
    nominal: float
    bound: Bound
    hit: Callable[[np.random.Generator], bool]
    windows: bool = False
    """A case about windows of a trial rather than replicates."""


def run(rig: Rig) -> Inference:
    """Simulate every case."""
    return simulate(
        SHORT_TRIALS if rig.short else TRIALS,
        SHORT_STEADY_TRIALS if rig.short else STEADY_TRIALS,
        rig.tell,
    )


def simulate(trials: int, steady_trials: int, tell: Callable[[str], None]) -> Inference:
    """Return the rates found in so many trials of each case."""
    rates = []
    for seed, case in enumerate(cases(), start=1):
        tell(f"{case.name}: {case.method}")
        random = np.random.default_rng(seed)
        count = steady_trials if case.windows else trials
        hits = sum(case.hit(random) for _ in range(count))
        rates.append(
            Rate(
                name=case.name,
                method=case.method,
                hits=hits,
                trials=count,
                nominal=case.nominal,
                bound=case.bound,
                seed=seed,
            )
        )
    return Inference(rates=tuple(rates))


def cases() -> tuple[Case, ...]:
    """Return all cases, in the order of the page."""
    found = [
        Case(f"true mean inside, n = {n}", "mean interval", LEVEL, "about", _mean_inside(n))
        for n in (3, 5, 10, 30)
    ]
    found += [
        Case(f"true ratio inside, n = {n}", "ratio interval", LEVEL, "about", _ratio_inside(n))
        for n in (3, 5, 10)
    ]
    found += [
        Case(
            f"equal treatments called different, n = {n}",
            "noise floor and interval",
            ALLOWED,
            "at most",
            _false_difference(n),
        )
        for n in (3, 5, 10)
    ]
    found += [
        Case(
            f"treatments {MARGIN - 1:.0%} apart called equivalent, n = {n}",
            "two one-sided tests",
            ALLOWED,
            "at most",
            _false_equivalence(n),
        )
        for n in (3, 5, 10)
    ]
    found += [
        Case(
            f"equal treatments given a verdict, read after each of 3 to {n} blocks",
            'verdict on "greater"',
            ALLOWED / 2,
            "at most",
            _false_verdict(n),
        )
        for n in (5, 10)
    ]
    for name, series in STEADY_SERIES.items():
        hit = _unsteady(series)
        found.append(Case(f"{name} called unsteady", "steady state", ALPHA, "at most", hit, True))
    for name, series in UNSTEADY_SERIES.items():
        hit = _unsteady(series)
        found.append(Case(f"{name} seen", "steady state", TARGETED, "at least", hit, True))
    found.append(
        Case("warm-up cropped where it ends", "crop", TARGETED, "at least", _cropped, True)
    )
    return tuple(found)


def _replicates(random: np.random.Generator, n: int, centre: float = 1.0) -> NDArray[np.float64]:
    values: NDArray[np.float64] = centre * np.exp(random.normal(0, SPREAD, n))
    return values


def _inside(interval: Interval, value: float) -> bool:
    return interval.excludes(value) is False


def _mean_inside(n: int) -> Callable[[np.random.Generator], bool]:
    return lambda random: _inside(mean_interval(random.normal(1, SPREAD, n)), 1.0)


def _ratio_inside(n: int) -> Callable[[np.random.Generator], bool]:
    return lambda random: _inside(
        ratio_interval(_replicates(random, n, 1.2), _replicates(random, n)), 1.2
    )


def _false_difference(n: int) -> Callable[[np.random.Generator], bool]:
    def hit(random: np.random.Generator) -> bool:
        floor = noise_floor([_replicates(random, n), _replicates(random, n)])
        return is_different(_replicates(random, n), _replicates(random, n), floor).different is True

    return hit


def _false_equivalence(n: int) -> Callable[[np.random.Generator], bool]:
    return lambda random: (
        equivalence(_replicates(random, n, MARGIN), _replicates(random, n), MARGIN).equivalent
        is True
    )


def _false_verdict(blocks: int) -> Callable[[np.random.Generator], bool]:
    def hit(random: np.random.Generator) -> bool:
        left, right = _replicates(random, blocks), _replicates(random, blocks)
        looks = (Sample(left[:n], right[:n], paired=True) for n in range(FEWEST, blocks + 1))
        verdicts = (decide_pairs("greater", [one], NO_LEAST)[0].verdict for one in looks)
        return "confirmed" in verdicts

    return hit


Series = Callable[[np.random.Generator], tuple[NDArray[np.float64], NDArray[np.float64]]]
_TIME = np.arange(WINDOWS, dtype=np.float64) / WINDOWS


def _noise(random: np.random.Generator, memory: float = 0.0) -> NDArray[np.float64]:
    """Return windows around 1; ``memory`` is the correlation of a window with the next one."""
    steps = random.normal(0, NOISE, WINDOWS)
    for number in range(1, WINDOWS):
        steps[number] = memory * steps[number - 1] + np.sqrt(1 - memory**2) * steps[number]
    return 1 + steps


def _both(shape: NDArray[np.floating], memory: float = 0.0) -> Series:
    """Return throughput that falls as latency rises by ``shape``."""
    return lambda random: (_noise(random, memory) / shape, _noise(random, memory) * shape)


WARM_UP = 1 + 0.5 * np.maximum(0.0, 1 - _TIME / 0.25)
"""Half as slow again at first, as fast as ever after a quarter of the time."""
STEADY_SERIES: Mapping[str, Series] = {
    "plateau": _both(np.ones(WINDOWS)),
    "plateau whose windows hang together (0.3)": _both(np.ones(WINDOWS), 0.3),
    "plateau after a warm-up": _both(WARM_UP),
}
UNSTEADY_SERIES: Mapping[str, Series] = {
    "drift of 20 %": _both(1 + 0.2 * _TIME),
    # Up to half of the windows may be cropped as warm-up, so an earlier shift is no shift.
    "shift of 20 % after 60 % of the time": _both(1 + 0.2 * (_TIME >= 0.6)),
    "shift of 20 % after 75 % of the time": _both(1 + 0.2 * (_TIME >= 0.75)),
}


def _unsteady(series: Series) -> Callable[[np.random.Generator], bool]:
    return lambda random: steady_state(*series(random)).steady is False


def _cropped(random: np.random.Generator) -> bool:
    """Return whether the crop ends within an eighth of the time of where the warm-up does."""
    cut = steady_state(*_both(WARM_UP)(random)).crop
    return WINDOWS / 8 <= cut <= 3 * WINDOWS / 8
