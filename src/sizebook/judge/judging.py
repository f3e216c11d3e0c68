"""All rules on one file, and the few figures that a report begins with."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sizebook.judge import rules_course, rules_figures, rules_file, rules_load
from sizebook.judge.facts import ForeignCase
from sizebook.judge.findings import WEIGHTS, ForeignFinding, ForeignRule, Unknowable, Weight
from sizebook.judge.results import ForeignResults
from sizebook.stats.quantiles import is_supported

Judging = Callable[[ForeignCase], ForeignFinding]

RULES: tuple[tuple[ForeignRule, Judging], ...] = (
    (rules_file.WHOLE, rules_file.whole),
    (rules_file.CLOCK, rules_file.clock),
    (rules_file.AGREEMENT, rules_file.agreement),
    (rules_load.LOOP, rules_load.loop),
    (rules_load.OMISSION, rules_load.omission),
    (rules_load.OFFERED, rules_load.offered),
    (rules_load.GENERATOR, rules_load.generator),
    (rules_load.LITTLE, rules_load.little),
    (rules_course.LENGTH, rules_course.length),
    (rules_course.WARM_UP, rules_course.warm_up),
    (rules_course.STEADY, rules_course.steady),
    (rules_figures.ERRORS, rules_figures.errors),
    (rules_figures.TIMEOUTS, rules_figures.timeouts),
    (rules_figures.PERCENTILES, rules_figures.percentiles),
    (rules_figures.AVERAGED, rules_figures.averaged),
    (rules_file.RESOLUTION, rules_file.resolution),
)
_SHOWN = (50.0, 90.0, 95.0, 99.0, 99.9)


@dataclass(frozen=True)
class Judged:
    """What the rules say of one file."""

    results: ForeignResults
    case: ForeignCase
    findings: tuple[ForeignFinding, ...]
    """One a rule, in the order of the rules."""

    def of_weight(self, weight: Weight) -> tuple[ForeignFinding, ...]:
        """Return the findings of one weight."""
        return tuple(each for each in self.findings if each.weight == weight)

    @property
    def is_wrong(self) -> bool:
        """Whether a rule found something wrong."""
        return bool(self.of_weight("wrong"))

    @property
    def ranked(self) -> tuple[ForeignFinding, ...]:
        """All findings, what to act on first."""
        return tuple(each for weight in WEIGHTS for each in self.of_weight(weight))

    @property
    def percentiles_ns(self) -> dict[float, float]:
        """The usual percentiles that the sample supports, and that the file tells."""
        number = self.case.requests
        return {
            p: value
            for p in _SHOWN
            if is_supported(p, number) and (value := self.case.quantile_ns(p)) is not None
        }


def judge_results(results: ForeignResults) -> Judged:
    """Return what each rule says of a file that was read."""
    case = ForeignCase(results)
    return Judged(results, case, tuple(_ask(rule, ask, case) for rule, ask in RULES))


def _ask(rule: ForeignRule, ask: Judging, case: ForeignCase) -> ForeignFinding:
    try:
        return ask(case)
    except Unknowable as reason:
        return ForeignFinding(rule.id, "unknown", str(reason))


def rule_of(finding: ForeignFinding) -> ForeignRule:
    """Return the rule of a finding."""
    return next(rule for rule, _ in RULES if rule.id == finding.rule)


def shared_warning(every: Sequence[Judged]) -> str:
    """Return what is wrong with putting percentiles of several files together; mostly empty."""
    sums = [each for each in every if each.results.table is None and each.percentiles_ns]
    if len(sums) < 2:
        return ""
    words = f"{len(sums)} files have percentiles and no single requests"
    return f"{words}: their mean is no percentile of all of them together"
