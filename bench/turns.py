"""Turns: how far two equal stacks differ in turns, and one after the other.

Both are measured in the same hours, by blocks: one block in turns, one apart, and the other way
round. Each block has fresh starts of two equal connector stacks; the true log ratio is 0.
"""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np

from bench.records import Turns, TurnsBlock
from bench.rig import Rig
from bench.sides import Lengths, measure_sides
from sizebook.chapters.connectors import connector_stack
from sizebook.checks.turns import turn_levels
from sizebook.lab.deployments import null_server
from sizebook.lab.planning import Setup
from sizebook.model.load import ClosedLoop, LoadProfile
from sizebook.report.measures import throughput_per_s
from sizebook.stats.rounds import block_ratio
from sizebook.store import Bundle

LENGTHS = Lengths(rounds=33, conditioning_s=40.0)
"""Turns of 1.8 s that count: a minute a side."""
SHORT = Lengths(rounds=2, conditioning_s=0.3)
BLOCKS, SHORT_BLOCKS = 4, 1
USERS = 10
SIDES = ("a", "b")


def run(rig: Rig) -> Turns:
    """Measure equal stacks both ways, block by block."""
    lengths = SHORT if rig.short else LENGTHS
    found: dict[bool, list[TurnsBlock]] = {True: [], False: []}
    for block in range(SHORT_BLOCKS if rig.short else BLOCKS):
        for in_turns in (True, False) if block % 2 == 0 else (False, True):
            rig.tell(f"turns: block {block + 1}, {'in turns' if in_turns else 'apart'}")
            found[in_turns].append(_block(rig, lengths, block, in_turns=in_turns))
    return Turns(
        side_s=lengths.side_s(rig),
        users=USERS,
        turns=tuple(found[True]),
        apart=tuple(found[False]),
    )


def _block(rig: Rig, lengths: Lengths, block: int, *, in_turns: bool) -> TurnsBlock:
    """Start two equal stacks and measure both."""
    here = rig.placement

    def treat(_: str) -> Setup:
        load = LoadProfile(
            locustfile="null.py" if rig.short else "connectors.py",
            arrivals=ClosedLoop(users=USERS),
            phases=lengths.phases(rig),
            settings={} if rig.short else {"way": "rpc", "bytes": 2048},
            seed=block,
            cpus=here.generator[:1],
        )
        if rig.short:  # two that do nothing show that it works
            return Setup(null_server(here), load)
        return Setup(connector_stack(here, total_heap_mib=2048), load)

    sides = measure_sides(rig, lengths, SIDES, treat, block, in_turns=in_turns)
    error = None
    if in_turns:
        ratio = block_ratio(*(turn_levels(sides[side]).throughput for side in SIDES))
        error = ratio.error if ratio is not None else None
    rates = [throughput_per_s(sides[side]) or math.nan for side in SIDES]
    return TurnsBlock(
        per_s=(rates[0], rates[1]),
        error=error,
        speed_sd=_speed_sd(sides["a"]),
    )


def _speed_sd(bundle: Bundle) -> float | None:
    """Return how far the machine's speed wandered: standard deviation of its logarithm."""
    mark = bundle.record.execution.phase("measured")
    pieces = bundle.readings.find("speed", "speed_log_us")
    counts = bundle.readings.find("speed", "speed_pieces")
    if mark is None or not pieces or not counts:
        return None
    logs, numbers = (one[0].within(mark.begin_ns, mark.end_ns) for one in (pieces, counts))
    each = [
        (b - a) / (n - m)
        for (a, b), (m, n) in zip(pairwise(logs), pairwise(numbers), strict=True)
        if n > m
    ]
    return float(np.std(each, ddof=1)) if len(each) > 2 else None
