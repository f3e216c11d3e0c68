"""In which order treatments take their turns: balanced for neighbours, round by round.

Each treatment has one turn a round, and over the rounds each follows each other one equally often:
whatever a turn leaves behind, such as warm caches or a collection that is due, meets all alike
(E. J. Williams, Experimental designs balanced for the estimation of residual effects of treatments,
Australian Journal of Scientific Research A 2, 1949, 149-168).
"""

from __future__ import annotations

import random
from collections.abc import Sequence

from sizebook.load.turns import TurnOrder
from sizebook.model.load import Turns


def balanced_rows(treatments: int) -> list[list[int]]:
    """Return orders of so many treatments in which each follows each other one equally often.

    As many orders as treatments if their number is even, twice as many if it is odd.
    """
    first = [0]
    low, high = 1, treatments - 1
    while len(first) < treatments:
        first.append(low)
        low += 1
        if len(first) < treatments:
            first.append(high)
            high -= 1
    rows = [[(place + shift) % treatments for place in first] for shift in range(treatments)]
    return rows if treatments % 2 == 0 else [*rows, *(row[::-1] for row in rows)]


def order_rounds(treatments: int, rounds: int, seed: str) -> list[list[int]]:
    """Return the order of the treatments in each of so many rounds.

    Which row of a balanced square comes when, and which treatment is which, is drawn by the seed;
    all rows have come before one comes again.
    """
    draw = random.Random(seed)
    names = draw.sample(range(treatments), treatments)
    rows = balanced_rows(treatments)
    found: list[list[int]] = []
    while len(found) < rounds:
        found += ([names[at] for at in row] for row in draw.sample(rows, len(rows)))
    return found[:rounds]


def lay_out_turns(orders: Sequence[Sequence[int]], turns: Turns) -> list[TurnOrder]:
    """Return when each treatment's turns begin if they follow each other in these orders."""
    length_ns = round(turns.turn_s * 1e9)
    begins: list[list[int]] = [[] for _ in orders[0]]
    at_ns = 0
    for order in orders:
        for treatment in order:
            begins[treatment].append(at_ns)
            at_ns += length_ns
    return [TurnOrder(begins_ns=tuple(each)) for each in begins]
