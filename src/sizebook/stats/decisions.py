"""Whether replicates confirm or contradict what was asserted of a ratio, or neither.

An assertion is settled by the interval of the ratio metric(left) / metric(right) and by the least
ratio that matters, ``least`` > 1, which was fixed before. With the 95 % interval [low, high]:

============  =============================  =============================  ==================
assertion     confirmed                      contradicted                   wrong if truly
============  =============================  =============================  ==================
greater       low > 1 and estimate >= least  high < least                   <= 1; >= least
less          high < 1, estimate <= 1/least  low > 1/least                  >= 1; <= 1/least
same          [low, high] in the margin      wholly outside the margin      outside; inside
not greater   high < least                   low > 1 and estimate >= least  >= least; <= 1
not less      low > 1/least                  high < 1, estimate <= 1/least  <= 1/least; >= 1
============  =============================  =============================  ==================

"In the margin" is within [1/least, least]. The last column holds the true ratios under which the
first and the second verdict would be wrong; under each of them it is reached in at most 2.5 % of
the cases, as that needs one end of a 95 % interval on the wrong side. "Contradicted" thus means
that the assertion was shown to be wrong, be it that the effect goes the other way or that it is
too small to matter; where nothing was shown, the answer is "undetermined". A true ratio between 1
and ``least`` is a difference too small to matter: neither verdict on "greater" is an error there.
Sources: two one-sided tests, Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15
(1987); non-inferiority as one end of an interval beside a margin, Wellek, Testing Statistical
Hypotheses of Equivalence and Noninferiority, 2nd ed. (2010), ch. 1 and 2.

Several comparisons in one assertion ("in every layout") are an intersection-union test (Berger,
Technometrics 24, 1982): confirmed only if each is, at the common level. To contradict it, one
suffices, and then many chances to be wrong add up: a comparison counts against the assertion only
at the level 1 - 0.05 / k for k comparisons (Bonferroni; Dunn, JASA 56, 1961).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from sizebook.stats.intervals import Interval, ratio_interval

Verdict = Literal["confirmed", "contradicted", "undetermined"]
Assertion = Literal["greater", "less", "same", "not greater", "not less"]

LEVEL = 0.95


@dataclass(frozen=True)
class Decision:
    """A verdict with the numbers that it was read from."""

    verdict: Verdict
    ratio: Interval | None
    """At 95 %; None for an event."""
    n: int
    reason: str


class Sample(NamedTuple):
    """The replicates of two treatments."""

    left: Sequence[float] | NDArray[np.float64]
    right: Sequence[float] | NDArray[np.float64]
    paired: bool
    """Whether value i of both comes from one block."""
    doubt: float = 1.0
    """Factor by which their ratio may be off besides chance; its interval is as much wider."""

    def ratio(self, level: float) -> Interval:
        """Return the ratio with its interval."""
        found = ratio_interval(self.left, self.right, paired=self.paired, level=level)
        if found.low is None or found.high is None:
            return found
        return replace(found, low=found.low / self.doubt, high=found.high * self.doubt)


def decide(assertion: Assertion, ratio: Interval, least: float) -> Decision:
    """Return what the interval of a ratio says of an assertion; see the module's table.

    Without an interval (fewer than two replicates, a value of zero) the answer is undetermined
    and the reason says why. ValueError for a ``least`` that is not above 1.
    """
    if not (least > 1 and math.isfinite(least)):
        raise ValueError(f"least ratio that matters {least}; expected above 1, like 1.1")
    if ratio.estimate is None or ratio.low is None or ratio.high is None:
        return Decision("undetermined", ratio, ratio.n, ratio.reason)
    verdict = _RULES[assertion](ratio.estimate, ratio.low, ratio.high, least)
    return Decision(verdict, ratio, ratio.n, _words(assertion, verdict, ratio, least))


def decide_pairs(
    assertion: Assertion, pairs: Sequence[Sample], least: float
) -> tuple[Decision, tuple[Decision, ...]]:
    """Return the decision over all pairs and the decision of each.

    The overall decision carries the ratio of the pair that weighs most against the assertion, and
    the least number of replicates. Without any pair it is undetermined.
    """
    strict = 1 - (1 - LEVEL) / max(len(pairs), 1)
    each = []
    for pair in pairs:
        found = decide(assertion, pair.ratio(LEVEL), least)
        if (
            found.verdict == "contradicted"
            and len(pairs) > 1
            and decide(assertion, pair.ratio(strict), least).verdict != "contradicted"
        ):
            doubt = f"against it, but not at the {strict:.1%} that {len(pairs)} pairs ask for"
            found = Decision("undetermined", found.ratio, found.n, f"{found.reason}; {doubt}")
        each.append(found)
    return combine(assertion, each), tuple(each)


def combine(assertion: Assertion, each: Sequence[Decision]) -> Decision:
    """Return confirmed if all are, contradicted if any is, else undetermined (see the module)."""
    if not each:
        return Decision("undetermined", None, 0, "nothing was compared")
    if len(each) == 1:
        return each[0]
    verdict = _together([one.verdict for one in each])
    count = sum(one.verdict == verdict for one in each)
    decisive = [one for one in each if one.verdict == verdict]
    worst = min(decisive, key=lambda one: _support(assertion, one.ratio))
    reason = f"{count} of {len(each)} comparisons {verdict}; the weakest: {worst.reason}"
    return Decision(verdict, worst.ratio, min(one.n for one in each), reason)


def decide_event(happened: Sequence[bool]) -> Decision:
    """Return whether something happens, from one truth value a replicate.

    In all replicates: confirmed; in none: contradicted; in some, or with fewer than two
    replicates: undetermined. The reason gives the 95 % interval of the share of starts in which it
    happens (Clopper and Pearson, Biometrika 26, 1934): three out of three show no more than
    that it happens in 29 % of starts or more.
    """
    n, count = len(happened), sum(map(bool, happened))
    if n < 2:
        return Decision("undetermined", None, n, f"{n} replicates; an event needs two or more")
    low, high = share_interval(count, n)
    verdict: Verdict = "undetermined"
    if count in (0, n):
        verdict = "confirmed" if count else "contradicted"
    reason = f"in {count} of {n} replicates (95 % interval of the share: {low:.0%} to {high:.0%})"
    return Decision(verdict, None, n, reason)


def combine_events(each: Sequence[Decision]) -> Decision:
    """Return the decision over several events: all must happen."""
    if len(each) == 1:
        return each[0]
    verdict = _together([one.verdict for one in each])
    reason = "; ".join(one.reason for one in each) or "nothing was tried"
    return Decision(verdict, None, min((one.n for one in each), default=0), reason)


def share_interval(count: int, n: int, level: float = LEVEL) -> tuple[float, float]:
    """Return the exact interval of a share seen ``count`` times in ``n`` (Clopper, Pearson)."""
    tail = (1 - level) / 2
    low = float(scipy.special.betaincinv(count, n - count + 1, tail)) if count else 0.0
    high = float(scipy.special.betaincinv(count + 1, n - count, 1 - tail)) if count < n else 1.0
    return low, high


def _greater(estimate: float, low: float, high: float, least: float) -> Verdict:
    if low > 1 and estimate >= least:
        return "confirmed"
    return "contradicted" if high < least else "undetermined"


def _less(estimate: float, low: float, high: float, least: float) -> Verdict:
    return _greater(1 / estimate, 1 / high, 1 / low, least)


def _same(_: float, low: float, high: float, least: float) -> Verdict:
    if 1 / least <= low and high <= least:
        return "confirmed"
    return "contradicted" if high < 1 / least or low > least else "undetermined"


def _not(rule: Callable[[float, float, float, float], Verdict]) -> Callable[..., Verdict]:
    turned: dict[Verdict, Verdict] = {"confirmed": "contradicted", "contradicted": "confirmed"}

    def deny(estimate: float, low: float, high: float, least: float) -> Verdict:
        found = rule(estimate, low, high, least)
        return turned.get(found, found)

    return deny


_RULES: dict[Assertion, Callable[[float, float, float, float], Verdict]] = {
    "greater": _greater,
    "less": _less,
    "same": _same,
    "not greater": _not(_greater),
    "not less": _not(_less),
}


def _together(verdicts: Sequence[Verdict]) -> Verdict:
    if verdicts and all(verdict == "confirmed" for verdict in verdicts):
        return "confirmed"
    return "contradicted" if "contradicted" in verdicts else "undetermined"


def _support(assertion: Assertion, ratio: Interval | None) -> float:
    """Return a number that is the smaller, the more a ratio speaks against the assertion."""
    if ratio is None or ratio.estimate is None or ratio.estimate <= 0:
        return -math.inf
    log = math.log(ratio.estimate)
    sign = {"greater": log, "less": -log, "not greater": -log, "not less": log}
    return sign.get(assertion, -abs(log))


def _words(assertion: Assertion, verdict: Verdict, ratio: Interval, least: float) -> str:
    """Return in words why the interval leads to the verdict."""
    assert ratio.low is not None
    assert ratio.high is not None
    ends = f"the interval {ratio_words(ratio.low)} to {ratio_words(ratio.high)}"
    near, far = ratio_words(1 / least), ratio_words(least)
    effect = "confirmed" if not assertion.startswith("not") else "contradicted"
    if assertion == "same":
        if verdict == "confirmed":
            return f"{ends} lies within {near} to {far}"
        where = "wholly outside" if verdict == "contradicted" else "partly outside"
        return f"{ends} lies {where} {near} to {far}"
    up = assertion in ("greater", "not greater")
    edge, side = (far, "below") if up else (near, "above")
    if verdict == effect:
        beyond = "at least" if up else "at most"
        return f"{ends} excludes 1 and the estimate is {beyond} {edge}"
    if verdict != "undetermined":
        return f"{ends} lies {side} {edge}, the least effect that matters"
    clear = ratio.excludes(1.0) and np.sign(math.log(ratio.estimate or 1)) == (1 if up else -1)
    if clear:
        return f"{ends} excludes 1, but the estimate does not reach {edge}, the least that matters"
    return f"{ends} holds both no effect and one that matters ({edge})"


def ratio_words(value: float) -> str:
    """Return a ratio in words: three digits, four close to 1, never in powers of ten."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.4g}" if 0.9 < value < 1.1 else f"{value:.3g}"
