"""Which replicates of two treatments are compared: by blocks that both have, or all with all."""

from __future__ import annotations

from collections.abc import Mapping

COMMON_LEAST = 3
"""Blocks that both sides must have to be compared by them where one side lacks some: two leave an
interval one degree of freedom, and Welch's over all replicates is narrower."""


def pair_blocks(
    left: Mapping[int, float], right: Mapping[int, float]
) -> tuple[list[float], list[float], bool]:
    """Return the values of both sides, and whether value i of both comes from one block.

    ``left`` and ``right`` are block number to value. What hits a whole block, such as a slow start
    or a busy neighbour, hits both sides in it and drops out of their ratio. So blocks that one
    side lacks are left out if ``COMMON_LEAST`` or more remain, or if no side lacks any. Otherwise
    all values count, unpaired. Whether a block has a value must not depend on how large it is:
    then leaving it out favours no side.
    """
    common = sorted(set(left) & set(right))
    if common and (len(common) >= COMMON_LEAST or set(left) == set(right)):
        return [left[block] for block in common], [right[block] for block in common], True
    return list(left.values()), list(right.values()), False
