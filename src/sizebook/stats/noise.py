"""The noise floor: how far replicates of one and the same treatment lie apart."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sizebook.stats.intervals import Interval, ratio_interval, two_sided_t


@dataclass(frozen=True)
class NoiseFloor:
    """What A/A trials say of one metric. Ratios are above 1: the larger value over the smaller."""

    treatments: int
    """Treatments with at least two replicates."""
    replicates: int
    """Their replicates together."""
    relative_sd: float | None
    """Pooled standard deviation of the logs: 0.02 means that one replicate varies by about 2 %."""
    largest_ratio: float | None
    ratio_p95: float | None
    """95th percentile of the ratios of all pairs within a treatment."""
    reason: str = ""
    """Why there is no floor; empty when there is one."""

    @property
    def freedom(self) -> int:
        """Degrees of freedom of ``relative_sd``."""
        return self.replicates - self.treatments

    def least_ratio(self, n_a: int, n_b: int, level: float = 0.95) -> float | None:
        """Return the least ratio of two means that noise alone exceeds in 1 - level of the cases.

        ``n_a`` and ``n_b`` are the replicates behind each mean; with one each it is the ratio of
        two single trials. exp(t * sd * sqrt(1/n_a + 1/n_b)): the least significant difference on
        logs with the pooled spread (Box, Hunter, Hunter, 2nd ed., section 3.3). It holds for
        trials made like the A/A trials; a floor from one session knows nothing of other days.
        """
        if self.relative_sd is None or min(n_a, n_b) < 1:
            return None
        t = two_sided_t(level, self.freedom)
        return math.exp(t * self.relative_sd * math.sqrt(1 / n_a + 1 / n_b))


@dataclass(frozen=True)
class Difference:
    """Whether two treatments differ beyond the noise floor."""

    different: bool | None
    """None: cannot be said; ``reason`` says why."""
    ratio: Interval
    floor_ratio: float | None
    reason: str = ""


def noise_floor(groups: Iterable[ArrayLike]) -> NoiseFloor:
    """Return the noise floor of a metric from replicates, one group a treatment.

    Values must be positive; ValueError for others. Groups of fewer than two say nothing and are
    left out. Without any group of two there is no floor, and the reason says so.
    """
    logs: list[NDArray[np.float64]] = []
    for group in groups:
        data = np.asarray(group, dtype=np.float64).ravel()
        if data.size and not (np.isfinite(data).all() and data.min() > 0):
            raise ValueError("replicates that are missing, zero or negative have no ratio")
        if data.size >= 2:
            logs.append(np.log(data))
    if not logs:
        reason = "no treatment has two replicates"
        return NoiseFloor(0, 0, None, None, None, reason)
    replicates = sum(group.size for group in logs)
    squares = sum(float(((group - group.mean()) ** 2).sum()) for group in logs)
    pairs = [abs(x - y) for group in logs for x, y in itertools.combinations(group, 2)]
    return NoiseFloor(
        treatments=len(logs),
        replicates=replicates,
        relative_sd=math.sqrt(squares / (replicates - len(logs))),
        largest_ratio=math.exp(max(pairs)),
        ratio_p95=math.exp(float(np.quantile(pairs, 0.95))),
    )


def is_different(
    a: ArrayLike, b: ArrayLike, floor: NoiseFloor, *, paired: bool = False, level: float = 0.95
) -> Difference:
    """Return whether the means of two treatments differ beyond the noise floor.

    True needs both: the ratio is beyond what the floor's spread makes likely for so many
    replicates, and the treatments' own interval (where each has two or more) excludes 1. The
    second condition only makes True rarer, so equal treatments are called different in at most
    1 - level of the cases. False does not mean that they are equal: the difference may be too
    small for so few replicates.
    """
    ratio = ratio_interval(a, b, paired=paired, level=level)
    sizes = np.size(np.asarray(a)), np.size(np.asarray(b))
    floor_ratio = floor.least_ratio(*sizes, level)
    if ratio.estimate is None:
        return Difference(None, ratio, floor_ratio, ratio.reason)
    if floor_ratio is None:
        return Difference(None, ratio, None, f"no noise floor: {floor.reason}")
    beyond = abs(math.log(ratio.estimate)) > math.log(floor_ratio)
    return Difference(beyond and ratio.excludes(1.0) is not False, ratio, floor_ratio)
