"""A slowdown that was planted: in how many blocks do turns find it, and do they find one in none?

Each block has three fresh app nodes that add a payload up for each request: two do it equally
often, the third 5 % more often. So each block has a comparison whose truth is a twentieth more CPU
work, and one whose truth is none.
"""

from __future__ import annotations

import math

from bench.records import Planted, PlantedBlock
from bench.rig import Rig
from bench.sides import Lengths, measure_sides
from sizebook.lab.deployments import binding_stack, null_server
from sizebook.lab.planning import Setup
from sizebook.model.load import ClosedLoop, LoadProfile
from sizebook.report.measures import throughput_per_s

LENGTHS = Lengths(rounds=11, conditioning_s=20.0)
SHORT = Lengths(rounds=2, conditioning_s=0.3)
BLOCKS, SHORT_BLOCKS = 8, 1
USERS = 4
TIMES, MORE = 2_000, 0.05
"""How often a payload of 16 KiB is added up, and what the slower side does more."""
SIDES = ("one", "equal", "slower")


def run(rig: Rig) -> Planted:
    """Measure the three sides, block by block."""
    lengths = SHORT if rig.short else LENGTHS
    blocks = []
    for block in range(SHORT_BLOCKS if rig.short else BLOCKS):
        rig.tell(f"planted: block {block + 1}")
        blocks.append(_block(rig, lengths, block))
    return Planted(more=MORE, side_s=lengths.side_s(rig), users=USERS, blocks=tuple(blocks))


def _block(rig: Rig, lengths: Lengths, block: int) -> PlantedBlock:
    here = rig.placement

    def treat(side: str) -> Setup:
        times = round(TIMES * (1 + MORE if side == "slower" else 1))
        work = {"way": "direct", "bytes": 16_384, "work": f"rounds:{times}"}
        load = LoadProfile(
            locustfile="null.py" if rig.short else "pools.py",
            arrivals=ClosedLoop(users=USERS),
            phases=lengths.phases(rig),
            settings={} if rig.short else work,
            seed=block,
            cpus=here.generator[:1],
        )
        if rig.short:  # three that do nothing show that it works
            return Setup(null_server(here), load)
        return Setup(binding_stack(here, apart=False, broker=False, heap_mib=256), load)

    sides = measure_sides(rig, lengths, SIDES, treat, block)
    one, equal, slower = (throughput_per_s(sides[side]) or math.nan for side in SIDES)
    return PlantedBlock(one_per_s=one, equal_per_s=equal, slower_per_s=slower)
