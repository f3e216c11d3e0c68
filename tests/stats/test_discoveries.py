"""Discoveries: closed forms, scipy's adjusted p values, sizes 0 and 1, rates by simulation."""

import numpy as np
import pytest
from scipy import stats

from sizebook.stats.decisions import Sample, decide_events, decide_pairs, error_rate
from sizebook.stats.discoveries import Discoveries, PutToTest, discover

M = 1.1


def with_p(*values):
    """Return claims with these p values and the usual error rate."""
    return [PutToTest(p, 0.025) for p in values]


def test_nothing_and_one():
    """Without claims nothing counts; one alone counts if it is clear at 5 %."""
    assert discover([]) == Discoveries((), 0.0, 0, 0.0)
    assert discover(with_p(None)) == Discoveries((False,), 0.0, 0, 0.0)
    assert discover(with_p(0.02)) == Discoveries((True,), 0.05, 1, 0.025)
    assert discover(with_p(0.06)).counts == (False,)
    assert discover(with_p(0.0)).counts == (True,)


def test_benjamini_and_hochbergs_own_example():
    """The 15 p values of their paper, section 3.2: four are rejected at 5 %."""
    values = [0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240,
              0.4262, 0.5719, 0.6528, 0.7590, 1.0000]  # fmt: skip
    found = discover(with_p(*values))
    assert (found.kept, found.counts[:5]) == (4, (True,) * 4 + (False,))
    assert found.limit == pytest.approx(4 / 15 * 0.05)


def test_the_same_as_scipys_adjusted_values():
    """A verdict counts where scipy's adjusted p value is at most the rate, in any order."""
    random = np.random.default_rng(3)
    for _ in range(50):
        values = np.where(random.random(40) < 0.5, random.random(40), random.random(40) ** 8)
        theirs = stats.false_discovery_control(values) <= 0.05
        assert list(discover(with_p(*values)).counts) == list(theirs)


def test_undetermined_claims_count_among_those_with_p():
    """Choosing the clear ones first would hide how many were looked at."""
    few, many = with_p(0.02), with_p(0.02, *[None] * 9)
    assert discover(few).kept == 1
    assert discover(many) == Discoveries((False,) * 10, 0.0, 1, 0.0)
    clear = discover(with_p(0.004, *[None] * 9))
    assert (clear.kept, clear.tested, clear.expected_wrong) == (1, 10, pytest.approx(0.25))


@pytest.mark.parametrize("rate", [0.0, 1.0])
def test_what_is_no_probability_is_refused(rate):
    """Neither as rate nor as p value."""
    with pytest.raises(ValueError, match="between 0 and 1"):
        discover([], rate)
    with pytest.raises(ValueError, match="between 0 and 1"):
        PutToTest(0.5, rate)
    with pytest.raises(ValueError, match="between 0 and 1"):
        PutToTest(rate * 3 - 1, 0.025)


def claim(random, right):
    """Return a claim of a random kind, its error rate, and whether its verdict is wrong.

    A third have an effect that matters, a third are at the edge where confirming is wrong, a third
    at that where contradicting is. ``right`` is what the treatment gave that they compare with.
    """
    truth = random.integers(3)
    if random.random() < 0.2:
        share = (0.97, 0.5, 0.03)[truth]
        found = decide_events([random.random(5) < share])[0]
        return found, 0.05, found.verdict == ("contradicted" if truth == 0 else "confirmed")
    assertion = ("greater", "same")[random.integers(2)]
    ratio, wrong = {
        "greater": ((1.5, "contradicted"), (1.0, "confirmed"), (M, "contradicted")),
        "same": ((1.0, "contradicted"), (1.5, "confirmed"), (M, "contradicted")),
    }[assertion][truth]
    left = ratio * np.exp(random.normal(0, 0.05, 4))
    found = decide_pairs(assertion, [Sample(left, right, paired=True)], M)[0]
    return found, error_rate(assertion), found.verdict == wrong


@pytest.mark.parametrize("chapters", [60, 6])
def test_wrong_verdicts_among_those_that_count_are_at_most_five_in_a_hundred(chapters):
    """Books of 60 claims, effects and others at the edge, alone or ten with a treatment shared."""
    random = np.random.default_rng(11)
    shares, wrong, expected = [], [], []
    for _ in range(150):
        rights = np.exp(random.normal(0, 0.05, (chapters, 4)))
        book = [claim(random, rights[n % chapters]) for n in range(60)]
        found = discover([PutToTest(decision.p, rate) for decision, rate, _ in book])
        errors = sum(counts and bad for counts, (*_, bad) in zip(found.counts, book, strict=True))
        shares.append(errors / max(found.kept, 1))
        wrong.append(errors)
        expected.append(found.expected_wrong)
    assert np.mean(shares) <= 0.05
    assert np.mean(wrong) <= np.mean(expected)


def test_a_book_without_any_effect_has_hardly_a_verdict():
    """Forty claims at the edge: one verdict or more counts in at most 5 % of the books (7)."""
    random = np.random.default_rng(5)
    books = 0
    for _ in range(300):
        pairs = [Sample(np.exp(random.normal(0, 0.05, 3)), np.ones(3), paired=True)
                 for _ in range(40)]  # fmt: skip
        decisions = [decide_pairs("greater", [pair], 1.0001)[0] for pair in pairs]
        up = [PutToTest(one.p if one.verdict == "confirmed" else None, 0.025) for one in decisions]
        books += discover(up).kept > 0
    assert books / 300 <= 0.07
