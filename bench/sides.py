"""One block of the lab's making: a fresh stack for each side, in turns or one after the other."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from bench.rig import Rig
from sizebook.lab.planning import Setup, plan_sessions
from sizebook.lab.profiles import PROFILES, Profile
from sizebook.lab.progress import Progress
from sizebook.model.design import Design, Factor
from sizebook.model.errors import TrialError
from sizebook.model.load import Phases
from sizebook.store import Bundle


@dataclasses.dataclass(frozen=True)
class Lengths:
    """How long a block's sides are loaded."""

    rounds: int
    """Turns of each side that count."""
    conditioning_s: float
    """Longest of the load after each start."""

    def profile(self, rig: Rig) -> Profile:
        """Return the profile of such blocks."""
        base = PROFILES["smoke" if rig.short else "quick"]
        return dataclasses.replace(base, rounds=self.rounds, fresh_starts=True)

    def side_s(self, rig: Rig) -> float:
        """Return the seconds that count of each side."""
        return self.rounds * self.profile(rig).turns.counted_s

    def phases(self, rig: Rig) -> Phases:
        """Return the phases of a side that is loaded alone, as long as all of its turns."""
        return Phases(warmup_s=self.profile(rig).turns.turn_s, measured_s=self.side_s(rig))


def measure_sides(
    rig: Rig,
    lengths: Lengths,
    sides: Sequence[str],
    treat: Callable[[str], Setup],
    block: int,
    *,
    in_turns: bool = True,
) -> dict[str, Bundle]:
    """Measure one block and return the bundle of each side. Raises TrialError if a trial failed."""
    design = Design("turns" if in_turns else "apart", (Factor("side", tuple(sides)),), 1, block)
    sessions = plan_sessions(
        "bench-turns",
        lengths.profile(rig),
        design,
        lambda treatment: treat(str(treatment["side"])),
        lengths.conditioning_s,
        turns=in_turns,
    )
    folder = rig.new_folder()
    planned_s = sum(session.planned_s() for session in sessions)
    progress = Progress("turns", len(sides), planned_s)
    bundles = [b for session in sessions for b in rig.bench.run(session, folder, progress)]
    found = {
        str(bundle.record.trial.treatment["side"]): bundle
        for bundle in bundles
        if bundle.record.trial.purpose == "measured"
    }
    failed = [b.record.failure for b in found.values() if b.record.outcome != "completed"]
    if failed:
        raise TrialError(
            found=f"a trial that failed: {failed[0]}",
            expected="stacks that are measured",
            next_step="run the benchmark again",
        )
    return found
