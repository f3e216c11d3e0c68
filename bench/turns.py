"""Turns: how far two equal stacks differ in turns, and one after the other.

Both are measured in the same hours, by blocks: one block in turns, one apart, and the other way
round. Each block has fresh starts of two equal connector stacks; the true log ratio is 0.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from bench.records import Turns, TurnsBlock
from bench.rig import Rig
from sizebook.chapters.connectors import connector_stack
from sizebook.checks.turns import turn_levels
from sizebook.lab.deployments import null_server
from sizebook.lab.planning import Setup, plan_sessions
from sizebook.lab.profiles import PROFILES, Profile
from sizebook.lab.progress import Progress
from sizebook.model.design import Design, Factor
from sizebook.model.errors import TrialError
from sizebook.model.load import ClosedLoop, LoadProfile, Phases
from sizebook.report.measures import throughput_per_s
from sizebook.stats.rounds import block_ratio
from sizebook.store import Bundle

ROUNDS, SHORT_ROUNDS = 33, 2
"""Turns of 1.8 s that count: a minute a side."""
BLOCKS, SHORT_BLOCKS = 4, 1
CONDITIONING_S, SHORT_CONDITIONING_S = 40.0, 0.3
USERS = 10


def run(rig: Rig) -> Turns:
    """Measure equal stacks both ways, block by block."""
    base = PROFILES["smoke" if rig.short else "quick"]
    rounds = SHORT_ROUNDS if rig.short else ROUNDS
    profile = dataclasses.replace(base, rounds=rounds, fresh_starts=True)
    found: dict[bool, list[TurnsBlock]] = {True: [], False: []}
    for block in range(SHORT_BLOCKS if rig.short else BLOCKS):
        for in_turns in (True, False) if block % 2 == 0 else (False, True):
            rig.tell(f"turns: block {block + 1}, {'in turns' if in_turns else 'apart'}")
            found[in_turns].append(_block(rig, profile, block, in_turns=in_turns))
    return Turns(
        side_s=profile.rounds * profile.turns.counted_s,
        users=USERS,
        turns=tuple(found[True]),
        apart=tuple(found[False]),
    )


def _block(rig: Rig, profile: Profile, block: int, *, in_turns: bool) -> TurnsBlock:
    """Start two equal stacks and measure both."""
    here = rig.placement
    length_s = profile.rounds * profile.turns.counted_s
    phases = Phases(warmup_s=profile.turns.turn_s, measured_s=length_s)

    def treat(_: Mapping[str, object]) -> Setup:
        load = LoadProfile(
            locustfile="null.py" if rig.short else "connectors.py",
            arrivals=ClosedLoop(users=USERS),
            phases=phases,
            settings={} if rig.short else {"way": "rpc", "bytes": 2048},
            seed=block,
            cpus=here.generator[:1],
        )
        if rig.short:  # two that do nothing show that it works
            return Setup(null_server(here), load)
        return Setup(connector_stack(here, total_heap_mib=2048), load)

    design = Design("turns" if in_turns else "apart", (Factor("side", ("a", "b")),), 1, block)
    conditioning_s = SHORT_CONDITIONING_S if rig.short else CONDITIONING_S
    sessions = plan_sessions("bench-turns", profile, design, treat, conditioning_s, turns=in_turns)
    folder = rig.new_folder()
    progress = Progress("turns", 2, sum(session.planned_s() for session in sessions))
    bundles = [b for session in sessions for b in rig.bench.run(session, folder, progress)]
    sides = {
        bundle.record.trial.treatment["side"]: bundle
        for bundle in bundles
        if bundle.record.trial.purpose == "measured"
    }
    failed = [b.record.failure for b in sides.values() if b.record.outcome != "completed"]
    if failed:
        raise TrialError(
            found=f"a trial that failed: {failed[0]}",
            expected="two stacks that are measured",
            next_step="run the benchmark again",
        )
    error = None
    if in_turns:
        levels = [turn_levels(sides[side]).throughput for side in ("a", "b")]
        ratio = block_ratio(*levels)
        error = ratio.error if ratio is not None else None
    rates = [throughput_per_s(sides[side]) or math.nan for side in ("a", "b")]
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
