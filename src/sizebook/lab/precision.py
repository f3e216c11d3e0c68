"""Stopping early: no more replicates than an answer of the wanted precision needs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from sizebook.lab.trials import Measure, Trial
from sizebook.model.design import Design
from sizebook.stats.stopping import FIRST_LOOK, MORE, narrow_enough


@dataclass(frozen=True)
class Precision:
    """How sure the mean of each treatment must be before a design may stop."""

    measure: Measure
    """The number that matters."""
    half_width: float
    """Half the 95 % interval as a share of the mean: 0.05 is plus or minus 5 %."""
    least: int = FIRST_LOOK + MORE
    """Blocks that are always run: looking at few values finds narrow intervals by luck."""

    def blocks(self, design: Design, trials: Sequence[Trial]) -> int:
        """Return how many blocks are due by the trials measured so far, all if not yet precise."""
        values: dict[object, dict[int, float]] = defaultdict(dict)
        run = set()
        for trial in trials:
            record = trial.bundle.record
            if record.trial.purpose != "measured":
                continue
            run.add(trial.replicate)
            value = self.measure(trial.bundle) if trial.completed else None
            if value is not None:
                values[tuple(sorted(trial.treatment.items()))][trial.replicate] = value
        for blocks in range(min(self.least, design.replicates), design.replicates):
            if not run.issuperset(range(blocks)):
                return blocks
            groups = [
                [value for block, value in by_block.items() if block < blocks]
                for by_block in values.values()
            ]
            complete = len(groups) == len(design.treatments())
            if complete and narrow_enough(
                groups, half_width=self.half_width, least=self.least, most=design.replicates
            ):
                return blocks
        return design.replicates
