"""How far a curve errs where it was not fitted: one level after the other is left out.

What is left out is a whole level, all of its replicates together: sisters of a point that was
fitted would tell how well the points repeat, not how well the curve predicts.

The band of a prediction follows from those errors alone (jackknife+ without its recentring: Barber,
Candès, Ramdas and Tibshirani, Annals of Statistics 49, 2021): the errors' quantile at rank
ceil((n + 1) level). It holds for a level drawn like those that were measured; beyond them it says
nothing. With fewer errors than the rank there is no band.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sizebook.stats.curves import Curve, Floats, fit

Rows = NDArray[np.bool_]
Predict = Callable[[Rows, Rows], Floats]
"""Rows to learn from and rows to predict, to what is predicted for the latter."""


@dataclass(frozen=True)
class HeldOut:
    """What was predicted for each row while its level was left out."""

    levels: tuple[Hashable, ...]
    observed: Floats
    predicted: Floats
    """NaN where the rest was too little to fit."""

    @property
    def errors(self) -> Floats:
        """Logarithm of observed over predicted, of the rows that have both."""
        with np.errstate(divide="ignore", invalid="ignore"):
            errors = np.log(self.observed / self.predicted)
        return np.asarray(errors[np.isfinite(errors)])

    @property
    def complete(self) -> bool:
        """Whether each row has a prediction."""
        return bool(np.isfinite(self.predicted).all() and self.predicted.size > 0)

    @property
    def median_error(self) -> float | None:
        """Median of the errors' sizes, as a share: 0.05 is 5 % too much or too little."""
        return math.expm1(float(np.median(np.abs(self.errors)))) if self.errors.size else None

    def band(self, level: float = 0.9) -> float | None:
        """Return the factor within which a share ``level`` of observations lie; None: too few."""
        return _factor(np.abs(self.errors), level)

    def coverage(self, level: float = 0.9) -> float | None:
        """Return the share of rows that lie in the band made from the *other* levels' errors.

        None where no row has such a band.
        """
        with np.errstate(divide="ignore", invalid="ignore"):
            sizes = np.abs(np.log(self.observed / self.predicted))
        inside = []
        for level_out in dict.fromkeys(self.levels):
            mine = np.array([one == level_out for one in self.levels])
            rest, own = sizes[~mine & np.isfinite(sizes)], sizes[mine & np.isfinite(sizes)]
            if (factor := _factor(rest, level)) is not None:
                inside += list(own <= math.log(factor) + 1e-12)
        return float(np.mean(inside)) if inside else None


def leave_levels_out(levels: Sequence[Hashable], observed: ArrayLike, predict: Predict) -> HeldOut:
    """Return what ``predict`` says of each level when it learns from all others alone.

    A ``ValueError`` of it, such as too few points, leaves the level without prediction. Raises
    ValueError for as many labels as there are not observations.
    """
    seen = np.asarray(observed, dtype=np.float64)
    if len(levels) != seen.size:
        raise ValueError(f"{len(levels)} labels for {seen.size} observations")
    predicted = np.full(seen.size, np.nan)
    for level in dict.fromkeys(levels):
        out = np.array([one == level for one in levels])
        try:
            predicted[out] = predict(~out, out)
        except ValueError:
            continue
    return HeldOut(tuple(levels), seen, predicted)


def hold_out(
    curve: Curve,
    columns: Mapping[str, ArrayLike],
    observed: ArrayLike,
    levels: Sequence[Hashable],
    *,
    relative: bool = False,
) -> HeldOut:
    """Return how a curve predicts each level from the others."""
    table = {name: np.asarray(column, dtype=np.float64) for name, column in columns.items()}
    seen = np.asarray(observed, dtype=np.float64)

    def predict(learn: Rows, out: Rows) -> Floats:
        def part(rows: Rows) -> dict[str, Floats]:
            return {name: column[rows] for name, column in table.items()}

        return fit(curve, part(learn), seen[learn], relative=relative).predict(part(out))

    return leave_levels_out(levels, seen, predict)


def choose(found: Mapping[str, HeldOut]) -> str | None:
    """Return the name with the least median error; of equals the first. None: none predicts all."""
    known = {name: one.median_error for name, one in found.items() if one.complete}
    errors = {name: error for name, error in known.items() if error is not None}
    return min(errors, key=lambda name: errors[name]) if errors else None


def _factor(sizes: Floats, level: float) -> float | None:
    rank = math.ceil((sizes.size + 1) * level)
    if not 0 < rank <= sizes.size:
        return None
    return math.exp(float(np.sort(sizes)[rank - 1]))
