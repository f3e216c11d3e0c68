"""What to measure in a given time: first what decides most claims per minute, then the rest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from sizebook.book.planning import PlannedChapter
from sizebook.budget.needs import Need
from sizebook.budget.starts import Start, missing_starts
from sizebook.lab.planning import Session

BEYOND_S = 3.0
"""What a session takes beyond its plan: to start, to stop, and to write its bundles on two CPUs."""
FIRST_ANSWER = 1.0
"""What a chapter's first answer of this machine counts beside a decision."""


@dataclass(frozen=True)
class BudgetStep:
    """Sessions that are worth measuring only together, in the order in which they are run."""

    sessions: tuple[tuple[str, Session], ...]
    """Each with its chapter; block by block."""
    decisions: float
    """Claims that should be decided once the step is done."""

    @property
    def seconds(self) -> float:
        """Wall time that it should take."""
        return sum(session.planned_s() + BEYOND_S for _, session in self.sessions)

    @property
    def chapters(self) -> frozenset[str]:
        """The chapters that it measures."""
        return frozenset(chapter for chapter, _ in self.sessions)


def choose_steps(planned: Sequence[PlannedChapter], needs: Sequence[Need]) -> list[BudgetStep]:
    """Return all that is missing, as steps in the order of their worth.

    Each step is the best of what is left by decisions per second: the starts that one claim still
    needs, with all claims that they decide. A set of starts that serves many claims is taken before
    one that serves one, and what was taken is not paid for again. What no claim needs comes last,
    block by block.
    """
    missing = missing_starts(planned)
    place = {start: 1 << number for number, start in enumerate(missing)}
    seconds = [session.planned_s() + BEYOND_S for session in missing.values()]
    left = {need: sum(place.get(start, 0) for start in need.starts) for need in needs}
    left = {need: bits for need, bits in left.items() if bits}
    unseen = {each.chapter.id for each in planned if len(each.missing) == len(each.sessions)}
    starts = list(missing)

    def cost(bits: int) -> float:
        return sum(seconds[number] for number in _numbers(bits))

    steps = []
    taken = 0
    while left:
        worth = dict.fromkeys(left.values(), 0.0)
        for bits in worth:
            worth[bits] = sum(need.odds for need, other in left.items() if not other & ~bits)
        first = {bits: len({starts[n].chapter for n in _numbers(bits)} & unseen) for bits in worth}
        best = max(worth, key=lambda bits: (worth[bits] + FIRST_ANSWER * first[bits]) / cost(bits))
        chosen = [starts[number] for number in _numbers(best)]
        steps.append(_step(chosen, missing, worth[best]))
        unseen -= {start.chapter for start in chosen}
        left = {need: rest for need, bits in left.items() if (rest := bits & ~best)}
        taken |= best
    return steps + _rest([start for start in starts if not place[start] & taken], missing)


def _rest(starts: Sequence[Start], missing: Mapping[Start, Session]) -> list[BudgetStep]:
    """Return what no claim needs: the first blocks of all chapters before the second ones."""

    def kind(start: Start) -> tuple[int, str, str]:
        session = missing[start]
        return session.replicate, start.chapter, session.experiment

    ordered = sorted(starts, key=lambda start: kind(start)[0])  # else as planned
    kinds = groupby(ordered, kind)
    return [_step(list(group), missing, 0.0) for _, group in kinds]


def _step(
    chosen: Iterable[Start], missing: Mapping[Start, Session], decisions: float
) -> BudgetStep:
    ordered = sorted(chosen, key=lambda start: missing[start].replicate)
    return BudgetStep(tuple((start.chapter, missing[start]) for start in ordered), decisions)


def _numbers(bits: int) -> list[int]:
    """Return the places of the ones in a number."""
    found = []
    while bits:
        lowest = bits & -bits
        found.append(lowest.bit_length() - 1)
        bits ^= lowest
    return found
