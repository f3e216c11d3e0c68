"""Floor 2: the validity rules over a bundle."""

from sizebook.checks import accounting, generator, load, machine, memory, steady
from sizebook.checks.rules import Rule, judge_by
from sizebook.checks.sets import SET_RULES, SetRule, judge_set
from sizebook.model.verdict import Judgement
from sizebook.store import Bundle

RULES: tuple[Rule, ...] = (
    accounting.completed,
    accounting.accounting,
    accounting.clock,
    accounting.littles_law,
    accounting.server_count,
    accounting.stored,
    memory.memory,
    generator.generator_cpu,
    generator.generator_lag,
    generator.own_time,
    generator.ceiling,
    load.errors,
    load.offered,
    load.schedule,
    machine.steal,
    machine.swapping,
    machine.throttling,
    machine.wall_clock,
    machine.readings,
    machine.host_clocks,
    load.samples,
    steady.steady,
    steady.jit,
    steady.heap,
)
"""Every rule, in the order of the page that documents them."""


def judge(bundle: Bundle) -> Judgement:
    """Return what all rules find in a bundle and the worst verdict among them."""
    return judge_by(RULES, bundle)


__all__ = ["RULES", "SET_RULES", "Rule", "SetRule", "judge", "judge_set"]
