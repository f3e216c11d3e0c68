"""What only trials together can show: too few of them, too far apart, not comparable."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sizebook.model.verdict import Finding
from sizebook.store import Bundle

LEAST_REPLICATES = 3
SPREAD_FACTOR = 3.0
"""Times the noise floor, beyond which the spread of replicates is doubted: nine times its variance,
which two spreads of four degrees of freedom each differ by in 2.8 % of the cases by chance."""
DEFAULT_FLOOR = 0.05
"""Spread that is taken for noise where the machine's own floor is not known."""

Treated = Mapping[str, Sequence[Bundle]]
"""The trials of a design by treatment."""
Rate = Callable[[Bundle], float | None]


@dataclass(frozen=True)
class SetRule:
    """A rule over the trials of one design. It raises doubt; it changes no trial's verdict."""

    id: str
    title: str
    meaning: str
    remedy: str
    function: Callable[[Treated, float | None], tuple[bool | None, str, dict[str, float]]]

    def __call__(self, treated: Treated, floor: float | None) -> Finding:
        """Return the finding; ``floor`` is the relative spread of A/A trials, if known."""
        passed, message, numbers = self.function(treated, floor)
        return Finding(self.id, passed, message, numbers)


def _replicates(treated: Treated, _: float | None) -> tuple[bool | None, str, dict[str, float]]:
    least = min((len(bundles) for bundles in treated.values()), default=0)
    text = f"{least} replicate{'' if least == 1 else 's'} of the treatment that has fewest"
    return least >= LEAST_REPLICATES, text, {"least": float(least)}


def _spread(treated: Treated, floor: float | None) -> tuple[bool | None, str, dict[str, float]]:
    logs = []
    for bundles in treated.values():
        rates = [rate for bundle in bundles if (rate := good_per_s(bundle)) is not None]
        if len(rates) >= 2 and min(rates) > 0:
            logs.append(np.log(rates))
    if not logs:
        return None, "no treatment has two replicates with a rate", {}
    freedom = sum(group.size - 1 for group in logs)
    squares = sum(float(((group - group.mean()) ** 2).sum()) for group in logs)
    spread = float(np.sqrt(squares / freedom))
    limit = SPREAD_FACTOR * (DEFAULT_FLOOR if floor is None else floor)
    source = "no floor known, 5 % taken" if floor is None else f"noise floor {floor:.1%}"
    text = f"replicates scatter by {spread:.1%} ({source}), {limit:.1%} allowed"
    return spread <= limit, text, {"spread": spread, "limit": limit, "freedom": float(freedom)}


def _comparable(treated: Treated, _: float | None) -> tuple[bool | None, str, dict[str, float]]:
    records = [bundle.record for bundles in treated.values() for bundle in bundles]
    if not records:
        return None, "no trials", {}
    prints = [record.fingerprints for record in records]
    profiles = {(record.trial.load.locustfile, record.fingerprints.locustfile)
                for record in records}  # fmt: skip
    versions = Counter(name for name, _ in profiles)
    kinds: dict[str, Collection[object]] = {
        "machines": {one.machine for one in prints},
        "builds of the stack": {one.stack for one in prints},
        "versions of a load profile": range(max(versions.values())),
        "versions of the capture": {one.capture_version for one in prints},
    }
    read = {(name, sha) for one in prints for name, sha in one.data.items()}
    if copies := Counter(name for name, _ in read):
        kinds["versions of load data"] = range(max(copies.values()))
    mixed = [f"{len(found)} {name}" for name, found in kinds.items() if len(found) > 1]
    numbers = {name.replace(" ", "_"): float(len(found)) for name, found in kinds.items()}
    return not mixed, ", ".join(mixed) or "all trials are from one machine and one build", numbers


def good_per_s(bundle: Bundle) -> float | None:
    """Return the requests per second that were answered as expected, over the whole load."""
    facts = bundle.record.generator
    if facts is None or facts.wall_s <= 0 or bundle.record.outcome != "completed":
        return None
    return facts.completed / facts.wall_s


SET_RULES: tuple[SetRule, ...] = (
    SetRule(
        "SB701-replicates",
        "Every treatment has three replicates",
        f"Fewer than {LEAST_REPLICATES} completed trials of a treatment give an interval that is "
        "too wide to say anything, or none.",
        "Run the quick or full profile; see why trials are missing or failed.",
        _replicates,
    ),
    SetRule(
        "SB702-spread",
        "Replicates agree with each other as A/A trials do",
        "Pooled standard deviation of the logarithm of throughput over the replicates of each "
        f"treatment, against {SPREAD_FACTOR:.0f} times that of the calibration's A/A trials. More "
        "means that something was different between starts that the design does not know of.",
        "Look at the trials that lie apart: their verdicts, steal, neighbours. More replicates: "
        "-p replicates=6.",
        _spread,
    ),
    SetRule(
        "SB703-comparable",
        "All trials come from one machine and one build",
        "Fingerprints of machine, stack, load profile and capture of all trials of a design. "
        "Trials that differ in them differ in more than the treatment.",
        "Measure the design again on one machine; to compare machines, compare whole runs.",
        _comparable,
    ),
)


def judge_set(treated: Treated, floor: float | None) -> tuple[Finding, ...]:
    """Return what all set rules find; ``floor`` is the relative spread of A/A trials, if known."""
    return tuple(one(treated, floor) for one in SET_RULES)
