"""Stopping when the answer is precise enough."""

from __future__ import annotations

from typing import Any

from synthetic_bundles import write_synthetic

from sizebook.checks.design_rules import good_per_s
from sizebook.lab.precision import Precision
from sizebook.lab.trials import Trial
from sizebook.model.design import Design, Factor

DESIGN = Design("synthetic", (Factor("name", ("a", "b")),), replicates=10, seed=1)


class Trials:
    """Makes trials that completed 4800 requests at a given rate."""

    def __init__(self, make_bundle: Any, folder: Any) -> None:
        self.base = make_bundle().record.trial
        self.folder = folder
        self.made = 0

    def at(self, name: str, block: int, rate: float, outcome: str = "completed") -> Trial:
        self.made += 1
        spec = self.base.model_copy(update={"treatment": {"name": name}, "replicate": block})
        facts = {"wall_s": 4800 / rate}
        where = f"precision-{self.made}"
        return Trial(write_synthetic(self.folder, where, spec=spec, facts=facts, outcome=outcome))


def test_stops_when_every_treatment_is_precise(make_bundle: Any, tmp_path: Any) -> None:
    """Treatment b scatters by 10 %, so the design goes on until its interval is narrow, too."""
    make = Trials(make_bundle, tmp_path)
    rule = Precision(good_per_s, half_width=0.05)
    assert rule.blocks(DESIGN, []) == rule.least

    def run(blocks: int, scatter: float) -> list[Trial]:
        return [
            trial
            for block in range(blocks)
            for trial in (
                make.at("a", block, 400 + block % 2),
                make.at("b", block, 100 * (1 + scatter * (-1) ** block)),
            )
        ]

    assert rule.blocks(DESIGN, run(rule.least, 0.001)) == rule.least
    assert rule.blocks(DESIGN, run(rule.least, 0.1)) == rule.least + 1
    assert rule.blocks(DESIGN, run(10, 0.5)) == 10, "never more than the design has"


def test_a_failed_trial_does_not_keep_the_design_from_going_on(
    make_bundle: Any, tmp_path: Any
) -> None:
    """Its block counts as run; the treatment has a value less."""
    make = Trials(make_bundle, tmp_path)
    rule = Precision(good_per_s, half_width=0.05)
    trials = [make.at(n, b, 400 + b % 2) for b in range(rule.least) for n in ("a", "b")]
    trials[-1] = make.at("b", rule.least - 1, 400, outcome="failed")
    assert rule.blocks(DESIGN, trials) == rule.least + 1
