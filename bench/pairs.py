"""Side by side: competitors measured in interleaved rounds, compared within each round."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from bench.records import Repeated

T = TypeVar("T")

LEAST_ROUNDS = 5
"""Fewer rounds prove that it works, and no more."""


def interleaved(names: Sequence[str], rounds: int) -> list[tuple[int, str]]:
    """Return (round, name) in the order of measuring: A B C, C B A, A B C and so on.

    Turning the order round lets a steady drift of the machine weigh on all alike.
    """
    return [
        (number, name)
        for number in range(rounds)
        for name in (names if number % 2 == 0 else list(reversed(names)))
    ]


def side_by_side(
    competitors: Mapping[str, Callable[[], T]],
    rounds: int,
    tell: Callable[[str], None] = lambda _: None,
) -> dict[str, list[T]]:
    """Measure every competitor once a round; return its measurements, round by round."""
    found: dict[str, list[T]] = {name: [] for name in competitors}
    for number, name in interleaved(list(competitors), rounds):
        tell(f"round {number + 1} of {rounds}: {name}")
        found[name].append(competitors[name]())
    return found


def paired_ratio(numerator: Repeated, denominator: Repeated) -> Repeated:
    """Return the ratio within each round. Raises ValueError for unlike numbers of rounds."""
    pairs = zip(numerator.values, denominator.values, strict=True)
    return Repeated(values=tuple(a / b for a, b in pairs))
