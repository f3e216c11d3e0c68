"""Where the spread comes from: between runs, between processes of a run, within a process."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Component:
    """The spread that one level adds."""

    level: str
    sd_percent: float | None
    """Standard deviation of logs times 100, which is percent of the mean for small ones; None
    where the data cannot tell."""
    freedom: int
    """Degrees of freedom of the level's mean square."""
    groups: int
    """Groups at this level; for the innermost, values."""
    reason: str = ""
    """Why there is none, or that a negative estimate was set to 0."""

    @property
    def variance(self) -> float | None:
        """Variance of the logs."""
        return None if self.sd_percent is None else (self.sd_percent / 100) ** 2


@dataclass(frozen=True)
class VarianceSplit:
    """Variance components of nested data, outer level first, and the values within last."""

    components: tuple[Component, ...]
    n: int
    reason: str = ""
    """Why there are none; empty when there is at least one."""

    def __getitem__(self, level: str) -> Component:
        """Return the component of a level. KeyError when there is no such level."""
        for component in self.components:
            if component.level == level:
                return component
        raise KeyError(level)


@dataclass(frozen=True)
class Repetitions:
    """How often to repeat at each level within one group of the level outside it."""

    counts: Mapping[str, int] | None
    """By level, without the outermost, whose number is what precision or budget asks for."""
    reason: str = ""


def variance_split(
    values: ArrayLike, groups: Mapping[str, ArrayLike], *, within: str = "window"
) -> VarianceSplit:
    """Return the variance components of positive values nested in groups.

    ``groups`` maps each level's name, outermost first (a mapping keeps its order), to one label a
    value; labels of an inner level need to be unique within their outer group only. ``within``
    names what is left: the values of one innermost group. Sizes may be unequal.

    Method of moments on logs: sums of squares of the nested analysis of variance are set equal to
    their expectations and solved from the inside out (Searle, Casella, McCulloch, Variance
    Components, 1992, ch. 3 and 5; coefficients for any number of stages: Gates and Shiue,
    Biometrics 18, 1962). Estimates are unbiased, and for a small component with few groups often
    negative: those are given as 0, saying so. Below ten degrees of freedom a component is a rough
    guide only: at 5 its 95 % interval is from 0.6 to 2.5 times the SD, and wider for outer levels.

    A level without degrees of freedom cannot be told from a neighbour and has no component: a
    single run, or one process in every run. ValueError for values that are missing, zero or
    negative, and for labels of another length.
    """
    data = np.asarray(values, dtype=np.float64).ravel()
    if data.size and not (np.isfinite(data).all() and data.min() > 0):
        raise ValueError("values that are missing, zero or negative have no logarithm")
    if within in groups:
        raise ValueError(f"{within!r} names a level and what is within the innermost")
    names = [*groups, within]
    if data.size == 0:
        return VarianceSplit((), 0, "no values")
    codes = _codes(groups, data.size)
    numbers = [1, *(int(code.max()) + 1 for code in codes)]
    freedom = [after - before for before, after in itertools.pairwise(numbers)]
    if not any(freedom):
        return VarianceSplit((), int(data.size), "a single value in a single group")
    told = [i for i, df in enumerate(freedom) if df > 0]
    outside = [np.zeros(data.size, dtype=np.intp), *codes]
    raw = _solve(np.log(data), [codes[i] for i in told], [outside[i] for i in told])
    found = dict(zip(told, raw, strict=True))
    components = tuple(
        _component(name, freedom[i], numbers[i + 1], found.get(i), names[i - 1] if i else "")
        for i, name in enumerate(names)
    )
    return VarianceSplit(components, int(data.size))


def best_repetitions(components: Mapping[str, float], costs: Mapping[str, float]) -> Repetitions:
    """Return the repetitions at each level that make the mean most precise for the time spent.

    ``components`` maps each level, outermost first, to its SD (in any one unit); ``costs`` to the
    time that one more group of it takes *besides* the time inside: the start and warm-up of a
    process, the length of a window. For a level inside the next one,

        n = sqrt(cost_outer / cost_inner) * sd_inner / sd_outer,

    rounded up (Kalibera and Jones, Rigorous benchmarking in reasonable time, ISMM 2013;
    the rule is that of optimum subsampling, Cochran, Sampling Techniques, 3rd ed., ch. 10). An
    outer level without spread gives no number: nothing is gained by repeating it, so all
    repetitions belong inside; the reason names it. ValueError for levels that do not agree, fewer
    than two, a negative SD, or a cost that is not positive.
    """
    levels = list(components)
    if len(levels) < 2 or set(levels) != set(costs):
        raise ValueError(f"levels {levels} and costs of {list(costs)}; expected the same, from two")
    if min(components.values()) < 0 or min(costs.values()) <= 0:
        raise ValueError("a negative SD, or a cost that is not positive")
    counts = {}
    for outer, inner in itertools.pairwise(levels):
        if components[outer] == 0:
            reason = f"{outer} adds no spread of its own: repeat {inner} instead"
            return Repetitions(None, reason)
        wanted = math.sqrt(costs[outer] / costs[inner]) * components[inner] / components[outer]
        counts[inner] = max(1, math.ceil(round(wanted, 9)))
    return Repetitions(counts)


def sd_of_mean(components: Mapping[str, float], counts: Mapping[str, int]) -> float:
    """Return the SD of the mean over a balanced design, in the unit of the components.

    ``counts`` has for every level the repetitions within one group of the level outside it; the
    variance is the sum over levels of sd^2 over the number of groups of the level altogether.
    """
    variance, groups = 0.0, 1
    for level, sd in components.items():
        groups *= counts[level]
        variance += sd**2 / groups
    return math.sqrt(variance)


def _codes(groups: Mapping[str, ArrayLike], size: int) -> list[NDArray[np.intp]]:
    """Return for each level, and last for the values themselves, the group of each value."""
    codes: list[NDArray[np.intp]] = []
    outer = np.zeros(size, dtype=np.intp)
    for name, given in groups.items():
        labels = np.asarray(given).ravel()
        if labels.size != size:
            raise ValueError(f"{labels.size} labels of {name} for {size} values")
        own = np.unique(labels, return_inverse=True)[1]
        outer = np.unique(outer * (int(own.max()) + 1) + own, return_inverse=True)[1]
        codes.append(outer)
    return [*codes, np.arange(size)]


def _solve(
    logs: _Floats, codes: list[NDArray[np.intp]], outside: list[NDArray[np.intp]]
) -> list[float]:
    """Return the components, outer first, of levels with degrees of freedom.

    Level i's sum of squares is that of its group means less that of the level outside it; the
    effects of level j within count in it as sum over j's groups of size^2 / (size of their group
    at i), less the same for the level outside.
    """
    centred = logs - logs.mean()
    count = len(codes)
    squares, expected = np.zeros(count), np.zeros((count, count))
    for i, code in enumerate(codes):
        squares[i] = _between(centred, code) - _between(centred, outside[i])
        for j in range(i, count):
            expected[i, j] = _weight(codes[j], code) - _weight(codes[j], outside[i])
    return [float(x) for x in np.linalg.solve(expected, squares)]


def _between(centred: _Floats, code: NDArray[np.intp]) -> float:
    sums, sizes = np.bincount(code, weights=centred), np.bincount(code)
    return float((sums**2 / sizes).sum())


def _weight(inner: NDArray[np.intp], outer: NDArray[np.intp]) -> float:
    inner_sizes, outer_sizes = np.bincount(inner), np.bincount(outer)
    return float((inner_sizes[inner] / outer_sizes[outer]).sum())


def _component(name: str, freedom: int, groups: int, raw: float | None, outer: str) -> Component:
    if raw is None:
        if not outer:
            reason = f"a single {name}"
        else:
            reason = f"one {name} in every {outer}: the two cannot be told apart"
        return Component(name, None, freedom, groups, reason)
    if raw < 0:
        return Component(name, 0.0, freedom, groups, "the estimate was negative and is set to 0")
    return Component(name, 100 * math.sqrt(raw), freedom, groups)
