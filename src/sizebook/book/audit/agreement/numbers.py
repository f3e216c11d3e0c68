"""Numbers of one quantity, wherever they are printed: equal beyond rounding."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Sequence

from sizebook.book.audit.agreement.claimed import ClaimedComparison
from sizebook.book.audit.agreement.disagreement import Disagreement, Disagreements, digits
from sizebook.book.audit.agreement.shown import EXACT, ShownNumber, ShownRatio

RULE = "AU801-numbers-disagree"


def compare_numbers(numbers: Iterable[ShownNumber]) -> Disagreements:
    """Yield each pair of numbers of the same measure and trials that differ beyond rounding."""
    alike: dict[tuple[str, frozenset[str]], list[ShownNumber]] = defaultdict(list)
    for one in numbers:
        for name in one.measures:
            alike[name, one.trials].append(one)
    told = set()
    for (name, _), group in alike.items():
        for one, other in itertools.combinations(group, 2):
            if (one, other) in told or abs(one.value - other.value) <= _room(one, other):
                continue
            told.add((one, other))
            yield Disagreement(
                RULE, one.place,
                f"{name} at {one.where or 'all trials'} is {digits(one.value)}, "
                f"in {other.place} {digits(other.value)}",
                digits(one.value), digits(other.value), other.place,
            )  # fmt: skip


def compare_ratios(
    ratios: Sequence[ShownRatio], comparisons: Sequence[ClaimedComparison]
) -> Disagreements:
    """Yield ratios of the same measure and trials that differ: of prose, and of claims.

    A claim is decided by valid trials alone and may so differ from a number that all usable trials
    make; it is compared where all of its trials are valid.
    """
    claimed = [
        ShownRatio(one.page, one.output.name, one.outcome.metric, one.left, one.right, effect)
        for one in comparisons
        if one.known and one.all_valid and (effect := one.pair.effect) is not None
    ]
    alike: dict[tuple[str, frozenset[frozenset[str]]], list[ShownRatio]] = defaultdict(list)
    for each in (*ratios, *claimed):
        alike[each.measure, frozenset((each.left, each.right))].append(each)
    for group in alike.values():
        for one, other in itertools.combinations(group, 2):
            same_way = one.left == other.left
            value = other.value if same_way else 1 / other.value if other.value else 0.0
            room = one.within + other.within * (1.0 if same_way else value**2)
            if abs(one.value - value) > room + EXACT * abs(value):
                yield Disagreement(
                    RULE, one.place,
                    f"the ratio of {one.measure} is {digits(one.value)}, "
                    f"in {other.place} {digits(value)}",
                    digits(one.value), digits(value), other.place,
                )  # fmt: skip


def _room(one: ShownNumber, other: ShownNumber) -> float:
    """Return by how much two printed numbers of one quantity may differ."""
    return (one.within + other.within) * (1 + EXACT)
