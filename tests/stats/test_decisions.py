"""Decisions: closed forms, the table's edges, error rates by seeded simulation, sizes 0 and 1."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from sizebook.stats.decisions import (
    Decision,
    Sample,
    combine,
    combine_events,
    decide,
    decide_event,
    decide_events,
    decide_pairs,
    error_rate,
    ratio_words,
    share_interval,
)
from sizebook.stats.intervals import Interval
from sizebook.stats.looks import stricter_by

ASSERTIONS = ("greater", "less", "same", "not greater", "not less")
M = 1.1


def interval(low, estimate, high, n=5):
    """Return a 95 % interval of a ratio."""
    return Interval(estimate, low, high, 0.95, n, "given")


@pytest.mark.parametrize(
    ("low", "estimate", "high", "verdicts"),
    [
        # greater, less, same, not greater, not less
        (1.2, 1.3, 1.4, "confirmed contradicted contradicted contradicted confirmed"),
        (1.02, 1.2, 1.4, "confirmed contradicted undetermined contradicted confirmed"),
        (1.02, 1.08, 1.14, "undetermined contradicted undetermined undetermined confirmed"),
        (1.02, 1.05, 1.08, "contradicted contradicted confirmed confirmed confirmed"),
        (0.98, 1.0, 1.02, "contradicted contradicted confirmed confirmed confirmed"),
        (0.6, 1.0, 1.6, "undetermined undetermined undetermined undetermined undetermined"),
        (0.8, 1.0, 1.08, "contradicted undetermined undetermined confirmed undetermined"),
        (0.6, 0.7, 0.8, "contradicted confirmed contradicted confirmed contradicted"),
    ],
)
def test_every_row_of_the_table(low, estimate, high, verdicts):
    """Where the interval lies decides, and the words name its numbers."""
    for assertion, verdict in zip(ASSERTIONS, verdicts.split(), strict=True):
        found = decide(assertion, interval(low, estimate, high), M)
        assert (assertion, verdict) == (assertion, found.verdict)
        assert ratio_words(low) in found.reason


def test_less_is_greater_turned_around():
    """Swapping left and right swaps "less" and "greater", whatever the numbers."""
    ends = sorted({0.5, 0.9, 1 / M, 0.99, 1.0, 1.01, M, 1.2, 2.0})
    for low, high in itertools.combinations(ends, 2):
        middle = math.sqrt(low * high)
        for one, other in (("greater", "less"), ("not greater", "not less"), ("same", "same")):
            there = decide(one, interval(low, middle, high), M).verdict
            back = decide(other, interval(1 / high, 1 / middle, 1 / low), M).verdict
            assert there == back


@pytest.mark.parametrize("assertion", ASSERTIONS)
def test_too_few_replicates_are_undetermined_with_the_reason(assertion):
    """No replicate, one replicate, a zero: no verdict, and it is said why."""
    for left, right, why in (
        ([], [], "no replicates"),
        ([1.0], [2.0], "one replicate"),
        ([1.0, 2.0], [], "no replicates"),
        ([0.0, 1.0], [1.0, 1.0], "zero or below"),
    ):
        total, each = decide_pairs(assertion, [Sample(left, right, paired=False)], M)
        assert total == each[0]
        assert total.verdict == "undetermined"
        assert why in total.reason
    assert decide_pairs(assertion, [], M)[0].verdict == "undetermined"


@pytest.mark.parametrize("assertion", ASSERTIONS)
@pytest.mark.parametrize("paired", [True, False])
def test_two_blocks_are_no_verdict(assertion, paired):
    """However clear they look: the ratio is shown, and the reason says how many are needed."""
    found = decide_pairs(assertion, [Sample([3.0, 3.0], [1.0, 1.0], paired)], M)[0]
    assert (found.verdict, found.n, found.p) == ("undetermined", 2, None)
    assert found.ratio.estimate == pytest.approx(3.0)
    assert found.reason == "measured in 2 blocks; a verdict needs 3 or more"


@pytest.mark.parametrize("least", [1.0, 0.9, math.inf, math.nan])
def test_the_least_effect_must_be_above_one(least):
    """A margin of nothing decides nothing."""
    with pytest.raises(ValueError, match="least ratio"):
        decide("greater", interval(1.1, 1.2, 1.3), least)


def test_equal_numbers_have_an_interval_of_no_width():
    """Bytes that never vary are decided from three replicates on, with a p value of 0."""
    total, _ = decide_pairs("greater", [Sample([30.0] * 3, [10.0] * 3, paired=True)], M)
    assert (total.verdict, total.n, total.p) == ("confirmed", 3, 0.0)
    assert total.ratio.estimate == pytest.approx(3.0)
    same = Sample([7.0] * 3, [7.0] * 3, paired=True)
    assert decide_pairs("same", [same], M)[0].verdict == "confirmed"


def rates(assertion, ratio, n, paired, runs=1500):
    """Return the shares of confirmed and contradicted over seeded runs with a true ratio."""
    random = np.random.default_rng([n, int(ratio * 1000), paired])
    verdicts = []
    for _ in range(runs):
        block = random.normal(0, 0.1, n) if paired else 0.0
        left = ratio * np.exp(block + random.normal(0, 0.05, n))
        right = np.exp(block + random.normal(0, 0.05, n))
        sample = Sample(left, right, bool(paired))
        verdicts.append(decide_pairs(assertion, [sample], M)[0].verdict)
    return verdicts.count("confirmed") / runs, verdicts.count("contradicted") / runs


@pytest.mark.parametrize("paired", [0, 1])
@pytest.mark.parametrize("n", [3, 10])
@pytest.mark.parametrize(
    ("assertion", "wrong_to_confirm", "wrong_to_contradict"),
    [
        ("greater", 1.0, M),
        ("less", 1.0, 1 / M),
        ("same", M, 1 / M),
        ("not greater", M, 1.0),
        ("not less", 1 / M, 1.0),
    ],
)
def test_wrong_verdicts_are_rare(assertion, wrong_to_confirm, wrong_to_contradict, n, paired):
    """At the edge of what would make it wrong, a verdict comes in at most 2.5 % (3.7 for luck)."""
    assert rates(assertion, wrong_to_confirm, n, paired)[0] <= 0.037
    assert rates(assertion, wrong_to_contradict, n, paired)[1] <= 0.037


def test_clear_effects_are_found():
    """With ten replicates a clear effect is confirmed, its opposite contradicted."""
    assert rates("greater", 1.3, 10, 0)[0] > 0.99
    assert rates("less", 1.3, 10, 0)[1] > 0.99
    assert rates("same", 1.0, 20, 0)[0] > 0.9


@pytest.mark.parametrize(("assertion", "verdict"), [("greater", "confirmed"),
                                                    ("same", "contradicted")])  # fmt: skip
def test_a_look_after_each_block_makes_no_wrong_verdict_likelier(assertion, verdict):
    """Equal treatments, blocks added until there is a verdict: the stated rate over all looks."""
    random = np.random.default_rng(11)
    runs, blocks = 600, 8
    wrong, ordinary = 0, 0
    for _ in range(runs):
        left, right = np.exp(random.normal(0, 0.05, (2, blocks)))
        looks = [Sample(left[:n], right[:n], paired=True) for n in range(3, blocks + 1)]
        wrong += any(decide_pairs(assertion, [one], 1.0001)[0].verdict == verdict for one in looks)
        ordinary += any(
            decide(assertion, one.ratio(0.95), 1.0001).verdict == verdict for one in looks
        )
    ends = 2 if assertion == "same" else 1
    assert wrong / runs <= 0.025 * ends + 3 * math.sqrt(0.025 * ends / runs)
    assert ordinary / runs > 0.05 * ends


def test_what_one_look_shows_and_many_do_not_says_so():
    """The 95 % interval excludes 1, and the reason tells why that is not enough."""
    close = Sample([1.2, 1.3, 1.5], [1.0, 1.0, 1.0], paired=True)
    assert decide("greater", close.ratio(0.95), M).verdict == "confirmed"
    found = decide_pairs("greater", [close], M)[0]
    assert (found.verdict, found.p) == ("undetermined", None)
    assert "not clear enough for 3 blocks, since verdicts are read after each" in found.reason


@pytest.mark.parametrize("pairs", [2, 5])
def test_many_pairs_do_not_add_up_chances_to_be_wrong(pairs):
    """Five pairs with an effect that matters are contradicted no more often than one."""
    random = np.random.default_rng(pairs)
    runs = 1500
    verdicts = []
    for _ in range(runs):
        samples = random.lognormal(0.0, 0.05, (pairs, 2, 4)) * np.array([[[M], [1.0]]])
        found = decide_pairs("greater", [Sample(a, b, paired=False) for a, b in samples], M)
        verdicts.append(found[0].verdict)
    assert verdicts.count("contradicted") / runs <= 0.037


def test_all_pairs_must_show_it():
    """Confirmed only if all are; the pair that weighs most against it is shown."""
    clear = Sample([1.5, 1.51, 1.52], [1.0, 1.0, 1.01], paired=True)
    weak = Sample([1.3, 1.31, 1.29], [1.0, 1.01, 1.0], paired=True)
    against = Sample([0.5, 0.51, 0.5], [1.0, 1.0, 1.01], paired=True)
    unknown = Sample([1.5], [1.0], paired=False)
    total, _ = decide_pairs("greater", [clear, weak], M)
    assert total.verdict == "confirmed"
    assert total.ratio.estimate == pytest.approx(1.29, abs=0.02)
    assert "2 of 2 comparisons confirmed" in total.reason
    assert decide_pairs("greater", [clear, unknown], M)[0].verdict == "undetermined"
    total, each = decide_pairs("greater", [clear, unknown, against], M)
    assert (total.verdict, total.n) == ("contradicted", 3)
    assert [one.verdict for one in each] == ["confirmed", "undetermined", "contradicted"]
    assert combine("greater", []).verdict == "undetermined"


def test_a_doubt_widens_the_interval_on_both_sides():
    """What is off by chance and what may be off besides add up; the estimate stays."""
    sure = Sample([1.5, 1.51, 1.52], [1.0, 1.0, 1.01], paired=True)
    doubted = sure._replace(doubt=1.2)
    found, wider = (decide_pairs("greater", [each], M)[0] for each in (sure, doubted))
    assert wider.ratio.estimate == found.ratio.estimate
    assert wider.ratio.low == pytest.approx(found.ratio.low / 1.2)
    assert wider.ratio.high == pytest.approx(found.ratio.high * 1.2)
    assert found.verdict == wider.verdict == "confirmed"
    much = decide_pairs("greater", [sure._replace(doubt=1.6)], M)[0]
    assert much.verdict == "undetermined"
    one = Sample([1.5], [1.0], paired=True, doubt=1.2).ratio(0.95)
    assert (one.estimate, one.low, one.high) == (1.5, None, None)


def test_one_pair_against_it_must_be_clear_enough_for_many():
    """What would contradict alone is not enough among many chances to."""
    rare = Sample([1.0, 1.01, 0.99], [1.0, 0.99, 1.0], paired=True)
    assert decide_pairs("greater", [rare], M)[0].verdict == "contradicted"
    total, each = decide_pairs("greater", [rare] * 40, M)
    assert total.verdict == "undetermined"
    assert "not significant after correction for 40 pairs" in each[0].reason


@pytest.mark.parametrize(
    ("left", "right"),
    [([1.5, 1.6, 1.45], [1.0, 1.02, 0.97]), ([1.0, 1.015, 0.995], [1.0, 1.01, 1.0])],
)
@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("assertion", ASSERTIONS)
@pytest.mark.parametrize("doubt", [1.0, 1.02])
def test_p_is_the_smallest_level_at_which_the_verdict_is_reached(
    assertion, paired, left, right, doubt
):
    """At a level a little above p the interval gives the verdict, a little below it does not."""
    sample = Sample(left, right, paired, doubt)
    found = decide_pairs(assertion, [sample], M)[0]
    if found.verdict == "undetermined":
        assert found.p is None
        return
    assert 0 < found.p <= error_rate(assertion)
    ends = 1 if (assertion, found.verdict) == ("same", "contradicted") else 2
    for factor, verdict in ((1.001, found.verdict), (0.999, "undetermined")):
        level = 1 - ends * found.p / stricter_by(found.n) * factor
        assert decide(assertion, sample.ratio(level), M).verdict == verdict


@pytest.mark.parametrize("assertion", ["greater", "same"])
def test_p_values_are_uniform_or_larger_where_the_verdict_is_wrong(assertion):
    """A wrong verdict with p of at most x comes in at most x of the cases, at every x."""
    random = np.random.default_rng(7)
    seen = []
    for _ in range(3000):
        left, right = np.exp(random.normal(0, 0.3, (2, 4)))
        found = decide_pairs(assertion, [Sample(left, right, paired=True)], 1.001)[0]
        wrong = "confirmed" if assertion == "greater" else "contradicted"
        seen += [found.p] if found.verdict == wrong else []
    for x in (0.005, 0.01, 0.02, 0.025, 0.05):
        assert sum(p <= x for p in seen) / 3000 <= x + 3 * math.sqrt(x / 3000)


def test_p_of_several_pairs():
    """The largest where all are confirmed, k times the smallest where one contradicts."""
    clear = Sample([1.5, 1.51, 1.52], [1.0, 1.0, 1.01], paired=True)
    weak = Sample([1.3, 1.35, 1.25], [1.0, 1.01, 1.0], paired=True)
    against = Sample([0.5, 0.51, 0.5], [1.0, 1.0, 1.01], paired=True)
    total, each = decide_pairs("greater", [clear, weak], M)
    assert total.p == max(one.p for one in each) == each[1].p
    total, each = decide_pairs("greater", [clear, weak, against], M)
    assert total.p == pytest.approx(3 * each[2].p)
    mixed = [Decision("contradicted", None, 5, "", p) for p in (0.02, None)]
    assert combine_events(mixed).p is None
    assert decide("greater", interval(1.2, 1.3, 1.4), M).p is None


@pytest.mark.parametrize(
    ("count", "n", "verdict", "words"),
    [
        (0, 0, "undetermined", "no replicates"),
        (1, 1, "undetermined", "seen in 1 of 1 blocks; 5 of 5 are needed"),
        (3, 3, "undetermined", "seen in 3 of 3 blocks; 5 of 5 are needed"),
        (4, 4, "undetermined", "seen in 4 of 4 blocks; 5 of 5 are needed"),
        (5, 5, "confirmed", "seen in 5 of 5 blocks: a share of 55% or more"),
        (7, 8, "undetermined", "in 7 of 8 blocks, neither in all nor in none (share 53% to 99%)"),
        (8, 8, "confirmed", "seen in 8 of 8 blocks: a share of 69% or more"),
        (0, 4, "undetermined", "seen in 0 of 4 blocks; 0 of 5 are needed"),
        (0, 5, "contradicted", "seen in 0 of 5 blocks: a share of 45% or less"),
        (2, 3, "undetermined", "seen in 2 of 3 blocks, neither in all nor in none"),
    ],
)
def test_an_event_needs_an_exact_bound_of_one_half(count, n, verdict, words):
    """All of five or none of five, never sometimes; p is the exact one-sided binomial test's."""
    found = decide_event([True] * count + [False] * (n - count))
    assert (found.verdict, found.n) == (verdict, n)
    assert words in found.reason
    low, high = share_interval(count, n, 0.90) if n else (0.0, 1.0)
    assert low >= 0.5 or verdict != "confirmed"
    assert high <= 0.5 or verdict != "contradicted"
    way = {"confirmed": "greater", "contradicted": "less"}.get(verdict)
    theirs = stats.binomtest(count, n, 0.5, alternative=way).pvalue if way else None
    assert found.p == (None if theirs is None else pytest.approx(theirs))


@pytest.mark.parametrize("n", [3, 5, 8, 10, 20])
def test_wrong_verdicts_on_events_are_rare(n):
    """At a share of just about one half either verdict comes in at most 5 % of seeded runs."""
    random = np.random.default_rng(n)
    found = [decide_event(run).verdict for run in random.random((4000, n)) < 0.5]
    assert found.count("confirmed") / 4000 <= 0.06
    assert found.count("contradicted") / 4000 <= 0.06
    if n == 3:
        assert set(found) == {"undetermined"}


def test_all_events_must_happen():
    """Several events make one verdict as several pairs do, against it only if clear for many."""
    always, few = [True] * 5, [True]
    assert decide_events([always])[0] == decide_event(always)
    total, each = decide_events([always, [True] * 8])
    assert (total.verdict, total.n, total.p) == ("confirmed", 5, each[0].p)
    assert decide_events([always, few])[0].verdict == "undetermined"
    total, each = decide_events([always, [False] * 5])
    assert total.verdict == "undetermined"
    assert "not significant after correction for 2 treatments" in each[1].reason
    total, each = decide_events([always, [False] * 6, few])
    assert (total.verdict, total.n, total.p) == ("contradicted", 1, pytest.approx(3 / 64))
    assert decide_events([])[0].verdict == "undetermined"


@pytest.mark.parametrize("number", [2, 4])
def test_many_events_do_not_add_up_chances_to_be_wrong(number):
    """Four treatments that show it in half of their starts are contradicted no more often."""
    random = np.random.default_rng(number)
    runs = random.random((2000, number, 7)) < 0.5
    found = [decide_events(run)[0].verdict for run in runs]
    assert found.count("contradicted") / 2000 <= 0.06


@pytest.mark.parametrize(("count", "n"), [(0, 3), (3, 3), (1, 4), (7, 10)])
def test_the_interval_of_a_share_is_the_exact_one(count, n):
    """The same numbers as scipy's exact interval of a binomial test."""
    theirs = stats.binomtest(count, n).proportion_ci(0.95, method="exact")
    assert share_interval(count, n) == pytest.approx((theirs.low, theirs.high))
