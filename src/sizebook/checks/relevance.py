"""Which doubts about a trial touch a metric: what it rests on decides.

A host that took four seconds to boot did so however late the load generator was afterwards, and
how often a limit stopped a host is counted right where the level of the latency is not known well.
A trial that failed, or is stale, counts for nothing. Another doubt has a bound.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sizebook.checks import generator, load, machine, steady
from sizebook.model.metrics import Basis
from sizebook.model.verdict import Finding, Judgement, Verdict, worst_of

MACHINE = (machine.steal.id, machine.swapping.id, machine.wall_clock.id, machine.host_clocks.id)
"""Rules about the machine: they touch what was measured before the load, too."""
PRECISION: Mapping[str, Verdict] = {
    generator.generator_lag.id: "generator-bound",
    load.samples.id: "noisy",
    steady.steady.id: "noisy",
}
"""Findings about how well the times of requests are known: nothing is known less of what was used
meanwhile. That a trial had not settled does touch it."""
LATE = generator.generator_lag.id
"""Rule about how late the load generator hears of an answer: a server that takes its own times has
told them by then."""
IDLE = generator.own_time.id
"""Rule about how soon users ask again. It touches no time that a server takes where one user asks:
nobody queues then, however soon. Of many users fewer wait at a time than were named."""


BOUNDS: Mapping[str, Callable[[Finding], float | None]] = {
    steady.steady.id: steady.unsure_by,
    generator.generator_lag.id: generator.late_by,
}
"""Rules whose findings say how far off the level of a trial may be, as a share of it."""


def verdict_on(judgement: Judgement, basis: Basis, *, alone: bool = False) -> Verdict:
    """Return the worst verdict among the findings that touch a metric of this basis.

    ``alone``: the load is one user who waits for each answer.
    """
    if basis == "times":
        return judgement.verdict
    return worst_of(each.verdict for each in _doubts(judgement, basis, alone))


def known_within(judgement: Judgement, basis: Basis, *, alone: bool = False) -> float | None:
    """Return the factor within which a trial knows a metric of this basis; None: not at all.

    It is 1 if no doubt touches the metric. Two doubts say themselves how far off the level of the
    requests' times may be (``BOUNDS``): a change that may be chance, and a load generator that
    heard of answers late. A trial that has no others knows them within what these make of its
    level.
    """
    within = 1.0
    for doubt in _doubts(judgement, basis, alone):
        bound = BOUNDS.get(doubt.rule)
        off = bound(doubt) if bound is not None else None
        if off is None:
            return None
        within *= 1 + off
    return within


def _doubts(judgement: Judgement, basis: Basis, alone: bool) -> list[Finding]:
    return [each for each in judgement.failed() if _touches(each, basis, alone)]


def _touches(finding: Finding, basis: Basis, alone: bool) -> bool:
    if basis == "times" or finding.verdict in ("failed", "stale"):
        return True
    if basis == "server":
        return finding.rule != LATE and not (alone and finding.rule == IDLE)
    if basis == "use":
        return PRECISION.get(finding.rule) != finding.verdict
    return basis == "start" and finding.rule in MACHINE
