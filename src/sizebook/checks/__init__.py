"""Floor 2: the validity rules over a bundle."""

from sizebook.checks import accounting, generator, load, machine
from sizebook.checks.rules import Rule, judge_by
from sizebook.model.verdict import Judgement
from sizebook.store import Bundle

RULES: tuple[Rule, ...] = (
    accounting.completed,
    accounting.accounting,
    accounting.clock,
    accounting.littles_law,
    accounting.server_count,
    generator.generator_cpu,
    generator.generator_lag,
    generator.own_time,
    load.errors,
    load.offered,
    machine.steal,
    machine.swapping,
    load.samples,
)
"""Every rule, in the order of the page that documents them."""


def judge(bundle: Bundle) -> Judgement:
    """Return what all rules find in a bundle and the worst verdict among them."""
    return judge_by(RULES, bundle)


__all__ = ["RULES", "Rule", "judge"]
