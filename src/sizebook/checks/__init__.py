"""Floor 2: the validity rules over a bundle."""

from sizebook.checks import accounting, balancer, generator, load, machine, memory, steady
from sizebook.checks.design_rules import SET_RULES, SetRule, judge_set
from sizebook.checks.rules import Rule, judge_by
from sizebook.checks.turns import TURN_RULES, TurnRule, judge_turns
from sizebook.model.verdict import Judgement
from sizebook.store import Bundle
from sizebook.store.derived import derive

RULES: tuple[Rule, ...] = (
    accounting.completed,
    accounting.accounting,
    accounting.clock,
    accounting.littles_law,
    accounting.server_count,
    accounting.stored,
    memory.memory,
    balancer.balancer_count,
    generator.generator_cpu,
    generator.generator_lag,
    generator.own_time,
    generator.ceiling,
    load.errors,
    load.offered,
    load.schedule,
    load.think,
    load.joined,
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


JUDGED = "checks.judge"
"""The question that is answered in bundles of which the record alone was published."""

INTERFERENCE: tuple[Rule, ...] = (machine.steal, machine.wall_clock)
"""Rules that judge the machine alone: what a trial does, or finds, changes nothing of them."""


def interfered(bundle: Bundle) -> bool:
    """Return whether the machine was not ours while it measured, by the rules that say so."""
    return any(one(bundle).passed is False for one in INTERFERENCE)


def judge(bundle: Bundle) -> Judgement:
    """Return what all rules find in a bundle and the worst verdict among them."""
    return derive(bundle, JUDGED, lambda: judge_by(RULES, bundle), Judgement)


__all__ = [
    "RULES",
    "SET_RULES",
    "TURN_RULES",
    "Rule",
    "SetRule",
    "TurnRule",
    "interfered",
    "judge",
    "judge_set",
    "judge_turns",
]
