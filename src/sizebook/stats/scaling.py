"""Laws of scalability: throughput by the number of users, processes or CPUs that share the work.

With N of them: ``linear``, each brings as much as the first; ``saturating``, each does until one
resource is full (the asymptotic bound: Lazowska et al., Quantitative System Performance, 1984,
chapter 5); ``amdahl``, a share σ of the work is done by one at a time (Amdahl, AFIPS 30, 1967);
``universal``, they also have to agree with each other, at a cost κ a pair (Gunther, Guerrilla
Capacity Planning, 2007, chapter 4): X(N) = λN / (1 + σ(N - 1) + κN(N - 1)). The first three are
what the last one has to beat. Symbols are Gunther's; the R package ``usl``, whose printed numbers
the tests repeat, calls them alpha, beta and gamma.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike

from sizebook.stats.curves import Curve, Floats, Parameter

SIZE = "size"
"""Column with the number that share the work."""


def universal(size: ArrayLike, rate: float, sigma: float = 0.0, kappa: float = 0.0) -> Floats:
    """Return throughput by the universal law, in the unit of ``rate``, that of one alone."""
    n = np.asarray(size, dtype=np.float64)
    return np.asarray(rate * n / (1 + sigma * (n - 1) + kappa * n * (n - 1)))


def peak_size(sigma: float, kappa: float) -> float | None:
    """Return the size with the greatest throughput, by the universal law; None: there is none."""
    if kappa <= 0 or sigma >= 1:
        return None if sigma < 1 else 1.0
    return math.sqrt((1 - sigma) / kappa)


def limit_rate(rate: float, sigma: float) -> float | None:
    """Return what throughput stays below however many share the work; None without contention."""
    return rate / sigma if sigma > 0 else None


def curves(size: ArrayLike, throughput: ArrayLike) -> tuple[Curve, ...]:
    """Return the four laws, from the simplest on, with starts taken from points.

    Bounds: rates of up to a thousand times the greatest seen, σ and κ from 0 to 1. Raises
    ValueError without points.
    """
    n, x = np.asarray(size, dtype=np.float64), np.asarray(throughput, dtype=np.float64)
    if not n.size:
        raise ValueError("no points to start from")
    first, most = float((x / n).max()), float(x.max())
    rate = Parameter("rate", 0.0, 1e3 * first, first)
    limit = Parameter("limit", 0.0, 1e3 * most, most)
    sigma, kappa = Parameter("sigma", 0.0, 1.0, 0.05), Parameter("kappa", 0.0, 1.0, 1e-3)
    return (
        Curve("linear", (rate,), _universal),
        Curve("saturating", (rate, limit), _saturating),
        Curve("amdahl", (rate, sigma), _universal),
        Curve("universal", (rate, sigma, kappa), _universal),
    )


def _universal(columns: Mapping[str, Floats], values: Sequence[float]) -> Floats:
    return universal(columns[SIZE], *values)


def _saturating(columns: Mapping[str, Floats], values: Sequence[float]) -> Floats:
    rate, limit = values
    return np.minimum(rate * columns[SIZE], limit)
