"""The search for a boundary: exact where outcomes are sure, close where they are noisy."""

import math
import random
from collections import defaultdict

import pytest

from sizebook.stats.search import Boundary, boundary, next_level


def run(keeps, count, start, agree=1, most=200):
    outcomes = defaultdict(list)
    for _ in range(most):
        level = next_level(outcomes, count=count, start=start, agree=agree)
        if level is None:
            return outcomes
        outcomes[level].append(keeps(level))
    raise AssertionError("the search did not end")


@pytest.mark.parametrize("count", [1, 2, 3, 10, 64])
def test_finds_every_boundary_from_every_start(count):
    for limit in range(count + 1):  # levels below the limit pass
        for start in range(count):
            outcomes = run(lambda level, limit=limit: level < limit, count, start, agree=2)
            expected = Boundary(limit - 1 if limit else None, limit if limit < count else None)
            assert boundary(outcomes) == expected
            for end in (expected.last_pass, expected.first_fail):
                assert end is None or len(outcomes[end]) == 2
            tries = sum(len(seen) for seen in outcomes.values())
            assert tries <= 2 * math.ceil(math.log2(count) + 1) + 4


def test_a_boundary_seen_once_is_tried_again_until_one_outcome_leads():
    assert next_level({3: [True], 4: [False]}, count=9, start=0, agree=2) == 3
    assert next_level({3: [True, True], 4: [False]}, count=9, start=0, agree=2) == 4
    assert next_level({3: [True, False], 4: [False]}, count=9, start=0, agree=2) == 3
    assert next_level({3: [True, True], 4: [False, False]}, count=9, start=0, agree=2) is None


def test_a_heavier_level_that_passed_by_luck_does_not_hide_a_failure():
    found = boundary({2: [True], 4: [False], 6: [True]})
    assert found == Boundary(2, 4)


def test_noisy_outcomes_end_near_the_true_boundary():
    """Seeded: a level passes with a probability that falls from 1 to 0 around level 20."""
    random.seed(3)

    def keeps(level):
        return random.random() < 1 / (1 + math.exp((level - 20) / 0.7))

    ends = [boundary(run(keeps, 40, 5, agree=2)) for _ in range(200)]
    far = [end for end in ends if end.last_pass is None or abs(end.last_pass - 20) > 3]
    assert len(far) <= 10
    mean = sum(end.last_pass for end in ends if end.last_pass is not None) / len(ends)
    assert 18 < mean < 21


def test_refuses_a_start_beyond_the_levels():
    with pytest.raises(ValueError, match="start 5"):
        next_level({}, count=5, start=5)
