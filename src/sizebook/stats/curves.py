"""Curves fitted by least squares, with intervals of their parameters and of what they predict.

The interval of a parameter is Student's t times the standard error from the Jacobian at the
solution (Bates and Watts, Nonlinear Regression Analysis and Its Applications, 1988, section 2.3),
cut off at the parameter's bounds. Coverage of nominal 95 % intervals in the seeded simulation of
``tests/stats/test_curves.py``: 93 to 97 % for parameters well inside their bounds; a parameter
that lies *on* a bound has an interval that ends there, and says less than it seems.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from sizebook.stats.intervals import two_sided_t

Floats = NDArray[np.float64]
_CLOSE = 1e-12
"""Relative change of parameters and of the sum of squares at which a search ends."""
_DIGITS = 5
"""Digits of what a fit gives. Where a search ends depends on the last bits of powers and
logarithms, which differ between CPUs; these digits do not, and errors are far larger."""


@dataclass(frozen=True)
class Parameter:
    """One parameter of a curve: where it may lie, and from where the search for it starts."""

    name: str
    low: float
    high: float
    start: float


@dataclass(frozen=True)
class Curve:
    """A family of functions of a table with one column a variable."""

    name: str
    parameters: tuple[Parameter, ...]
    compute: Callable[[Mapping[str, Floats], Sequence[float]], Floats]
    """Columns and parameters to one value a row."""

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters' names, in order."""
        return tuple(parameter.name for parameter in self.parameters)


@dataclass(frozen=True)
class Estimate:
    """A parameter as it was fitted, to five digits, with its interval; without one, None."""

    value: float
    error: float | None
    """Standard error; None where there are no more points than parameters."""
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Fit:
    """A curve with the parameters that fit some points best."""

    curve: Curve
    estimates: Mapping[str, Estimate]
    level: float
    points: int
    relative: bool
    """Whether errors were taken as shares of what is predicted (differences of logarithms)."""
    deviation: float | None
    """Residual standard deviation, a share if ``relative``; None without spare points."""

    @property
    def values(self) -> tuple[float, ...]:
        """The parameters in the curve's order."""
        return tuple(self.estimates[name].value for name in self.curve.names)

    def predict(self, columns: Mapping[str, ArrayLike]) -> Floats:
        """Return what the curve says for each row."""
        return self.curve.compute(_table(columns), self.values)


def fit(
    curve: Curve,
    columns: Mapping[str, ArrayLike],
    observed: ArrayLike,
    *,
    relative: bool = False,
    level: float = 0.95,
    start: Sequence[float] = (),
) -> Fit:
    """Return the curve fitted to points: columns of variables, and what was observed at them.

    ``relative`` minimises differences of logarithms, for quantities whose errors grow with them.
    ``start`` is where the search begins, if not where the curve's parameters say.
    Raises ValueError for fewer points than parameters, missing values, or with ``relative`` values
    of zero and below.
    """
    table, seen = _table(columns), np.asarray(observed, dtype=np.float64)
    if any(column.shape != seen.shape for column in table.values()):
        raise ValueError("columns of different length")
    if seen.size < len(curve.parameters):
        raise ValueError(
            f"{seen.size} points for the {len(curve.parameters)} parameters of {curve.name}"
        )
    if not np.isfinite(seen).all() or (relative and seen.min() <= 0):
        raise ValueError("observations that are missing, or have no logarithm")

    def residuals(scaled: Floats) -> Floats:
        said = curve.compute(table, list(scaled * scale))
        if relative:
            said = np.log(np.maximum(said, 1e-300))
        return np.asarray(np.nan_to_num(said - target, nan=1e9, posinf=1e9, neginf=-1e9))

    target = np.log(seen) if relative else seen
    scale = np.array([abs(p.start) or 1.0 for p in curve.parameters])
    low = np.array([p.low for p in curve.parameters]) / scale
    high = np.array([p.high for p in curve.parameters]) / scale
    first = np.array(list(start) or [p.start for p in curve.parameters])
    found = scipy.optimize.least_squares(
        residuals,
        np.clip(first / scale, low, high),
        bounds=(low, high),
        jac="3-point",
        x_scale="jac",
        xtol=_CLOSE,
        ftol=_CLOSE,
        gtol=_CLOSE,
    )
    values = np.clip([_rounded(value) for value in found.x * scale], low * scale, high * scale)
    spare = seen.size - len(curve.parameters)
    deviation = _rounded(math.sqrt(2 * found.cost / spare)) if spare else None
    errors = _errors(np.asarray(found.jac), deviation) * scale if deviation is not None else None
    half = two_sided_t(level, spare) if spare else math.nan
    estimates = {
        parameter.name: _estimate(
            parameter, float(values[n]), None if errors is None else _rounded(errors[n]), half
        )
        for n, parameter in enumerate(curve.parameters)
    }
    return Fit(curve, estimates, level, int(seen.size), relative, deviation)


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def _errors(jacobian: Floats, deviation: float) -> Floats:
    """Return the standard errors; a direction that the points do not tell has an infinite one."""
    _, strengths, directions = np.linalg.svd(jacobian, full_matrices=False)
    least = np.finfo(float).eps * max(jacobian.shape) * strengths.max(initial=0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.where(strengths > least, 1 / strengths**2, np.inf)
        variances = np.nansum(np.where(directions == 0, 0.0, directions**2 * inverse[:, None]), 0)
    return np.asarray(np.sqrt(variances) * deviation)


def _estimate(parameter: Parameter, value: float, error: float | None, half: float) -> Estimate:
    if error is None:
        return Estimate(value, None, None, None)
    low, high = max(parameter.low, value - half * error), min(parameter.high, value + half * error)
    return Estimate(value, error, low, high)


def _table(columns: Mapping[str, ArrayLike]) -> dict[str, Floats]:
    return {name: np.asarray(column, dtype=np.float64) for name, column in columns.items()}
