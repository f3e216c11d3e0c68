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
the cases, as that needs one end of a 95 % interval on the wrong side. "The same" is the exception:
two ends can contradict it, so that this is wrong in at most 5 %. "Contradicted" thus means
that the assertion was shown to be wrong, be it that the effect goes the other way or that it is
too small to matter; where nothing was shown, the answer is "undetermined". A true ratio between 1
and ``least`` is a difference too small to matter: neither verdict on "greater" is an error there.
Sources: two one-sided tests, Schuirmann, Journal of Pharmacokinetics and Biopharmaceutics 15
(1987); non-inferiority as one end of an interval beside a margin, Wellek, Testing Statistical
Hypotheses of Equivalence and Noninferiority, 2nd ed. (2010), ch. 1 and 2.

A verdict may be read after each block, and counts only if it holds over all such looks: at a level
that is stricter by ``stats.looks.stricter_by``. Its p value is multiplied by as much.

No verdict rests on fewer than ``FEWEST`` blocks. Two give an interval with one degree of
freedom, which is right on average and depends on luck: the spread of two values says little.

An event asserts that something happens in at least half of all starts (``SHARE``). It is confirmed
if it happened in every block and the exact one-sided 95 % lower bound of its share reaches one
half, which takes 5 of 5; contradicted if it happened in none and the upper bound does, with 0 of 5
(Clopper and Pearson, Biometrika 26, 1934). Each is wrong in at most 5 %. The bound alone would do
with 7 of 8, too; but that no write is lost is not confirmed by a round in which one was.

Each verdict has a p value: a bound of the probability to reach it, or one as clear, where it is
wrong. It is the smallest level at which the same rule would still reach it, and comes from the same
t or the same binomial as the bounds, and holds over all looks. An event needs no correction: who
has seen k of k has seen 5 of 5 before. False discoveries over many claims are limited by it
(``stats.discoveries``).

Several comparisons in one assertion ("in every layout") are an intersection-union test (Berger,
Technometrics 24, 1982): confirmed only if each is, at the common level, and p is the largest of
theirs. To contradict it, one suffices, and then many chances to be wrong add up: of k comparisons
one counts against the assertion only at a level k times as strict, and p is k times the smallest
(Bonferroni; Dunn, JASA 56, 1961). Events are put together in the same way.
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
from sizebook.stats.looks import stricter_by
from sizebook.stats.tails import Tails, ratio_tails

Verdict = Literal["confirmed", "contradicted", "undetermined"]
Assertion = Literal["greater", "less", "same", "not greater", "not less"]

LEVEL = 0.95
FEWEST = 3
"""Blocks without which there is no verdict on a ratio."""
SHARE = 0.5
"""Share of all starts in which an event has to happen."""
ALWAYS = math.ceil(math.log(1 - LEVEL) / math.log(SHARE))
"""Blocks that decide an event if it happens in all of them, or in none: 5."""

TailsOf = Callable[[float], Tails]
"""Gives the p values of "the ratio is above an edge" and "below it"."""


@dataclass(frozen=True)
class Decision:
    """A verdict with the numbers that it was read from."""

    verdict: Verdict
    ratio: Interval | None
    """At 95 %; None for an event."""
    n: int
    """Blocks behind the ratio; of several decisions those of the ratio shown."""
    reason: str
    p: float | None = None
    """The smallest level at which the verdict would be reached, over all looks; None where it is
    undetermined, or where there was an interval alone to read it from."""


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

    def tails(self, edge: float) -> Tails:
        """Return the p values of "the ratio is above the edge" and "below it", with the doubt."""
        ends = (edge * self.doubt, edge / self.doubt)
        high, low = (ratio_tails(self.left, self.right, e, paired=self.paired) for e in ends)
        return Tails(high.above, low.below)


def decide(
    assertion: Assertion, ratio: Interval, least: float, tails: TailsOf | None = None
) -> Decision:
    """Return what the interval of a ratio says of an assertion; see the module's table.

    ``tails`` gives the p values that belong to the interval: with them a verdict has to hold over
    all looks. Without them it is that of this interval, and has no p value. Without an interval (a
    value of zero) and with fewer than ``FEWEST`` blocks the answer is undetermined and the reason
    says why. ValueError for a ``least`` that is not above 1.
    """
    if not (least > 1 and math.isfinite(least)):
        raise ValueError(f"least ratio that matters {least}; expected above 1, like 1.1")
    if ratio.estimate is None or ratio.low is None or ratio.high is None:
        return Decision("undetermined", ratio, ratio.n, ratio.reason)
    if ratio.n < FEWEST:
        reason = f"measured in {ratio.n} blocks; a verdict needs {FEWEST} or more"
        return Decision("undetermined", ratio, ratio.n, reason)
    verdict = _RULES[assertion](ratio.estimate, ratio.low, ratio.high, least)
    words = _words(assertion, verdict, ratio, least)
    if tails is None or verdict == "undetermined":
        return Decision(verdict, ratio, ratio.n, words)
    p = min(1.0, stricter_by(ratio.n) * _p_value(assertion, verdict, tails, least))
    error = (1 - LEVEL) / (1 if (assertion, verdict) == ("same", "contradicted") else 2)
    if p > error:
        reason = (
            f"{words}; not clear enough for {ratio.n} blocks, since verdicts are read after each "
            f"(p = {p:.2g} over all looks, {error:.2g} allowed)"
        )
        return Decision("undetermined", ratio, ratio.n, reason)
    return Decision(verdict, ratio, ratio.n, words, p)


def decide_pairs(
    assertion: Assertion, pairs: Sequence[Sample], least: float
) -> tuple[Decision, tuple[Decision, ...]]:
    """Return the decision over all pairs and the decision of each.

    The overall decision carries the ratio of the pair that weighs most against the assertion, with
    that pair's number of blocks. Without any pair it is undetermined.
    """
    each = [decide(assertion, pair.ratio(LEVEL), least, pair.tails) for pair in pairs]
    each = _strictly(each, error_rate(assertion), "pairs")
    return combine(assertion, each), tuple(each)


def error_rate(assertion: Assertion) -> float:
    """Return the probability that a verdict on a ratio is wrong at most: 2.5 %, or 5 % for "same".

    Only one of both verdicts can be wrong. That "the same" is contradicted has two ends of an
    interval as its chances, all others have one.
    """
    return (1 - LEVEL) / (1 if assertion == "same" else 2)


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
    return Decision(verdict, worst.ratio, worst.n, reason, _p_together(verdict, each))


def decide_event(happened: Sequence[bool]) -> Decision:
    """Return whether something happens in half of all starts or more, one truth value a block.

    Confirmed if it happened in all of ``ALWAYS`` blocks or more, so that the exact one-sided 95 %
    lower bound of its share is at least one half; contradicted if it happened in none of as many.
    Else undetermined, and the reason says how many blocks would do.
    """
    n, count = len(happened), sum(map(bool, happened))
    if not n:
        return Decision("undetermined", None, 0, "no replicates")
    seen = f"seen in {count} of {n} blocks"
    low, high = share_interval(count, n, 2 * LEVEL - 1)
    bound = f"exact one-sided {LEVEL:.0%} bound"
    if count not in (0, n):
        words = f"{seen}, neither in all nor in none (share {low:.0%} to {high:.0%})"
        return Decision("undetermined", None, n, words)
    if n < ALWAYS:
        needed = f"{ALWAYS if count else 0} of {ALWAYS} are needed"
        return Decision("undetermined", None, n, f"{seen}; {needed}")
    if count:
        words = f"{seen}: a share of {low:.0%} or more ({bound})"
    else:
        words = f"{seen}: a share of {high:.0%} or less ({bound})"
    return Decision("confirmed" if count else "contradicted", None, n, words, SHARE**n)


def decide_events(
    happened: Sequence[Sequence[bool]],
) -> tuple[Decision, tuple[Decision, ...]]:
    """Return the decision over several events, all of which must happen, and that of each."""
    each = _strictly([decide_event(one) for one in happened], 1 - LEVEL, "treatments")
    return combine_events(each), tuple(each)


def combine_events(each: Sequence[Decision]) -> Decision:
    """Return confirmed if all events are, contradicted if any is, else undetermined."""
    if len(each) == 1:
        return each[0]
    verdict = _together([one.verdict for one in each])
    reason = "; ".join(dict.fromkeys(one.reason for one in each)) or "nothing was tried"
    fewest = min((one.n for one in each), default=0)
    return Decision(verdict, None, fewest, reason, _p_together(verdict, each))


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


def _strictly(each: Sequence[Decision], error: float, what: str) -> list[Decision]:
    """Return the decisions, those without a verdict that are against it, but not clearly enough.

    Each of k may contradict the whole, so that each has to be k times as clear.
    """
    k = len(each)
    return [
        replace(
            one,
            verdict="undetermined",
            p=None,
            reason=f"{one.reason}; not significant after correction for {k} {what}",
        )
        if one.verdict == "contradicted" and one.p is not None and k * one.p > error
        else one
        for one in each
    ]


def _p_together(verdict: Verdict, each: Sequence[Decision]) -> float | None:
    """Return the p value of a verdict on all comparisons; None where one has none."""
    values = [one.p for one in each if one.verdict == verdict]
    known = [value for value in values if value is not None]
    if verdict == "undetermined" or not known or len(known) < len(values):
        return None
    return max(known) if verdict == "confirmed" else min(1.0, len(each) * min(known))


def _p_value(assertion: Assertion, verdict: Verdict, tails: TailsOf, least: float) -> float:
    """Return the smallest level at which the ends of the interval would give the verdict."""
    if assertion == "same":
        low, high = tails(1 / least), tails(least)
        if verdict == "confirmed":
            return max(low.above, high.below)
        return min(1.0, 2 * min(low.below, high.above))
    up = assertion in ("greater", "not greater")
    effect = (verdict == "confirmed") != assertion.startswith("not")
    if effect:
        return tails(1.0).above if up else tails(1.0).below
    return tails(least).below if up else tails(1 / least).above


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
    return f"{ends} is consistent with no effect and with one that matters ({edge})"


def ratio_words(value: float) -> str:
    """Return a ratio in words: three digits, four close to 1, never in powers of ten."""
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.4g}" if 0.9 < value < 1.1 else f"{value:.3g}"
