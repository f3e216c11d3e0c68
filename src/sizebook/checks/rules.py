"""What a rule is, and how the answers of all rules become a trial's verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from sizebook.model.errors import BundleError
from sizebook.model.verdict import Finding, Judgement, Verdict, worst_of
from sizebook.store import Bundle
from sizebook.store.asking import ask_all
from sizebook.store.derived import derive


@dataclass(frozen=True)
class Answer:
    """What a rule's function says of a bundle."""

    passed: bool
    message: str
    numbers: dict[str, float] = field(default_factory=dict)
    verdict: Verdict | None = None
    """Where the rule did not pass: the verdict, if it is milder than the rule's own."""


class DoesNotApply(Exception):  # noqa: N818 - an answer, not a fault
    """The rule has nothing to judge in this bundle; the text says why."""


@dataclass(frozen=True)
class Rule:
    """One validity rule. Calling it with a bundle gives the finding."""

    id: str
    title: str
    verdict: Verdict
    """The worst that a trial becomes by this rule."""
    meaning: str
    """What it compares, with which threshold, and why that one."""
    remedy: str
    """What to do when it does not pass."""
    function: Callable[[Bundle], Answer]

    def __call__(self, bundle: Bundle) -> Finding:
        return derive(bundle, self.id, lambda: self._find(bundle), Finding)

    def _find(self, bundle: Bundle) -> Finding:
        try:
            answer = self.function(bundle)
        except DoesNotApply as reason:
            return Finding(self.id, None, f"does not apply: {reason}")
        except BundleError as error:
            return Finding(self.id, None, f"does not apply: {error.found}")
        if answer.passed:
            return Finding(self.id, True, answer.message, answer.numbers)
        verdict = answer.verdict or self.verdict
        return Finding(self.id, False, answer.message, answer.numbers, verdict)


def rule(
    rule_id: str, *, title: str, verdict: Verdict, meaning: str, remedy: str
) -> Callable[[Callable[[Bundle], Answer]], Rule]:
    """Return a decorator that makes a rule of a function from bundle to answer."""

    def make(function: Callable[[Bundle], Answer]) -> Rule:
        return Rule(rule_id, title, verdict, meaning, remedy, function)

    return make


def judge_by(rules: Sequence[Rule], bundle: Bundle) -> Judgement:
    """Return all findings, in the rules' order, and the worst verdict among them."""
    # The last first: they are the longest, and those that need no requests fill the wait for them.
    findings = tuple(reversed(ask_all(reversed(rules), bundle)))
    return Judgement(worst_of(finding.verdict for finding in findings), findings)
